import { z } from 'zod';
import type { CoderEvent } from '../../ports/index.ts';
import { json, shown } from './lines.ts';

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
