import { statfs } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { bytesOf } from '../adapters/git/index.ts';
import { quotaStep } from '../core/settings/index.ts';
import type { Log } from '../ports/index.ts';
import { ownFolders } from './data-folder.ts';
import { type Prunable, pruneUnused } from './upkeep.ts';

/** Milliseconds between two checks. Our default: in this time a coder writes less than the space that is kept free. */
const SPACE_CHECK_MS = 10_000;

export interface DiskSpace {
  /** A sentence that says why no further run may start here; null if one may. */
  shortage(): string | null;
  /** Sets the result of the last check of the quota: a sentence if it cannot be enforced, else null. */
  setQuotaShortage(why: string | null): void;
  close(): Promise<void>;
}

/** Watches the free space of the file system of `dir`. Below `least` bytes no further run starts; 0: no limit. */
export async function watchDiskSpace(dir: string, least: number, log: Log): Promise<DiskSpace> {
  const stop = new AbortController();
  let why = await shortageOf(dir, least);
  if (why !== null) log.warn({ dir, least }, why);
  let quota: string | null = null;

  async function watch(): Promise<void> {
    for (;;) {
      await delay(SPACE_CHECK_MS, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
      if (stop.signal.aborted) return;
      const now = await shortageOf(dir, least).catch((thrown: unknown) => {
        log.warn({ err: thrown }, 'The free space of the data folder could not be read.');
        return why;
      });
      if ((now === null) !== (why === null))
        log.warn({ dir, least }, now ?? 'There is enough disk space for runs again.');
      why = now;
    }
  }
  const watching = watch();
  return {
    shortage: () => why ?? quota,
    setQuotaShortage(now) {
      if ((now === null) !== (quota === null))
        log.warn({ dir }, now ?? 'The data folder is within MAX_DISK again.');
      quota = now;
    },
    async close() {
      stop.abort();
      await watching;
    },
  };
}

async function shortageOf(dir: string, least: number): Promise<string | null> {
  if (least === 0) return null;
  const { bavail, bsize } = await statfs(dir);
  if (bavail * bsize >= least) return null;
  return `The disk of this machine is nearly full (under ${least / 1e6} MB are free); no further run starts until its operator frees disk space.`;
}

/** Milliseconds between two checks, each of which walks through all files. Our default. */
const QUOTA_CHECK_MS = 5 * 60_000;

export interface Quota {
  /** The data folder. */
  readonly dir: string;
  /** Maximum number of bytes on disk; 0: no limit. */
  readonly most: number;
}

/**
 * Checks the data folder once. While it is too large, removes unused data with ever shorter periods. Returns null if it
 * then fits, else a sentence. Rejects if it cannot be measured.
 */
export async function enforceQuota(world: Prunable, { dir, most }: Quota): Promise<string | null> {
  if (most === 0) return null;
  for (let pruned = 0; ; pruned += 1) {
    const step = quotaStep(await bytesOf(ownFolders(dir)), most, pruned);
    if (step.kind === 'fits') return null;
    if (step.kind === 'full') return step.why;
    await pruneUnused(world, step.unused);
  }
}

/** Enforces the quota now and every few minutes, in the background, and reports a shortage when that fails. */
export function watchQuota(
  world: Prunable,
  quota: Quota,
  diskSpace: Pick<DiskSpace, 'setQuotaShortage'>,
): { close(): Promise<void> } {
  const stop = new AbortController();
  async function watch(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        diskSpace.setQuotaShortage(await enforceQuota(world, quota));
      } catch (thrown) {
        world.log.warn({ err: thrown }, 'The size of the data folder could not be measured.');
      }
      await delay(QUOTA_CHECK_MS, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
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
