import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { mayStartLater, retryLost, signalIn } from '../../core/model/index.ts';

/** The ordinary user that every sandbox process belongs to when Runoff itself runs as root. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Options for `spawn`: it sets both ids and, as root, drops all supplementary groups before the program starts. */
export const asOwner = (owner: Owner | null): { uid?: number; gid?: number } =>
  owner === null ? {} : { uid: owner.uid, gid: owner.gid };

/** Where the host's own programs are looked for; the operator's PATH is not trusted with it. */
export const HOST_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Most characters of each stream of a host program, our default; their output is short. More ends the program. */
const MAX_OUTPUT_CHARS = 1024 * 1024;

export interface CommandEnd {
  /** Null when the program could not be started or was ended by a signal. */
  readonly code: number | null;
  readonly stdout: string;
  /** What it wrote, or why it could not be started. */
  readonly stderr: string;
}

/** Runs a trusted host program to its end with an empty environment but PATH, again where it was killed. Never rejects. */
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
  // Output without end is cut off by ourselves. What is not there now is not looked for again: it is a question here.
  // A shell or `unshare` around the program that was killed says so by its own exit code.
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
 * Descriptors beyond the standard ones that every program this process starts would receive: what its own parent (a
 * service manager, a shell, a test runner) left open. Node opens its own so that they are not passed on.
 */
export function inheritedDescriptors(): readonly number[] {
  const passedOn = (fd: string): boolean => {
    try {
      const flags = /^flags:\s+([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1];
      return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
    } catch {
      // The descriptor of this very listing, closed by now.
      return false;
    }
  };
  return readdirSync('/proc/self/fd')
    .filter((fd) => Number(fd) > 2 && passedOn(fd))
    .map(Number);
}

/** Limits of this process that a sandbox cannot have higher; infinity where there is none. */
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
