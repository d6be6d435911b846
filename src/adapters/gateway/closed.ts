import type { ModelProtocol } from '../../core/model/index.ts';
import { CLOSING_LINE } from './endings.ts';
import type { Meter } from './meter.ts';

/** What a stream ends with that says nothing of the answer: agents take a stream without it for one that broke off. */
const CLOSING: Readonly<Partial<Record<ModelProtocol, { readonly mark: RegExp; readonly event: string }>>> = {
  anthropic: {
    mark: /"type"\s*:\s*"message_stop"/,
    event: 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  },
  'openai-chat': { mark: /^data: ?\[DONE\]/m, event: `data: ${CLOSING_LINE}\n\n` },
};

/**
 * The record of a finished answer as its provider would have closed it: a client that goes away after the last figures, as
 * one that is killed does, leaves a record without its end.
 */
export function closed(record: Buffer, meter: Meter, protocol: ModelProtocol): Buffer {
  const closing = CLOSING[protocol];
  if (!meter.stream || closing === undefined) return record;
  // A line that was cut off said nothing yet.
  const text = record.toString('utf8', 0, record.lastIndexOf(0x0a) + 1);
  if (closing.mark.test(text.slice(-MOST_CLOSING))) return record;
  const gap = /\n\r?\n$/.test(text) ? '' : '\n';
  return Buffer.from(`${text}${gap}${closing.event}`);
}

/** Characters in which the closing event of a stream stands, with room for what providers add to it. */
const MOST_CLOSING = 2_000;
