import { z } from 'zod';
import type { CoderEvent } from '../../../ports/index.ts';
import { json, shown, shownCall } from '../lines.ts';

/** Lines of `--output-format=stream-json`, 0.61.0. Its text comes in pieces, which say nothing one by one. */
const Line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('tool_use'), tool_name: z.string(), parameters: z.unknown().optional() }),
  z.object({ type: z.literal('error'), message: z.string() }),
  z.object({
    type: z.literal('result'),
    status: z.string(),
    error: z.object({ message: z.string() }).optional(),
  }),
]);

export function readLine(line: string): CoderEvent | null {
  const parsed = Line.safeParse(json(line));
  if (!parsed.success) return null;
  const event = parsed.data;
  switch (event.type) {
    case 'tool_use':
      return { kind: 'step', text: shownCall(event.tool_name, event.parameters) };
    case 'error':
      return { kind: 'step', text: shown(event.message) };
    case 'result':
      return { kind: 'end', ok: event.status === 'success', text: shown(event.error?.message ?? 'Done.') };
  }
}
