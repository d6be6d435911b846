import { z } from 'zod';
import { type Alias, NO_USAGE, type RunId } from '../../core/model/index.ts';
import { assignAliases } from '../../core/policy/index.ts';
import type { ChildInput, ChildResult, FlowContext } from '../../ports/index.ts';
import { contestantsOf } from '../field.ts';
import type { Guarded, StageRunner } from '../guard.ts';
import { loadTask, prepareBase, repositoryOf } from '../task.ts';
import type { World } from '../world.ts';
import { writeCandidate } from './supervise.ts';

export { COLLECTING } from './supervise.ts';

export const CandidateInput = z.strictObject({ runId: z.string(), alias: z.string() });
export type CandidateInput = z.infer<typeof CandidateInput>;

/** Lets every contestant write its candidate, side by side, and waits for all of them. */
export async function code(
  world: World,
  context: FlowContext,
  runId: RunId,
  stage: StageRunner,
): Promise<Guarded<'coded'>> {
  const lined = await stage('contestants', (signal) => lineUp(world, runId, signal));
  if (lined.kind === 'fault') return lined;
  const results = await context.fanOut<null>(lined.value);
  return stage('code', () => closeStage(world, runId, lined.value, results));
}

/** One candidate's own flow: a single step, so that a finished candidate is never coded twice. */
export async function codeOne(world: World, context: FlowContext, input: CandidateInput): Promise<null> {
  return context.step('write', async (signal) => {
    await writeCandidate(world, input.runId, input.alias, signal);
    return null;
  });
}

/** Gives each contestant an alias that says nothing about it, and prepares the checkout they all start from. */
async function lineUp(world: World, runId: RunId, signal: AbortSignal): Promise<readonly ChildInput[]> {
  await world.store.markStage(runId, 'code', 'start', world.clock.now());
  const task = await loadTask(world, runId);
  await prepareBase(world, task, { signal });
  const field = contestantsOf(world, task.settings);
  const aliases = assignAliases(runId, field.length);
  const known = new Set((await world.store.candidates(runId)).map((c) => c.alias));
  const inputs: ChildInput[] = [];
  for (const [ordinal, contestant] of field.entries()) {
    const alias = aliases[ordinal] as Alias;
    if (!known.has(alias)) {
      const fresh = { runId, alias, ordinal, contestant, usage: NO_USAGE, ms: 0 };
      await world.store.putCandidate({ ...fresh, state: 'queued', note: 'waits for a place' });
    }
    inputs.push({
      key: alias,
      partition: repositoryOf(task.origin),
      input: { runId, alias } satisfies CandidateInput,
    });
  }
  world.announcer.soon(runId);
  return inputs;
}

async function closeStage(
  world: World,
  runId: RunId,
  inputs: readonly ChildInput[],
  results: readonly ChildResult<null>[],
): Promise<'coded'> {
  const candidates = await world.store.candidates(runId);
  for (const [i, result] of results.entries()) {
    const candidate = candidates.find((c) => c.alias === inputs[i]?.key);
    if (
      result.kind === 'failed' &&
      candidate &&
      candidate.state !== 'coded' &&
      candidate.state !== 'failed'
    ) {
      await world.store.putCandidate({
        ...candidate,
        state: 'failed',
        note: `stopped by a fault: ${result.why}`,
      });
    }
  }
  await world.store.markStage(runId, 'code', 'end', world.clock.now());
  await world.store.transition(runId, 'coded', 'every coder has ended', world.clock.now());
  world.announcer.soon(runId);
  return 'coded';
}
