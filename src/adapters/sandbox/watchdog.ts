import { statfs } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { Fault } from '../../core/model/index.ts';
import type { ExecSpec } from '../../ports/index.ts';
import { openTableWatch, tableLimits, tableUse } from './kernel-tables.ts';
import type { Init, Owner, ProcessTable } from './processes.ts';
import { BYTES_A_FILE, bytesIn, memoryBytes, processorMs, sharedBytes, unlinkedFiles } from './usage.ts';

/** Milliseconds between two measurements of memory, and of disk. Our defaults. */
const MEMORY_EVERY_MS = 200;
const DISK_EVERY_MS = 500;
/** Milliseconds between two counts of descriptors. Our default. */
const TABLES_EVERY_MS = 1_000;
/** Milliseconds between two reads of processor times. Our default. */
const PROCESSORS_EVERY_MS = 1_000;
/** Share of a processor that counts as computing: on a busy machine, a compiler gets little more. Our default. */
const COMPUTING_SHARE = 0.1;
/** Milliseconds between two reads of the maps, which are long. */
const MAPS_EVERY_MS = 800;
/** Folders are walked at least this often (milliseconds), even if the file system did not fill up. */
const WALK_EVERY_MS = 15_000;
/**
 * Milliseconds until the first walk. Our default: most commands write little and have ended by then, and a walk starts five
 * programs.
 */
const FIRST_WALK_MS = 3_000;
/** A smaller loss of free space does not justify a walk. */
const SMALLEST_STEP = 2 ** 20;

/** Where a command writes, and the free space before it began. */
interface WatchedDisk {
  /** Folders whose content counts. The first one is on the file system whose free space is watched. */
  readonly folders: readonly [string, ...string[]];
  /** Bytes in `folders` that the sandbox did not write. */
  readonly givenBytes: number;
  /** On the file system of the first folder. */
  readonly spaceBefore: DiskSpace;
}

interface Watched extends WatchedDisk {
  readonly init: Init;
  /** Null if the kernel enforces the memory limit. */
  readonly memoryBytes: number | null;
  readonly diskBytes: number;
  /** Whether programs may hide what they have open. */
  readonly mayHide: boolean;
  readonly onComputing: ExecSpec['onComputing'];
}

/**
 * Measures the disk before a command begins. A command that only reads an area is our own program and is never blamed
 * for a full disk.
 */
export async function measureDiskBefore(
  { area, out, readOnly }: Pick<ExecSpec, 'area' | 'out' | 'readOnly'>,
  givenBytes: number,
): Promise<WatchedDisk> {
  const space = await diskSpaceIn(area.upper);
  return {
    folders: [area.upper, area.home, ...(out === undefined ? [] : [out])],
    givenBytes,
    spaceBefore: readOnly ? { ...space, full: true } : space,
  };
}

/**
 * Watches until `signal` aborts; returns which limit was exceeded, or null. Throws if it cannot measure, and DISK_FULL
 * if the disk is full but not because of the command.
 */
