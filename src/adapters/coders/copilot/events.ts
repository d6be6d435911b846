import { z } from 'zod';
import type { CoderEvent } from '../../../ports/index.ts';
import { json, shown, shownCall } from '../lines.ts';

/** Lines of `--output-format=json`, 1.0.102: a few of its many types. */
const Line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('assistant.message'), data: z.object({ content: z.string() }) }),
  z.object({
    type: z.literal('tool.execution_start'),
    data: z.object({ toolName: z.string(), arguments: z.unknown().optional() }),
  }),
  z.object({ type: z.literal('session.error'), data: z.object({ message: z.string() }) }),
  z.object({ type: z.literal('result'), exitCode: z.number() }),
]);

export function readLine(line: string): CoderEvent | null {
  const parsed = Line.safeParse(json(line));
  if (!parsed.success) return null;
  const event = parsed.data;
  switch (event.type) {
    case 'assistant.message':
      return event.data.content.trim() ? { kind: 'step', text: shown(event.data.content) } : null;
    case 'tool.execution_start':
      return { kind: 'step', text: shownCall(event.data.toolName, event.data.arguments) };
    case 'session.error':
      return { kind: 'step', text: shown(event.data.message) };
    case 'result':
      return {
        kind: 'end',
        ok: event.exitCode === 0,
        text: event.exitCode === 0 ? 'Done.' : `Copilot ended with exit code ${event.exitCode}.`,
      };
  }
}
