import { diffArrays } from 'diff';
import { type DiffLine, type Hunk, LINE_STEPS } from './diff.ts';
import type { PatchFile } from './patch.ts';

/** A file in which the results of two patches of the same base differ. */
export interface FileBetween {
  readonly path: string;
  /** From the first patch's result to the second's, with lines numbered as there. */
  readonly hunks: readonly Hunk[];
  /** What text does not show, as clauses: modes, binary content, a file that only one has. */
  readonly notes: readonly string[];
}

/** Lines of context around a difference, as git shows them. */
const CONTEXT = 3;
/**
 * Edits after which lines are no longer matched but shown as removed and added. Ours: nobody reads a larger difference line
 * by line.
 */
const MAX_EDITS = 500;
/**
 * Lines that are compared in all regions of a comparison together, about a twentieth of a second; what is left then is shown as
 * removed and added, too. Ours. With e edits in n lines, up to e (e + n) are: each of up to e diagonals is followed through
 * equal lines (Myers, An O(ND) Difference Algorithm, 1986).
 */
const MAX_WORK = 4_000_000;

/** Comparisons of lines that are left. */
interface Work {
  left: number;
}

/**
 * The differences between what two patches make of the base, by path. Computed from the patches alone: a hunk has all
 * base lines of its range, so wherever one of the two changes something, the text of both is known.
 */
export function filesBetween(one: readonly PatchFile[], other: readonly PatchFile[]): readonly FileBetween[] {
  const [before, after] = [byPath(one), byPath(other)];
  const work: Work = { left: MAX_WORK };
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((path) => {
    const [a, b] = [before.get(path), after.get(path)];
    if (a?.section === b?.section) return [];
    const notes = notesBetween(a, b);
    const hunks = isText(a) && isText(b) ? hunksBetween(a?.hunks ?? [], b?.hunks ?? [], work) : [];
    return hunks.length + notes.length === 0 ? [] : [{ path, hunks, notes }];
  });
}

const byPath = (files: readonly PatchFile[]): ReadonlyMap<string, PatchFile> =>
  new Map(files.map((file) => [file.path, file]));

const isText = (file: PatchFile | undefined): boolean => !file?.binary && file?.change !== 'type-changed';

function notesBetween(a: PatchFile | undefined, b: PatchFile | undefined): readonly string[] {
  const mode = (file: PatchFile | undefined, other: PatchFile | undefined) => file?.newMode ?? other?.oldMode;
  const [before, after] = [mode(a, b), mode(b, a)];
  const notes: string[] = [];
  if (!isText(a) || !isText(b)) notes.push('its content is binary or a link, and differs');
  if (before !== after) {
    if (before === NO_MODE) notes.push('only the second one has it');
    else if (after === NO_MODE) notes.push('only the first one has it');
    else notes.push(`its mode changes from ${before} to ${after}`);
  }
  return notes;
}

const NO_MODE = '000000';

/** A range of base lines that at least one side changes: 0-based start, exclusive end. */
interface Region {
  readonly from: number;
  to: number;
  readonly a: Hunk[];
  readonly b: Hunk[];
}

function hunksBetween(a: readonly Hunk[], b: readonly Hunk[], work: Work): readonly Hunk[] {
  // Lines that earlier regions have added to each side.
  let [movedA, movedB] = [0, 0];
  return regionsOf(a, b).flatMap((region) => {
    const base = baseLines(region);
    const [linesA, linesB] = [applied(base, region, region.a), applied(base, region, region.b)];
    const at = { a: region.from + movedA, b: region.from + movedB };
    movedA += linesA.length - base.length;
    movedB += linesB.length - base.length;
    return hunksOfRegion(partsBetween(linesA, linesB, work), at);
  });
}

const firstBaseLine = ({ oldStart, oldCount }: Hunk): number => (oldCount === 0 ? oldStart : oldStart - 1);

/** Hunks whose ranges of base lines overlap or touch belong together. */
function regionsOf(a: readonly Hunk[], b: readonly Hunk[]): readonly Region[] {
  const all = [
    ...a.map((hunk) => ({ side: 'a' as const, hunk })),
    ...b.map((hunk) => ({ side: 'b' as const, hunk })),
  ].sort((one, other) => firstBaseLine(one.hunk) - firstBaseLine(other.hunk));
  const regions: Region[] = [];
  for (const { side, hunk } of all) {
    const [from, to] = [firstBaseLine(hunk), firstBaseLine(hunk) + hunk.oldCount];
    const last = regions.at(-1);
    const region = last && from <= last.to ? last : { from, to, a: [], b: [] };
    if (region !== last) regions.push(region);
    region.to = Math.max(region.to, to);
    region[side].push(hunk);
  }
  return regions;
}

