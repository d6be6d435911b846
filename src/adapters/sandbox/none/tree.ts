import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../../core/model/index.ts';
import type { ProcessTable } from '../processes.ts';

/**
 * All processes of one command are known by a mark that children inherit and no ordinary program changes, whatever becomes
 * of their parent, group or session: a limit of POSIX message queues (bytes) that no other process has.
 */
export interface Tree {
  readonly mark: number;
  /** For the watchdog; whatever namespace it asks for, it gets the tree. */
  readonly table: ProcessTable;
  /** Ends all of them, and those that they start meanwhile. Rejects with a fault when some do not end. */
  end(): Promise<void>;
}

/** The kernel's default limit. */
const USUAL_MARK = 819_200;
/** Milliseconds in which killed processes must be gone, promised by the port. */
const GONE_MS = 10_000;
/** Milliseconds for which one look at /proc serves. */
const FRESH_MS = 100;

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // It has just ended.
    return '';
  }
}

const pids = (): readonly string[] => readdirSync('/proc').filter((name) => /^\d+$/.test(name));

const markOf = (pid: string): number | null => {
  const value = /^Max msgqueue size +(\d+)/m.exec(read(`/proc/${pid}/limits`))?.[1];
  return value === undefined ? null : Number(value);
};

/** By /proc/PID/status. Where only the first thread has ended, the others go on. */
const hasEnded = (status: string): boolean =>
  /^State:\s+[ZX]/m.test(status) && !/^Threads:\s+(?:[2-9]|\d\d)/m.test(status);

/** `random` gives a number from 0 up to its argument, without that. */
export function growTree(random: (below: number) => number): Tree {
  const ceiling = Math.min(markOf('self') ?? USUAL_MARK, USUAL_MARK);
  const taken = new Set(pids().map(markOf));
  let mark = ceiling - 1 - random(Math.floor(ceiling / 2));
  while (taken.has(mark)) mark = ceiling - 1 - random(Math.floor(ceiling / 2));

  const alive = (): readonly number[] =>
    pids()
      .filter((pid) => markOf(pid) === mark && !hasEnded(read(`/proc/${pid}/status`)))
      .map(Number);
  let takenAt = Number.NEGATIVE_INFINITY;
  let latest: readonly number[] = [];
  return {
    mark,
    table: {
      within() {
        if (performance.now() - takenAt > FRESH_MS) {
          latest = alive();
          takenAt = performance.now();
        }
        return latest;
      },
    },
    async end() {
      const deadline = performance.now() + GONE_MS;
      for (let left = alive(); left.length > 0; left = alive()) {
        if (performance.now() > deadline) {
          throw new Fault(
            'INTERNAL',
            `Processes of a command did not end within ten seconds: ${left.join(', ')}.`,
          );
        }
        for (const pid of left) kill(pid);
        await sleep(5);
      }
    },
  };
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown;
  }
}

/** Processes and threads of a user, as its limit counts them. */
export function threadsOf(uid: number): number {
  return pids()
    .map((pid) => read(`/proc/${pid}/status`))
    .filter((status) => Number(/^Uid:\t(\d+)/m.exec(status)?.[1]) === uid)
    .reduce((sum, status) => sum + Number(/^Threads:\t(\d+)/m.exec(status)?.[1] ?? 1), 0);
}
