import { z } from 'zod';
import type { CoderEvent } from '../../ports/index.ts';

/** One line of output of a program of ours inside the sandbox. `alive` only shows that it has not stalled. */
export const ProgressLine = z.discriminatedUnion('type', [
  z.object({ type: z.literal('step'), text: z.string() }),
  z.object({ type: z.literal('end'), ok: z.boolean(), text: z.string() }),
  z.object({ type: z.literal('alive') }),
]);
export type ProgressLine = z.infer<typeof ProgressLine>;

/** Null for anything but our own lines: what a candidate's programs print is not ours to believe. */
export function readProgress(line: string): CoderEvent | null {
  const parsed = ProgressLine.safeParse(json(line));
  if (!parsed.success) return null;
  const event = parsed.data;
  switch (event.type) {
    case 'alive':
      return null;
    case 'step':
      return { kind: 'step', text: shown(event.text) };
    case 'end':
      return { kind: 'end', ok: event.ok, text: shown(event.text) };
  }
}

/** Characters of an event's text that are shown. */
const MOST_SHOWN = 300;
/** Characters of a line beyond which it is not read: agents repeat whole files in some. Our default. */
const MOST_READ = 1_000_000;

/** What a line of JSON holds; null for any other line. */
export function json(line: string): unknown {
  if (line.length > MOST_READ) return null;
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** One short line without control and bidirectional characters, as it may end up on a terminal. */
export function shown(text: string): string {
  const flat = text
    .slice(0, 4 * MOST_SHOWN)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .toWellFormed()
    .trim();
  return flat.length > MOST_SHOWN ? `${flat.slice(0, MOST_SHOWN - 1).toWellFormed()}…` : flat;
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
  return shown(typeof words === 'string' && words !== '' ? `${tool}: ${words}` : tool);
}
