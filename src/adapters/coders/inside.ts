import { text } from 'node:stream/consumers';
import type { ProgressLine } from './progress.ts';

/** Exit code of a program that ran out of time, as `timeout` of the coreutils has it. */
const OUT_OF_TIME = 124;
/** Seconds between two signs of life; the supervisor takes longer silence for a stall. */
const ALIVE_EVERY = 10;

type End = Extract<ProgressLine, { type: 'end' }>;

/** What a program of ours works with inside the sandbox. */
interface Inside {
  /** From standard input. */
  readonly task: string;
  /** Aborts shortly before the time is over, and when we are told to stop; the reason is a sentence. */
  readonly signal: AbortSignal;
  readonly emit: (line: ProgressLine) => void;
}

/**
 * Runs one of our programs inside the sandbox to its end and returns the exit code: 0 when it ended well. It stops by
 * itself some seconds before the limit, `most` of them, of short times a tenth.
 */
export async function workInside(
  time: { readonly wallSeconds: number; readonly most: number },
  work: (inside: Inside) => Promise<End>,
): Promise<number> {
  const { wallSeconds, most } = time;
  const stop = new AbortController();
  process.on('SIGTERM', () => stop.abort('Stopped from outside.'));
  let late = false;
  const timer = setTimeout(
    () => {
      late = true;
      stop.abort(`Stopped shortly before the limit of ${wallSeconds} s.`);
    },
    (wallSeconds - Math.min(most, wallSeconds / 10)) * 1000,
  );
  const end = await work({ task: await text(process.stdin), signal: stop.signal, emit: emitter() });
  clearTimeout(timer);
  print(end);
  if (end.ok) return 0;
  return late ? OUT_OF_TIME : 1;
}

/** Only when standard output has taken everything: an exit at once would cut it off on a pipe. */
export function exitWhenWritten(code: number): void {
  process.stdout.write('', () => process.exit(code));
}

function emitter(): (line: ProgressLine) => void {
  let last = 0;
  return (line) => {
    const now = performance.now();
    if (line.type === 'alive' && now - last < ALIVE_EVERY * 1000) return;
    last = now;
    print(line);
  };
}

function print(line: ProgressLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** Ends a process group at once; no error when it is gone already, or never was. */
export function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
