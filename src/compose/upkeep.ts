import {
  type CancelPorts,
  type CommandIntake,
  findMissedLabels,
  findMissedPickEnds,
  findMissedStops,
} from '../commands/index.ts';
import {
  ACTIVE_STATES,
  heldSince,
  isFinal,
  RUN_STATES,
  type RunId,
  type RunState,
} from '../core/model/index.ts';
import { LONG_UNUSED } from '../core/settings/index.ts';
import type { Pruned, Toolchains } from '../ports/index.ts';
import {
  announceEndedRuns,
  announceQueue,
  type RetentionTimes,
  reconcile,
  retire,
  settleOutcomes,
  stoppedRuns,
  sweepEnded,
  type World,
} from '../runs/index.ts';
import type { PrunedFiles } from '../shell.ts';

/** Milliseconds between two checks for runs without a flow and areas without a run. Our default. */
const EVERY_MS = 3 * 60_000;
/**
 * Milliseconds between two checks of the run queue. Our default: a queued run's comment shows its position after this
 * time at the latest.
 */
const QUEUE_NOTICES_EVERY_MS = 20_000;
/**
 * Milliseconds between two checks for labels whose webhook was missed; each check costs one call per repository. Our
 * default.
 */
const LABELS_EVERY_MS = 15 * 60_000;
/** Milliseconds between two checks of runs that wait for a pick, which they may do for ever. Our default. */
const CHOICES_EVERY_MS = 60 * 60_000;
/** Milliseconds between two removals of what is no longer needed. Our default. */
const PRUNE_EVERY_MS = 24 * 60 * 60_000;

interface Upkeep {
  stop(): void;
}

/**
 * Reconciles store and engine, now and every few minutes; if that fails now, the start fails. As often, in the background:
 * missing comments on GitHub are written, because they take time and nothing waits for them, and sessions that are over
 * are deleted. Missed webhooks are handled in the background too, and what no run has used for two weeks is removed, now
 * and every day.
 */
export async function startUpkeep(
  world: World,
  intake: Pick<CommandIntake, 'recover'>,
  keep: RetentionTimes,
): Promise<Upkeep> {
  await reconcile(world);
  await intake.recover();
  const stopping = new AbortController();
  const warn = warnUntil(stopping.signal);
  const endSessions = (): Promise<unknown> =>
    world.store
      .deleteEndedSessions(world.clock.now())
      .catch(warn(world, 'Sessions that are over could not be deleted.'));
  let reconciling: Promise<unknown> = announceEndedRuns(world)
    .catch(warn(world, 'Outcomes of finished runs could not be posted.'))
    .then(endSessions);
  const timer = setInterval(() => {
    reconciling = reconciling
      .then(() => reconcile(world))
      .then(() => announceEndedRuns(world))
      .then(() => intake.recover())
      .catch(warn(world, 'Runs could not be reconciled.'))
      .then(endSessions);
  }, EVERY_MS);
  const prune = async () => {
    // If one of them fails, the other one is still executed.
    await pruneUnused(world).catch(warn(world, 'Unused files could not be removed.'));
    if (stopping.signal.aborted) return;
    await settleOutcomes(world).catch(warn(world, 'What became of candidates could not be found out.'));
    if (stopping.signal.aborted) return;
    await removeExpired(world, keep).catch(warn(world, 'Expired data could not be removed.'));
  };
  let pruning = prune();
  const daily = setInterval(() => {
    pruning = pruning.then(prune);
  }, PRUNE_EVERY_MS);
  const missedEvents = startMissedEventChecks(world, warn);
  const workers = watchWorkers(world);
  const queueNotices = startQueueNotices(world, warn);
  return {
    stop: () => {
      stopping.abort();
      queueNotices.stop();
      clearInterval(timer);
      clearInterval(daily);
      missedEvents.stop();
      workers.stop();
    },
  };
}

