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

/** Parses output lines that match `schema`; null for any other line. */
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

/** Maximum characters of an event's text that are shown. */
const MAX_SHOWN = 300;
/** Longer lines are ignored, in characters: some agents print whole files. Our default. */
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

/** One short line without control and bidirectional characters, since it may be printed on a terminal. */
export function shortLine(text: string): string {
  const flat = text
    .slice(0, 4 * MAX_SHOWN)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .toWellFormed()
    .trim();
  return flat.length > MAX_SHOWN ? `${flat.slice(0, MAX_SHOWN - 1).toWellFormed()}…` : flat;
}

/** Input fields of agents' tools that describe the call, most informative first. */
const TELLING = ['command', 'cmd', 'file_path', 'filePath', 'path', 'absolute_path', 'pattern', 'query'];

/** Describes a tool call for people: `bash: npm test`. Only the tool's name if its input has no descriptive field. */
export function shownCall(tool: string, input: unknown): string {
  const given = typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {};
  const telling = TELLING.map((name) => given[name]).find((value) => value !== undefined && value !== null);
  const words = Array.isArray(telling)
    ? telling.filter((word) => typeof word === 'string').join(' ')
    : telling;
  return shortLine(typeof words === 'string' && words !== '' ? `${tool}: ${words}` : tool);
}

/** Exit code of a program that ran out of time, as with `timeout` of GNU coreutils. */
const OUT_OF_TIME = 124;
/** Seconds between two heartbeats; the supervisor treats longer silence as a stall. */
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
 * Runs a Runoff program inside the sandbox to its end and returns the exit code: 0 for success. It stops by itself some
 * seconds before the limit: at most `most`, and at most a tenth of a short limit.
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

/** Exits once standard output is flushed: an immediate exit would truncate it on a pipe. */
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

/** Kills a process group; no error if it has ended or never existed. */
export function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
