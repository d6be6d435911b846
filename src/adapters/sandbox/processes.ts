import { readdirSync, readFileSync, readlinkSync, statfsSync, statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';

/** Milliseconds for which one look at /proc serves every sandbox that asks. */
const FRESH_MS = 100;

/** The first process of a sandbox's outer process namespace: when it ends, the kernel ends all others. */
export interface Init {
  readonly pid: number;
  /** Start in clock ticks since boot: tells the process from a later one with the same id. */
  readonly startedAt: string;
  /** As /proc/PID/ns/ipc names it. All processes of a sandbox share this one, and none can leave it. */
  readonly namespace: string;
}

export interface ProcessTable {
  /**
   * One id, as the host sees it, for each process in an IPC namespace, good for a path in /proc: its own, or that of a
   * thread where the first thread has ended and the others go on. /proc shows neither memory nor files of the first then.
   */
  within(namespace: string): readonly number[];
}

/** What `read` finds, or `otherwise` for a process that has just ended: /proc entries come and go between two calls. */
export function whileAlive<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** PF_EXITING of the kernel's task flags (include/linux/sched.h). */
const EXITING = 0x4;

interface Stat {
  readonly state: string;
  readonly flags: number;
  readonly startedAt: string;
}

/** State letter, flags and start time from /proc/PID/stat; null when there is no such process. */
function stat(pid: number): Stat | null {
  const text = whileAlive(() => readFileSync(`/proc/${pid}/stat`, 'utf8'), '');
  // The program's name, in parentheses, may hold anything; fields 3, 9 and 22 of proc(5) follow the last one.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, startedAt] = [fields[0], fields[19]];
  return state && startedAt ? { state, flags: Number(fields[6]), startedAt } : null;
}

/** Start in clock ticks since boot; null when there is no such process. */
export const startedAt = (pid: number): string | null => stat(pid)?.startedAt ?? null;

/** True once a process runs no more code, though its entry may still be there. */
export function hasEnded(pid: number): boolean {
  const found = stat(pid);
  return found === null || found.state === 'Z' || found.state === 'X' || (found.flags & EXITING) !== 0;
}

/** Null when the process is gone already. */
export function findInit(pid: number): Init | null {
  const namespace = whileAlive(() => readlinkSync(`/proc/${pid}/ns/ipc`), null);
  const found = stat(pid);
  return found === null || namespace === null ? null : { pid, startedAt: found.startedAt, namespace };
}

/** False once the process is gone or a zombie; the kernel lets it become one only after all of its namespace are gone. */
export function isAlive(init: Init): boolean {
  const found = stat(init.pid);
  return found !== null && found.startedAt === init.startedAt && found.state !== 'Z' && found.state !== 'X';
}

interface Found {
  readonly id: number;
  readonly namespace: string;
}

/** A process and its IPC namespace, which a first thread that has ended does not have any more. */
function inNamespace(pid: string): Found {
  const look = (id: string): Found | null =>
    whileAlive(() => ({ id: Number(id), namespace: readlinkSync(`/proc/${id}/ns/ipc`) }), null);
  const threads = (): readonly string[] =>
    stat(Number(pid))?.state === 'Z' ? whileAlive(() => readdirSync(`/proc/${pid}/task`), []) : [];
  return look(pid) ?? first(threads(), look) ?? { id: Number(pid), namespace: '' };
}

/** What `look` finds first; null for nothing. */
function first<T>(ids: readonly string[], look: (id: string) => T | null): T | null {
  for (const id of ids) {
    const found = look(id);
    if (found !== null) return found;
  }
  return null;
}

export function openProcessTable(now: () => number): ProcessTable {
  let takenAt = Number.NEGATIVE_INFINITY;
  let byNamespace: ReadonlyMap<string, readonly number[]> = new Map();
  const take = (): ReadonlyMap<string, readonly number[]> => {
    const found = new Map<string, number[]>();
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue;
      const { id, namespace } = inNamespace(name);
      const pids = found.get(namespace);
      if (pids === undefined) found.set(namespace, [id]);
      else pids.push(id);
    }
    return found;
  };
  return {
    within(namespace) {
      if (now() - takenAt > FRESH_MS) {
        byNamespace = take();
        takenAt = now();
      }
      return byNamespace.get(namespace) ?? [];
    },
  };
}

/** Sum in bytes of the named `Name:  123 kB` lines of a /proc file. */
function kilobytesIn(text: string, names: readonly string[]): number {
  const found = [...text.matchAll(new RegExp(`^(?:${names.join('|')}):\\s+(\\d+) kB`, 'gm'))];
  return found.reduce((sum, [, kib]) => sum + Number(kib) * 1024, 0);
}

