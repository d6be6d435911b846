import { pickOf } from '../../core/decision/index.ts';
import { isOver } from '../../core/lifecycle/index.ts';
import type { RunId, Task } from '../../core/model/index.ts';
import type { FlowContext, RunOutcome } from '../../ports/index.ts';
import { type FaultData, faultOf, guard, stopIfCancelled } from '../guard.ts';
import { loadRun, loadTask } from '../task.ts';
import type { World } from '../world.ts';
import { commitCandidates } from './commits.ts';
import { leaveBranches } from './local.ts';
import { publishChoice, publishPull, publishTable } from './on-github.ts';

export { openAnnouncer, statusUrl, unsaidSince } from './announcer.ts';
export { deleteLosers } from './desk.ts';
export {
  type Applied,
  applyPick,
  loadOnGitHub,
  type OnGitHubRun,
  refreshTally,
  releaseCi,
  whyNotOurs,
} from './pick.ts';
export { choiceTexts, writtenComparison } from './show.ts';

/** Brings the result to where its users look. Every write is made once, however often this is repeated. */
export async function publish(world: World, runId: RunId, signal: AbortSignal): Promise<'published'> {
  const run = await loadRun(world, runId);
  if (!isOver(run.state)) {
    await world.store.markStage(runId, 'publish', 'start', world.clock.now());
    const outcome = await leave(world, await loadTask(world, runId), signal);
    await world.store.updateRun(runId, { outcome }, world.clock.now());
    await world.store.markStage(runId, 'publish', 'end', world.clock.now());
    stopIfCancelled(signal);
    await conclusion(world, runId);
  }
  await finish(world, runId);
  return 'published';
}

/** Where evidence does not decide, a person does, who may take as long as they like: nothing is held meanwhile. */
async function conclusion(world: World, runId: RunId): Promise<void> {
  const { origin, decision, outcome } = await loadRun(world, runId);
  const asks = origin.kind === 'github' && decision?.kind === 'toss-up' && outcome?.kind === 'table';
  const [state, cause] = asks
    ? (['awaiting_pick', 'a person must pick'] as const)
    : (['published', 'the result is where its users look'] as const);
  await world.store.transition(runId, state, cause, world.clock.now());
}

async function leave(world: World, task: Task, signal: AbortSignal): Promise<RunOutcome> {
  const commits = await commitCandidates(world, task, signal);
  const { origin } = task;
  stopIfCancelled(signal);
  if (origin.kind === 'local') return leaveBranches(world, task, origin, commits);
  const { decision } = await loadRun(world, task.runId);
  const desk = { world, task, origin, commits, signal };
  if (decision?.kind === 'toss-up') return publishChoice(desk);
  const pick = pickOf(decision);
  return pick === null ? publishTable(desk) : publishPull(desk, pick);
}

/** Says the end of a run where people look, and removes what its coders and checks left on this disk. */
async function finish(world: World, runId: RunId): Promise<void> {
  await world.announcer.finish(runId);
  await world.workspaces.sweep((id) => !id.startsWith(`${runId}-`));
}

/**
 * Ends a run that met a fault: its record is kept and it is said where people look, unless nobody with the right to
 * ask for the run is known yet (`quietly`).
 */
export async function conclude(
  world: World,
  context: FlowContext,
  runId: RunId,
  fault: FaultData,
  how: 'aloud' | 'quietly' = 'aloud',
): Promise<'failed'> {
  await context.step('conclude', (signal) =>
    guard(world, 'conclude', signal, () => fail(world, runId, fault, how)),
  );
  return 'failed';
}

/** The fault as the run's end. */
export async function fail(
  world: World,
  runId: RunId,
  fault: FaultData,
  how: 'aloud' | 'quietly' = 'aloud',
): Promise<null> {
  const { advice } = faultOf(fault);
  await world.store.updateRun(runId, { trouble: { ...fault, advice } }, world.clock.now());
  await world.store.transition(runId, 'failed', fault.message, world.clock.now());
  if (how === 'aloud') await finish(world, runId);
  return null;
}
