import { Fault } from './fault.ts';

/**
 * How a child process ended that could not do its work, and not by its own decision: by a signal from outside, or because
 * the machine could not start it. `how` completes a sentence: "was killed by SIGKILL", "could not be started: EAGAIN".
 */
export interface ChildLost {
  readonly kind: 'lost';
  readonly how: string;
  /** Where it is known which of several programs it was. */
  readonly program?: string;
}

/** Milliseconds before a lost child is started again, so four tries in all; our default. What lasts longer is an outage. */
const RESTART_WAITS_MS: readonly number[] = [100, 500, 2_000];

/**
 * Why a program may not start now and start a moment later: no memory, process or descriptor is free, or the file is
 * being replaced.
 */
const TEMPORARY = new Set(['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE', 'ETXTBSY', 'ENOENT']);

export const mayStartLater = (code: string | undefined): boolean => code !== undefined && TEMPORARY.has(code);

/** Shells and other wrappers report a death by signal as 128 + its number; null for any other exit code. */
export const signalIn = (exitCode: number): number | null =>
  exitCode > 128 && exitCode <= 128 + 64 ? exitCode - 128 : null;

/** Does work that a child process does, again where the child was lost, four times in all. Whatever the last try gives counts; `sleep` is the caller's, for this is core. */
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
 * The same for work that gives a `ChildLost`, which must be safe to repeat. Rejects with PROGRAM_KILLED, which a stage waits
 * out like any outage.
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

/** The fault behind a child that was lost; `program` where it does not say itself which. */
export const programKilled = (program: string, end: ChildLost, times = 1): Fault =>
  new Fault(
    'PROGRAM_KILLED',
    `${end.program ?? program} ${end.how}${times > 1 ? ` ${times} times` : ''}; the machine that runs Runoff may be out of memory.`,
  );

/** How a program ended, as execa and `child_process` describe it. */
export interface ProgramEnd {
  readonly exitCode?: number | null | undefined;
  /** The signal that ended it. */
  readonly signal?: string | null | undefined;
  /** The system's error, if it could not be started. */
  readonly code?: string | undefined;
  /** Each says that we ended it ourselves, which is no loss. */
  readonly timedOut?: boolean;
  readonly isCanceled?: boolean;
  readonly isMaxBuffer?: boolean;
}

/** Why a program was lost; null if its end is an answer. That a program is missing (ENOENT) is an answer here. */
export function lostIn(end: ProgramEnd): ChildLost | null {
  if (end.timedOut || end.isCanceled || end.isMaxBuffer) return null;
  if (end.signal != null) return { kind: 'lost', how: `was killed by ${end.signal}` };
  if (end.code !== 'ENOENT' && mayStartLater(end.code))
    return { kind: 'lost', how: `could not be started: ${end.code}` };
  // A shell, or `unshare`, around a program that was killed has an exit code of its own.
  const signal = typeof end.exitCode === 'number' ? signalIn(end.exitCode) : null;
  return signal === null ? null : { kind: 'lost', how: `was killed by signal ${signal}` };
}

/** SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGSEGV and SIGSYS: signals by which a program ends for a fault of its own. */
const CRASH = /was killed by (?:SIG(?:ILL|TRAP|ABRT|FPE|SEGV|SYS)|signal (?:4|5|6|8|11|31))$/;

/**
 * Runs a program that is safe to repeat, again where it was lost. Rejects with PROGRAM_KILLED if that does not help; only
 * a program that crashes each time has an end, without an exit code of its own. `start` must not reject for how it ended.
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
