import { asFault, type RunId } from '../../core/model/index.ts';
import type { RunRecord } from '../../ports/index.ts';
import { type GitHubRun, isGitHubRun, type World } from '../context.ts';
import { keepOutcomes } from '../outcomes.ts';
import { type Merge, openMerges, pullOf, type SettlePorts } from './merges.ts';

/** Runs whose outcomes are kept in one pass; our default, far more than end between two passes. */
const MAX_DUE = 500;
/** Runs that a pass reads of each repository; our default. */
const MAX_RUNS = 2_000;
/** How long after a merge its revert is looked for, and a closed pull request may be reopened unseen; our default. */
const FOLLOWED_FOR_MS = 90 * 86_400_000;

/** Keeps the outcomes of runs that changed while nobody kept them: after a crash, or by an earlier version. */
export async function keepDueOutcomes(
  world: Pick<World, 'artifacts' | 'clock' | 'log' | 'store'>,
): Promise<void> {
  for (const runId of await world.store.outcomesDue(MAX_DUE)) {
    await unlessFails(world, runId, () => keepOutcomes(world, runId));
  }
}

/**
 * Finds out how pull requests of runs ended whose webhook never arrived, how much people changed before a merge, and
 * what was reverted later. What cannot be read now is looked at next time.
 */
export async function settleOutcomes(world: SettlePorts): Promise<void> {
  if (!world.github) return;
  for (const run of await runsWithPulls(world)) {
    await unlessFails(world, run.id, () => findMissedEnd(world, run));
  }
  await keepDueOutcomes(world);
  const merges = (await world.store.outcomes({ runs: MAX_RUNS })).filter(
    (one): one is Merge => one.shown && one.pull?.state === 'merged',
  );
  for (const own of Map.groupBy(merges, ({ repository }) => repository).values()) {
    const settle = openMerges(world, world.clock.now() - FOLLOWED_FOR_MS);
    for (const merge of new Map(own.map((one) => [one.runId, one])).values())
      await unlessFails(world, merge.runId, () => settle(merge));
  }
}

/** One failure does not stop the look at others. */
async function unlessFails(
  { log }: Pick<World, 'log'>,
  runId: RunId,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    if (asFault(thrown).code === 'DATABASE_UNAVAILABLE') throw thrown;
    log.warn({ run: runId, err: thrown }, 'what became of a run could not be found out');
  }
}

/** Runs whose pull request is open as far as is known, or was closed in the last 90 days and may be open again. */
async function runsWithPulls({ clock, store }: SettlePorts): Promise<readonly GitHubRun[]> {
  const since = clock.now() - FOLLOWED_FOR_MS;
  const closed: RunRecord[] = [];
  for (const id of await store.idsIn(['closed'])) {
    const run = await store.run(id);
    if (run && run.updatedAt >= since) closed.push(run);
  }
  const open = (await store.unfinished()).filter(({ state }) => state === 'published');
  return [...open, ...closed].filter(isGitHubRun).filter(({ outcome }) => outcome?.kind === 'pull');
}

async function findMissedEnd(world: SettlePorts, run: GitHubRun): Promise<void> {
  const pull = await pullOf(world, run);
  if (pull === null) return;
  const to = pull.state === 'open' ? 'published' : pull.state;
  await world.store.transition(
    run.id,
    to,
    `its pull request is ${pull.state}, as GitHub says`,
    world.clock.now(),
  );
}