const MEMORY_FOLDERS = ['/tmp', '/dev/shm'] as const;

/**
 * The sandbox's own in-memory folders, by a way that leads to them from the host. While a sandbox is being set up, and
 * for its launcher always, the same path still leads to the host's folder: its device tells.
 */
export function memoryFolders(
  pids: readonly number[],
): readonly { readonly path: string; readonly device: number }[] {
  const deviceOf = (path: string): number | null => whileAlive(() => statSync(path).dev, null);
  return MEMORY_FOLDERS.flatMap((folder) => {
    const ofHost = deviceOf(folder);
    for (const pid of pids) {
      const path = `/proc/${pid}/root${folder}`;
      const device = deviceOf(path);
      if (device !== null && device !== ofHost) return [{ path, device }];
    }
    return [];
  });
}

/** Bytes that files in the sandbox's own in-memory folders hold. */
function tmpfsBytes(pids: readonly number[]): number {
  const sizes = memoryFolders(pids).map(({ path }) =>
    whileAlive(() => {
      const { blocks, bfree, bsize } = statfsSync(path);
      return (blocks - bfree) * bsize;
    }, 0),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/**
 * Bytes of memory that processes share without a name (`mmap` of no file). It stays when the process that filled it ends,
 * as long as any maps it, though it shows in nobody's resident size then. Each counts whole: nothing tells how much of it
 * was touched.
 */
export async function sharedBytes(pids: readonly number[]): Promise<number> {
  const ends = new Map<string, number>();
  for (const pid of pids) {
    const text = whileAlive(() => readFileSync(`/proc/${pid}/maps`, 'utf8'), '');
    for (const [, from, to, offset, object] of text.matchAll(SHARED)) {
      const end = Number(`0x${offset}`) + Number(`0x${to}`) - Number(`0x${from}`);
      ends.set(object ?? '', Math.max(end, ends.get(object ?? '') ?? 0));
    }
    // A process can have maps of some megabytes, and a sandbox hundreds of such processes.
    await setImmediate();
  }
  return [...ends.values()].reduce((sum, bytes) => sum + bytes, 0);
}

/** A line of /proc/PID/maps: addresses, offset, device and inode of shared memory without a name. */
const SHARED = /^([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) (\S+ \d+) +\/dev\/zero \(deleted\)$/gm;

/** What a full queue of a socket may hold: net.core.wmem_default of Linux. */
const SOCKET_BYTES = 212_992;
/** Sockets that count nothing: test suites open some hundreds. Our default. */
const FREE_SOCKETS = 512;

/**
 * Bytes that the sockets of the sandbox's own network may hold: kernel memory that no process shows. Nothing tells how
 * full they are, so each beyond a number counts whole.
 */
function socketBytes(pids: readonly number[]): number {
  const networkOf = (pid: number | 'self'): string | null =>
    whileAlive(() => readlinkSync(`/proc/${pid}/ns/net`), null);
  const ours = networkOf('self');
  // The launcher's own processes are in the host's network.
  const pid = pids.findLast((one) => ![ours, null].includes(networkOf(one)));
  if (pid === undefined) return 0;
  const text = whileAlive(() => readFileSync(`/proc/${pid}/net/sockstat`, 'utf8'), '');
  const used = Number(/^sockets: used (\d+)/m.exec(text)?.[1] ?? 0);
  return Math.max(0, used - FREE_SOCKETS) * SOCKET_BYTES;
}

/**
 * Bytes of memory a sandbox holds, `shared` of them in memory without a name. Exact sharing is costly to read, so it is
 * only read once the plain sum of resident sizes, which counts a shared page for each of its users, is over `limit`.
 */
export async function memoryBytes(pids: readonly number[], shared: number, limit: number): Promise<number> {
  const files = tmpfsBytes(pids) + socketBytes(pids);
  const sum = (...names: readonly string[]): number =>
    pids.reduce(
      (total, pid) =>
        total +
        kilobytesIn(
          whileAlive(() => readFileSync(`/proc/${pid}/status`, 'utf8'), ''),
          names,
        ),
      0,
    );
  // Page tables: touching a page in each 2 MiB of nothing takes one page of them each, and none that is resident.
  const plain = files + shared + sum('VmRSS', 'VmSwap', 'VmPTE');
  if (plain <= limit) return plain;
  let [own, inShared] = [sum('VmPTE'), 0];
  for (const pid of pids) {
    const text = whileAlive(() => readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'), '');
    own += kilobytesIn(text, ['Pss', 'SwapPss']);
    inShared += kilobytesIn(text, ['Pss_Shmem']);
    await setImmediate();
  }
  // What is both shared and resident counts once. Kernels before 5.3 do not tell, and it counts twice.
  return files + own + Math.max(0, shared - inShared);
}
