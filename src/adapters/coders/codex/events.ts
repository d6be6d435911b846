import { z } from 'zod';
import type { CoderEvent } from '../../../ports/index.ts';
import { json, shown, shownCall } from '../lines.ts';

const Started = z.discriminatedUnion('type', [
  z.object({ type: z.literal('command_execution'), command: z.string() }),
  z.object({ type: z.literal('mcp_tool_call'), tool: z.string() }),
]);
const Completed = z.discriminatedUnion('type', [
  z.object({ type: z.literal('agent_message'), text: z.string() }),
  z.object({ type: z.literal('file_change'), changes: z.array(z.object({ path: z.string() })) }),
]);
/** The lines of `codex exec --json` that say what happens; others are left out. */
const Line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('item.started'), item: Started }),
  z.object({ type: z.literal('item.completed'), item: Completed }),
  z.object({ type: z.literal('turn.completed') }),
  z.object({ type: z.literal('turn.failed'), error: z.object({ message: z.string() }) }),
]);

/** Commands are shown when they start, as they may take long; changes of files when they are made. */
export function readLine(line: string): CoderEvent | null {
  const parsed = Line.safeParse(json(line));
  if (!parsed.success) return null;
  const event = parsed.data;
  switch (event.type) {
    case 'item.started':
      return { kind: 'step', text: startedText(event.item) };
    case 'item.completed':
      return { kind: 'step', text: completedText(event.item) };
    case 'turn.completed':
      return { kind: 'end', ok: true, text: 'done' };
    case 'turn.failed':
      return { kind: 'end', ok: false, text: shown(event.error.message) };
  }
}

function startedText(item: z.infer<typeof Started>): string {
  if (item.type === 'mcp_tool_call') return shown(item.tool);
  return shownCall('bash', { command: item.command.replace(/^\S*sh -l?c /, '') });
}

function completedText(item: z.infer<typeof Completed>): string {
  if (item.type === 'agent_message') return shown(item.text);
  return shown(`edit: ${item.changes.map(({ path }) => path).join(', ')}`);
}
