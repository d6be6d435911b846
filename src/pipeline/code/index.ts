import { z } from 'zod';
import type { Alias, RunId } from '../../core/model/index.ts';
import { assignAliases } from '../../core/policy/index.ts';
import type { ChildInput, FlowContext } from '../../ports/index.ts';
import { contestantsOf } from '../field.ts';
import { type Guarded, patiently, type StageRunner } from '../guard.ts';
import { loadTask, prepareBase } from '../task.ts';
import type { World } from '../world.ts';
import { lineUpAgain } from './again.ts';
import { closeStage, lineUp } from './line-up.ts';
import { writeCandidate } from './supervise.ts';

export { sayEnough } from './enough.ts';
export { codeFurther } from './further.ts';
export { COLLECTING } from './supervise.ts';

export const CandidateInput = z.strictObject({ runId: z.string(), alias: z.string() });
export type CandidateInput = z.infer<typeof CandidateInput>;

/** Whose coders work; `carry`: one contestant of an earlier run once more, beside what the others of it wrote. */
export interface Work {
  readonly runId: RunId;
  readonly carry?: { readonly run: RunId; readonly again: Alias } | undefined;
}

/** Looks on while coders work, until `over` says that they have all ended. */
export type Watch = (over: () => boolean, signal: AbortSignal) => Promise<null>;

/**
 * Lets every contestant write its candidate, side by side, and waits for all of them. `watch` goes on meanwhile where the
 * settings let coders be stopped early.
 */
export async function code(
  world: World,
  context: FlowContext,
  work: Work,
  stage: StageRunner,
  watch: Watch,
): Promise<Guarded<'coded'>> {
  const { runId } = work;
  const lined = await stage('contestants', (signal) => lineUpField(world, work, signal));
  if (lined.kind === 'fault') return lined;
  const { inputs, watched } = lined.value;
  let over = false;
  // Begun before the coders, so that a replay counts the steps in the same order. What it meets stops nobody.
  const watching = watched ? stage('watch', (signal) => watch(() => over, signal)) : null;
  const coding = context.fanOut<null>(inputs).finally(() => {
    over = true;
  });
  const [results] = await Promise.all([coding, watching]);
  return stage('code', () => closeStage(world, runId, inputs, results));
}

/** One candidate's own flow: a single step, so that a finished candidate is never coded twice. */
export async function codeOne(world: World, context: FlowContext, input: CandidateInput): Promise<null> {
  return context.step('write', async (signal) => {
    // Whoever starts over finds what its models said already.
    await patiently(world, signal, () => writeCandidate(world, input.runId, input.alias, signal));
    return null;
  });
}

/** Two who agree can only spare a third one its work. */
const FEWEST_WATCHED = 3;

/** Gives each contestant an alias that says nothing about it, and prepares the checkout they all start from. */
async function lineUpField(
  world: World,
  { runId, carry }: Work,
  signal: AbortSignal,
): Promise<{ readonly inputs: readonly ChildInput[]; readonly watched: boolean }> {
  await world.store.markStage(runId, 'code', 'start', world.clock.now());
  const task = await loadTask(world, runId);
  const base = await prepareBase(world, task, { signal });
  if (carry) return { inputs: await lineUpAgain(world, task, base, carry, signal), watched: false };
  const field = contestantsOf(world, task.settings);
  const aliases = assignAliases(runId, field.length);
  const places = field.map((contestant, ordinal) => ({
    alias: aliases[ordinal] as Alias,
    ordinal,
    contestant,
  }));
  const watched = task.settings.adaptive.stopEarly && field.length >= FEWEST_WATCHED;
  return { inputs: await lineUp(world, task, places), watched };
}
