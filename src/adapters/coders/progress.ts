import { text } from 'node:stream/consumers';
import { z } from 'zod';
import type { CoderEvent } from '../../core/model/index.ts';
import type { Coder } from '../../ports/index.ts';
import { callField, endEvent, excerpt, exitField, shortLine } from './events.ts';

/** What a Runoff program inside the sandbox reports, in the form in which it is printed. */
const ReportLine = z.object({
  type: z.enum(['says', 'command', 'edit', 'tool', 'result']),
  text: z.string(),
  detail: z.string().optional(),
  call: z.string().optional(),
  exitCode: z.number().optional(),
  ok: z.boolean().optional(),
});
/** One line of output of a Runoff program inside the sandbox. `alive` only shows that it has not stalled. */
export const ProgressLine = z.discriminatedUnion('type', [
  ReportLine,
  z.object({ type: z.literal('end'), ok: z.boolean(), text: z.string() }),
  z.object({ type: z.literal('alive') }),
]);
export type ProgressLine = z.infer<typeof ProgressLine>;

/** Parses output lines that match `schema`; nothing for any other line. */
export const lineReader =
  <T>(schema: z.ZodType<T>, toEvents: (line: T) => readonly CoderEvent[]): Coder['read'] =>
  (line) => {
    const parsed = schema.safeParse(parseJsonLine(line));
    return parsed.success ? toEvents(parsed.data).filter(hasContent) : [];
  };

/** A result without text still says that a call ended. */
const hasContent = ({ kind, text, detail }: CoderEvent): boolean =>
  kind === 'result' || kind === 'end' || text !== '' || (detail !== undefined && detail.trim() !== '');

/** Output of a candidate's programs is untrusted: every field is made harmless again. */
export const readProgress = lineReader(ProgressLine, (line): readonly CoderEvent[] => {
  switch (line.type) {
    case 'alive':
      return [];
    case 'end':
      return [endEvent(line.ok, line.text)];
    default:
      return [eventOf(line)];
  }
});

function eventOf({ type, text, detail, call, exitCode, ok }: z.infer<typeof ReportLine>): CoderEvent {
  return {
    kind: type,
    text: shortLine(text),
    ...(detail === undefined ? {} : { detail: excerpt(detail) }),
    ...callField(call),
    ...exitField(exitCode),
    ...(ok === undefined ? {} : { ok }),
  };
}

/** An event in the form in which a Runoff program prints it. */
export function reportLine({ kind, piece: _, ...fields }: CoderEvent): ProgressLine {
  const type = ReportLine.shape.type.parse(kind);
  return { type, ...fields };
}

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
