import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { mayStartLater, retryLost, signalIn } from '../../core/model/index.ts';

/** The unprivileged user of every sandboxed process if Runoff itself runs as root. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
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
const MAX_OUTPUT_CHARS = 1024 * 1024;

export interface CommandEnd {
  /** Null if the program could not be started or a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  /** Its standard error, or why it could not be started. */
  readonly stderr: string;
}

/** Runs a trusted host program to its end with an environment of only PATH, and again if it was killed. Never rejects. */
export async function runCommand(
  argv: readonly [string, ...string[]],
  owner: Owner | null,
): Promise<CommandEnd> {
  const { lost: _, ...end } = await retryLost(
    sleep,
    () => runCommandOnce(argv, owner),
    ({ lost }) => lost,
  );
  return end;
}

async function runCommandOnce([file, ...args]: readonly [string, ...string[]], owner: Owner | null) {
  const end = await execa(file, args, {
    cwd: '/',
    env: { PATH: HOST_PATH },
    extendEnv: false,
    stdin: 'ignore',
    stripFinalNewline: false,
    reject: false,
    maxBuffer: MAX_OUTPUT_CHARS,
    ...asOwner(owner),
  });
  const why = end instanceof Error ? (end.shortMessage ?? '') : '';
  const { signal, code } = end as { readonly signal?: string; readonly code?: string };
  // We cut off endless output ourselves. A missing program is not tried again, because its absence is an answer. A
  // shell or `unshare` around a killed program reports that in its own exit code.
  const inside = end.exitCode !== undefined && signalIn(end.exitCode) !== null;
  const killed = (signal !== undefined && code === undefined) || inside;
  return {
    lost: killed || (code !== 'ENOENT' && mayStartLater(code)),
    code: end.exitCode ?? null,
    stdout: end.stdout ?? '',
    stderr: end.stderr || why,
  };
}

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
