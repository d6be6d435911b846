import { z } from 'zod';
import type { CoderEvent } from '../../../ports/index.ts';
import { json, shown, shownCall } from '../lines.ts';

const Block = z.object({
  type: z.string(),
  text: z.string().optional(),
  name: z.string().optional(),
  input: z.unknown().optional(),
});

/** Lines of `--output-format=stream-json`, 0.24.4. */
const Line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('assistant'), message: z.object({ content: z.array(Block).min(1) }) }),
  z.object({
    type: z.literal('result'),
    is_error: z.boolean(),
    result: z.string().optional(),
    error: z.object({ message: z.string() }).optional(),
  }),
]);

export function readLine(line: string): CoderEvent | null {
  const parsed = Line.safeParse(json(line));
  if (!parsed.success) return null;
  const event = parsed.data;
  if (event.type === 'assistant') return step(event.message.content);
  const said = event.is_error ? event.error?.message : event.result;
  return {
    kind: 'end',
    ok: !event.is_error,
    text: shown(said ?? '') || (event.is_error ? 'Qwen Code ended with an error.' : 'Done.'),
  };
}

/** Each of its lines holds a text, or one call or several. The last says most. */
function step(content: readonly z.infer<typeof Block>[]): CoderEvent | null {
  const block = content.findLast(({ type }) => type === 'tool_use' || type === 'text');
  if (!block) return null;
  const text =
    block.type === 'tool_use' ? shownCall(block.name ?? 'tool', block.input) : shown(block.text ?? '');
  return text === '' ? null : { kind: 'step', text };
}
