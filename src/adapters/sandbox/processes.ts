import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Milliseconds for which one look at /proc serves every sandbox that asks. */
const SCAN_FRESH_MS = 100;

/** Milliseconds in which killed processes must be gone, promised by the port. */
export const KILL_TIMEOUT_MS = 10_000;

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

interface ProcessStat {
  readonly state: string;
  readonly flags: number;
  readonly startedAt: string;
}

/** State letter, flags and start time from /proc/PID/stat; null when there is no such process. */
function readStat(pid: number): ProcessStat | null {
  const text = whileAlive(() => readFileSync(`/proc/${pid}/stat`, 'utf8'), '');
  // The program's name, in parentheses, may hold anything; fields 3, 9 and 22 of proc(5) follow the last one.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, startedAt] = [fields[0], fields[19]];
  return state && startedAt ? { state, flags: Number(fields[6]), startedAt } : null;
}

/** Start in clock ticks since boot; null when there is no such process. */
export const startedAt = (pid: number): string | null => readStat(pid)?.startedAt ?? null;

/** True once a process runs no more code, though its entry may still be there. */
export function hasEnded(pid: number): boolean {
  const found = readStat(pid);
  return found === null || found.state === 'Z' || found.state === 'X' || (found.flags & EXITING) !== 0;
}

/** Null when the process is gone already. */
export function findInit(pid: number): Init | null {
  const namespace = whileAlive(() => readlinkSync(`/proc/${pid}/ns/ipc`), null);
  const found = readStat(pid);
  return found === null || namespace === null ? null : { pid, startedAt: found.startedAt, namespace };
}

/** False once the process is gone or a zombie; the kernel lets it become one only after all of its namespace are gone. */
export function isAlive(init: Init): boolean {
  const found = readStat(init.pid);
  return found !== null && found.startedAt === init.startedAt && found.state !== 'Z' && found.state !== 'X';
}

interface NamespaceMember {
  readonly id: number;
  readonly namespace: string;
}

/** A process and its IPC namespace, which a first thread that has ended does not have any more. */
function inNamespace(pid: string): NamespaceMember {
  const look = (id: string): NamespaceMember | null =>
    whileAlive(() => ({ id: Number(id), namespace: readlinkSync(`/proc/${id}/ns/ipc`) }), null);
  const threads = (): readonly string[] =>
    readStat(Number(pid))?.state === 'Z' ? whileAlive(() => readdirSync(`/proc/${pid}/task`), []) : [];
  return look(pid) ?? firstFound(threads(), look) ?? { id: Number(pid), namespace: '' };
}

/** What `look` finds first; null for nothing. */
function firstFound<T>(ids: readonly string[], look: (id: string) => T | null): T | null {
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
      if (now() - takenAt > SCAN_FRESH_MS) {
        byNamespace = take();
        takenAt = now();
      }
      return byNamespace.get(namespace) ?? [];
    },
  };
}
