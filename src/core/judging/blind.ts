import type { Hunk, PatchFile } from '../patches/index.ts';
import { type BlindLine, blindLines, isCitable, redactInjections, shownLine } from './blind-line.ts';
import type { Identities } from './identity.ts';
import { isGenerated, isProse } from './shown-files.ts';
import type { PromptInjection } from './types.ts';

/** A line that a verdict may cite. */
export interface ShownLine {
  /** As shown to the judge: names in a path are replaced, too. */
  readonly file: string;
  readonly path: string;
  readonly line: number;
  readonly text: string;
  readonly citable: boolean;
}

/** What judges see of one candidate's patch. */
export interface BlindPatch {
  readonly production: string;
  /** Empty when there are none. */
  readonly tests: string;
  readonly lines: readonly ShownLine[];
  readonly injections: readonly Omit<PromptInjection, 'alias'>[];
}

/** Maximum characters of each part, the same for every candidate. Defaults, to be tuned on dev data. */
const SHOWN_LIMITS = { production: 24_000, tests: 8_000 } as const;
/** Maximum injections recorded for one patch. */
const MAX_INJECTIONS = 10;
const MAX_PATH_CHARS = 300;
/** Minimum characters that a line takes when it is shown. */
const MIN_LINE_CHARS = 6;
const MAX_HEADING_CHARS = 120;

/**
 * Renders a patch without author names or injections: production and tests separately, files sorted by path. What
 * exceeds the limits is cut at a hunk boundary and counted; the limits are the same for every candidate.
 */
export function blindPatch(
  files: readonly PatchFile[],
  identities: Identities,
  limits: { readonly production: number; readonly tests: number } = SHOWN_LIMITS,
): BlindPatch {
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  const production = sorted.filter(({ role }) => role === 'production');
  // Prose is shown only when the patch changes nothing else: in a patch with code it is a place for self-praise.
  const code = production.filter(({ path }) => !isProse(path));
  const shown = code.length > 0 ? code : production;
  const first = renderSection(shown, production.length - shown.length, identities, limits.production);
  const tests = renderSection(
    sorted.filter(({ role }) => role === 'test'),
    0,
    identities,
    limits.tests,
  );
  return {
    production: first.text || 'No production code is changed.\n',
    tests: tests.text,
    lines: [...first.lines, ...tests.lines],
    injections: [...first.injections, ...tests.injections].slice(0, MAX_INJECTIONS),
  };
}

interface PatchSection {
  text: string;
  readonly lines: ShownLine[];
  readonly injections: Omit<PromptInjection, 'alias'>[];
}

function renderSection(
  files: readonly PatchFile[],
  prose: number,
  identities: Identities,
  maxChars: number,
): PatchSection {
  const made: PatchSection = { text: '', lines: [], injections: [] };
  const left = { lines: 0, files: 0 };
  for (const file of files) {
    const path = shownPath(file.path, identities);
    const missing = addFile(made, file, path, { identities, maxChars });
    left.lines += missing;
    left.files += missing > 0 ? 1 : 0;
  }
  if (left.lines > 0) {
    made.text += `(${left.lines} more changed lines in ${left.files} file${left.files === 1 ? '' : 's'} are not shown)\n`;
  }
  if (prose > 0)
    made.text += `(${prose} changed file${prose === 1 ? '' : 's'} of text for people not shown)\n`;
  return made;
}

const shownPath = (path: string, identities: Identities): string =>
  shownLine(redactInjections(path).text, identities, MAX_PATH_CHARS);

/** Adds as much of a file as fits. Returns the number of changed lines that did not fit. */
function addFile(
  made: PatchSection,
  file: PatchFile,
  path: string,
  { identities, maxChars }: { readonly identities: Identities; readonly maxChars: number },
): number {
  made.text += `file ${path} (${file.change})\n`;
  if (file.binary) made.text += '(binary, not shown)\n';
  if (isGenerated(file.path)) {
    made.text += '(generated, not shown)\n';
    return 0;
  }
  let missing = 0;
  for (const hunk of file.hunks) {
    const first = made.lines.length === 0;
    const most = Math.max(0, Math.floor((maxChars - made.text.length) / MIN_LINE_CHARS));
    // Skips lines that cannot fit, because a patch may be very long.
    const read = hunk.lines.length <= most ? hunk.lines : first ? hunk.lines.slice(0, most) : [];
    missing += changedCount(hunk.lines) - changedCount(read);
    const lines = blindLines(file.path, read, identities);
    for (const { line, injections } of lines) {
      made.injections.push(...injections.map((what) => ({ file: file.path, line, what })));
    }
    const head = hunkHeader(hunk, identities);
    const shown = linesThatFit(lines, maxChars - made.text.length - head.length, first);
    missing += changedCount(lines) - changedCount(shown);
    if (shown.length === 0) continue;
    made.text += head + renderLines(shown);
    for (const line of shown) {
      made.lines.push({
        file: path,
        path: file.path,
        line: line.line,
        text: line.text,
        citable: isCitable(line),
      });
    }
  }
  return missing;
}

const changedCount = (lines: readonly Pick<BlindLine, 'kind'>[]): number =>
  lines.filter(({ kind }) => kind !== 'context').length;

function hunkHeader({ heading, newStart }: Hunk, identities: Identities): string {
  const named = shownLine(redactInjections(heading).text, identities, MAX_HEADING_CHARS);
  return `@@ line ${newStart}${named ? `: ${named}` : ''}\n`;
}

/** Returns the whole hunk or nothing. Of the first hunk it returns as much as fits, so that something is shown. */
function linesThatFit(lines: readonly BlindLine[], maxChars: number, first: boolean): readonly BlindLine[] {
  if (renderLines(lines).length <= maxChars) return lines;
  if (!first) return [];
  let size = 0;
  const end = lines.findIndex((line) => {
    size += renderLines([line]).length;
    return size > maxChars;
  });
  return lines.slice(0, Math.max(0, end));
}

const DIFF_PREFIXES = { context: ' ', added: '+', removed: '-' } as const;

/** Renders one row per line, with its number. Consecutive added lines with only comments become one row. */
function renderLines(lines: readonly BlindLine[]): string {
  let text = '';
  for (let at = 0; at < lines.length; at++) {
    const { kind, line, comment, text: own } = lines[at] as BlindLine;
    const from = at;
    while (comment && lines[at + 1]?.comment && lines[at + 1]?.kind === kind) at++;
    const shown = at > from ? `[comment, ${at - from + 1} lines]` : own;
    text += `${DIFF_PREFIXES[kind]} ${line}: ${shown}\n`;
  }
  return text;
}
