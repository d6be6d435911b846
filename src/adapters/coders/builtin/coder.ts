import type { Coder, CoderEvent } from '../../../ports/index.ts';
import { sourceHash } from './bundle.ts';
import { ProgressLine } from './events.ts';

/** Where the bundled program is seen inside the sandbox. */
export const BUILTIN_PATH = '/opt/runoff/coders/builtin.mjs';
const NODE = '/opt/runoff/bin/node';
/** Characters of an event's text that are shown. */
const MOST_SHOWN = 300;

/** Our own agent: a loop over bash, write and edit, for any model of the gateway. */
export function builtinCoder(): Coder {
  return {
    name: 'builtin',
    launch: ({ protocol, model, wallSeconds, prompt }) => ({
      argv: [NODE, BUILTIN_PATH, protocol, model, String(wallSeconds)],
      env: {},
      stdin: prompt,
    }),
    read: readLine,
    async version() {
      return `builtin ${(await sourceHash()).slice(0, 12)}`;
    },
  };
}

/** Null for anything but our own lines: what a candidate's programs print is not ours to believe. */
function readLine(line: string): CoderEvent | null {
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

function json(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** One line without control and bidirectional characters, as it may end up on a terminal. */
function shown(text: string): string {
  const flat = text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .toWellFormed()
    .trim();
  return flat.length > MOST_SHOWN ? `${flat.slice(0, MOST_SHOWN - 1).toWellFormed()}…` : flat;
}
