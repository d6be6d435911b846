/** What a line of a unified diff is. `header`: whatever stands outside of hunks; `hunk`: the line that begins one. */
export type DiffLineKind = 'header' | 'hunk' | 'added' | 'removed' | 'context';

const LINE_COUNTS = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

/**
 * The kinds of the lines of a unified diff. Those of a hunk are counted as its first line says, because their text can
 * look like a header: a removed line `-- x` is `--- x`. A hunk that is cut off ends at the next line that it cannot
 * contain.
 */
export function diffLineKinds(lines: readonly string[]): readonly DiffLineKind[] {
  let oldLeft = 0;
  let newLeft = 0;
  return lines.map((line) => {
    const mark = line[0] ?? ' ';
    if ((oldLeft <= 0 && newLeft <= 0 && mark !== '\\') || !HUNK_MARKS.has(mark)) {
      if (!line.startsWith('@@')) {
        [oldLeft, newLeft] = [0, 0];
        return 'header';
      }
      // Models write hunks without numbers: they end with the first line that no hunk can contain.
      const [whole, old = '1', now = '1'] = LINE_COUNTS.exec(line) ?? [];
      const unknown = whole === undefined ? Number.POSITIVE_INFINITY : 0;
      [oldLeft, newLeft] = [unknown || Number(old), unknown || Number(now)];
      return 'hunk';
    }
    if (mark !== '+' && mark !== '\\') oldLeft -= 1;
    if (mark !== '-' && mark !== '\\') newLeft -= 1;
    return mark === '+' ? 'added' : mark === '-' ? 'removed' : 'context';
  });
}
const HUNK_MARKS: ReadonlySet<string> = new Set(['+', '-', ' ', '\\']);
