import { rename } from 'node:fs/promises';
import type { Log } from '../../ports/index.ts';
import { hasCode, type Layout } from './layout.ts';
import { removeTree } from './tools.ts';

/** Milliseconds that a removal is waited for, our default: nearly every area is gone by then, and its space is free. */
const WAIT_MS = 1_000;

/** Where areas go that nobody needs any more. */
export interface Bin {
  /**
   * Takes a tree away: its path is free when this resolves, and what was there is removed, in the background where that
   * takes long. No error if there is none.
   */
  discard(path: string): Promise<void>;
  /** Removes in the background what a crash left half removed; what is on its way already is left to it. */
  clear(trash: readonly string[]): void;
  /** Resolves when nothing is left to be removed. */
  idle(): Promise<void>;
}

/**
 * One tree is removed at a time, however many there are: folders nested by the ten thousands take minutes on a busy disk,
 * and two side by side take longer. A process that ends earlier leaves them to the next sweep, under a name that tells.
 */
export function openBin(layout: Layout, log: Log, remove: (path: string) => Promise<void> = removeTree): Bin {
  const queued = new Set<string>();
  let last: Promise<void> = Promise.resolve();

  function enqueue(trash: string): Promise<void> {
    if (queued.has(trash)) return last;
    queued.add(trash);
    last = last.then(async () => {
      try {
        await remove(trash);
      } catch (error) {
        log.warn(
          { err: error, path: trash },
          'A folder that is no longer needed could not be removed; a later sweep tries again.',
        );
      } finally {
        queued.delete(trash);
      }
    });
    return last;
  }

  return {
    async discard(path) {
      const trash = layout.trash();
      try {
        await rename(path, trash);
      } catch (error) {
        if (hasCode(error, 'ENOENT')) return;
        return remove(path);
      }
      await withinWait(enqueue(trash));
    },
    clear(trash) {
      for (const path of trash) void enqueue(path);
    },
    async idle() {
      for (let seen: Promise<void> | null = null; seen !== last; ) {
        seen = last;
        await seen;
      }
    },
  };
}

async function withinWait(work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, WAIT_MS);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}
