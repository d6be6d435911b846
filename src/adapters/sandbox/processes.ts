import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa, type Options } from 'execa';
import { Fault, machineFaultIn, mayStartLater, programKilled, runToEnd } from '../../core/model/index.ts';
import type { ExecSpec } from '../../ports/index.ts';

/** Milliseconds for which one scan of /proc is reused by all sandboxes. */
const SCAN_FRESH_MS = 100;

/**
 * Milliseconds to wait for killed processes: the kernel may need more than it should to take apart what a command has
 * built, and the command's result must not be lost for that. Our default.
 */
export const GONE_TIMEOUT_MS = 60_000;

/** The first process of a sandbox's outer process namespace: when it ends, the kernel ends all others. */
export interface Init {
  readonly pid: number;
  /** Start time in clock ticks since boot: distinguishes the process from a later one with the same id. */
  readonly startedAt: string;
  /** The name in /proc/PID/ns/ipc. All processes of a sandbox share it, and none can leave it. */
  readonly namespace: string;
}

export interface ProcessTable {
  /**
   * One id, as the host sees it, for each process in an IPC namespace, usable as a path in /proc: its own, or that of a
   * thread if the first thread has ended and others continue. In that case /proc shows neither memory nor files of the
   * first thread.
   */
  within(namespace: string): readonly number[];
}

/**
 * The result of `read`, or `otherwise` for a process that has just ended: /proc entries can disappear between two
 * calls.
 */
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
  readonly parent: number;
  readonly flags: number;
  readonly startedAt: string;
}

/** State letter, parent, flags and start time from /proc/PID/stat; null if there is no such process. */
function readStat(pid: number): ProcessStat | null {
  const text = whileAlive(() => readFileSync(`/proc/${pid}/stat`, 'utf8'), '');
  // The program's name, in parentheses, may contain anything; fields 3, 4, 9 and 22 of proc(5) follow the last
  // parenthesis.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, startedAt] = [fields[0], fields[19]];
  return state && startedAt
    ? { state, parent: Number(fields[1]), flags: Number(fields[6]), startedAt }
    : null;
}

/** Start time in clock ticks since boot; null if there is no such process. */
export const startedAt = (pid: number): string | null => readStat(pid)?.startedAt ?? null;

/** True once a process executes no more code, even if its entry still exists. */
export function hasEnded(pid: number): boolean {
  const found = readStat(pid);
  return found === null || found.state === 'Z' || found.state === 'X' || (found.flags & EXITING) !== 0;
}

/**
 * Null if the process has ended already. Throws if it may not be looked at: nothing could be measured, and no limit of
 * memory or disk would hold.
 */
export function findInit(pid: number): Init | null {
  const found = readStat(pid);
  if (found === null) return null;
  try {
    return { pid, startedAt: found.startedAt, namespace: readlinkSync(`/proc/${pid}/ns/ipc`) };
  } catch (thrown) {
    if (!refusesLook(thrown) || hasEnded(pid)) return null;
    throw new Fault('SANDBOX_UNAVAILABLE', 'The processes of a sandbox cannot be watched.', {
      cause: thrown,
    });
  }
}

/**
 * False once the process has ended or is a zombie; the kernel makes it a zombie only after all others of its namespace
 * have ended.
 */
export function isAlive(init: Init): boolean {
  const found = readStat(init.pid);
  return found !== null && found.startedAt === init.startedAt && found.state !== 'Z' && found.state !== 'X';
}

interface NamespaceMember {
  readonly id: number;
  /** Empty if it has none any more; null if we may not see it. */
  readonly namespace: string | null;
}

const refusesLook = (thrown: unknown): boolean =>
  ['EACCES', 'EPERM'].includes((thrown as NodeJS.ErrnoException).code ?? '');

/** A process and its IPC namespace, which a first thread that has ended no longer has. */
function inNamespace(pid: string): NamespaceMember {
  const look = (id: string): NamespaceMember | null => {
    try {
      return { id: Number(id), namespace: readlinkSync(`/proc/${id}/ns/ipc`) };
    } catch (thrown) {
      return refusesLook(thrown) ? { id: Number(id), namespace: null } : null;
    }
  };
  const threads = (): readonly string[] =>
    readStat(Number(pid))?.state === 'Z' ? whileAlive(() => readdirSync(`/proc/${pid}/task`), []) : [];
  const found =
    look(pid) ??
    threads()
      .map(look)
      .find((thread) => thread !== null);
  return found ?? { id: Number(pid), namespace: '' };
}

/**
 * The namespace of the nearest ancestor that has one we may see. The kernel hides a process from ordinary users while
 * it runs a program that its user may not read, as sudo is on some systems.
 */
function inherited(pid: number, known: ReadonlyMap<number, NamespaceMember>): string {
  let member = known.get(pid);
  for (let at = pid; member !== undefined && member.namespace === null; member = known.get(at))
    at = readStat(at)?.parent ?? 0;
  return member?.namespace ?? '';
}

