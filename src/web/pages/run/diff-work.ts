import type { Hunk } from '../../../core/patches/index.ts';

/**
 * Work that a part of a diff may cause, because candidates choose its lines. Beyond it lines are paired in order instead
 * of by likeness, and words are marked in shorter lines only. Ours: each about 0.1 s, measured with lines as costly as
 * can be; a part of ordinary code is far below.
 */
const MAX_WORK = {
  /** Pairs of lines times the square of the longest: how likeness is calculated. */
  matching: 1_500_000,
  /** Sum of the squares of the numbers of words in lines. */
  marking: 900_000,
} as const;

/** Longest lines in which changed words are marked, in UTF-16 units: the first one within the bound. */
const MARKED_LINES = [400, 200, 100, 50] as const;

interface ComparedLine {
  readonly text: string;
  readonly words: number;
}

/** Removed lines with the added ones after them: only these are compared. */
interface EditedLines {
  readonly removed: ComparedLine[];
  readonly added: ComparedLine[];
}

/** Settings of diff2html that bound its work on these lines. */
export function matchingBounds(hunks: readonly Hunk[]): {
  readonly matching: 'lines' | 'none';
  readonly maxLineLengthHighlight: number;
} {
  const changes = editsOf(hunks);
  const marking = (longest: number) =>
    changes
      .flatMap(({ removed, added }) => [...removed, ...added])
      .filter(({ text }) => text.length <= longest)
      .reduce((sum, { words }) => sum + words ** 2, 0);
  return {
    matching:
      changes.reduce((sum, change) => sum + matchingWork(change), 0) > MAX_WORK.matching ? 'none' : 'lines',
    maxLineLengthHighlight: MARKED_LINES.find((longest) => marking(longest) <= MAX_WORK.marking) ?? 0,
  };
}

const matchingWork = ({ removed, added }: EditedLines): number =>
  removed.length * added.length * Math.max(0, ...[...removed, ...added].map(({ text }) => text.length)) ** 2;

function editsOf(hunks: readonly Hunk[]): readonly EditedLines[] {
  const changes: EditedLines[] = [];
  let current: EditedLines | null = null;
  for (const { kind, text } of hunks.flatMap(({ lines }) => lines)) {
    if (kind === 'context') {
      current = null;
      continue;
    }
    if (current === null || (kind === 'removed' && current.added.length > 0)) {
      current = { removed: [], added: [] };
      changes.push(current);
    }
    current[kind].push({ text, words: wordCount(text) });
  }
  return changes.filter(({ removed, added }) => removed.length > 0 && added.length > 0);
}

/** As many parts as a comparison of words makes of it, blanks included. */
const wordCount = (text: string): number =>
  text.length > MARKED_LINES[0] ? 0 : (text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu)?.length ?? 0);
