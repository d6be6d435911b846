/** The static score: never below 0, at most 120. */
interface StaticScore {
  readonly score: number;
  /** Each deduction and each bonus as a sentence, in the order of the rules. */
  readonly because: readonly string[];
}

/**
 * A score of the patch's form alone: size, files, headers, commit message, balance. Starts at 100. On patches with
 * known outcome it selects no better than chance, so it is for comparison only and never the default. The points are
 * Runoff's own; counting follows single-shot tools (MultiplAI, `packages/api/src/core/consensus.ts`): all lines of
 * the diff with context and headers, added lines by `^\+[^+]`, removed ones by `^-[^-]`.
 */
export function staticScore(patchText: string, commitMessage?: string): StaticScore {
  const shape = shapeOf(patchText);
  const rules = [...sizeRules(shape), ...formRules(shape, commitMessage?.trim() ?? '')];
  const held = rules.filter(([holds]) => holds);
  return {
    score: Math.max(
      0,
      held.reduce((score, [, points]) => score + points, 100),
    ),
    because: held.map(([, points, why]) => `${points > 0 ? '+' : '−'}${Math.abs(points)}: ${why}.`),
  };
}

/** Whether it applies, its points, and why. */
type ScoreRule = readonly [holds: boolean, points: number, why: string];

interface PatchShape {
  /** All lines of the text. */
  readonly lines: number;
  readonly additions: number;
  readonly deletions: number;
  readonly files: number;
  readonly hunkHeader: boolean;
  readonly fileHeader: boolean;
}

function shapeOf(text: string): PatchShape {
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  return {
    lines: text.split('\n').length,
    additions: count(/^\+[^+]/gm),
    deletions: count(/^-[^-]/gm),
    files: count(/^diff --git /gm) || count(/^\+\+\+ /gm),
    hunkHeader: text.includes('@@'),
    fileHeader: text.includes('---') && text.includes('+++'),
  };
}

function sizeRules({ lines, additions, deletions, files }: PatchShape): readonly ScoreRule[] {
  return [
    [lines > 200, -20, `${lines} lines of diff, more than 200`],
    [lines > 300, -30, `${lines} lines of diff, more than 300`],
    [lines < 50, 10, `${lines} lines of diff, fewer than 50`],
    [files > 5, -15, `${files} files, more than 5`],
    [files === 1, 10, '1 file'],
    [deletions > 3 * additions, -20, `${deletions} lines deleted, more than 3 times the ${additions} added`],
  ];
}

function formRules({ hunkHeader, fileHeader }: PatchShape, message: string): readonly ScoreRule[] {
  const length = [...message].length;
  return [
    [!hunkHeader, -50, 'no hunk header (`@@`)'],
    [!fileHeader, -50, 'no file header (`---` and `+++`)'],
    [length === 0, -30, 'no commit message'],
    [length > 0 && length < 10, -10, `a commit message of ${length} characters, shorter than 10`],
  ];
}
