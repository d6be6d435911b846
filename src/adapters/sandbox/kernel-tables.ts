import { readFileSync, readlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { descriptorsOf, whileAlive } from './processes.ts';

/**
 * What the kernel counts for all processes of a user, or of the machine: a command that takes all of it makes programs
 * in other sandboxes, and Runoff itself, fail.
 */
interface TableUse {
  /** Open descriptors: the kernel has a limit of open files for the machine. */
  readonly descriptors: number;
  /** Descriptors that epoll watches: the kernel counts them per user, and Node aborts if it can add none. */
  readonly epollWatches: number;
  /** Descriptors that wait in sockets and may be epolls whose watches nobody can see. Older kernels show none. */
  readonly inFlight: number;
  /** Processes that do not show us what they have open. */
  readonly unseen: number;
}

/** What is counted before other work gets a turn. */
const COUNTED_AT_ONCE = 1_000;

/** What one descriptor holds besides itself. */
function heldBy(pid: number, fd: string): Pick<TableUse, 'epollWatches' | 'inFlight'> {
  const link = whileAlive(() => readlinkSync(`/proc/${pid}/fd/${fd}`), '');
  const isEpoll = link === 'anon_inode:[eventpoll]';
  if (!isEpoll && !link.startsWith('socket:')) return { epollWatches: 0, inFlight: 0 };
  const info = whileAlive(() => readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8'), '');
  return {
    epollWatches: isEpoll ? (info.match(/^tfd:/gm)?.length ?? 0) : 0,
    inFlight: Number(/^scm_fds:\s+(\d+)/m.exec(info)?.[1] ?? 0),
  };
}

/** Counts what some processes use, in full or until a limit is exceeded. */
export async function tableUse(pids: readonly number[], limits: TableUse): Promise<TableUse> {
  const use = { descriptors: 0, epollWatches: 0, inFlight: 0, unseen: 0 };
  let counted = 0;
  for (const pid of pids) {
    const descriptors = descriptorsOf(pid);
    if (descriptors === null) use.unseen += 1;
    for (const fd of descriptors ?? []) {
      const { epollWatches, inFlight } = heldBy(pid, fd);
      use.descriptors += 1;
      use.epollWatches += epollWatches;
      use.inFlight += inFlight;
      if (use.descriptors > limits.descriptors || use.epollWatches > limits.epollWatches) return use;
      counted += 1 + epollWatches;
      if (counted < COUNTED_AT_ONCE) continue;
      counted = 0;
      await setImmediate();
    }
  }
  return use;
}

/** Most that one command may use, as far as this machine has more. Our defaults: programs need a tenth of these. */
const MOST = { descriptors: 262_144, epollWatches: 200_000, inFlight: 24 } as const;

/** The share of a command in what the machine has: sandboxes of several candidates run at once. */
const SHARES = { descriptors: 1 / 8, epollWatches: 1 / 16 } as const;

const readIfThere = (file: string): string => whileAlive(() => readFileSync(file, 'utf8'), '');

/** The number in a file; infinity if there is none, as in `max`. */
function limitIn(file: string): number {
  const value = Number.parseInt(readIfThere(file), 10);
  return Number.isNaN(value) ? Number.POSITIVE_INFINITY : value;
}

const sysctl = (path: string): number => limitIn(`/proc/sys/${path}`) || Number.POSITIVE_INFINITY;

/**
 * Where programs may hide what they have open, as ssh-agent does, those that do are left alone; elsewhere only those
 * hide that run a program which their user may not read, and none may.
 */
export const tableLimits = (mayHide: boolean): TableUse => ({
  descriptors: Math.min(MOST.descriptors, sysctl('fs/file-max') * SHARES.descriptors),
  epollWatches: Math.min(MOST.epollWatches, sysctl('fs/epoll/max_user_watches') * SHARES.epollWatches),
  inFlight: MOST.inFlight,
  unseen: mayHide ? Number.POSITIVE_INFINITY : 0,
});

/** A busy program receives what was sent to it within some of these looks, and what hides for longer stays hidden. */
const LOOKS_HIDDEN = 3;

/** Returns a function that says whether one more look shows that a command uses more than it may. */
export function openTableWatch(limits: TableUse): (use: TableUse) => boolean {
  const looks: TableUse[] = [];
  return (use) => {
    looks.push(use);
    if (looks.length > LOOKS_HIDDEN) looks.shift();
    const hides = (what: 'inFlight' | 'unseen'): boolean =>
      looks.length === LOOKS_HIDDEN && looks.every((look) => look[what] > limits[what]);
    return (
      use.descriptors > limits.descriptors ||
      use.epollWatches > limits.epollWatches ||
      hides('inFlight') ||
      hides('unseen')
    );
  };
}

/** Where control groups are mounted, by the controller that /proc/PID/cgroup names: of version 2 and of version 1. */
const TASK_GROUPS: Readonly<Record<string, string>> = { '': '/sys/fs/cgroup', pids: '/sys/fs/cgroup/pids' };

/**
 * How many processes and threads there may be at the same time: on the machine, and in the control groups of this
 * process, of either version. What cannot be read limits nothing.
 */
export function maxTasks(
  groups: Readonly<Record<string, string>> = TASK_GROUPS,
  ownGroups = '/proc/self/cgroup',
): number {
  const folders = [...readIfThere(ownGroups).matchAll(/^\d+:([^:]*):(\/.*)$/gm)].flatMap(
    ([, controller = '', path = '']) => {
      const top = groups[controller.split(',').includes('pids') ? 'pids' : controller];
      return top === undefined ? [] : upwards(path).map((folder) => join(top, folder, 'pids.max'));
    },
  );
  return Math.min(sysctl('kernel/pid_max'), sysctl('kernel/threads-max'), ...folders.map(limitIn));
}

/** A folder and those around it, up to the root: in a container, only the last ones may exist. */
const upwards = (path: string): readonly string[] =>
  path === '/' || path === '.' ? ['/'] : [path, ...upwards(dirname(path))];

/** Limits of this process that a sandbox cannot exceed; infinity if there is none. */
export interface HardLimits {
  readonly processes: number;
  readonly files: number;
  readonly fileBytes: number;
}

/** The hard limits from /proc/self/limits. */
export function readHardLimits(): HardLimits {
  const text = readFileSync('/proc/self/limits', 'utf8');
  const hard = (name: string): number => {
    const value = new RegExp(`^${name} +\\S+ +(\\d+)`, 'm').exec(text)?.[1];
    return value === undefined ? Number.POSITIVE_INFINITY : Number(value);
  };
  return {
    processes: hard('Max processes'),
    files: hard('Max open files'),
    fileBytes: hard('Max file size'),
  };
}
