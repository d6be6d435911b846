import { longestBackticks, type RunId } from '../model/index.ts';
import type { Report } from './view.ts';
import { cut, visibleCode, visibleLine } from './visible.ts';

/**
 * GitHub rejects a body over 65,536 characters. Counted here in UTF-16 units, which are never fewer than characters
 * and at most three bytes of UTF-8 each, so that a limit in bytes (262,144) holds, too. The rest is a margin.
 */
export const BODY_LIMIT = 65_536;
export const BODY_ROOM = 65_000;

/** A Markdown table of formatted cells. `align` has one mark for each column: `l` or `r`. */
export function tableRows(
  head: readonly string[],
  align: string,
  rows: readonly (readonly string[])[],
): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line([...align].map((side) => (side === 'r' ? '--:' : '---'))), ...rows.map(line)];
}

export const table = (head: readonly string[], align: string, rows: readonly (readonly string[])[]): string =>
  tableRows(head, align, rows).join('\n');

/** `summary` is HTML. The empty lines make GitHub parse the content as Markdown. */
export const details = (summary: string, content: string): string =>
  `<details>\n<summary>${summary}</summary>\n\n${content}\n\n</details>`;

/**
 * As many whole blocks as fit into `maxLength` UTF-16 units, in order; `more` describes the number left out. Never
 * longer than `maxLength`; empty if nothing fits.
 */
export function fill(
  blocks: readonly string[],
  maxLength: number,
  options: { readonly separator: string; readonly more: (left: number) => string },
): string {
  const whole = blocks.join(options.separator);
  if (whole.length <= maxLength) return whole;
  const mark = options.more(blocks.length);
  let kept = '';
  let count = 0;
  for (const block of blocks) {
    const grown = count === 0 ? block : `${kept}${options.separator}${block}`;
    if (grown.length + options.separator.length + mark.length > maxLength) break;
    kept = grown;
    count += 1;
  }
  if (count === 0) return mark.length <= maxLength ? mark : '';
  return `${kept}${options.separator}${options.more(blocks.length - count)}`;
}

export const REPORT_KINDS = [
  'status',
  'comparison',
  'outcome',
  'refusal',
  'pull',
  'question',
  'choice',
  'reply',
] as const;
export type ReportKind = (typeof REPORT_KINDS)[number];

const FIRST_LINE =
  /^<!-- runoff:([a-z]{1,20}):(r[0-9a-z]{1,32}|c[1-9][0-9]{0,15})(?::([1-9][0-9]{0,3}))? -->(?:\r?\n|$)/;

/** The scope of a reply to a comment, in place of a run: `c` and the comment's id on GitHub. */
export const replyScope = (comment: number): string => `c${comment}`;

/** The hidden first line of everything that Runoff posts, for finding a write that was interrupted by a crash. */
export const marker = (kind: ReportKind, run: RunId, number?: number): string =>
  `<!-- runoff:${kind}:${run}${number === undefined ? '' : `:${number}`} -->`;

export interface Marker {
  readonly kind: ReportKind;
  /** For a `reply`, the scope of the comment that it answers. */
  readonly run: RunId;
  /** Its number, if a run can have several. */
  readonly number?: number;
}

/**
 * The marker on the first line of a body, or null. Markers can be forged: one only identifies text to adopt after a
 * crash, and only after the caller has verified that Runoff's App wrote it. It is never state (I12).
 */
export function findMarker(body: string): Marker | null {
  const found = FIRST_LINE.exec(body);
  const kind = REPORT_KINDS.find((known) => known === found?.[1]);
  const run = found?.[2];
  if (kind === undefined || run === undefined) return null;
  if (run.startsWith('c') !== (kind === 'reply')) return null;
  return { kind, run, ...(found?.[3] === undefined ? {} : { number: Number(found[3]) }) };
}

/** A report made of its non-empty blocks. */
export function report(kind: ReportKind, run: RunId, blocks: readonly string[], number?: number): Report {
  const first = marker(kind, run, number);
  return { marker: first, body: `${[first, ...blocks.filter((block) => block !== '')].join('\n\n')}\n` };
}

/**
 * Escapes untrusted text (issue, candidate, model, settings) for GitHub Markdown. GitHub detects mentions and
 * references in the rendered text, after decoding entities, so escaping `@` is not enough: a zero-width space
 * separates the sign from the name. Nothing is detected inside code.
 */
