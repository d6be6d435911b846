import { randomBytes } from 'node:crypto';
import { closeSync, constants, existsSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../core/model/index.ts';
import type { Limits } from '../../ports/index.ts';
import { startedAt } from './processes.ts';

/** One command's control group. */
export interface ControlGroup {
  /** Descriptor, open with our rights: a process that writes 0 to it is in the group from then on. */
  readonly door: number;
  /** Ends every process in it. */
  kill(): void;
  /** Ends what is left and removes the group. Rejects with a fault when a process does not end. */
  close(): Promise<{ readonly outOfMemory: boolean }>;
}

export interface ControlGroups {
  /** Throws SANDBOX_UNAVAILABLE when a limit cannot be set. */
  open(limits: Pick<Limits, 'memoryBytes' | 'processes'>): ControlGroup;
}

/** How control groups are changed. */
export interface GroupFolders {
  /** This process. */
  readonly pid: number;
  mkdir(path: string): void;
  rmdir(path: string): void;
  /** Writes a control file. */
  put(file: string, text: string): void;
}

/** The launcher's: `unshare`, the watcher, bubblewrap and the first process of either namespace. */
const OWN_PROCESSES = 5;
/** Milliseconds in which killed processes must be gone, promised by the port. */
const GONE_MS = 10_000;
const NAME = /^box-(\d+)-(\d+)-/;

/** Writes a control file. It is never made: a file that is not there is a limit that the kernel does not know. */
export function put(file: string, text: string): void {
  const fd = openSync(file, constants.O_WRONLY);
  try {
    writeSync(fd, text);
  } finally {
    closeSync(fd);
  }
}

/** Makes groups in a group that was delegated to us; what a killed Runoff left there is removed. */
export function openControlGroups(root: string, host: GroupFolders): ControlGroups {
  removeLeftovers(root, host);
  const prefix = `box-${host.pid}-${startedAt(host.pid) ?? '0'}`;
  return {
    open(limits) {
      const folder = join(root, `${prefix}-${randomBytes(6).toString('hex')}`);
      try {
        host.mkdir(folder);
        setLimits(folder, limits, host);
        return groupIn(folder, openSync(join(folder, 'cgroup.procs'), constants.O_WRONLY), host);
      } catch (thrown) {
        if (existsSync(folder)) host.rmdir(folder);
        throw new Fault(
          'SANDBOX_UNAVAILABLE',
          `No control group with the limits of a command can be made: ${(thrown as Error).message}`,
        );
      }
    },
  };
}

function setLimits(
  folder: string,
  { memoryBytes, processes }: Pick<Limits, 'memoryBytes' | 'processes'>,
  { put }: GroupFolders,
): void {
  put(join(folder, 'memory.max'), String(memoryBytes));
  // Absent where the kernel counts no swap.
  if (existsSync(join(folder, 'memory.swap.max'))) put(join(folder, 'memory.swap.max'), '0');
  // A tree that lost one process to the limit is not left half alive.
  put(join(folder, 'memory.oom.group'), '1');
  put(join(folder, 'pids.max'), String(processes + OWN_PROCESSES));
}

function groupIn(folder: string, door: number, host: GroupFolders): ControlGroup {
  const kill = (): void => {
    // Linux before 5.14 has no such file; the end of the sandbox's first process ends the others there.
    if (existsSync(join(folder, 'cgroup.kill'))) host.put(join(folder, 'cgroup.kill'), '1');
  };
  return {
    door,
    kill,
    async close() {
      closeSync(door);
      const events = readFileSync(join(folder, 'memory.events'), 'utf8');
      kill();
      const deadline = performance.now() + GONE_MS;
      while (!removed(folder, host)) {
        if (performance.now() > deadline) {
          throw new Fault(
            'INTERNAL',
            `Processes of a sandbox are left in ${folder} ten seconds after SIGKILL.`,
          );
        }
        await sleep(2);
      }
      return { outOfMemory: Number(/^oom_kill (\d+)$/m.exec(events)?.[1] ?? 0) > 0 };
    },
  };
}

/** False while a process is still on its way out. */
function removed(folder: string, host: GroupFolders): boolean {
  try {
    host.rmdir(folder);
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EBUSY') return false;
    throw thrown;
  }
}

function removeLeftovers(root: string, host: GroupFolders): void {
  for (const name of readdirSync(root)) {
    const [, pid, start] = NAME.exec(name) ?? [];
    if (pid === undefined || startedAt(Number(pid)) === start) continue;
    const folder = join(root, name);
    if (existsSync(join(folder, 'cgroup.kill'))) host.put(join(folder, 'cgroup.kill'), '1');
    // Busy: its processes are on their way out, and the next start finds it empty.
    removed(folder, host);
  }
}
