import type { RunId, RunState } from '../core/model/index.ts';
import type { World } from '../runs/index.ts';

/** Milliseconds between two looks at runs whose candidates other machines work on. Our default. */
const EVERY_MS = 10_000;

/** Coders are at work after the first, checks after the second. */
const AT_WORK: readonly RunState[] = ['briefed', 'coded'];

/**
 * Keeps the status comments of runs up to date whose candidates are coded or examined by workers, which write nothing to
 * GitHub. What has not changed since the last look is not said again.
 */
export function watchElsewhere(
  world: Pick<World, 'store' | 'announcer' | 'log'>,
  everyMs = EVERY_MS,
): { stop(): void } {
  const seen = new Map<RunId, string>();
  let looking = false;

  async function look(): Promise<void> {
    const others = (await world.store.executors()).filter(({ role }) => role === 'worker');
    if (others.length === 0) return;
    const atWork = await world.store.idsIn(AT_WORK);
    for (const id of atWork) {
      const candidates = await world.store.candidates(id);
      const now = JSON.stringify(
        candidates.map(({ alias, state, note, usage }) => [alias, state, note, usage]),
      );
      if (seen.has(id) && seen.get(id) !== now) world.announcer.soon(id);
      seen.set(id, now);
    }
    for (const id of seen.keys()) if (!atWork.includes(id)) seen.delete(id);
  }

  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    look()
      .catch((thrown: unknown) => world.log.warn({ err: thrown }, 'Runs on workers could not be looked at.'))
      .finally(() => {
        looking = false;
      });
  }, everyMs);
  return { stop: () => clearInterval(timer) };
}
