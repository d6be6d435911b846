import { reconcile, sayLastWords, type World } from '../pipeline/index.ts';
import { lookForLabels, lookForWithdrawn, type Steering } from '../steering/index.ts';

/** Milliseconds between two looks for runs that lost their flow, or areas that lost their run. Our default. */
const EVERY_MS = 3 * 60_000;
/** Milliseconds between two looks for labels whose webhook got lost: one call for each repository. Our default. */
const LABELS_EVERY_MS = 15 * 60_000;
/** Milliseconds between two looks for what can be removed. Our default. */
const PRUNE_EVERY_MS = 24 * 60 * 60_000;
/** Milliseconds that checkouts, installed dependencies and mirrors stay after their last use. Our default. */
const UNUSED_MS = 14 * 24 * 60 * 60_000;

export interface Upkeep {
  stop(): void;
}

/**
 * Brings store and engine together, now and every few minutes; a look that fails now is a failed start. What was left
 * unsaid on GitHub is said in the background: it takes its time, and nothing waits for it. The same holds for removing
 * what no run used for two weeks, now and every day.
 */
export async function startUpkeep(world: World, steering: Pick<Steering, 'recover'>): Promise<Upkeep> {
  await reconcile(world);
  await steering.recover();
  let labelsAt = Number.NEGATIVE_INFINITY;
  let looking = sayLastWords(world)
    .catch(warn('Last words could not be said.'))
    .then(() => lookForLost())
    .catch(warn('What webhooks did not tell could not be looked for.'));
  const timer = setInterval(() => {
    looking = looking
      .then(() => reconcile(world))
      .then(() => sayLastWords(world))
      .then(() => steering.recover())
      .then(() => lookForLost())
      .catch(warn('Runs could not be reconciled.'));
  }, EVERY_MS);
  let pruning = pruneUnused(world).catch(warn('What is no longer used could not be removed.'));
  const daily = setInterval(() => {
    pruning = pruning
      .then(() => pruneUnused(world))
      .catch(warn('What is no longer used could not be removed.'));
  }, PRUNE_EVERY_MS);

  async function lookForLost(): Promise<void> {
    await lookForWithdrawn(world);
    const now = world.clock.now();
    if (now - labelsAt < LABELS_EVERY_MS) return;
    labelsAt = now;
    await lookForLabels(world);
  }

  function warn(what: string): (thrown: unknown) => void {
    return (thrown) => world.log.warn({ err: thrown }, what);
  }

  return {
    stop: () => {
      clearInterval(timer);
      clearInterval(daily);
    },
  };
}

/** Trees of runs whose issue or pull request is still open are kept however old they are: people may come back to them. */
export async function pruneUnused(
  world: Pick<World, 'clock' | 'log'> & {
    readonly store: Pick<World['store'], 'unfinished'>;
    readonly workspaces: Pick<World['workspaces'], 'prune'>;
  },
): Promise<void> {
  const open = (await world.store.unfinished()).map((run) => `${run.id}-`);
  const pruned = await world.workspaces.prune({
    before: world.clock.now() - UNUSED_MS,
    keep: (area) => open.some((prefix) => area.startsWith(prefix)),
  });
  const { bytes, busy, ...counts } = pruned;
  if (Object.values(counts).some((count) => count > 0)) {
    world.log.info({ ...pruned }, `Freed ${(bytes / 1e6).toFixed(0)} MB that no run used for two weeks.`);
  }
}