/** On a worker: removes areas of finished runs, and what no run has used for two weeks. */
export function startWorkerUpkeep(
  world: Pick<World, 'clock' | 'engine' | 'log' | 'store' | 'toolchains' | 'workspaces'>,
): Upkeep {
  let work: Promise<unknown> = Promise.resolve();
  const stopping = new AbortController();
  const warn = warnUntil(stopping.signal);
  const sweep = () => {
    work = work
      .then(() => sweepEnded(world))
      .catch(warn(world, 'Areas of finished runs could not be removed.'));
  };
  const prune = () => {
    work = work.then(() => pruneUnused(world)).catch(warn(world, 'Unused files could not be removed.'));
  };
  sweep();
  prune();
  const timers = [setInterval(sweep, EVERY_MS), setInterval(prune, PRUNE_EVERY_MS)];
  return {
    stop: () => {
      stopping.abort();
      timers.forEach(clearInterval);
    },
  };
}

/**
 * Keeps the positions of queued runs in their comments up to date. A run that starts before the first check never shows
 * one.
 */
function startQueueNotices(world: Pick<World, 'announcer' | 'clock' | 'log' | 'store'>, warn: Warn): Upkeep {
  const announced = new Map<string, number>();
  let announcing = Promise.resolve();
  const timer = setInterval(() => {
    announcing = announcing
      .then(() => announceQueue(world, announced))
      .catch(warn(world, 'The queue positions of runs could not be updated.'));
  }, QUEUE_NOTICES_EVERY_MS);
  return { stop: () => clearInterval(timer) };
}

/**
 * Looks for events whose webhooks were missed, in the background. If a check takes longer than the interval, the next
 * one is skipped.
 */
function startMissedEventChecks(world: CancelPorts & Pick<World, 'random'>, warn: Warn): Upkeep {
  let choicesAt = Number.NEGATIVE_INFINITY;
  let labelsAt = Number.NEGATIVE_INFINITY;
  let stoppedAt: number | null = null;
  let checking = false;
  async function checkMissedEvents(): Promise<void> {
    await findMissedStops(world);
    if (world.clock.elapsed() - choicesAt >= CHOICES_EVERY_MS) {
      choicesAt = world.clock.elapsed();
      await findMissedPickEnds(world);
    }
    if (world.clock.elapsed() - labelsAt >= LABELS_EVERY_MS) {
      const now = world.clock.elapsed();
      // The first check ignores labels of the last minute, whose webhooks may still arrive; the next check finds them.
      labelsAt = labelsAt === Number.NEGATIVE_INFINITY ? now - LABELS_EVERY_MS + EVERY_MS / 2 : now;
      stoppedAt = await findMissedLabels(world, stoppedAt);
    }
  }
  async function next(): Promise<void> {
    if (checking) return;
    checking = true;
    await checkMissedEvents().catch(warn(world, 'Missed webhooks could not be checked.'));
    checking = false;
  }
  void next();
  const timer = setInterval(() => void next(), EVERY_MS);
  return { stop: () => clearInterval(timer) };
}

type Warn = (world: Pick<World, 'log'>, what: string) => (thrown: unknown) => void;

/** Logs failures until then: work in the background does not end before the connections that it uses are closed. */
const warnUntil =
  (stopping: AbortSignal): Warn =>
  ({ log }, what) =>
  (thrown) => {
    if (!stopping.aborted) log.warn({ err: thrown }, what);
  };

async function removeExpired(
  world: Pick<World, 'artifacts' | 'clock' | 'engine' | 'github' | 'log' | 'store'>,
  keep: RetentionTimes,
): Promise<void> {
  const { artifacts, ...rows } = await retire(world, keep);
  const any = artifacts.files > 0 || Object.values(rows).some((count) => count > 0);
  if (any) world.log.info({ ...rows, artifacts }, 'Expired data was removed.');
}

export type Prunable = Pick<World, 'clock' | 'log'> & {
  readonly engine: Pick<World['engine'], 'activeExecutors'>;
  readonly store: Pick<World['store'], 'idsIn' | 'run' | 'runsIn'>;
  readonly workspaces: Pick<World['workspaces'], 'prune' | 'sweep'>;
  readonly toolchains?: Pick<Toolchains, 'prune'>;
};

