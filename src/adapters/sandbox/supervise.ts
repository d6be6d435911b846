import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { ExecResult, ExecSpec, StopReason } from '../../ports/index.ts';

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
  /** Ends every process at once. Can be called at any time, and more than once. */
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
  const stop = (reason: StopReason): void => {
    if (over.signal.aborted) return;
    stopped ??= reason;
    running.kill();
  };
  const fail = (thrown: unknown): void => {
    failure ??= { thrown };
    running.kill();
  };
  const call = <T>(callback: () => T, otherwise: T): T => {
    try {
      return callback();
    } catch (thrown) {
      fail(thrown);
      return otherwise;
    }
  };
  const ask = (limit: 'wall' | 'silence'): number =>
    failure === null && stopped === null ? call(() => terms.onLimit?.(limit) ?? 0, 0) : 0;
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
    onOutput: () => silence.restart(),
    call,
    close() {
      over.abort();
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

/**
 * A longer line is passed on in pieces of this many characters, so that endless output without line breaks cannot fill
 * memory.
 */
const MAX_LINE_CHARS = 64 * 1024;

interface Captured {
  readonly text: string;
  readonly truncated: boolean;
}

/** Keeps the start and the end of a stream; a line between them states how many bytes were omitted. */
interface Capture {
  add(chunk: Buffer): void;
  end(): Captured;
}

/** Keeps at most `bytes` of a stream, using about as much memory however long the stream is. */
export function capture(bytes: number): Capture {
  const headLimit = Math.ceil(bytes / 2);
  const tailLimit = bytes - headLimit;
  const head: Buffer[] = [];
  let headSize = 0;
  // A ring buffer: byte n of the stream (after the head) is at n modulo its size. It doubles until it reaches the
  // limit.
  let ring = Buffer.alloc(0);
  let tailBytes = 0;

  const grow = (needed: number): void => {
    if (ring.length >= tailLimit || needed <= ring.length) return;
    const larger = Buffer.alloc(Math.min(tailLimit, Math.max(needed, ring.length * 2, 4096)));
    ring.copy(larger, 0, 0, Math.min(tailBytes, ring.length));
    ring = larger;
  };
  const keepTail = (chunk: Buffer): void => {
    grow(tailBytes + chunk.length);
    const last = chunk.subarray(Math.max(0, chunk.length - ring.length));
    const at = ring.length === 0 ? 0 : (tailBytes + chunk.length - last.length) % ring.length;
    const first = last.copy(ring, at);
    last.copy(ring, 0, first);
    tailBytes += chunk.length;
  };

  return {
    add(chunk) {
      const toHead = chunk.subarray(0, headLimit - headSize);
      if (toHead.length > 0) head.push(Buffer.from(toHead));
      headSize += toHead.length;
      if (toHead.length < chunk.length) keepTail(chunk.subarray(toHead.length));
    },
    end() {
      const left = Math.max(0, tailBytes - tailLimit);
      if (left === 0) {
        const all = Buffer.concat([...head, ring.subarray(0, tailBytes)]);
        return { text: all.toString('utf8'), truncated: false };
      }
      const at = tailLimit === 0 ? 0 : tailBytes % tailLimit;
      const tail = Buffer.concat([ring.subarray(at), ring.subarray(0, at)]);
      const text = `${wholeEnd(Buffer.concat(head))}\n[${left} bytes left out]\n${wholeStart(tail)}`;
      return { text, truncated: true };
    },
  };
}

/** The text without an incomplete character at its end. */
const wholeEnd = (bytes: Buffer): string => new StringDecoder('utf8').write(bytes);

/** The text without an incomplete character at its start. */
function wholeStart(bytes: Buffer): string {
  let from = 0;
  while (from < 3 && ((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
  return bytes.subarray(from).toString('utf8');
}

interface LineSplitter {
  add(chunk: Buffer): void;
  /** Passes on the last line if it has no line break. */
  end(): void;
}

/** Splits a stream into lines, without their line breaks. */
export function splitLines(onLine: (line: string) => void): LineSplitter {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  const hand = (line: string): void => onLine(line.endsWith('\r') ? line.slice(0, -1) : line);
  return {
    add(chunk) {
      const parts = (rest + decoder.write(chunk)).split('\n');
      rest = parts.pop() ?? '';
      for (const line of parts) hand(line);
      while (rest.length > MAX_LINE_CHARS) {
        hand(rest.slice(0, MAX_LINE_CHARS));
        rest = rest.slice(MAX_LINE_CHARS);
      }
    },
    end() {
      rest += decoder.end();
      if (rest !== '') hand(rest);
      rest = '';
    },
  };
}
