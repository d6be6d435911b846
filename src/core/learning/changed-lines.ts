import type { Patch } from '../patches/index.ts';

type ChangedFiles = Patch['files'];
/** How often each line is added or removed in each file; the place in the file does not count. */
type Lines = ReadonlyMap<string, number>;

function countedLines(files: ChangedFiles, added: '+' | '-' = '+'): Lines {
  const removed = added === '+' ? '-' : '+';
  const found = new Map<string, number>();
  for (const { path, binary, hunks, change } of files) {
    const lines = binary
      ? [[path, change]]
      : hunks
          .flatMap((hunk) => hunk.lines)
          .filter(({ kind }) => kind !== 'context')
          .map(({ kind, text }) => [path, kind === 'added' ? added : removed, text]);
    for (const line of lines) {
      const key = JSON.stringify(line);
      found.set(key, (found.get(key) ?? 0) + 1);
    }
  }
  return found;
}

const total = (lines: Lines): number => [...lines.values()].reduce((sum, count) => sum + count, 0);

const inBoth = (one: Lines, other: Lines): number =>
  [...one].reduce((sum, [line, count]) => sum + Math.min(count, other.get(line) ?? 0), 0);

/**
 * Lines that a merged change has more or fewer than the candidate's, in the candidate's files, as a share of the
 * candidate's lines; at most 1. Both are changes against their own base, so that what else went to the base meanwhile
 * is no edit.
 */
export function editedShare(candidate: ChangedFiles, merged: ChangedFiles): number {
  const paths = new Set(candidate.map(({ path }) => path));
  const [own, theirs] = [countedLines(candidate), countedLines(merged.filter(({ path }) => paths.has(path)))];
  const edited = total(own) + total(theirs) - 2 * inBoth(own, theirs);
  return Math.min(1, edited / Math.max(1, total(own)));
}

/** The share of the lines of a merged candidate that a commit takes back, or puts back, at least; our default. */
const LEAST_SHARE = 0.5;

/**
 * Whether a commit takes back a candidate's change, or puts it back: at least half of the lines that were left of it
 * at its merge. Null: neither.
 */
export function effectOn(
  candidate: ChangedFiles,
  commit: ChangedFiles,
  edited: number | null,
): 'takes back' | 'puts back' | null {
  const own = countedLines(candidate);
  const least = Math.max(1, LEAST_SHARE * (1 - (edited ?? 0)) * total(own));
  const [back, again] = [inBoth(own, countedLines(commit, '-')), inBoth(own, countedLines(commit))];
  if (Math.max(back, again) < least) return null;
  return back > again ? 'takes back' : 'puts back';
}
