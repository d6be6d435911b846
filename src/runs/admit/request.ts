import { z } from 'zod';
import { priorityOf, type Sha, type Task } from '../../core/model/index.ts';
import type { Refusal } from '../../core/reports/index.ts';
import { CoderSetting, EVALUATORS } from '../../core/settings/index.ts';
import type { QueueEntry, RunRecord } from '../../ports/index.ts';
import { repositoryKeyOf, type World } from '../context.ts';

/** Where the task starts and what was said about it, before settings are known. */
export interface Gathered {
  readonly kind: 'gathered';
  readonly base: Task['base'];
  readonly comments: Task['comments'];
  /** What was said and not taken, because of a limit: a sentence each. */
  readonly leftOut: readonly string[];
  /** Commit whose settings and instructions hold. */
  readonly rules: Sha;
  /** Absent: the request's own text is the task. */
  readonly text?: Pick<Task, 'title' | 'body'>;
}

export interface Refused {
  readonly kind: 'refused';
  readonly refusal: Refusal;
}

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

/** Puts a run that may start into the line, where everybody can see it, and says where it stands in there. */
export async function enqueue(
  world: Pick<World, 'store' | 'clock'>,
  { origin, state }: RunRecord,
  request: RunRequest,
): Promise<QueueEntry> {
  const asked = origin.kind === 'local' ? 'local' : (request.trigger ?? 'label');
  const line: QueueEntry = {
    share: repositoryKeyOf(origin),
    priority: priorityOf(asked),
    since: request.triggeredAt,
  };
  if (origin.kind === 'github' && state === 'queued')
    await world.store.updateRun(request.runId, { line }, world.clock.now());
  return line;
}
