import { readdirSync, readFileSync, statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { memoryFolders, whileAlive } from './processes.ts';

/** Descriptors examined before other work gets a turn. */
const DESCRIPTORS_AT_ONCE = 256;

/** Files without a name: no walk of the folders can see them. Those in memory apart. */
export interface Unlinked {
  readonly bytes: number;
  /** Files held in a way that does not tell their size. */
  readonly unmeasured: number;
}

/** What processes hold of files without a name: open, mapped, or on their way through a socket. */
export async function unlinkedFiles(pids: readonly number[]): Promise<Unlinked> {
  const inMemory = new Set(memoryFolders(pids).map(({ device }) => device));
  const sizes = new Map<string, number>();
  let [unmeasured, examined] = [0, 0];
  const count = (path: string): void => {
    const file = whileAlive(() => statSync(path), null);
    if (file?.isSocket()) unmeasured += onTheirWay(path.replace('/fd/', '/fdinfo/'));
    if (!file?.isFile() || file.nlink > 0 || inMemory.has(file.dev)) return;
    sizes.set(`${file.dev}:${file.ino}`, file.blocks * 512);
  };
  for (const pid of pids) {
    for (const fd of whileAlive(() => readdirSync(`/proc/${pid}/fd`), [])) {
      count(`/proc/${pid}/fd/${fd}`);
      examined += 1;
      if (examined % DESCRIPTORS_AT_ONCE === 0) await setImmediate();
    }
    for (const { path, device } of mapped(pid)) {
      // Only root may follow these.
      if (process.getuid?.() === 0) count(path);
      else if (!inMemory.has(device)) unmeasured += 1;
    }
    await setImmediate();
  }
  return { bytes: [...sizes.values()].reduce((sum, size) => sum + size, 0), unmeasured };
}

/** Descriptors that wait in a socket, and are perhaps nowhere else; kernels before 5.8 do not tell. */
const onTheirWay = (fdinfo: string): number =>
  Number(/^scm_fds:\s+(\d+)/m.exec(whileAlive(() => readFileSync(fdinfo, 'utf8'), ''))?.[1] ?? 0);

/** Files that a process maps and that have no name any more; those of the kernel's own making count as memory. */
function mapped(pid: number): readonly { readonly path: string; readonly device: number }[] {
  const text = whileAlive(() => readFileSync(`/proc/${pid}/maps`, 'utf8'), '');
  return [...text.matchAll(MAPPED)].map(([, from, to, major, minor]) => ({
    path: `/proc/${pid}/map_files/${from}-${to}`,
    device: makedev(Number(`0x${major}`), Number(`0x${minor}`)),
  }));
}

/** A line of /proc/PID/maps: addresses, offset, device and inode of a file without a name. */
const MAPPED =
  /^0*([0-9a-f]+)-0*([0-9a-f]+) \S+ [0-9a-f]+ ([0-9a-f]+):([0-9a-f]+) [1-9]\d* +(?!\/dev\/zero|\/SYSV|\/\[aio\]).* \(deleted\)$/gm;

/** As stat(2) gives it. */
const makedev = (major: number, minor: number): number =>
  (minor % 256) + major * 256 + Math.floor(minor / 256) * 2 ** 20;
