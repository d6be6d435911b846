import { z } from 'zod';
import { CoderSetting, EVALUATORS } from '../../core/policy/index.ts';

/** What the command line, or a command on GitHub, sets over the repository's settings; the operator's ceilings still apply. */
export const Overrides = z.strictObject({
  candidates: z.number().int().min(1).optional(),
  coders: z.array(CoderSetting).min(1).optional(),
  evaluator: z.array(z.enum(EVALUATORS)).min(1).optional(),
  timeoutSeconds: z.number().int().positive().optional(),
  budgetUsd: z.number().positive().optional(),
  /** Whether anybody is there to be asked. */
  ask: z.boolean().optional(),
});
export type Overrides = z.infer<typeof Overrides>;

const Ref = z.object({ sha256: z.string(), bytes: z.number() });

/** What a run is started with: the engine keeps it, so it is plain JSON and small. */
export const RunRequest = z.strictObject({
  runId: z.string(),
  /** The task's text as it was at the trigger: later edits are not read (I5). */
  text: z.strictObject({ title: z.string(), body: Ref }),
  /** Milliseconds since 1970 UTC; comments written or edited after it are not read. */
  triggeredAt: z.number(),
  /** Branch, tag or commit to start from; absent: the default branch, or what is checked out. */
  base: z.string().optional(),
  overrides: Overrides.default({}),
  /** Local runs: the digest of the exposed checks that the person who starts the run has agreed to. */
  trustedChecks: z.string().optional(),
  /** What started it on GitHub; absent for a local run. */
  trigger: z.enum(['label', 'command']).optional(),
  /**
   * `again`: this candidate's contestant is tried once more beside what the candidates of `run` left, on that run's base
   * commit.
   */
  carry: z.strictObject({ run: z.string(), again: z.string() }).optional(),
});
export type RunRequest = z.infer<typeof RunRequest>;
