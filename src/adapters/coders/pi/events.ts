import { z } from 'zod';
import type { CoderEvent } from '../../../ports/index.ts';
import { json, shown, shownCall } from '../lines.ts';

const Message = z.object({
  role: z.literal('assistant'),
  content: z.array(z.object({ type: z.string(), text: z.string().optional() })),
  stopReason: z.string(),
  errorMessage: z.string().optional(),
});
/** The lines of `pi --mode json` that say what happens; others are left out. */
const Line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_end'), message: Message }),
  z.object({ type: z.literal('tool_execution_start'), toolName: z.string(), args: z.unknown() }),
]);

/** Its exit code is 0 even when the model refuses, so the end is read from the last message. */
export function readLine(line: string): CoderEvent | null {
  const parsed = Line.safeParse(json(line));
  if (!parsed.success) return null;
  if (parsed.data.type === 'tool_execution_start')
    return { kind: 'step', text: shownCall(parsed.data.toolName, parsed.data.args) };
  const { content, stopReason, errorMessage } = parsed.data.message;
  const text = shown(content.map((part) => part.text ?? '').join(' '));
  switch (stopReason) {
    case 'stop':
      return { kind: 'end', ok: true, text: text || 'done' };
    case 'error':
    case 'aborted':
      return { kind: 'end', ok: false, text: shown(errorMessage ?? stopReason) };
    default:
      return text ? { kind: 'step', text } : null;
  }
}
