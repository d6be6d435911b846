import { Fault } from './fault.ts';

/**
 * The end of a child process that could not do its work for an external reason: a signal from outside, or a machine
 * that could not start it. `how` completes a sentence: "was killed by SIGKILL", "could not be started: EAGAIN".
 */
export interface ChildLost {
  readonly kind: 'lost';
  readonly how: string;
  /** The name of the program, if several are possible. */
  readonly program?: string;
}

/**
 * Milliseconds before each restart of a lost child: four attempts in all. Default. Anything that lasts longer is an
 * outage.
 */
const RESTART_WAITS_MS: readonly number[] = [100, 500, 2_000];

/**
 * Reasons for which a program may start a moment later: memory, processes or descriptors are exhausted, or the file
 * is being replaced.
 */
const TEMPORARY = new Set(['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE', 'ETXTBSY', 'ENOENT']);

export const mayStartLater = (code: string | undefined): boolean => code !== undefined && TEMPORARY.has(code);

/** Shells and other wrappers report death by signal as 128 + its number; null for any other exit code. */
export const signalIn = (exitCode: number): number | null =>
  exitCode > 128 && exitCode <= 128 + 64 ? exitCode - 128 : null;

/**
 * Runs work in a child process, and repeats it if the child was lost, at most four attempts. The last attempt's
 * result counts. The caller supplies `sleep`, because core is pure.
 */
export async function retryLost<T>(
  sleep: (ms: number) => Promise<unknown>,
  work: () => Promise<T>,
  shouldRetry: (end: T) => boolean,
): Promise<T> {
  for (const wait of RESTART_WAITS_MS) {
    const end = await work();
    if (!shouldRetry(end)) return end;
    await sleep(wait);
  }
  return work();
}

/**
 * The same for work that returns a `ChildLost` and is safe to repeat. Rejects with PROGRAM_KILLED, which a stage
 * handles like an outage.
 */
export async function restarting<T extends { readonly kind: string }>(
  program: string,
  sleep: (ms: number) => Promise<unknown>,
  work: () => Promise<T | ChildLost>,
): Promise<Exclude<T, ChildLost>> {
  const end = await retryLost(sleep, work, isLost);
  if (isLost(end)) throw programKilled(program, end, RESTART_WAITS_MS.length + 1);
  return end as Exclude<T, ChildLost>;
}

const isLost = (end: { readonly kind: string }): end is ChildLost => end.kind === 'lost';

/** The fault for a lost child; `program` if the child does not name it. */
export const programKilled = (program: string, end: ChildLost, times = 1): Fault =>
  new Fault(
    'PROGRAM_KILLED',
    `${end.program ?? program} ${end.how}${times > 1 ? ` ${times} times` : ''}; the machine that runs Runoff may be out of memory.`,
  );

/** The result of a program, as execa and `child_process` report it. */
export interface ProgramEnd {
  readonly exitCode?: number | null | undefined;
  /** The signal that ended it. */
  readonly signal?: string | null | undefined;
  /** The system's error, if it could not be started. */
  readonly code?: string | undefined;
  /** Each means that Runoff ended the process itself, which is not a loss. */
  readonly timedOut?: boolean;
  readonly isCanceled?: boolean;
  readonly isMaxBuffer?: boolean;
}

/** Why a program was lost; null if its end is a result. A missing program (ENOENT) is a result. */
function lostIn(end: ProgramEnd): ChildLost | null {
  if (end.timedOut || end.isCanceled || end.isMaxBuffer) return null;
  if (end.signal != null) return { kind: 'lost', how: `was killed by ${end.signal}` };
  if (end.code !== 'ENOENT' && mayStartLater(end.code))
    return { kind: 'lost', how: `could not be started: ${end.code}` };
  // A shell, or `unshare`, around a killed program has an exit code itself.
  const signal = typeof end.exitCode === 'number' ? signalIn(end.exitCode) : null;
  return signal === null ? null : { kind: 'lost', how: `was killed by signal ${signal}` };
}

/** Whether a program's own error caused the signal. An unknown one (undefined) may have come from outside. */
export const isCrash = (signal: number | undefined): boolean =>
  signal !== undefined && CRASH.test(`was killed by signal ${signal}`);

/** SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGSEGV and SIGSYS: signals caused by the program's own errors. */
const CRASH = /was killed by (?:SIG(?:ILL|TRAP|ABRT|FPE|SEGV|SYS)|signal (?:4|5|6|8|11|31))$/;

/**
 * Words with which shells, make, npm, go, cargo and compilers report a program that was killed, whatever exit code they
 * end with themselves: make with 2, test runners with 1.
 */
const KILL_SHOWN = /\bKilled\b|\bSIGKILL\b|\bsignal:? (?:killed|9)\b|\b(?:Error|code|status) 137\b/;

/** Whether a failed command shows that a program inside was killed. It may print that itself, so it is no proof. */
export const showsKill = ({
  exitCode,
  output,
}: {
  readonly exitCode: number | null;
  readonly output: string;
}): boolean => exitCode !== 0 && (exitCode === 128 + 9 || KILL_SHOWN.test(output));

/**
 * Runs a program that is safe to repeat, again if it was lost. Rejects with PROGRAM_KILLED if that does not help; a
 * program that crashes each time has a result without an exit code. `start` must not reject because of the program's
 * result.
 */
export async function runToEnd<T extends ProgramEnd>(
  program: string,
  sleep: (ms: number) => Promise<unknown>,
  start: () => Promise<T>,
): Promise<T> {
  const end = await retryLost(sleep, start, (each) => lostIn(each) !== null);
  const lost = lostIn(end);
  if (lost !== null && !CRASH.test(lost.how)) throw programKilled(program, lost, RESTART_WAITS_MS.length + 1);
  return end;
}
