import { z } from 'zod';
import type { CoderEvent } from '../../../ports/index.ts';
import { json, shown, shownCall } from '../lines.ts';

const Block = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('tool_use'), name: z.string(), input: z.unknown() }),
  z.object({ type: z.string() }),
]);
/** The lines of `--output-format=stream-json` that say what happens; others are left out. */
const Line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('assistant'), message: z.object({ content: z.array(Block) }) }),
  z.object({ type: z.literal('result'), is_error: z.boolean(), result: z.string().optional() }),
]);

/** Each block of a message comes in a line of its own. */
export function readLine(line: string): CoderEvent | null {
  const parsed = Line.safeParse(json(line));
  if (!parsed.success) return null;
  if (parsed.data.type === 'result') {
    const { is_error, result } = parsed.data;
    return { kind: 'end', ok: !is_error, text: shown(result ?? '') };
  }
  for (const block of parsed.data.message.content) {
    if ('name' in block) return { kind: 'step', text: shownCall(block.name, block.input) };
    if ('text' in block) return { kind: 'step', text: shown(block.text) };
  }
  return null;
}
