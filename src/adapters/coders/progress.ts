import { text } from 'node:stream/consumers';
import { z } from 'zod';
import type { Coder, CoderEvent } from '../../ports/index.ts';

/** One line of output of a Runoff program inside the sandbox. `alive` only shows that it has not stalled. */
export const ProgressLine = z.discriminatedUnion('type', [
  z.object({ type: z.literal('step'), text: z.string() }),
  z.object({ type: z.literal('end'), ok: z.boolean(), text: z.string() }),
  z.object({ type: z.literal('alive') }),
]);
export type ProgressLine = z.infer<typeof ProgressLine>;

/** Reads output lines that `schema` describes; null for any other line. */
export const lineReader =
  <T>(schema: z.ZodType<T>, toEvent: (line: T) => CoderEvent | null): Coder['read'] =>
  (line) => {
    const parsed = schema.safeParse(parseJsonLine(line));
    return parsed.success ? toEvent(parsed.data) : null;
  };

/** Null for any other line: output of a candidate's programs is untrusted. */
export const readProgress = lineReader(ProgressLine, (line) => {
  switch (line.type) {
    case 'alive':
      return null;
    case 'step':
      return { kind: 'step', text: shortLine(line.text) };
    case 'end':
      return { kind: 'end', ok: line.ok, text: shortLine(line.text) };
  }
});

/** Characters of an event's text that are shown. */
const MAX_SHOWN = 300;
/** Characters of a line beyond which it is not read: agents repeat whole files in some. Our default. */
const MAX_READ = 1_000_000;

/** Parses a line of JSON; null for any other line. */
export function parseJsonLine(line: string): unknown {
  if (line.length > MAX_READ) return null;
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** One short line without control and bidirectional characters, as it may end up on a terminal. */
export function shortLine(text: string): string {
  const flat = text
    .slice(0, 4 * MAX_SHOWN)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .toWellFormed()
    .trim();
  return flat.length > MAX_SHOWN ? `${flat.slice(0, MAX_SHOWN - 1).toWellFormed()}…` : flat;
}

/** Names under which tools of the agents take what is worth showing, the most telling first. */
const TELLING = ['command', 'cmd', 'file_path', 'filePath', 'path', 'absolute_path', 'pattern', 'query'];

/** A tool call for people: `bash: npm test`. Says only the tool's name when its input has nothing telling. */
export function shownCall(tool: string, input: unknown): string {
  const given = typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {};
  const telling = TELLING.map((name) => given[name]).find((value) => value !== undefined && value !== null);
  const words = Array.isArray(telling)
    ? telling.filter((word) => typeof word === 'string').join(' ')
    : telling;
  return shortLine(typeof words === 'string' && words !== '' ? `${tool}: ${words}` : tool);
}

/** Exit code of a program that ran out of time, as `timeout` of the coreutils has it. */
const OUT_OF_TIME = 124;
/** Seconds between two signs of life; the supervisor takes longer silence for a stall. */
const ALIVE_EVERY = 10;

type EndLine = Extract<ProgressLine, { type: 'end' }>;

/** Context of a Runoff program inside the sandbox. */
interface Inside {
  /** From standard input. */
  readonly task: string;
  /** Aborts shortly before the time is over or when a stop is requested; the reason is a sentence. */
  readonly signal: AbortSignal;
  readonly emit: (line: ProgressLine) => void;
}

/**
 * Runs one of our programs inside the sandbox to its end and returns the exit code: 0 when it ended well. It stops by
 * itself some seconds before the limit, `most` of them, of short times a tenth.
 */
export async function workInside(
  time: { readonly wallSeconds: number; readonly most: number },
  work: (inside: Inside) => Promise<EndLine>,
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
