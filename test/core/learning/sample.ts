import type { CandidateOutcome } from '../../../src/core/learning/index.ts';

/** A candidate's outcome as a run leaves it: it survived, and nothing else is known. */
export const outcome = (over: Partial<CandidateOutcome> = {}): CandidateOutcome => ({
  runId: 'r1',
  alias: 'A',
  repository: 'github-42',
  repositoryName: 'acme/shop',
  at: 1_000,
  agent: 'builtin',
  model: 'anthropic/claude-sonnet-5',
  prompt: 'plain',
  round: null,
  kind: 'bug',
  language: 'js',
  size: 'small',
  survived: true,
  regressions: 0,
  change: over.alias ?? 'A',
  first: null,
  chance: 0.9,
  pick: null,
  shown: false,
  pull: null,
  usd: 0.2,
  ms: 60_000,
  ...over,
});

export const merged = (over: Partial<NonNullable<CandidateOutcome['pull']>> = {}) => ({
  pull: { state: 'merged' as const, edited: 0, revertedAt: null, ...over },
});

export const MODELS = {
  claude: 'anthropic/claude-sonnet-5',
  gpt: 'openai/gpt-6-sol',
  gemini: 'google/gemini-3.1-pro-preview',
} as const;

/** One run in which these contestants (by model) took part, and this one won by a person's pick. */
export function run(
  number: number,
  models: readonly string[],
  winner: string | null,
  over: Partial<CandidateOutcome> = {},
): readonly CandidateOutcome[] {
  return models.map((model, i) => {
    const alias = String.fromCharCode(65 + i);
    return outcome({
      runId: `r${String(number).padStart(5, '0')}`,
      at: number,
      alias,
      model,
      pick: winner === null ? 'none' : model === winner ? 'this' : 'other',
      first: i === 0 ? 'likely' : null,
      ...over,
    });
  });
}
