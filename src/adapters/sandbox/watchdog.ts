import { statfs } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { Fault } from '../../core/model/index.ts';
import { runCommand } from './command.ts';
import type { Owner } from './owner.ts';
import { type Init, memoryBytes, type ProcessTable, unlinkedBytes } from './processes.ts';

/** Milliseconds between two looks at memory and at disk, our defaults. */
const MEMORY_EVERY_MS = 200;
const DISK_EVERY_MS = 500;
/** Folders are walked at the latest after so many milliseconds, even when the file system did not fill up. */
const WALK_EVERY_MS = 15_000;
/** A smaller loss of free space is not worth a walk. */
const SMALLEST_STEP = 2 ** 20;

export interface Watched {
  readonly init: Init;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  /** Folders whose content counts, the first on the file system that is watched for its free space. */
  readonly folders: readonly [string, ...string[]];
  /** Bytes in `folders` that were not written by the sandbox. */
  readonly givenBytes: number;
}

/** Watches until `signal` aborts; returns what went over its limit, or null. Throws when it cannot measure. */
export async function watch(
  watched: Watched,
  table: ProcessTable,
  owner: Owner | null,
  signal: AbortSignal,
): Promise<'memory' | 'disk' | null> {
  const over = await Promise.race([
    watchMemory(watched, table, signal),
    watchDisk(watched, table, owner, signal),
  ]);
  return signal.aborted ? null : over;
}

async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  await setTimeout(ms, undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}

async function watchMemory(
  watched: Watched,
  table: ProcessTable,
  signal: AbortSignal,
): Promise<'memory' | null> {
  const { init, memoryBytes: limit } = watched;
  while (await pause(MEMORY_EVERY_MS, signal)) {
    if (memoryBytes(table.within(init.namespace), limit) > limit) return 'memory';
  }
  return null;
}

async function watchDisk(
  watched: Watched,
  table: ProcessTable,
  owner: Owner | null,
  signal: AbortSignal,
): Promise<'disk' | null> {
  const { init, folders, givenBytes, diskBytes: limit } = watched;
  let free = Number.POSITIVE_INFINITY;
  let walkedAt = Number.NEGATIVE_INFINITY;
  let step = 0;
  while (await pause(DISK_EVERY_MS, signal)) {
    const { bavail, bsize } = await statfs(folders[0]);
    const lost = free - bavail * bsize;
    if (lost < step && performance.now() - walkedAt < WALK_EVERY_MS) continue;
    free = bavail * bsize;
    const written = (await bytesIn(folders, owner)) - givenBytes;
    const hidden = await unlinkedBytes(table.within(init.namespace));
    if (written + hidden > limit) return 'disk';
    step = Math.max(SMALLEST_STEP, (limit - written - hidden) / 4);
    walkedAt = performance.now();
  }
  return null;
}

/**
 * Bytes that the files in some folders take on disk, by `du`: it follows no link and reaches folders deeper than a path
 * can name. It runs as root of a user namespace of its own, so that no folder can be closed to it.
 */
export async function bytesIn(folders: readonly [string, ...string[]], owner: Owner | null): Promise<number> {
  const du = ['du', '--summarize', '--one-file-system', '--block-size=1', '--', ...folders];
  const end = await runCommand(['unshare', '--user', '--map-root-user', '--', ...du], owner);
  // Files that vanish meanwhile make du complain and exit 1 although its sums are good.
  const sums = [...end.stdout.matchAll(/^(\d+)\t/gm)].map(([, bytes]) => Number(bytes));
  if (sums.length !== folders.length) {
    throw new Fault(
      'SANDBOX_UNAVAILABLE',
      `The disk use of a sandbox could not be measured: ${end.stderr.trim()}`,
    );
  }
  return sums.reduce((sum, bytes) => sum + bytes, 0);
}
