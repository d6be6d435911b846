import { z } from 'zod';

/** What a request may hold at most; a line beyond it is refused. */
export const REQUEST_LIMITS = {
  candidates: 64,
  /** UTF-16 code units of one patch. */
  patch: 8 * 2 ** 20,
  statement: 2 ** 20,
} as const;

const short = z.string().max(1_000);

/** What somebody found out about a candidate before. Absent or null: not known. */
const Signals = z.object({
  /** The patch applies to the base. */
  applied: z.boolean().nullish(),
  /** All tests that pass on the base pass with the patch as well. */
  p2p_ok: z.boolean().nullish(),
});

export const SelectCandidate = z.object({
  id: short.min(1),
  patch: z.string().max(REQUEST_LIMITS.patch),
  signals: Signals.nullish(),
  /** Model family of its author: candidates of one family have one vote together. */
  family: short.nullish(),
});
export type SelectCandidate = z.infer<typeof SelectCandidate>;

const Issue = z.union([
  z.string().max(REQUEST_LIMITS.statement),
  z.object({
    repo: short.nullish(),
    lang: short.nullish(),
    statement: z.string().max(REQUEST_LIMITS.statement).nullish(),
  }),
]);

/**
 * One line of `runoff select`. With `repoDir` and `testCommand` the candidates are executed; without, they are compared.
 * Requests come from other programs: keys that are not known here are passed over.
 */
export const SelectRequest = z
  .object({
    id: z.union([short, z.number()]),
    issue: Issue.nullish(),
    /** Folder of a git repository that stands at the base commit. */
    repoDir: z.string().min(1).max(4_096).nullish(),
    /** A shell command that runs the tests, from the top of the repository. */
    testCommand: z.string().min(1).max(10_000).nullish(),
    candidates: z.array(SelectCandidate).max(REQUEST_LIMITS.candidates),
  })
  .refine(({ candidates }) => new Set(candidates.map(({ id }) => id)).size === candidates.length, {
    message: 'Two candidates have the same id.',
    path: ['candidates'],
  });
export type SelectRequest = z.infer<typeof SelectRequest>;

/** What is read of a request that is answered without executing anything. */
export type StoredRequest = Pick<SelectRequest, 'id' | 'candidates'>;

/** The text of an issue, whichever form it came in; empty where there is none. */
export const statementOf = ({ issue }: SelectRequest): string =>
  typeof issue === 'string' ? issue : (issue?.statement ?? '');
