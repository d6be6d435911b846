import { z } from 'zod';
import type { CoderEvent } from '../../../core/model/index.ts';
import { resultEvent, saysEvent, shortLine } from '../events.ts';
import { type ProgressLine, reportLine } from '../progress.ts';

const UpdateText = z.object({ type: z.literal('text'), text: z.string() });
const ToolContent = z.object({ content: UpdateText.nullish().catch(null) }).catch({});
/** The parts of `session/update` that are used, parsed leniently: each version of the protocol adds kinds. */
export const Update = z.object({
  update: z.object({
    sessionUpdate: z.string(),
    title: z.string().nullish().catch(null),
    kind: z.string().nullish().catch(null),
    toolCallId: z.string().nullish().catch(null),
    status: z.string().nullish().catch(null),
    content: z
      .union([UpdateText, z.array(ToolContent)])
      .nullish()
      .catch(null),
  }),
});
export type Update = z.infer<typeof Update>;

/** Turns updates of an agent into progress lines. */
export interface Listener {
  onUpdate(update: Update): void;
  says(text: string): void;
  /** The last message of the agent; empty without one. */
  lastMessage(): string;
}

/** Characters of one message that are kept. */
const MAX_MESSAGE_CHARS = 2000;

export function listener(emit: (line: ProgressLine) => void): Listener {
  // A message arrives in chunks and ends when another kind of update begins.
  let message = '';
  const says = (text: string) => {
    if (shortLine(text)) emit(reportLine(saysEvent(text)));
  };
  const flush = () => {
    says(message);
    message = '';
  };
  return {
    says,
    lastMessage: () => shortLine(message),
    onUpdate({ update }) {
      switch (update.sessionUpdate) {
        case 'agent_message_chunk':
          message = (message + textsOf(update)).slice(0, MAX_MESSAGE_CHARS);
          emit({ type: 'alive' });
          break;
        case 'tool_call':
          flush();
          emit(reportLine(acpCall(update)));
          break;
        case 'tool_call_update':
          emit(acpResult(update) ?? { type: 'alive' });
          break;
        default:
          emit({ type: 'alive' });
      }
    },
  };
}

const textsOf = ({ content }: Update['update']): string =>
  Array.isArray(content) ? content.map((one) => one.content?.text ?? '').join('\n') : (content?.text ?? '');

/** Kinds of tool calls in the Agent Client Protocol that have a kind of ours. */
const ACP_KINDS: Readonly<Record<string, 'command' | 'edit'>> = {
  execute: 'command',
  edit: 'edit',
  delete: 'edit',
  move: 'edit',
};

const acpCall = ({ title, kind, toolCallId }: Update['update']): CoderEvent => ({
  kind: ACP_KINDS[kind ?? ''] ?? 'tool',
  text: shortLine(title || kind || 'a tool'),
  ...(toolCallId ? { call: toolCallId } : {}),
});

/** Null while the call is not over. */
function acpResult(update: Update['update']): ProgressLine | null {
  const { status, toolCallId } = update;
  if (status !== 'completed' && status !== 'failed') return null;
  const call = toolCallId ?? undefined;
  return reportLine(resultEvent({ ok: status === 'completed', output: textsOf(update), call }));
}