export async function watchLimits(
  watched: Watched,
  table: ProcessTable,
  owner: Owner | null,
  signal: AbortSignal,
): Promise<'memory' | 'disk' | null> {
  const over = await Promise.race([
    watchMemory(watched, table, signal),
    watchDisk(watched, table, owner, signal),
    watchTables(watched, table, signal),
    watchProcessors(watched, table, signal),
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
  // Separate from the measurements, which long maps must not delay.
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

/** Also with control groups: what the kernel counts for all processes of a user is not limited by them. */
async function watchTables(
  { init, mayHide }: Pick<Watched, 'init' | 'mayHide'>,
  table: ProcessTable,
  signal: AbortSignal,
): Promise<'memory' | null> {
  const limits = tableLimits(mayHide);
  const isTooMuch = openTableWatch(limits);
  while (await pause(TABLES_EVERY_MS, signal)) {
    if (isTooMuch(await tableUse(table.within(init.namespace), limits))) return 'memory';
  }
  return null;
}

/** Reports that the processes compute. Ends with `signal` only. */
async function watchProcessors(
  { init, onComputing }: Pick<Watched, 'init' | 'onComputing'>,
  table: ProcessTable,
  signal: AbortSignal,
): Promise<null> {
  if (!onComputing) return await never(signal);
  const used = () => ({ cpuMs: processorMs(table.within(init.namespace)), at: performance.now() });
  for (let last = used(); await pause(PROCESSORS_EVERY_MS, signal); ) {
    const now = used();
    if (now.cpuMs - last.cpuMs > COMPUTING_SHARE * (now.at - last.at)) onComputing();
    last = now;
  }
  return null;
}

async function watchDisk(
  watched: Watched,
  table: ProcessTable,
  owner: Owner | null,
  signal: AbortSignal,
): Promise<'disk' | null> {
  const { init, folders, givenBytes, diskBytes: limit, spaceBefore: before } = watched;
  let free = before.bytes;
  let walkedAt = performance.now() - WALK_EVERY_MS + FIRST_WALK_MS;
  let step = SMALLEST_STEP;
  while (await pause(DISK_EVERY_MS, signal)) {
    const { bytes: left, full } = await diskSpaceIn(folders[0]);
    // What others have freed meanwhile must not hide what this command writes.
    free = Math.max(free, left);
    if (!full && free - left < step && performance.now() - walkedAt < WALK_EVERY_MS) continue;
    free = left;
    const written = (await bytesIn(folders, owner)) - givenBytes;
    const { bytes: hidden, unmeasured } = await unlinkedFiles(table.within(init.namespace));
    // Unmeasurable usage counts as everything that the file system lost, although other processes may have used part of
    // it.
    const decrease = unmeasured > 0 ? before.bytes - left : 0;
    const all = Math.max(written + hidden, decrease);
    if (all > limit) return 'disk';
    if (full) return blameForFullDisk(before, all);
    step = Math.max(SMALLEST_STEP, (limit - written - hidden) / 4);
    walkedAt = performance.now();
  }
  return null;
}

/** The last measurement, after the command has ended: a result produced on a full disk is unreliable. */
export async function checkDiskAtEnd(
  { folders, givenBytes, spaceBefore: before }: WatchedDisk,
  owner: Owner | null,
): Promise<'disk' | null> {
  if (!(await diskSpaceIn(folders[0])).full) return null;
  return blameForFullDisk(before, (await bytesIn(folders, owner)) - givenBytes);
}

/** Bytes of free space below which programs start to fail. */
const FULL_DISK_BYTES = 2 ** 20;

/** The space on a file system at one moment. */
interface DiskSpace {
  /** Free bytes, plus `BYTES_A_FILE` for each file that can still be created: it falls with either. */
  readonly bytes: number;
  /** The smaller of the two, in bytes. */
  readonly scarcest: number;
  readonly full: boolean;
}

/** The space on the file system of a folder. */
async function diskSpaceIn(folder: string): Promise<DiskSpace> {
  const { bavail, bsize, files, ffree } = await statfs(folder);
  return {
    bytes: bavail * bsize + ffree * BYTES_A_FILE,
    scarcest: Math.min(bavail * bsize, files > 0 ? ffree * BYTES_A_FILE : Number.POSITIVE_INFINITY),
    full: bavail * bsize < FULL_DISK_BYTES || (files > 0 && ffree === 0),
  };
}

/**
 * Decides what filled a disk. If the command uses more than half of what was free when it began, it is stopped for
 * that. Otherwise other processes did, so the command's result is unreliable: fault DISK_FULL, so that it is repeated
 * when there is space.
 */
function blameForFullDisk(before: DiskSpace, written: number): 'disk' {
  if (!before.full && written > Math.max(FULL_DISK_BYTES, before.scarcest / 2)) return 'disk';
  const megabytes = (bytes: number): string => `${Math.round(Math.max(0, bytes) / 1e6)} MB`;
  throw new Fault(
    'DISK_FULL',
    `The disk of this machine was full while a command ran, which had itself written ${megabytes(written)} of the ${megabytes(before.scarcest)} that were free before.`,
  );
}