export function openProcessTable(now: () => number): ProcessTable {
  let takenAt = Number.NEGATIVE_INFINITY;
  let byNamespace: ReadonlyMap<string, readonly number[]> = new Map();
  const take = (): ReadonlyMap<string, readonly number[]> => {
    const members = new Map<number, NamespaceMember>();
    for (const name of readdirSync('/proc'))
      if (/^\d+$/.test(name)) members.set(Number(name), inNamespace(name));
    const found = new Map<string, number[]>();
    for (const [pid, { id, namespace }] of members) {
      const name = namespace ?? inherited(pid, members);
      const pids = found.get(name);
      if (pids === undefined) found.set(name, [id]);
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

/** Names of the open descriptors of a process; null if we may not see them although it runs. */
export function descriptorsOf(pid: number): readonly string[] | null {
  try {
    return readdirSync(`/proc/${pid}/fd`);
  } catch (thrown) {
    return refusesLook(thrown) && !hasEnded(pid) ? null : [];
  }
}

/** The unprivileged user of every sandboxed process if Runoff itself runs as root. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Passes on what somebody types, until the program has ended. */
export function connectInput(child: ChildProcess, input: NonNullable<ExecSpec['input']>): void {
  // A program that no longer reads is no error: its exit code shows the reason.
  child.stdin?.on('error', () => undefined);
  const end = input((bytes) => child.stdin?.write(bytes));
  child.once('close', end);
  child.once('error', end);
}

/** Options for `spawn`: sets both ids and, as root, drops all supplementary groups before the program starts. */
export const asOwner = (owner: Owner | null): { uid?: number; gid?: number } =>
  owner === null ? {} : { uid: owner.uid, gid: owner.gid };

/** Where to look for the host's own programs; the operator's PATH is not trusted. */
export const HOST_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * Maximum number of characters of each stream of a host program; their output is short. More ends the program. Our
 * default.
 */
const MAX_STREAM_CHARS = 1024 * 1024;

export interface CommandEnd {
  /** Null if there is no such program, or it crashed. */
  readonly code: number | null;
  readonly stdout: string;
  /** Its standard error, or why it could not be started. */
  readonly stderr: string;
}

/**
 * Runs a trusted host program to its end with an environment of only PATH, and again if it was killed. Rejects with
 * PROGRAM_KILLED if that does not help, and for no other end.
 */
export async function runCommand(
  [file, ...args]: readonly [string, ...string[]],
  owner: Owner | null,
): Promise<CommandEnd> {
  const options = { env: { PATH: HOST_PATH }, stripFinalNewline: false, maxBuffer: MAX_STREAM_CHARS };
  return commandEnd(file, args, { ...options, ...asOwner(owner) });
}

/** Like `runCommand`, with options for the program. */
export async function commandEnd(
  file: string,
  args: readonly string[],
  options: Pick<Options, 'env' | 'maxBuffer' | 'stripFinalNewline' | 'timeout' | 'uid' | 'gid'>,
): Promise<CommandEnd> {
  const end = await runToEnd(file, sleep, () =>
    execa(file, args, {
      ...options,
      cwd: '/',
      extendEnv: false,
      stdin: 'ignore',
      reject: false,
      killSignal: 'SIGKILL',
    }),
  );
  const why = end instanceof Error ? (end.shortMessage ?? '') : '';
  return { code: end.exitCode ?? null, stdout: String(end.stdout ?? ''), stderr: String(end.stderr || why) };
}

/** Ends all processes of a detached child's group at once. False if none is left. */
export function killGroup({ pid }: ChildProcess): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(-pid, 'SIGKILL');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown;
    return false;
  }
}

/**
 * The fault behind a program of a sandbox that could not be started: an outage if the machine is short of something.
 */
export const spawnFault = (program: string, error: NodeJS.ErrnoException): Fault =>
  mayStartLater(error.code)
    ? programKilled(program, { kind: 'lost', how: `could not be started: ${error.code}` })
    : new Fault(
        machineFaultIn(error.message) ?? 'SANDBOX_UNAVAILABLE',
        `${program} could not be started: ${error.message}`,
      );

/** O_CLOEXEC as /proc/PID/fdinfo shows it; the same on x64 and arm64. */
const CLOSE_ON_EXEC = 0o2000000;

/**
 * Descriptors other than the standard ones that every program started by this process would inherit: those that its own
 * parent (a service manager, a shell, a test runner) left open. Node opens its own so that they are not inherited.
 */
export function inheritedDescriptors(): readonly number[] {
  const passedOn = (fd: string): boolean => {
    try {
      const flags = /^flags:\s+([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1];
      return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
    } catch {
      // The descriptor of this listing itself, closed by now.
      return false;
    }
  };
  return readdirSync('/proc/self/fd')
    .filter((fd) => Number(fd) > 2 && passedOn(fd))
    .map(Number);
}
