import { lookForEndedChoices, lookForLabels, lookForWithdrawn, type Steering } from '../commands/index.ts';
import { heldSince, LONG_UNUSED } from '../core/policy/index.ts';
import type { Pruned } from '../ports/index.ts';
import {
  type Keep,
  reconcile,
  retire,
  sayLastWords,
  sayLine,
  sweepEnded,
  type World,
} from '../runs/index.ts';
import { watchElsewhere } from './elsewhere.ts';

/** Milliseconds between two looks for runs that lost their flow, or areas that lost their run. Our default. */
const EVERY_MS = 3 * 60_000;
/** Milliseconds between two looks at who waits in line. Our default: whoever must wait is told within it. */
const LINE_EVERY_MS = 20_000;
/** Milliseconds between two looks for labels whose webhook got lost: one call for each repository. Our default. */
const LABELS_EVERY_MS = 15 * 60_000;
/** Milliseconds between two looks at choices that nobody made yet: they wait without limit. Our default. */
const CHOICES_EVERY_MS = 60 * 60_000;
/** Milliseconds between two looks for what can be removed. Our default. */
const PRUNE_EVERY_MS = 24 * 60 * 60_000;

export interface Upkeep {
  stop(): void;
}

/**
 * Brings store and engine together, now and every few minutes; a look that fails now is a failed start. What was left
 * unsaid on GitHub is said in the background: it takes its time, and nothing waits for it. The same holds for what
 * webhooks did not tell, and for removing what no run used for two weeks, now and every day.
 */
export async function startUpkeep(
  world: World,
  steering: Pick<Steering, 'recover'>,
  keep: Keep,
): Promise<Upkeep> {
  await reconcile(world);
  await steering.recover();
  let mending = sayLastWords(world).catch(warn(world, 'Last words could not be said.'));
  const timer = setInterval(() => {
    mending = mending
      .then(() => reconcile(world))
      .then(() => sayLastWords(world))
      .then(() => steering.recover())
      .catch(warn(world, 'Runs could not be reconciled.'));
  }, EVERY_MS);
  const prune = async () => {
    // The one does not wait for the other to work.
    await pruneUnused(world).catch(warn(world, 'What is no longer used could not be removed.'));
    await letGo(world, keep).catch(warn(world, 'What is old could not be let go.'));
  };
  let pruning = prune();
  const daily = setInterval(() => {
    pruning = pruning.then(prune);
  }, PRUNE_EVERY_MS);
  const looks = startLooks(world);
  const elsewhere = watchElsewhere(world);
  const line = startTelling(world);
  return {
    stop: () => {
      line.stop();
      clearInterval(timer);
      clearInterval(daily);
      looks.stop();
      elsewhere.stop();
    },
  };
}

/** On a machine that leads no run: removes areas of runs that are over, and what no run used for two weeks. */
export function startWorkerUpkeep(world: World): Upkeep {
  let work: Promise<unknown> = Promise.resolve();
  const sweep = () => {
    work = work
      .then(() => sweepEnded(world))
      .catch(warn(world, 'Areas of runs that are over could not be removed.'));
  };
  const prune = () => {
    work = work
      .then(() => pruneUnused(world))
      .catch(warn(world, 'What is no longer used could not be removed.'));
  };
  sweep();
  prune();
  const timers = [setInterval(sweep, EVERY_MS), setInterval(prune, PRUNE_EVERY_MS)];
  return { stop: () => timers.forEach(clearInterval) };
}

/** Tells those who wait in line where they stand; whoever gets a place before the first look is never told of a line. */
function startTelling(world: World): Upkeep {
  const told = new Map<string, number>();
  let telling = Promise.resolve();
  const timer = setInterval(() => {
    telling = telling
      .then(() => sayLine(world, told))
      .catch(warn(world, 'Runs in line could not be told where they stand.'));
  }, LINE_EVERY_MS);
  return { stop: () => clearInterval(timer) };
}

/** Looks for what webhooks did not tell, beside everything else. One that takes longer than the time to the next replaces it. */
function startLooks(world: World): Upkeep {
  let choicesAt = Number.NEGATIVE_INFINITY;
  let labelsAt = Number.NEGATIVE_INFINITY;
  let stoppedAt: number | null = null;
  let looking = false;
  async function lookForLost(): Promise<void> {
    await lookForWithdrawn(world);
    if (world.clock.elapsed() - choicesAt >= CHOICES_EVERY_MS) {
      choicesAt = world.clock.elapsed();
      await lookForEndedChoices(world);
    }
    if (world.clock.elapsed() - labelsAt >= LABELS_EVERY_MS) {
      const now = world.clock.elapsed();
      // The first look leaves labels of the last minute to webhooks that came while nobody listened: the next turn looks again.
      labelsAt = labelsAt === Number.NEGATIVE_INFINITY ? now - LABELS_EVERY_MS + EVERY_MS / 2 : now;
      stoppedAt = await lookForLabels(world, stoppedAt);
    }
  }
  async function turn(): Promise<void> {
    if (looking) return;
    looking = true;
    await lookForLost().catch(warn(world, 'What webhooks did not tell could not be looked for.'));
    looking = false;
  }
  void turn();
  const timer = setInterval(() => void turn(), EVERY_MS);
  return { stop: () => clearInterval(timer) };
}

const warn =
  ({ log }: World, what: string) =>
  (thrown: unknown): void =>
    log.warn({ err: thrown }, what);

async function letGo(world: World, keep: Keep): Promise<void> {
  const { artifacts, ...rows } = await retire(world, keep);
  const any = artifacts.files > 0 || Object.values(rows).some((count) => count > 0);
  if (any) world.log.info({ ...rows, artifacts }, 'What need not be kept any longer was removed.');
}

export type Prunable = Pick<World, 'clock' | 'log'> & {
  readonly store: Pick<World['store'], 'unfinished'>;
  readonly workspaces: Pick<World['workspaces'], 'prune'>;
};

/**
 * Removes what was not used for so long. Trees of runs whose issue or pull request is still open are kept however old
 * they are: people may come back to them.
 */
export async function pruneUnused(world: Prunable, { ms, said } = LONG_UNUSED): Promise<Pruned> {
  const unfinished = await world.store.unfinished();
  const open = unfinished.map((run) => `${run.id}-`);
  const pruned = await world.workspaces.prune({
    before: Math.min(world.clock.now() - ms, heldSince(unfinished)),
    keep: (area) => open.some((prefix) => area.startsWith(prefix)),
  });
  const { bytes, busy, ...counts } = pruned;
  if (Object.values(counts).some((count) => count > 0)) {
    world.log.info({ ...pruned }, `Freed ${(bytes / 1e6).toFixed(0)} MB that no run used for ${said}.`);
  }
  return pruned;
}
