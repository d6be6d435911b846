import { setTimeout as delay } from 'node:timers/promises';
import { bytesOf } from '../adapters/git/index.ts';
import { quotaStep } from '../core/policy/index.ts';
import { ownFolders } from './paths.ts';
import type { Room } from './room.ts';
import { type Prunable, pruneUnused } from './upkeep.ts';

/** Milliseconds between two looks, each of which walks through all files. Our default. */
const LOOK_EVERY_MS = 5 * 60_000;

export interface Quota {
  /** The data folder. */
  readonly dir: string;
  /** Bytes on disk; 0: as many as there are. */
  readonly most: number;
}

/**
 * One look at the data folder: while it is too big, removes what was not used for an ever shorter time. Null where it
 * fits then, else a sentence. Rejects where it could not be measured.
 */
export async function holdQuota(world: Prunable, { dir, most }: Quota): Promise<string | null> {
  if (most === 0) return null;
  for (let pruned = 0; ; pruned += 1) {
    const step = quotaStep(await bytesOf(ownFolders(dir)), most, pruned);
    if (step.kind === 'fits') return null;
    if (step.kind === 'full') return step.why;
    await pruneUnused(world, step.unused);
  }
}

/** Holds the quota now and every few minutes, in the background, and tells the room when it cannot be held. */
export function watchQuota(
  world: Prunable,
  quota: Quota,
  room: Pick<Room, 'reached'>,
): { close(): Promise<void> } {
  const stop = new AbortController();
  async function watch(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        room.reached(await holdQuota(world, quota));
      } catch (thrown) {
        world.log.warn({ err: thrown }, 'It could not be seen whether the data folder is within MAX_DISK.');
      }
      await delay(LOOK_EVERY_MS, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
    }
  }
  const watching = quota.most === 0 ? Promise.resolve() : watch();
  return {
    async close() {
      stop.abort();
      await watching;
    },
  };
}
