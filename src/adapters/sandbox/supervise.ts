import type { Readable } from 'node:stream';
import type { StopReason } from '../../core/settings/index.ts';
import type { ExecResult, ExecSpec } from '../../ports/index.ts';
import { capture, splitLines } from './output.ts';

/** The numbers of signals that end a command; shells and bubblewrap report a death by signal as 128 + number. */
const DEADLY_SIGNALS = [2, 4, 5, 6, 7, 8, 9, 11, 13, 15, 24, 25, 31];

/** How a command ended by itself. */
export type CommandExit = Pick<ExecResult, 'exitCode' | 'signal'>;

/** The end of a command according to the exit code that bubblewrap or an engine reports. */
export function commandExit(reported: number): CommandExit {
  const signal = reported - 128;
  return DEADLY_SIGNALS.includes(signal) ? { exitCode: null, signal } : { exitCode: reported };
}

/** Messages of programs on a machine that is temporarily short of a resource. */
export const SHORTAGE =
  /Resource temporarily unavailable|Cannot allocate memory|Too many open files|Text file busy|No child processes|Cannot fork/;

/** The last lines that a launcher or engine printed, for use in a sentence. */
export const lastErrorLines = (stderr: string): string => stderr.trim().split('\n').slice(-3).join('; ');

/** How the start of a command ended, if not with a `ChildLost`. */
export interface Ended {
  readonly kind: 'ended';
  readonly result: ExecResult;
}

/** A started command of any backend. */
interface SupervisedCommand<End> {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when no process is left and all output has been read. Rejects with a fault if it could not be set up. */
  readonly ended: Promise<End>;
  /** Ends every process at once. Can be called at any time, and more than once. If it throws, it is called again. */
  kill(): void;
  /** Measures until `over` aborts. Returns which limit was exceeded, or null. Rejects if it cannot measure. */
  watch(over: AbortSignal): Promise<'memory' | 'disk' | null>;
  /** Final measurement, after the last process has ended, if nothing stopped the command. */
  lastLook(): Promise<'disk' | null>;
}

export interface Supervised<End> {
  readonly end: End;
  /** Why the supervisor stopped it; null if it ended by itself. */
  readonly stopped: StopReason | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
  readonly ms: number;
}

/** The part of a spec that every backend leaves to the supervisor. */
type Terms = Pick<ExecSpec, 'limits' | 'onLine' | 'onLimit' | 'onOutput' | 'signal'>;

/** Milliseconds until a command that could not be ended, as without a free descriptor, is ended again. Our default. */
const KILL_AGAIN_MS = 200;

/** Longest delay of a timer in Node; a longer time limit is no limit in practice. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Supervises a command until it ends: stores its output, passes its lines on, and stops it when it exceeds a limit.
 * After the command has ended, rejects with what a callback of the caller threw, or if it could not be measured.
 */
export async function supervise<End>(
  running: SupervisedCommand<End>,
  terms: Terms,
): Promise<Supervised<End>> {
  const startedAt = performance.now();
  const guard = guardOf(running, terms);
  const output = { stdout: capture(terms.limits.outputBytes), stderr: capture(terms.limits.outputBytes) };
  const pending = (['stdout', 'stderr'] as const).map((name) => {
    const split = splitLines((line) => guard.call(() => terms.onLine?.(line, name), undefined));
    running[name].on('data', (chunk: Buffer) => {
      guard.onOutput();
      output[name].add(chunk);
      if (name === 'stdout') guard.call(() => terms.onOutput?.(chunk), undefined);
      split.add(chunk);
    });
    return split;
  });
  const end = await running.ended.finally(() => guard.close());
  for (const split of pending) split.end();
  const stopped = guard.outcome() ?? (await running.lastLook());
  const stdout = output.stdout.end();
  const stderr = output.stderr.end();
  return {
    end,
    stopped,
    stdout: stdout.text,
    stderr: stderr.text,
    truncated: stdout.truncated || stderr.truncated,
    ms: Math.round(performance.now() - startedAt),
  };
}

interface Guard {
  /** The command produced output. */
  onOutput(): void;
  /** Calls a callback of the caller. If it throws, the command is ended, and `outcome` throws the same again. */
  call<T>(callback: () => T, otherwise: T): T;
  close(): void;
  outcome(): StopReason | null;
}

function guardOf(running: Pick<SupervisedCommand<unknown>, 'kill' | 'watch'>, terms: Terms): Guard {
  const over = new AbortController();
  let stopped: StopReason | null = null;
  let failure: { readonly thrown: unknown } | null = null;
  let again: NodeJS.Timeout | undefined;
  // Called by timers and listeners, where what is thrown would end this process.
  const kill = (): void => {
    clearTimeout(again);
    try {
      running.kill();
    } catch {
      again = setTimeout(kill, KILL_AGAIN_MS);
    }
  };
  const stop = (reason: StopReason): void => {
    if (over.signal.aborted) return;
    stopped ??= reason;
    kill();
  };
  const fail = (thrown: unknown): void => {
    failure ??= { thrown };
    kill();
  };
  const call = <T>(callback: () => T, otherwise: T): T => {
    try {
      return callback();
    } catch (thrown) {
      fail(thrown);
      return otherwise;
    }
  };
  let heardAt = performance.now();
  const ask = (limit: 'wall' | 'silence'): number =>
    failure === null && stopped === null
      ? call(() => terms.onLimit?.(limit, performance.now() - heardAt) ?? 0, 0)
      : 0;
  const wall = timer(
    terms.limits.wallMs,
    () => ask('wall'),
    () => stop('wall'),
  );
  const silence = timer(
    terms.limits.silenceMs,
    () => ask('silence'),
    () => stop('silence'),
  );
  const onAbort = (): void => stop('cancelled');
  terms.signal?.addEventListener('abort', onAbort, { once: true });
  if (terms.signal?.aborted) onAbort();
  void running
    .watch(over.signal)
    .then((reason) => reason !== null && stop(reason))
    .catch((thrown: unknown) => over.signal.aborted || fail(thrown));

  return {
    onOutput() {
      heardAt = performance.now();
      silence.restart();
    },
    call,
    close() {
      over.abort();
      clearTimeout(again);
      wall.clear();
      silence.clear();
      terms.signal?.removeEventListener('abort', onAbort);
    },
    outcome() {
      if (failure !== null) throw failure.thrown;
      return stopped;
    },
  };
}

interface Timer {
  /** Starts counting again. */
  restart(): void;
  clear(): void;
}

/** Asks for more time, repeatedly, before it calls `expired`. If `ms` is absent, it never expires. */
function timer(ms: number | undefined, more: () => number, expired: () => void): Timer {
  if (ms === undefined) return { restart: () => undefined, clear: () => undefined };
  let cleared = false;
  const arm = (delay: number): NodeJS.Timeout => setTimeout(onTime, Math.min(delay, MAX_TIMER_MS));
  const onTime = (): void => {
    const given = more();
    // Written so that NaN counts as no time.
    if (given > 0) running = { timeout: arm(given), extended: true };
    else expired();
  };
  let running = { timeout: arm(ms), extended: false };
  return {
    restart() {
      if (cleared) return;
      if (!running.extended) {
        running.timeout.refresh();
        return;
      }
      clearTimeout(running.timeout);
      running = { timeout: arm(ms), extended: false };
    },
    clear() {
      cleared = true;
      clearTimeout(running.timeout);
    },
  };
}