const ZERO_WIDTH_SPACE = '&#8203;';
/** Shown in place of a text without visible characters. */
export const EMPTY_TEXT = '(empty)';
/** Maximum code points before escaping, where a caller names none. */
export const DEFAULT_LIMIT = { code: 120, sentence: 400 } as const;

const SPECIAL_CHARACTER =
  /[&<>`|\\*_[\]~$@#]|:\/\/|www\.|gh-(?=[0-9])|skip-(?=checks)|(?<![0-9a-z])[0-9a-f]{7,64}(?![0-9a-z])/gi;
const ENTITY_OF: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '`': '&#96;',
  '|': '&#124;',
  '\\': '&#92;',
  // GitHub's documented way to write a dollar sign that starts no formula.
  $: '<span>$</span>',
  '@': `@${ZERO_WIDTH_SPACE}`,
  '://': `:${ZERO_WIDTH_SPACE}//`,
};

function inert(found: string, at: number, whole: string): string {
  const fixed = ENTITY_OF[found];
  if (fixed !== undefined) return fixed;
  if (found === '#') return /[0-9a-z]/i.test(whole.charAt(at + 1)) ? `\\#${ZERO_WIDTH_SPACE}` : '\\#';
  if (/^www\.$/i.test(found)) return `${found.slice(0, 3)}${ZERO_WIDTH_SPACE}.`;
  if (/^gh-$/i.test(found)) return `${found}${ZERO_WIDTH_SPACE}`;
  if (/^skip-$/i.test(found)) return `${found.slice(0, -1)}&#45;`;
  // Seven hex digits may be a commit, which GitHub would link.
  return found.length === 1 ? `\\${found}` : found.replace(/.{6}(?=.)/g, `$&${ZERO_WIDTH_SPACE}`);
}

/**
 * At the start of a line these begin a list, a rule, a heading's underline, a table's delimiter row, or a bot
 * command.
 */
const atLineStart = (text: string): string =>
  text.replace(/^[-+=:/]/, '\\$&').replace(/^(\d{1,9})([.)])/, '$1\\$2');

const escapedMarkdown = (text: string): string => atLineStart(text.replace(SPECIAL_CHARACTER, inert));

/** One line of plain prose of at most `limit` code points before escaping. Valid in a paragraph, list item or cell. */
export function prose(text: string, limit = 300): string {
  return escapedMarkdown(visibleLine(text, limit)) || EMPTY_TEXT;
}

