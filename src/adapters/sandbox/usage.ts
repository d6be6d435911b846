import { readFileSync, readlinkSync, statfsSync, statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { Fault } from '../../core/model/index.ts';
import { descriptorsOf, type Owner, runCommand, whileAlive } from './processes.ts';

/** Sum in bytes of the given `Name:  123 kB` lines of a /proc file. */
function kilobytesIn(text: string, names: readonly string[]): number {
  const found = [...text.matchAll(new RegExp(`^(?:${names.join('|')}):\\s+(\\d+) kB`, 'gm'))];
  return found.reduce((sum, [, kib]) => sum + Number(kib) * 1024, 0);
}

const MEMORY_FOLDERS = ['/tmp', '/dev/shm'] as const;

/**
 * The sandbox's own in-memory folders, by paths that reach them from the host. While a sandbox is being set up, and for
 * its launcher always, the same path still leads to the host's folder; its device shows that.
 */
function memoryFolders(
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

/** Bytes in files in the sandbox's own in-memory folders. */
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
 * Bytes of anonymous memory shared by processes (`mmap` without a file). It remains after the process that filled it
 * has ended, as long as any process maps it, although no process's resident size then includes it. Each mapping counts
 * in full, because the touched part is unknown.
 */
export async function sharedBytes(pids: readonly number[]): Promise<number> {
  const ends = new Map<string, number>();
  for (const pid of pids) {
    const text = whileAlive(() => readFileSync(`/proc/${pid}/maps`, 'utf8'), '');
    for (const [, from, to, offset, object] of text.matchAll(SHARED_MAPPING)) {
      const end = Number(`0x${offset}`) + Number(`0x${to}`) - Number(`0x${from}`);
      ends.set(object ?? '', Math.max(end, ends.get(object ?? '') ?? 0));
    }
    // A process can have several megabytes of maps, and a sandbox hundreds of such processes.
    await setImmediate();
  }
  return [...ends.values()].reduce((sum, bytes) => sum + bytes, 0);
}

/** A line of /proc/PID/maps: addresses, offset, device and inode of shared memory without a name. */
const SHARED_MAPPING = /^([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) (\S+ \d+) +\/dev\/zero \(deleted\)$/gm;

/** Maximum size of a socket's queue: net.core.wmem_default of Linux. */
const SOCKET_BYTES = 212_992;
/** Number of sockets that are not counted: test suites open several hundred. Our default. */
const FREE_SOCKETS = 512;

/**
 * Bytes that the sockets of the sandbox's own network may hold: kernel memory that no process reports. Their fill level
 * is unknown, so each one beyond a number counts in full.
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

/** Sum in bytes of some lines of /proc/PID/status. */
const residentBytes = (pid: number, names: readonly string[]): number =>
  kilobytesIn(
    whileAlive(() => readFileSync(`/proc/${pid}/status`, 'utf8'), ''),
    names,
  );

/**
 * Bytes of memory that a sandbox uses, `shared` of them in memory without a name. Exact sharing is expensive to read,
 * so it is read only if the plain sum of resident sizes, which counts a shared page once for each of its users, exceeds
 * `limit`.
 */
export async function memoryBytes(pids: readonly number[], shared: number, limit: number): Promise<number> {
  const files = tmpfsBytes(pids) + socketBytes(pids);
  const sum = (...names: readonly string[]): number =>
    pids.reduce((total, pid) => total + residentBytes(pid, names), 0);
  // Page tables: touching one page in every 2 MiB takes one page of them each time, and none that is resident.
  const plain = files + shared + sum('VmRSS', 'VmSwap', 'VmPTE');
  if (plain <= limit) return plain;
  let [own, inShared] = [sum('VmPTE'), 0];
  for (const pid of pids) {
    const text = whileAlive(() => readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'), '');
    // Of a process that runs a program which its user may not read, an ordinary user sees only the plain sum.
    own += text === '' ? residentBytes(pid, ['VmRSS', 'VmSwap']) : kilobytesIn(text, ['Pss', 'SwapPss']);
    inShared += kilobytesIn(text, ['Pss_Shmem']);
    await setImmediate();
  }
  // Memory that is both shared and resident counts once. Kernels before 5.3 do not report it, and it counts twice.
  return files + own + Math.max(0, shared - inShared);
}

/** Milliseconds in a unit of /proc/PID/stat: USER_HZ is 100 on every architecture that Node runs on. */
const TICK_MS = 10;

/** Milliseconds of processor time that these processes and the children that they have waited for have used. */
export const processorMs = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => {
    const text = whileAlive(() => readFileSync(`/proc/${pid}/stat`, 'utf8'), '');
    // The program's name, in parentheses, may contain anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return sum + fields.slice(11, 15).reduce((ticks, field) => ticks + Number(field), 0) * TICK_MS;
  }, 0);

/** Descriptors that are examined before other work gets a turn. */
const DESCRIPTORS_AT_ONCE = 256;

/** Files without a name: no walk of the folders can find them. Those in memory are separate. */
interface UnlinkedUsage {
  readonly bytes: number;
  /** Files whose size cannot be determined. */
  readonly unmeasured: number;
}

/** Files without a name that processes have open or mapped, or are sending through a socket. */
export async function unlinkedFiles(pids: readonly number[]): Promise<UnlinkedUsage> {
  const inMemory = new Set(memoryFolders(pids).map(({ device }) => device));
  const sizes = new Map<string, number>();
  let [unmeasured, examined] = [0, 0];
  const count = (path: string): void => {
    const file = whileAlive(() => statSync(path), null);
    if (file?.isSocket()) unmeasured += descriptorsInFlight(path.replace('/fd/', '/fdinfo/'));
    if (!file?.isFile() || file.nlink > 0 || inMemory.has(file.dev)) return;
    sizes.set(`${file.dev}:${file.ino}`, file.blocks * 512);
  };
  for (const pid of pids) {
    const descriptors = descriptorsOf(pid);
    if (descriptors === null) unmeasured += 1;
    for (const fd of descriptors ?? []) {
      count(`/proc/${pid}/fd/${fd}`);
      examined += 1;
      if (examined % DESCRIPTORS_AT_ONCE === 0) await setImmediate();
    }
    for (const { path, device } of deletedMappings(pid)) {
      // Only root may follow these links.
      if (process.getuid?.() === 0) count(path);
      else if (!inMemory.has(device)) unmeasured += 1;
    }
    await setImmediate();
  }
  return { bytes: [...sizes.values()].reduce((sum, size) => sum + size, 0), unmeasured };
}

/** Descriptors that wait in a socket and may be nowhere else; kernels before 5.8 do not report them. */
const descriptorsInFlight = (fdinfo: string): number =>
  Number(/^scm_fds:\s+(\d+)/m.exec(whileAlive(() => readFileSync(fdinfo, 'utf8'), ''))?.[1] ?? 0);

/** Mapped files that no longer have a name; those that the kernel itself creates count as memory. */
function deletedMappings(pid: number): readonly { readonly path: string; readonly device: number }[] {
  const text = whileAlive(() => readFileSync(`/proc/${pid}/maps`, 'utf8'), '');
  return [...text.matchAll(DELETED_MAPPING)].map(([, from, to, major, minor]) => ({
    path: `/proc/${pid}/map_files/${from}-${to}`,
    device: makedev(Number(`0x${major}`), Number(`0x${minor}`)),
  }));
}

/** A line of /proc/PID/maps: addresses, offset, device and inode of a file without a name. */
const DELETED_MAPPING =
  /^0*([0-9a-f]+)-0*([0-9a-f]+) \S+ [0-9a-f]+ ([0-9a-f]+):([0-9a-f]+) [1-9]\d* +(?!\/dev\/zero|\/SYSV|\/\[aio\]).* \(deleted\)$/gm;

/** In the form of stat(2). */
const makedev = (major: number, minor: number): number =>
  (minor % 256) + major * 256 + Math.floor(minor / 256) * 2 ** 20;

/**
 * Bytes that a file counts in addition to its content: file systems also run out of files (ext4 has one for each 16
 * KiB). Our default.
 */
export const BYTES_A_FILE = 4096;

/**
 * `du` twice, because it does not print both at once. The death of the first one by a signal would be hidden by the
 * success of the second. Of its errors, only the number of folders that are closed to it is passed on: it prints one
 * with a path for each entry that disappears meanwhile, which a command can make happen without end.
 */
const DU_SCRIPT = `measure() {
  du --summarize --one-file-system --block-size=1 -- "$@"
  code=$?
  [ "$code" -le 128 ] || return "$code"
  du --summarize --one-file-system --inodes -- "$@"
}
exec 3>&1
code=$({ { measure "$@" 2>&1 >&3; echo "$?" >&4; } | grep -c ': Permission denied$' >&2; } 4>&1)
exit "\${code:-1}"`;

/**
 * Bytes that the files in some folders take on disk, plus some for each file, by `du`: it follows no link and reaches
 * folders deeper than a path can name. It runs as root of its own user namespace, so that no folder can be closed to
 * it. If the host has no such namespaces, a closed folder counts as infinite.
 */
export async function bytesIn(folders: readonly [string, ...string[]], owner: Owner | null): Promise<number> {
  const du = ['sh', '-c', DU_SCRIPT, 'sh', ...folders] as const;
  const whole = await runCommand(['unshare', '--user', '--map-root-user', '--', ...du], owner);
  const end = whole.stdout === '' ? await runCommand(du, owner) : whole;
  // Without a namespace a folder can be closed to us, and its content is unknown.
  if (/^[1-9]\d*$/m.test(end.stderr)) return Number.POSITIVE_INFINITY;
  // If files disappear meanwhile, du prints errors and exits with 1 although its sums are valid.
  const sums = [...end.stdout.matchAll(/^(\d+)\t/gm)].map(([, found]) => Number(found));
  if (sums.length !== 2 * folders.length) {
    throw new Fault(
      'SANDBOX_UNAVAILABLE',
      `The disk use of a sandbox could not be measured: du ended with exit code ${end.code ?? 'none'}.`,
    );
  }
  const total = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);
  return total(sums.slice(0, folders.length)) + total(sums.slice(folders.length)) * BYTES_A_FILE;
}