/**
 * Milliseconds for which toolchains and areas are kept even if the disk is full: commands in a terminal, which no
 * database knows, use them. Our default.
 */
const TERMINAL_KEPT_MS = 24 * 60 * 60_000;

const UNFINISHED = RUN_STATES.filter((state) => !isFinal(state));

/**
 * Removes areas of runs that are over, and what has not been used for `ms`. Trees of runs whose issue or pull request is
 * still open are kept however old they are, because people may come back to them. A run whose process has ended prepares
 * everything again when it is resumed, so it holds no more than the mirror, which alone has the commit of uncommitted
 * changes.
 */
export async function pruneUnused(world: Prunable, { ms, label } = LONG_UNUSED): Promise<PrunedFiles> {
  await sweepEnded(world);
  const open = (await world.store.idsIn(UNFINISHED)).map((id) => `${id}-`);
  const active = await world.store.runsIn(ACTIVE_STATES);
  const stopped = await stoppedRuns(world, active);
  const held = heldSince(active.filter(({ id }) => !stopped.has(id)));
  const ofTerminals = Math.min(world.clock.now() - Math.max(ms, TERMINAL_KEPT_MS), held);
  // Those of a killed call or contest, and of a run whose process has ended. Checkouts and layers stay below an area.
  await world.workspaces.sweep((_, usedAt) => usedAt >= ofTerminals);
  const ofRepositories = await world.workspaces.prune({
    before: Math.min(world.clock.now() - ms, held),
    keep: (area) => open.some((prefix) => area.startsWith(prefix)),
    mirrorsKept: active.flatMap(({ origin }) => (origin.kind === 'local' ? [origin.path] : [])),
  });
  const ofTools = await world.toolchains?.prune(ofTerminals);
  const pruned = withTools(ofRepositories, ofTools);
  const { bytes, busy, ...counts } = pruned;
  if (Object.values(counts).some((count) => count > 0)) {
    world.log.info({ ...pruned }, `Freed ${(bytes / 1e6).toFixed(0)} MB that no run used for ${label}.`);
  }
  return pruned;
}

const withTools = (pruned: Pruned, { tools, bytes } = { tools: 0, bytes: 0 }): PrunedFiles => ({
  ...pruned,
  tools,
  bytes: pruned.bytes + bytes,
});

/** Milliseconds between two checks of runs whose candidates are on other machines. Our default. */
const WORKER_CHECK_MS = 10_000;

/** In the first state coders are active, in the second one checks. */
const WORKER_STATES: readonly RunState[] = ['briefed', 'coded'];

/**
 * Keeps the status comments of runs up to date whose candidates are coded or examined by workers, which write nothing
 * to GitHub. A run that has not changed since the last check is skipped.
 */
export function watchWorkers(
  world: Pick<World, 'store' | 'announcer' | 'log'>,
  everyMs = WORKER_CHECK_MS,
): { stop(): void } {
  const lastShown = new Map<RunId, string>();
  let checking = false;

  async function check(): Promise<void> {
    const others = (await world.store.executors()).filter(({ role }) => role === 'worker');
    if (others.length === 0) return;
    const atWork = await world.store.idsIn(WORKER_STATES);
    for (const id of atWork) {
      const candidates = await world.store.candidates(id);
      const now = JSON.stringify(
        candidates.map(({ alias, state, note, usage }) => [alias, state, note, usage]),
      );
      if (lastShown.has(id) && lastShown.get(id) !== now) world.announcer.soon(id);
      lastShown.set(id, now);
    }
    for (const id of lastShown.keys()) if (!atWork.includes(id)) lastShown.delete(id);
  }

  const timer = setInterval(() => {
    if (checking) return;
    checking = true;
    check()
      .catch((thrown: unknown) =>
        world.log.warn({ err: thrown }, 'The progress of runs on workers could not be checked.'),
      )
      .finally(() => {
        checking = false;
      });
  }, everyMs);
  return { stop: () => clearInterval(timer) };
}
