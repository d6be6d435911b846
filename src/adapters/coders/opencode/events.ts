import { z } from 'zod';
import type { CoderEvent } from '../../../ports/index.ts';
import { json, shown, shownCall } from '../lines.ts';

const ToolPart = z.object({ tool: z.string(), state: z.object({ input: z.unknown() }) });
const Failure = z.object({ name: z.string(), data: z.object({ message: z.string() }).optional() });
/** The lines of `opencode run --format=json` that say what happens; others are left out. */
const Line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), part: z.object({ text: z.string() }) }),
  z.object({ type: z.literal('tool_use'), part: ToolPart }),
  z.object({ type: z.literal('step_finish'), part: z.object({ reason: z.literal('stop') }) }),
  z.object({ type: z.literal('error'), error: Failure }),
]);

export function readLine(line: string): CoderEvent | null {
  const parsed = Line.safeParse(json(line));
  if (!parsed.success) return null;
  const event = parsed.data;
  switch (event.type) {
    case 'text':
      return { kind: 'step', text: shown(event.part.text) };
    case 'tool_use':
      return { kind: 'step', text: shownCall(event.part.tool, event.part.state.input) };
    case 'step_finish':
      return { kind: 'end', ok: true, text: 'done' };
    case 'error':
      return { kind: 'end', ok: false, text: shown(event.error.data?.message ?? event.error.name) };
  }
}
