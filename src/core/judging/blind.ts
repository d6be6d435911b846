import type { Hunk, Patch } from '../patches/index.ts';
import { type BlindLine, blindLines, isCitable, shownLine, withhold } from './blind-line.ts';
import type { Identities } from './identity.ts';
import { isGenerated, isProse } from './syntax.ts';
import type { Address, ChangedFile } from './types.ts';

export const changedFiles = (patch: Patch): readonly ChangedFile[] =>
  patch.files.map((file) => ({
    path: file.path,
    change: file.change,
    role: file.role,
    binary: file.binary,
    hunks: file.hunks,
  }));

/** A line that a verdict may cite. */
export interface ShownLine {
  /** As the judge sees it: a path may hold a name too. */
  readonly file: string;
  readonly path: string;
  readonly line: number;
  readonly text: string;
  readonly citable: boolean;
}

/** What judges see of one candidate's patch. */
export interface BlindPatch {
  readonly production: string;
  /** Empty where it has none. */
  readonly tests: string;
  readonly lines: readonly ShownLine[];
  readonly addresses: readonly Omit<Address, 'alias'>[];
}

/** Characters of each part that are shown of every candidate. Our defaults, tune on dev data. */
export const ROOM = { production: 24_000, tests: 8_000 } as const;
/** Addresses that are kept of one patch. */
const MOST_ADDRESSES = 10;
const LONGEST_PATH = 300;
/** Characters of the shortest line as it is shown. */
const SHORTEST = 6;
const LONGEST_HEADING = 120;

/**
 * A patch without anything that says who wrote it or speaks to its judge: production and tests apart, files by path. What
 * does not fit is left out at the border of a hunk, and counted; the room is the same for every candidate.
 */
export function blind(
  files: readonly ChangedFile[],
  identities: Identities,
  room: { readonly production: number; readonly tests: number } = ROOM,
): BlindPatch {
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  const production = sorted.filter(({ role }) => role === 'production');
  // Where texts for people are all that was changed, they are the work; elsewhere they are a place to praise it.
  const code = production.filter(({ path }) => !isProse(path));
  const shown = code.length > 0 ? code : production;
  const first = section(shown, production.length - shown.length, identities, room.production);
  const tests = section(
    sorted.filter(({ role }) => role === 'test'),
    0,
    identities,
    room.tests,
  );
  return {
    production: first.text || 'No production code is changed.\n',
    tests: tests.text,
    lines: [...first.lines, ...tests.lines],
    addresses: [...first.addresses, ...tests.addresses].slice(0, MOST_ADDRESSES),
  };
}

interface Section {
  text: string;
  readonly lines: ShownLine[];
  readonly addresses: Omit<Address, 'alias'>[];
}

function section(
  files: readonly ChangedFile[],
  prose: number,
  identities: Identities,
  room: number,
): Section {
  const made: Section = { text: '', lines: [], addresses: [] };
  const left = { lines: 0, files: 0 };
  for (const file of files) {
    const path = shownPath(file.path, identities);
    const missing = addFile(made, file, path, { identities, room });
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
  shownLine(withhold(path).text, identities, LONGEST_PATH);

/** Adds what fits of a file; returns how many changed lines did not. */
function addFile(
  made: Section,
  file: ChangedFile,
  path: string,
  { identities, room }: { readonly identities: Identities; readonly room: number },
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
    const most = Math.max(0, Math.floor((room - made.text.length) / SHORTEST));
    // What cannot fit is not read: a patch may be long.
    const read = hunk.lines.length <= most ? hunk.lines : first ? hunk.lines.slice(0, most) : [];
    missing += changed(hunk.lines) - changed(read);
    const lines = blindLines(file.path, read, identities);
    for (const { line, addressed } of lines) {
      made.addresses.push(...addressed.map((what) => ({ file: file.path, line, what })));
    }
    const head = headOf(hunk, identities);
    const shown = fitting(lines, room - made.text.length - head.length, first);
    missing += changed(lines) - changed(shown);
    if (shown.length === 0) continue;
    made.text += head + textOf(shown);
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

const changed = (lines: readonly Pick<BlindLine, 'kind'>[]): number =>
  lines.filter(({ kind }) => kind !== 'context').length;

function headOf({ heading, newStart }: Hunk, identities: Identities): string {
  const named = shownLine(withhold(heading).text, identities, LONGEST_HEADING);
  return `@@ line ${newStart}${named ? `: ${named}` : ''}\n`;
}

/** The whole hunk or nothing; of the very first one as much as there is room for, so that something is shown. */
function fitting(lines: readonly BlindLine[], room: number, first: boolean): readonly BlindLine[] {
  if (textOf(lines).length <= room) return lines;
  if (!first) return [];
  let size = 0;
  const end = lines.findIndex((line) => {
    size += textOf([line]).length;
    return size > room;
  });
  return lines.slice(0, Math.max(0, end));
}

const SIGNS = { context: ' ', added: '+', removed: '-' } as const;

/** One line each, with its number; added lines that hold nothing but comments are one. */
function textOf(lines: readonly BlindLine[]): string {
  let text = '';
  for (let at = 0; at < lines.length; at++) {
    const { kind, line, comment, text: own } = lines[at] as BlindLine;
    const from = at;
    while (comment && lines[at + 1]?.comment && lines[at + 1]?.kind === kind) at++;
    const shown = at > from ? `[comment, ${at - from + 1} lines]` : own;
    text += `${SIGNS[kind]} ${line}: ${shown}\n`;
  }
  return text;
}
