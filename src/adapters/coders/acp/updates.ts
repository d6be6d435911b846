import { z } from 'zod';
import { shown } from '../lines.ts';
import type { ProgressLine } from '../progress.ts';

/** What of `session/update` we look at, read leniently: its kinds become more with every version of the protocol. */
export const Update = z.object({
  update: z.object({
    sessionUpdate: z.string(),
    title: z.string().nullish().catch(null),
    kind: z.string().nullish().catch(null),
    content: z
      .object({ type: z.literal('text'), text: z.string() })
      .nullish()
      .catch(null),
  }),
});
type Update = z.infer<typeof Update>;

/** Turns what an agent tells into progress lines. */
export interface Listener {
  hear(update: Update): void;
  step(text: string): void;
  /** The agent's last words, or an empty text. */
  lastSaid(): string;
}

/** Characters of one message that are kept. */
const MOST_SAID = 2000;

export function listener(emit: (line: ProgressLine) => void): Listener {
  // A message comes in pieces, and ends where something else begins.
  let said = '';
  const step = (text: string) => {
    const line = shown(text);
    if (line) emit({ type: 'step', text: line });
  };
  const flush = () => {
    step(said);
    said = '';
  };
  return {
    step,
    lastSaid: () => shown(said),
    hear({ update: { sessionUpdate, title, kind, content } }) {
      switch (sessionUpdate) {
        case 'agent_message_chunk':
          said = (said + (content?.text ?? '')).slice(0, MOST_SAID);
          emit({ type: 'alive' });
          break;
        case 'tool_call':
          flush();
          step(title ?? kind ?? 'a tool');
          break;
        default:
          emit({ type: 'alive' });
      }
    },
  };
}
