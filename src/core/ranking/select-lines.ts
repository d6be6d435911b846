import { z } from 'zod';
import { EvaluatorNames, Weights } from '../settings/index.ts';

/** One line of answer. */
export const SelectAnswer = z.object({
  /** The request's. */
  id: z.union([z.string(), z.number()]),
  /** Id of the candidate that is picked; null where it abstains. */
  pick: z.string().nullable(),
  /** How likely the pick is right, 0 to 1, measured on patches whose outcome is known; 0 without a pick. */
  confidence: z.number().min(0).max(1),
  /** Best first. */
  ranking: z.array(
    z.object({
      id: z.string(),
      /** More is better, within one answer only. Of what was executed: logarithm of odds; otherwise agreement, 0 to 1. */
      score: z.number(),
      /** One or more sentences: why it stands here. */
      because: z.string(),
    }),
  ),
  /** What put the first before the second. */
  decidedBy: z.string(),
  /** The decision in a sentence or two. */
  because: z.string(),
  /** With `--explain`, of what was executed: evidence, ranking, decision and verdicts, and the id behind each alias. */
  explanation: z.unknown().optional(),
});
export type SelectAnswer = z.infer<typeof SelectAnswer>;

/** What a request may hold at most; a line beyond it is refused. */
const REQUEST_LIMITS = {
  candidates: 64,
  /** UTF-16 code units of one patch. */
  patch: 8 * 2 ** 20,
  statement: 2 ** 20,
} as const;

const shortText = z.string().max(1_000);

/** What somebody found out about a candidate before. Absent or null: not known. */
const Signals = z.object({
  /** The patch applies to the base. */
  applied: z.boolean().nullish(),
  /** All tests that pass on the base pass with the patch as well. */
  p2p_ok: z.boolean().nullish(),
});

export const SelectCandidate = z.object({
  id: shortText.min(1),
  patch: z.string().max(REQUEST_LIMITS.patch),
  signals: Signals.nullish(),
  /** Model family of its author: candidates of one family have one vote together. */
  family: shortText.nullish(),
});
export type SelectCandidate = z.infer<typeof SelectCandidate>;

const StoredIssue = z.union([
  z.string().max(REQUEST_LIMITS.statement),
  z.object({
    repo: shortText.nullish(),
    lang: shortText.nullish(),
    statement: z.string().max(REQUEST_LIMITS.statement).nullish(),
  }),
]);

/**
 * One line of `runoff select`. With `repoDir` and `testCommand` the candidates are executed; without, they are compared.
 * Requests come from other programs: keys that are not known here are passed over.
 */
export const SelectRequest = z
  .object({
    id: z.union([shortText, z.number()]),
    issue: StoredIssue.nullish(),
    /** Folder of a git repository that stands at the base commit. */
    repoDir: z.string().min(1).max(4_096).nullish(),
    /** A shell command that runs the tests, from the top of the repository. */
    testCommand: z.string().min(1).max(10_000).nullish(),
    /** As in `.github/auto-dev.yml`; only for what is executed. Default: `evidence`, then what the command line asks for. */
    evaluator: EvaluatorNames.nullish(),
    weights: Weights.nullish(),
    candidates: z.array(SelectCandidate).max(REQUEST_LIMITS.candidates),
  })
  .refine(({ candidates }) => new Set(candidates.map(({ id }) => id)).size === candidates.length, {
    message: 'Two candidates have the same id.',
    path: ['candidates'],
  });
export type SelectRequest = z.infer<typeof SelectRequest>;

/** The text of an issue, whichever form it came in; empty where there is none. */
export const statementOf = ({ issue }: SelectRequest): string =>
  typeof issue === 'string' ? issue : (issue?.statement ?? '');
