import { setTimeout } from 'node:timers/promises';
import { Fault } from '../../core/model/index.ts';
import type { ExecSpec } from '../../ports/index.ts';
import { runCommand } from './command.ts';
import type { Owner } from './owner.ts';
import { type Init, memoryBytes, type ProcessTable, sharedBytes } from './processes.ts';
import { BYTES_A_FILE, blame, type Room, roomIn } from './room.ts';
import { unlinkedFiles } from './unlinked.ts';

/** Milliseconds between two looks at memory and at disk, our defaults. */
const MEMORY_EVERY_MS = 200;
const DISK_EVERY_MS = 500;
/** Maps are long: milliseconds between two readings. */
const MAPS_EVERY_MS = 800;
/** Folders are walked at the latest after so many milliseconds, even when the file system did not fill up. */
const WALK_EVERY_MS = 15_000;
/** A smaller loss of free space is not worth a walk. */
const SMALLEST_STEP = 2 ** 20;

/** Where a command writes, and the space that was there before it began. */
export interface WatchedDisk {
  /** Folders whose content counts, the first on the file system that is watched for its free space. */
  readonly folders: readonly [string, ...string[]];
  /** Bytes in `folders` that were not written by the sandbox. */
  readonly givenBytes: number;
  /** On the file system of the first folder. */
  readonly room: Room;
}

export interface Watched extends WatchedDisk {
  readonly init: Init;
  /** Null when the kernel holds memory to its limit. */
  readonly memoryBytes: number | null;
  readonly diskBytes: number;
}

/** Looks at the disk before a command begins. What only reads an area is our own program: it is never blamed for a full disk. */
export async function diskBefore(
  { area, out, readOnly }: Pick<ExecSpec, 'area' | 'out' | 'readOnly'>,
  givenBytes: number,
): Promise<WatchedDisk> {
  const room = await roomIn(area.upper);
  return {
    folders: [area.upper, area.home, ...(out === undefined ? [] : [out])],
    givenBytes,
    room: readOnly ? { ...room, full: true } : room,
  };
}

/**
 * Watches until `signal` aborts; returns what went over its limit, or null. Throws when it cannot measure, and DISK_FULL
 * when the disk is full for a reason that is not the command.
 */
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

/** Null, once `signal` aborts. */
async function never(signal: AbortSignal): Promise<null> {
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  return null;
}

async function watchMemory(
  watched: Watched,
  table: ProcessTable,
  signal: AbortSignal,
): Promise<'memory' | null> {
  const { init, memoryBytes: limit } = watched;
  if (limit === null) return await never(signal);
  const shared = { bytes: 0 };
  // Apart from the looks: long maps may not make them rare.
  const readMaps = async (): Promise<null> => {
    do shared.bytes = await sharedBytes(table.within(init.namespace));
    while (await pause(MAPS_EVERY_MS, signal));
    return null;
  };
  const look = async (): Promise<'memory' | null> => {
    while (await pause(MEMORY_EVERY_MS, signal)) {
      if ((await memoryBytes(table.within(init.namespace), shared.bytes, limit)) > limit) return 'memory';
    }
    return null;
  };
  return await Promise.race([look(), readMaps()]);
}

async function watchDisk(
  watched: Watched,
  table: ProcessTable,
  owner: Owner | null,
  signal: AbortSignal,
): Promise<'disk' | null> {
  const { init, folders, givenBytes, diskBytes: limit, room: before } = watched;
  let free = Number.POSITIVE_INFINITY;
  let walkedAt = Number.NEGATIVE_INFINITY;
  let step = 0;
  while (await pause(DISK_EVERY_MS, signal)) {
    const { bytes: left, full } = await roomIn(folders[0]);
    if (!full && free - left < step && performance.now() - walkedAt < WALK_EVERY_MS) continue;
    free = left;
    const written = (await bytesIn(folders, owner)) - givenBytes;
    const { bytes: hidden, unmeasured } = await unlinkedFiles(table.within(init.namespace));
    // What cannot be measured counts as everything that the file system lost, though others may have a share in that.
    const lost = unmeasured > 0 ? before.bytes - left : 0;
    const all = Math.max(written + hidden, lost);
    if (all > limit) return 'disk';
    if (full) return blame(before, all);
    step = Math.max(SMALLEST_STEP, (limit - written - hidden) / 4);
    walkedAt = performance.now();
  }
  return null;
}

/** The last look, when the command has ended: what it met on a full disk says nothing about it. */
export async function lastLook(
  { folders, givenBytes, room: before }: WatchedDisk,
  owner: Owner | null,
): Promise<'disk' | null> {
  if (!(await roomIn(folders[0])).full) return null;
  return blame(before, (await bytesIn(folders, owner)) - givenBytes);
}

/** `du` twice: it does not print both at once. */
const DU_SCRIPT = `du --summarize --one-file-system --block-size=1 -- "$@"
du --summarize --one-file-system --inodes -- "$@"`;

/**
 * Bytes that the files in some folders take on disk, and some for each file, by `du`: it follows no link and reaches
 * folders deeper than a path can name. It runs as root of a user namespace of its own, so that no folder can be closed to it; where the host
 * has no such namespaces, a closed folder counts as without end.
 */
export async function bytesIn(folders: readonly [string, ...string[]], owner: Owner | null): Promise<number> {
  const du = ['sh', '-c', DU_SCRIPT, 'sh', ...folders] as const;
  const whole = await runCommand(['unshare', '--user', '--map-root-user', '--', ...du], owner);
  const end = whole.stdout === '' ? await runCommand(du, owner) : whole;
  // Without a namespace a folder can be closed to us, and then nobody knows what is in it.
  if (/cannot (?:read directory|access)[^\n]*Permission denied/.test(end.stderr))
    return Number.POSITIVE_INFINITY;
  // Files that vanish meanwhile make du complain and exit 1 although its sums are good.
  const sums = [...end.stdout.matchAll(/^(\d+)\t/gm)].map(([, found]) => Number(found));
  if (sums.length !== 2 * folders.length) {
    throw new Fault(
      'SANDBOX_UNAVAILABLE',
      `The disk use of a sandbox could not be measured: ${end.stderr.trim()}`,
    );
  }
  const total = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);
  return total(sums.slice(0, folders.length)) + total(sums.slice(folders.length)) * BYTES_A_FILE;
}
