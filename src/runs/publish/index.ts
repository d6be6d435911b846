import { asFault, isOver, type LocalOrigin, type RunId, type Task } from '../../core/model/index.ts';
import { pickOf } from '../../core/ranking/index.ts';
import { localBranch } from '../../core/reports/index.ts';
import type { FlowContext, RunOutcome, RunRecord } from '../../ports/index.ts';
import { loadRun, taskOf, type World } from '../context.ts';
import {
  type FaultData,
  faultOf,
  PUBLISHING_WAITS_MS,
  type RunContext,
  retryOutages,
  type StagePorts,
  stagesOf,
  throwIfCancelled,
  UNLIMITED,
} from '../stage.ts';
import { type CommitPorts, type Commits, commitCandidates } from './branches.ts';
import { withPublisher } from './context.ts';
import {
  publishChoice,
  publishPull,
  publishTable,
  publishTableOfDamaged,
  storeOutcome,
} from './on-github.ts';

export { whyNotOurs } from './advance.ts';
export { leaveWait, openAnnouncer, statusUrl, unannouncedSince } from './announcer.ts';
export type { CommitPorts } from './branches.ts';
export { choiceTexts, writtenComparison } from './comments.ts';
export { deleteUnusedBranches, type PublishPorts } from './context.ts';
export {
  announceEnding,
  applyPick,
  endWaitForPick,
  loadOnGitHub,
  refreshTally,
  releaseCi,
} from './pick.ts';
export { proposeSettings } from './settings-pull.ts';

/** Publishes the result. Every write is idempotent. */
export async function publish(
  world: CommitPorts & Pick<World, 'announcer'>,
  context: RunContext,
): Promise<'published'> {
  const { run } = context;
  if (!isOver(run.state)) {
    await world.store.markStage(run.id, 'publish', 'start', world.clock.now());
    const outcome = await publishPatiently(world, context);
    await storeOutcome(world, run.id, outcome);
    await world.store.markStage(run.id, 'publish', 'end', world.clock.now());
    await moveToFinalState(world, run, outcome);
  }
  await announceAndSweep(world, run.id);
  return 'published';
}

/** Where the evidence is inconclusive, a person decides, without a time limit: no resource is held meanwhile. */
async function moveToFinalState(
  world: Pick<World, 'store' | 'clock'>,
  { id, origin, decision }: RunRecord,
  outcome: RunOutcome,
): Promise<void> {
  const asks = origin.kind === 'github' && decision?.kind === 'toss-up' && outcome.kind === 'table';
  const [state, cause] = asks
    ? (['awaiting_pick', 'a person must pick'] as const)
    : (['published', 'the result is where its users look'] as const);
  await world.store.transition(id, state, cause, world.clock.now());
}

/** Waits longer for GitHub than other stages. In a terminal somebody waits, and nothing but this machine is needed. */
async function publishPatiently(
  world: CommitPorts & Pick<World, 'announcer'>,
  context: RunContext,
): Promise<RunOutcome> {
  if (context.run.origin.kind === 'local') return publishResult(world, context);
  const published = (waits?: readonly number[]): Promise<RunOutcome> =>
    retryOutages(
      world,
      context.signal,
      // An earlier try may have opened the pull request.
      async () => publishResult(world, { ...context, run: await loadRun(world, context.run.id) }),
      undefined,
      waits,
    );
  try {
    return await published();
  } catch (thrown) {
    if (asFault(thrown).code !== 'GITHUB_UNAVAILABLE') throw thrown;
    return published(PUBLISHING_WAITS_MS);
  }
}

async function publishResult(world: CommitPorts, { run, signal }: RunContext): Promise<RunOutcome> {
  const { origin, decision } = run;
  const task = taskOf(run);
  const commits = await commitCandidates(world, run, task, signal);
  throwIfCancelled(signal);
  if (origin.kind === 'local') return leaveBranches(world, task, origin, commits);
  return withPublisher(world, { run: { ...run, origin }, signal }, (context) => {
    if (decision?.kind === 'toss-up') return publishChoice(context, commits);
    const pick = pickOf(decision);
    if (pick === null) return publishTable(context, commits);
    if (commits.damaged.has(pick) && run.outcome?.kind !== 'pull')
      return publishTableOfDamaged(context, commits, pick);
    return publishPull(context, commits, pick);
  });
}

/** Announces the end of a run and deletes its areas on this disk. */
async function announceAndSweep(world: Pick<World, 'announcer' | 'workspaces'>, runId: RunId): Promise<void> {
  await world.announcer.finish(runId);
  await world.workspaces.sweep((id) => !id.startsWith(`${runId}-`));
}

/**
 * Ends a run that met a fault: stores the fault and announces it, unless the requester's permission is still unknown
 * (`quietly`).
 */
export async function conclude(
  world: StagePorts & Pick<World, 'announcer' | 'workspaces'>,
  flow: FlowContext,
  runId: RunId,
  fault: FaultData,
  how: 'aloud' | 'quietly' = 'aloud',
): Promise<'failed'> {
  await stagesOf(world, flow, runId, UNLIMITED)('conclude', () => endWithFault(world, runId, fault, how));
  return 'failed';
}

/** For users of a run that met a fault when its pull request was already open. */
const UNFINISHED_ADVICE =
  'The comparison may be missing on the pull request. To write it, pick the candidate that is shown there, or another one.';

/** For users of a run whose result was to be posted on the issue. */
const UNPOSTED_ADVICE =
  'The comparison may be missing on the issue. If you pick a candidate, it is written on its draft pull request.';

/** What to do about the part of a stored result that is not shown; null if all of it is. */
function unfinishedAdvice(outcome: RunOutcome | undefined): string | null {
  if (outcome?.kind === 'pull') return UNFINISHED_ADVICE;
  return outcome?.kind === 'table' && outcome.comparisonUrl === undefined ? UNPOSTED_ADVICE : null;
}

/**
 * Records the fault as the end of the run, unless the run is over otherwise. A run whose result is stored has not
 * failed: its users find it, pick from it and merge it (0236).
 */
export async function endWithFault(
  world: Pick<World, 'announcer' | 'clock' | 'store' | 'workspaces'>,
  runId: RunId,
  fault: FaultData,
  how: 'aloud' | 'quietly' = 'aloud',
): Promise<null> {
  const run = await loadRun(world, runId);
  const { state, outcome } = run;
  if (isOver(state) && state !== 'failed') return null;
  const unfinished = unfinishedAdvice(outcome);
  if (unfinished !== null || outcome === undefined) {
    const advice = unfinished ?? faultOf(fault).advice;
    await world.store.updateRun(runId, { trouble: { ...fault, advice } }, world.clock.now());
  }
  if (outcome) await moveToFinalState(world, run, outcome);
  else await world.store.transition(runId, 'failed', fault.message, world.clock.now());
  if (how === 'aloud') await announceAndSweep(world, runId);
  return null;
}

/** Creates a branch for every candidate in the user's repository; the working tree stays unchanged. */
async function leaveBranches(
  world: Pick<World, 'workspaces'>,
  task: Task,
  origin: LocalOrigin,
  commits: Commits,
): Promise<RunOutcome> {
  const branches: Record<string, string> = {};
  for (const [alias, sha] of commits.byAlias) {
    const name = localBranch(task.runId, alias);
    await world.workspaces.branch(commits.base, origin.path, name, sha);
    branches[alias] = name;
  }
  return { kind: 'branches', branches };
}
