import type { RunId } from '../model/index.ts';
import type { Report } from './view.ts';

/**
 * GitHub refuses a body over 65,536 characters. Counted here in UTF-16 units, which are never fewer than characters and
 * never over three bytes of UTF-8 each, so that a limit in bytes (262,144) holds too. The rest is a margin.
 */
export const BODY_LIMIT = 65_536;
export const BODY_ROOM = 65_000;

/** A Markdown table of ready cells. `align` has one mark for each column: `l` or `r`. */
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

/** `summary` is HTML. The empty lines let GitHub read the content as Markdown again. */
export const details = (summary: string, content: string): string =>
  `<details>\n<summary>${summary}</summary>\n\n${content}\n\n</details>`;

/**
 * As many whole blocks as fit into `room` UTF-16 units, in order; where some are left out, `more` says how many. Never
 * longer than `room`; empty when nothing fits.
 */
export function fill(
  blocks: readonly string[],
  room: number,
  options: { readonly separator: string; readonly more: (left: number) => string },
): string {
  const whole = blocks.join(options.separator);
  if (whole.length <= room) return whole;
  const mark = options.more(blocks.length);
  let kept = '';
  let count = 0;
  for (const block of blocks) {
    const grown = count === 0 ? block : `${kept}${options.separator}${block}`;
    if (grown.length + options.separator.length + mark.length > room) break;
    kept = grown;
    count += 1;
  }
  if (count === 0) return mark.length <= room ? mark : '';
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

/** What the answer to a comment is about, in place of a run: `c` and the comment's number on GitHub. */
export const replyScope = (comment: number): string => `c${comment}`;

/** Hidden first line of everything we write, by which a write that a crash cut off is found again. */
export const marker = (kind: ReportKind, run: RunId, number?: number): string =>
  `<!-- runoff:${kind}:${run}${number === undefined ? '' : `:${number}`} -->`;

export interface Marker {
  readonly kind: ReportKind;
  /** Of a `reply` the scope of the comment that it answers. */
  readonly run: RunId;
  /** Which one of the run, where there can be several. */
  readonly number?: number;
}

/**
 * The marker on the first line of a body, or null. Anyone can write one: it only says which text to adopt after a
 * crash, and only once the caller has checked that our own App wrote it. It is never state (I12).
 */
export function findMarker(body: string): Marker | null {
  const found = FIRST_LINE.exec(body);
  const kind = REPORT_KINDS.find((known) => known === found?.[1]);
  const run = found?.[2];
  if (kind === undefined || run === undefined) return null;
  if (run.startsWith('c') !== (kind === 'reply')) return null;
  return { kind, run, ...(found?.[3] === undefined ? {} : { number: Number(found[3]) }) };
}

/** A report from its blocks; empty ones are left out. */
export function report(kind: ReportKind, run: RunId, blocks: readonly string[], number?: number): Report {
  const first = marker(kind, run, number);
  return { marker: first, body: `${[first, ...blocks.filter((block) => block !== '')].join('\n\n')}\n` };
}
