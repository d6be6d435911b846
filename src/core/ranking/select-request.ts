import { z } from 'zod';
import { EvaluatorNames, Weights } from '../settings/index.ts';

/** One line of output. */
export const SelectAnswer = z.object({
  /** Copied from the request. */
  id: z.union([z.string(), z.number()]),
  /** Id of the picked candidate; null for no pick. */
  pick: z.string().nullable(),
  /** Probability that the pick is right, 0 to 1, calibrated on patches with known outcome; 0 without a pick. */
  confidence: z.number().min(0).max(1),
  /** Best first. */
  ranking: z.array(
    z.object({
      id: z.string(),
      /** Higher is better; comparable within one answer only. Log-odds after execution, otherwise agreement, 0 to 1. */
      score: z.number(),
      /** The reason for its place, in one or more sentences. */
      because: z.string(),
    }),
  ),
  /** What separated the first from the second. */
  decidedBy: z.string(),
  /** The decision in one or two sentences. */
  because: z.string(),
  /** With `--explain` after execution: evidence, ranking, decision and verdicts, and the id of each alias. */
  explanation: z.unknown().optional(),
});
export type SelectAnswer = z.infer<typeof SelectAnswer>;

/** Limits of a request; a line that exceeds them is rejected. */
const REQUEST_LIMITS = {
  candidates: 64,
  /** UTF-16 code units of one patch. */
  patch: 8 * 2 ** 20,
  statement: 2 ** 20,
} as const;

const shortText = z.string().max(1_000);

/** Known facts about a candidate. Absent or null: unknown. */
const Signals = z.object({
  /** The patch applies to the base. */
  applied: z.boolean().nullish(),
  /** All tests that pass on the base also pass with the patch. */
  p2p_ok: z.boolean().nullish(),
});

export const SelectCandidate = z.object({
  id: shortText.min(1),
  patch: z.string().max(REQUEST_LIMITS.patch),
  signals: Signals.nullish(),
  /** Model family of its author: candidates of one family share one vote. */
  family: shortText.nullish(),
});
export type SelectCandidate = z.infer<typeof SelectCandidate>;

const IssueParts = z.object({
  repo: shortText.nullish(),
  lang: shortText.nullish(),
  statement: z.string().max(REQUEST_LIMITS.statement).nullish(),
});

const StoredIssue = z.union([z.string().max(REQUEST_LIMITS.statement), IssueParts]);

/**
 * One input line of `runoff select`. With `repoDir` the candidates are executed, and with `testCommand` tested too;
 * otherwise their texts are compared. Requests come from other programs, so unknown keys are ignored.
 */
export const SelectRequest = z
  .object({
    id: z.union([shortText, z.number()]),
    issue: StoredIssue.nullish(),
    /** Folder of a git repository at the base commit. */
    repoDir: z.string().min(1).max(4_096).nullish(),
    /** A shell command that runs the tests, executed at the top of the repository. */
    testCommand: z.string().min(1).max(10_000).nullish(),
    /**
     * As in `.github/auto-dev.yml`; used for execution only. Default: `evidence`, then the strategies of the command
     * line.
     */
    evaluator: EvaluatorNames.nullish(),
    weights: Weights.nullish(),
    candidates: z.array(SelectCandidate).max(REQUEST_LIMITS.candidates),
  })
  .refine(({ candidates }) => new Set(candidates.map(({ id }) => id)).size === candidates.length, {
    message: 'Two candidates have the same id.',
    path: ['candidates'],
  });
export type SelectRequest = z.infer<typeof SelectRequest>;

/**
 * The keys that are ignored, of a valid request and inside it, such as `candidates.singals`; one of them may be misspelt.
 */
export function unknownKeysOf(request: object): readonly string[] {
  const { candidates, issue } = request as Pick<SelectRequest, 'candidates' | 'issue'>;
  const inside = candidates.flatMap((one) => [
    ...unknownIn(one, SelectCandidate.shape, 'candidates.'),
    ...unknownIn(one.signals, Signals.shape, 'candidates.signals.'),
  ]);
  const ofIssue = typeof issue === 'string' ? [] : unknownIn(issue, IssueParts.shape, 'issue.');
  return [...new Set([...unknownIn(request, SelectRequest.shape, ''), ...ofIssue, ...inside])];
}

const unknownIn = (given: object | null | undefined, known: object, at: string): readonly string[] =>
  Object.keys(given ?? {}).flatMap((key) => (Object.hasOwn(known, key) ? [] : [`${at}${key}`]));

/** The text of an issue in any of its forms; empty for none. */
export const statementOf = ({ issue }: SelectRequest): string =>
  typeof issue === 'string' ? issue : (issue?.statement ?? '');