/** A line with what ends it: lines that differ only there are different. */
interface TextLine {
  readonly text: string;
  readonly noNewline: boolean;
}

const lineOf = ({ text, noNewline = false }: DiffLine): TextLine => ({ text, noNewline });
const EMPTY_LINE: TextLine = { text: '', noNewline: false };

function baseLines({ from, to, a, b }: Region): readonly TextLine[] {
  const lines: TextLine[] = Array.from({ length: to - from }, () => EMPTY_LINE);
  for (const hunk of [...a, ...b]) {
    const old = hunk.lines.filter(({ kind }) => kind !== 'added');
    for (const [nth, line] of old.entries()) {
      const at = firstBaseLine(hunk) - from + nth;
      if (at < lines.length) lines[at] = lineOf(line);
    }
  }
  return lines;
}

function applied(base: readonly TextLine[], { from }: Region, hunks: readonly Hunk[]): readonly TextLine[] {
  const after: TextLine[] = [];
  let read = 0;
  for (const hunk of hunks) {
    const start = firstBaseLine(hunk) - from;
    while (read < start) after.push(base[read++] ?? EMPTY_LINE);
    for (const line of hunk.lines) if (line.kind !== 'removed') after.push(lineOf(line));
    read = Math.max(read, start + hunk.oldCount);
  }
  while (read < base.length) after.push(base[read++] ?? EMPTY_LINE);
  return after;
}

const sameLine = (one: TextLine, other: TextLine): boolean =>
  one.text === other.text && one.noNewline === other.noNewline;

interface RegionPart {
  readonly added: boolean;
  readonly removed: boolean;
  readonly value: readonly TextLine[];
}

function partsBetween(a: readonly TextLine[], b: readonly TextLine[], work: Work): readonly RegionPart[] {
  const lines = Math.max(a.length, b.length);
  // The largest number of edits whose e (e + lines) comparisons are left.
  const most = Math.min(MAX_EDITS, Math.floor((Math.sqrt(lines ** 2 + 4 * work.left) - lines) / 2));
  const found =
    most > 0 ? diffArrays([...a], [...b], { comparator: sameLine, maxEditLength: most }) : undefined;
  const edits = found
    ? found.reduce((sum, { added, removed, value }) => sum + (added || removed ? value.length : 0), 0)
    : most;
  work.left -= edits * (edits + lines);
  return (
    found ?? [
      { removed: true, added: false, value: a },
      { removed: false, added: true, value: b },
    ]
  );
}

/** Numbered by sides: `base` is the line of the first one, `line` that of the second. */
function hunksOfRegion(
  parts: readonly RegionPart[],
  at: { readonly a: number; readonly b: number },
): readonly Hunk[] {
  const lines: DiffLine[] = [];
  let [base, now] = [at.a + 1, at.b + 1];
  for (const { added, removed, value } of parts) {
    const kind = added ? 'added' : removed ? 'removed' : 'context';
    const [old, fresh] = LINE_STEPS[kind];
    for (const { text, noNewline } of value) {
      const end = noNewline ? { noNewline: true } : {};
      lines.push({ kind, text, line: kind === 'removed' ? base : now, base, ...end });
      base += old;
      now += fresh;
    }
  }
  return hunksAround(lines);
}

/** Cuts lines into hunks with a few lines of context. */
function hunksAround(lines: readonly DiffLine[]): readonly Hunk[] {
  const changed = lines.flatMap(({ kind }, at) => (kind === 'context' ? [] : [at]));
  const ranges: { from: number; to: number }[] = [];
  for (const at of changed) {
    const last = ranges.at(-1);
    if (last && at - CONTEXT <= last.to) last.to = at + CONTEXT + 1;
    else ranges.push({ from: Math.max(0, at - CONTEXT), to: at + CONTEXT + 1 });
  }
  return ranges.map(({ from, to }) => hunkOf(lines.slice(from, to)));
}

function hunkOf(lines: readonly DiffLine[]): Hunk {
  const [first] = lines;
  const old = lines.filter(({ kind }) => kind !== 'added');
  const now = lines.filter(({ kind }) => kind !== 'removed');
  return {
    oldStart: old[0]?.base ?? Math.max(0, (first?.base ?? 1) - 1),
    oldCount: old.length,
    newStart: now[0]?.line ?? 0,
    newCount: now.length,
    heading: '',
    lines,
  };
}
