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
  lost: (end: T) => boolean,
): Promise<T> {
  for (const wait of RESTART_WAITS_MS) {
    const end = await work();
    if (!lost(end)) return end;
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
export const programKilled = (program: string, lost: ChildLost, times = 1): Fault =>
  new Fault(
    'PROGRAM_KILLED',
    `${lost.program ?? program} ${lost.how}${times > 1 ? ` ${times} times` : ''}; the machine that runs Runoff may be out of memory.`,
  );
