import { readFileSync, readlinkSync } from 'node:fs';
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
}

/** What is counted before other work gets a turn. */
const COUNTED_AT_ONCE = 1_000;

/** What one descriptor holds besides itself. */
function heldBy(pid: number, fd: string): Omit<TableUse, 'descriptors'> {
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
  const use = { descriptors: 0, epollWatches: 0, inFlight: 0 };
  let counted = 0;
  for (const pid of pids) {
    const descriptors = descriptorsOf(pid);
    // Whatever it has open is as invisible as what is in flight.
    if (descriptors === null) use.inFlight += limits.inFlight + 1;
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
const MOST: TableUse = { descriptors: 262_144, epollWatches: 200_000, inFlight: 24 };

/** The share of a command in what the machine has: sandboxes of several candidates run at once. */
const SHARES = { descriptors: 1 / 8, epollWatches: 1 / 16 } as const;

const sysctl = (path: string): number => {
  const value = Number(whileAlive(() => readFileSync(`/proc/sys/fs/${path}`, 'utf8'), ''));
  return value > 0 ? value : Number.POSITIVE_INFINITY;
};

export const tableLimits = (): TableUse => ({
  descriptors: Math.min(MOST.descriptors, sysctl('file-max') * SHARES.descriptors),
  epollWatches: Math.min(MOST.epollWatches, sysctl('epoll/max_user_watches') * SHARES.epollWatches),
  inFlight: MOST.inFlight,
});

/** A busy program receives what was sent to it within some of these looks. */
const LOOKS_IN_FLIGHT = 3;

/** Returns a function that says whether one more look shows that a command uses more than it may. */
export function openTableWatch(limits: TableUse): (use: TableUse) => boolean {
  const inFlight: number[] = [];
  return (use) => {
    inFlight.push(use.inFlight);
    if (inFlight.length > LOOKS_IN_FLIGHT) inFlight.shift();
    const waiting = inFlight.length === LOOKS_IN_FLIGHT ? Math.min(...inFlight) : 0;
    return (
      use.descriptors > limits.descriptors ||
      use.epollWatches > limits.epollWatches ||
      waiting > limits.inFlight
    );
  };
}
