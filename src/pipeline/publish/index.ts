import type { RunId, Task } from '../../core/model/index.ts';
import type { FlowContext, RunOutcome } from '../../ports/index.ts';
import { type FaultData, faultOf, type Guarded, guard, type StageRunner } from '../guard.ts';
import { loadRun, loadTask } from '../task.ts';
import type { World } from '../world.ts';
import { commitCandidates } from './commits.ts';
import { leaveBranches } from './local.ts';
import { publishPull, publishTable } from './on-github.ts';

export { openAnnouncer } from './announcer.ts';

/** Waits between tries while GitHub is unavailable, milliseconds. Every write is made once however often we try. */
const WAITS_MS = [5_000, 30_000, 120_000, 600_000];

/** Brings the result to where its users look; tries again while GitHub does not answer. */
export async function publish(
  world: World,
  context: FlowContext,
  runId: RunId,
  stage: StageRunner,
): Promise<Guarded<'published'>> {
  for (const [attempt, wait] of [...WAITS_MS, 0].entries()) {
    const name = attempt === 0 ? 'publish' : `publish again ${attempt}`;
    const done = await stage(name, () => publishOnce(world, runId));
    if (done.kind === 'ok' || faultOf(done.fault).retry !== 'later' || wait === 0) return done;
    await context.step(`wait ${attempt}`, (signal) => world.clock.sleep(wait, signal));
  }
  throw new Error('The last try returns.');
}

async function publishOnce(world: World, runId: RunId): Promise<'published'> {
  const run = await loadRun(world, runId);
  if (run.state === 'published') return 'published';
  await world.store.markStage(runId, 'publish', 'start', world.clock.now());
  const outcome = await leave(world, await loadTask(world, runId));
  await world.store.updateRun(runId, { outcome }, world.clock.now());
  await world.store.markStage(runId, 'publish', 'end', world.clock.now());
  await world.store.transition(runId, 'published', 'the result is where its users look', world.clock.now());
  await world.announcer.finish(runId);
  return 'published';
}

async function leave(world: World, task: Task): Promise<RunOutcome> {
  const commits = await commitCandidates(world, task);
  const { origin } = task;
  if (origin.kind === 'local') return leaveBranches(world, task, origin, commits);
  const { decision } = await loadRun(world, task.runId);
  return decision?.kind === 'winner'
    ? publishPull(world, task, origin, commits, decision.alias)
    : publishTable(world, task, origin, commits);
}

/** Ends a run that met a fault: the record is kept, its areas are removed, and it is said where people look. */
export async function conclude(
  world: World,
  context: FlowContext,
  runId: RunId,
  fault: FaultData,
): Promise<'failed'> {
  await context.step('conclude', () =>
    guard(world, 'conclude', async () => {
      const { advice } = faultOf(fault);
      await world.store.updateRun(runId, { trouble: { ...fault, advice } }, world.clock.now());
      await world.store.transition(runId, 'failed', fault.message, world.clock.now());
      await world.announcer.finish(runId);
      return null;
    }),
  );
  return 'failed';
}
