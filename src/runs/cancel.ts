import { isOver } from '../core/lifecycle/index.ts';
import type { RunId } from '../core/model/index.ts';
import { loadRun } from './task.ts';
import type { World } from './world.ts';

/** Stops a run: no further step starts, coders are killed, what exists is kept. False when it was over already. */
export async function cancelRun(world: World, runId: RunId, cause: string): Promise<boolean> {
  const run = await loadRun(world, runId);
  if (isOver(run.state)) return false;
  await world.engine.cancel(runId);
  const state = await world.store.transition(runId, 'cancelled', cause, world.clock.now());
  for (const { alias } of await world.store.candidates(runId)) {
    // Read again right before: one that has just ended keeps its patch.
    const candidate = (await world.store.candidates(runId)).find((c) => c.alias === alias);
    if (candidate && (candidate.state === 'queued' || candidate.state === 'coding')) {
      await world.store.putCandidate({ ...candidate, state: 'cancelled', note: 'cancelled' });
    }
  }
  await world.announcer.finish(runId);
  return state === 'cancelled';
}

/** A person need not pick any more; the comparison stays. False when the run does not wait for a pick. */
export async function closeUnpicked(world: World, runId: RunId, cause: string): Promise<boolean> {
  const run = await loadRun(world, runId);
  if (run.state !== 'awaiting_pick') return false;
  await world.store.transition(runId, 'closed', cause, world.clock.now());
  await world.announcer.finish(runId);
  return true;
}
