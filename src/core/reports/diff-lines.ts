/** What a line of a unified diff is. `header`: whatever stands outside of hunks; `hunk`: the line that begins one. */
export type DiffLineKind = 'header' | 'hunk' | 'added' | 'removed' | 'context';

/**
 * The kinds of the lines of a unified diff. Those of a hunk are counted as its first line says, because their text can
 * look like a header: a removed line `-- x` is `--- x`. A hunk that is cut off ends at the next line that it cannot
 * contain.
 */
export function diffLineKinds(lines: readonly string[]): readonly DiffLineKind[] {
  let left = NOTHING_LEFT;
  return lines.map((line) => {
    const mark = line[0] ?? ' ';
    if (isWithinHunk(left, mark)) {
      left = {
        old: left.old - (mark === ' ' || mark === '-' ? 1 : 0),
        new: left.new - (mark === ' ' || mark === '+' ? 1 : 0),
      };
      return KIND_OF_MARK[mark] ?? 'context';
    }
    left = line.startsWith('@@') ? linesOfHunk(line) : NOTHING_LEFT;
    return line.startsWith('@@') ? 'hunk' : 'header';
  });
}

/** How many lines of the old and of the new file a hunk still has. */
type LinesLeft = { readonly old: number; readonly new: number };
const NOTHING_LEFT: LinesLeft = { old: 0, new: 0 };
const KIND_OF_MARK: Readonly<Record<string, DiffLineKind>> = {
  '+': 'added',
  '-': 'removed',
  ' ': 'context',
  '\\': 'context',
};

/** The note that a file ends without a new line belongs to the hunk whose last line it follows. */
function isWithinHunk(left: LinesLeft, mark: string): boolean {
  return mark in KIND_OF_MARK && (left.old > 0 || left.new > 0 || mark === '\\');
}

/** Models write hunks without numbers: those end with the first line that no hunk can contain. */
function linesOfHunk(line: string): LinesLeft {
  const counts = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
  if (counts === null) return { old: Number.POSITIVE_INFINITY, new: Number.POSITIVE_INFINITY };
  return { old: Number(counts[1] ?? 1), new: Number(counts[2] ?? 1) };
}