const HTML_CODE = /:\/\/|www\.|(?<=gh)-(?=[0-9])|[^A-Za-z0-9 ,;.()/'"=\u0080-\u{10ffff}-]/giu;

function inHtmlCode(found: string): string {
  if (found === '://') return `&#58;${ZERO_WIDTH_SPACE}//`;
  if (/^www\.$/i.test(found)) return `${found.slice(0, 3)}${ZERO_WIDTH_SPACE}.`;
  return `&#${found.codePointAt(0)};${found === '@' ? ZERO_WIDTH_SPACE : ''}`;
}

/**
 * Code as an HTML element whose text contains no Markdown: renders the same inside `<summary>`, a table cell or a
 * paragraph.
 */
export function htmlCode(text: string, limit: number = DEFAULT_LIMIT.code): string {
  return `<code>${(visibleLine(text, limit) || EMPTY_TEXT).replace(HTML_CODE, inHtmlCode)}</code>`;
}

/**
 * Text that backticks do not protect, or that readers of the raw text act on even inside code: bots, and GitHub
 * itself when a body becomes the message of a squashed commit. `[x]` anywhere in the line of a box ticks it.
 */
const NOT_IN_BACKTICKS =
  /[`|\\@#$]|:\/\/|www\.|gh-[0-9]|<!--|-->|\[(?:[ x]\]|(?:skip|no|ci|actions)\b)|skip-checks/i;

/** Inline code of at most `limit` code points, in backticks if possible. */
export function code(text: string, limit: number = DEFAULT_LIMIT.code): string {
  const line = visibleLine(text, limit) || EMPTY_TEXT;
  return NOT_IN_BACKTICKS.test(line) ? htmlCode(line, limit) : `\`${line}\``;
}

/** Prose in which pairs of backticks mark code, as in Runoff's messages; every part is escaped. */
export function inertSentence(text: string, limit: number = DEFAULT_LIMIT.sentence): string {
  const parts = visibleLine(text, limit).split(/`([^`]+)`/);
  const rendered = parts.map((part, index) => {
    if (index % 2 === 1) return code(part, limit);
    // Two adjacent code spans would be parsed as one.
    if (part === '') return index > 0 && index < parts.length - 1 ? ' ' : '';
    return escapedMarkdown(part);
  });
  return rendered.join('') || EMPTY_TEXT;
}

/** Maximum code points of a fenced line; a longer one is cut, and the part is then not `whole`. */
const MAX_LINE_CHARACTERS = 2_000;

/** A line of a diff prepared for display. */
export interface ShownLine {
  readonly text: string;
  /** Length of its longest run of backticks. */
  readonly backticks: number;
  /** The line was shortened. */
  readonly cut: boolean;
}

interface ReadableDiff {
  readonly lines: readonly ShownLine[];
  /** Lines of the whole diff; more than `lines` if the diff was cut. */
  readonly totalLines: number;
}

/** Prepares the lines of a diff for display, as many as fit into `most` UTF-16 units. */
export function readableDiff(text: string, most: number): ReadableDiff {
  const all = text.replaceAll('\r\n', '\n').replace(/\n$/, '').split('\n');
  const lines: ShownLine[] = [];
  let size = 0;
  for (const line of all) {
    const bounded = cut(line, { codePoints: MAX_LINE_CHARACTERS });
    const shown = indentedCommand(visibleCode(bounded));
    size += shown.length + 1;
    if (size > most) break;
    lines.push({ text: shown, backticks: longestBackticks(shown), cut: bounded !== line });
  }
  return { lines, totalLines: all.length };
}

/**
 * Lines of a diff from a given line on, as one code block of at most `maxLength` UTF-16 units, including its fence.
 * Null if not even one line fits. The fence is longer than any run of backticks inside: CommonMark closes a block
 * only with one at least as long.
 */
export function fenced(
  lines: readonly ShownLine[],
  from: number,
  maxLength: number,
): { readonly block: string; readonly next: number; readonly cut: boolean } | null {
  let size = 'diff\n'.length;
  let fence = 3;
  let next = from;
  for (; next < lines.length; next += 1) {
    const { text, backticks } = lines[next] as ShownLine;
    const grown = Math.max(fence, backticks + 1);
    if (size + text.length + 1 + 2 * grown > maxLength) break;
    size += text.length + 1;
    fence = grown;
  }
  if (next === from) return null;
  const kept = lines.slice(from, next);
  const bar = '`'.repeat(fence);
  return {
    block: `${bar}diff\n${kept.map(({ text }) => text).join('\n')}\n${bar}`,
    next,
    cut: kept.some((line) => line.cut),
  };
}

interface FencedPart {
  readonly block: string;
  readonly shownLines: number;
  readonly totalLines: number;
  /** Contains all lines, none of them shortened. */
  readonly whole: boolean;
}

/** A diff as one code block of at most `maxLength` UTF-16 units, cut between lines; null if not even one line fits. */
export function fencedDiff(text: string, maxLength: number): FencedPart | null {
  const { lines, totalLines } = readableDiff(text, maxLength);
  const part = fenced(lines, 0, maxLength);
  if (part === null) return null;
  return {
    block: part.block,
    shownLines: part.next,
    totalLines,
    whole: part.next === totalLines && !part.cut,
  };
}

/** No line of a diff starts with a slash, but output shown in its place may, and bots would read that as a command. */
const indentedCommand = (line: string): string => (line.startsWith('/') ? ` ${line}` : line);

/** A link to a URL provided by GitHub; a URL that is not http(s) is shown as text. */
export function link(label: string, url: string): string {
  if (!/^https?:\/\/[!-~]+$/i.test(url)) return `${label} (${code(url, 300)})`;
  return `[${label}](${url.replace(/[()<>\\`"|*_[\]~@]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)})`;
}

/**
 * Text for places without Markdown in which GitHub still detects references: titles and commit messages. Separates
 * signs by a space, and splits keywords that skip or start CI.
 */
export function plainLine(text: string, limit: number): string {
  const line = visibleLine(text, 1_000)
    .replace(/@(?=\S)/g, '@ ')
    .replace(/#(?=\w)/g, '# ')
    .replace(/gh-(?=[0-9])/gi, 'GH ')
    .replace(/:\/\/(?=\S)/g, ':// ')
    .replace(/[[\]]/g, (bracket) => (bracket === '[' ? '(' : ')'))
    .replace(/skip-checks(?=\s*:)/gi, 'skip checks');
  return cut(line.trim(), { codePoints: limit });
}
