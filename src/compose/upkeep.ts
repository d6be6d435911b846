import { reconcile, sayLastWords, type World } from '../pipeline/index.ts';

/** Milliseconds between two looks for runs that lost their flow, or areas that lost their run. Our default. */
const EVERY_MS = 3 * 60_000;

export interface Upkeep {
  stop(): void;
}

/**
 * Brings store and engine together, now and every few minutes; a look that fails now is a failed start. What was left
 * unsaid on GitHub is said in the background: it takes its time, and nothing waits for it.
 */
export async function startUpkeep(world: World): Promise<Upkeep> {
  await reconcile(world);
  let looking = sayLastWords(world).catch(warn('Last words could not be said.'));
  const timer = setInterval(() => {
    looking = looking.then(() => reconcile(world)).catch(warn('Runs could not be reconciled.'));
  }, EVERY_MS);

  function warn(what: string): (thrown: unknown) => void {
    return (thrown) => world.log.warn({ err: thrown }, what);
  }

  return { stop: () => clearInterval(timer) };
}
