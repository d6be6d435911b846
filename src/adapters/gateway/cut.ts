import type { ModelProtocol } from '../../core/model/index.ts';
import { refusalBody } from './endpoints.ts';
import type { Meter } from './meter.ts';

/**
 * How far an answer may go beyond the tokens that are booked for it. Estimates are rough: code has three to four
 * characters a token, tables and indentation more. An answer that is no stream is measured in bytes, with its JSON,
 * signatures and encrypted thoughts; so is a stream, whose events have some hundred bytes a token. A provider's own count may be a little above the limit that it was given. Ours.
 */
const STREAMED = {
  charactersPerToken: 6,
  onTop: 2_000,
  bytesPerToken: 1_000,
  bytesOnTop: 8 * 2 ** 20,
} as const;
const WHOLE = { bytesPerToken: 24, onTop: 65_536, most: 32 * 2 ** 20 } as const;
const TOLD = { share: 1.1, onTop: 256 } as const;

/** True once an answer has passed the limit that was booked for it; `tokens` null: nothing was. */
export function isPastLimit(meter: Meter, tokens: number | null): boolean {
  if (!meter.stream) {
    const most = tokens === null ? WHOLE.most : tokens * WHOLE.bytesPerToken + WHOLE.onTop;
    return meter.bytes() > Math.min(most, WHOLE.most);
  }
  if (tokens === null) return false;
  if (meter.characters() > tokens * STREAMED.charactersPerToken + STREAMED.onTop) return true;
  // What stands in fields that we do not know is no character of the answer, and is paid all the same.
  if (meter.bytes() > tokens * STREAMED.bytesPerToken + STREAMED.bytesOnTop) return true;
  // A stream that is over is paid, and its last figures are what it cost.
  return !meter.ended() && (meter.told() ?? 0) > tokens * TOLD.share + TOLD.onTop;
}

export const CUT =
  'The model provider wrote more than the output limit of this call allows; the answer was cut.';

/** What ends a stream that was cut, so that its client sees an error and not a broken connection. */
export function closingEvent(protocol: ModelProtocol): string {
  const body = refusalBody(protocol, 400, CUT);
  switch (protocol) {
    case 'anthropic':
      return `\n\nevent: error\ndata: ${body}\n\n`;
    case 'openai-responses':
      return `\n\nevent: error\ndata: ${JSON.stringify({ type: 'error', code: 'output_limit', message: CUT, param: null })}\n\n`;
    case 'openai-chat':
    case 'gemini':
      return `\n\ndata: ${body}\n\n`;
  }
}
