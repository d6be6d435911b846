import { Transform } from 'node:stream';
import { redactText } from '../../core/secrets/index.ts';
import type { ModelProtocol } from '../../core/settings/index.ts';
import type { Clock } from '../../ports/index.ts';
import type { CallReservation } from './caps.ts';
import { refusalBody } from './endpoints.ts';
import type { Meter } from './meter.ts';
import { CLOSING_LINE } from './stream-events.ts';

/** Milliseconds for which the end of an answer is held back while its provider does not close it. Our default. */
const HELD_MS = 1_000;

interface AnswerStreamParts {
  readonly meter: Meter;
  readonly reserved: CallReservation | null;
  readonly secrets: readonly string[];
  readonly clock: Pick<Clock, 'sleep'>;
  /** Maximum number of bytes of the answer that are recorded; 0: none. */
  readonly recordBytes: number;
  /** Called for each chunk, after the meter has read it. */
  readonly onChunk: () => void;
  /**
   * Called when the answer has ended or was cut off; its last bytes are passed on after it resolves. Resolves to what
   * the client gets as the end of a stream, or instead of any other answer; null: what was received.
   */
  readonly settled: (cut: boolean) => Promise<string | null>;
}

interface AnswerStream {
  /** Reads the answer to its end, or until it exceeds its limit. */
  readonly limited: (answer: AsyncIterable<Buffer>) => AsyncIterable<Buffer>;
  readonly stream: Transform;
  /** Everything that was passed on, or would have been; null if it is not recorded. To be called once, at the end. */
  record(): Buffer | null;
}

/**
 * Passes bytes on without keys. The end waits for the ledger, so that no answer is complete before it is booked. If an
 * answer is recorded, everything from the event that announces its end waits, because agents act on that event. If an
 * answer is not a stream, all of it waits, because it may still be too long.
 */
export function openAnswerStream(parts: AnswerStreamParts): AnswerStream {
  const { meter, reserved, secrets, clock, recordBytes, onChunk, settled } = parts;
  const redactor = createRedactor(secrets);
  const recorder = openRecorder(recordBytes);
  const held: Buffer[] = [];
  const over = new AbortController();
  let holding = recordBytes > 0;
  let cut = false;
  const letGo = () => {
    if (!stream.destroyed) for (const bytes of held.splice(0)) stream.push(bytes);
  };
  const hold = (bytes: Buffer) => {
    held.push(bytes);
    if (held.length > 1) return;
    void clock.sleep(HELD_MS, over.signal).then(() => {
      if (over.signal.aborted) return;
      holding = false;
      letGo();
    });
  };
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const bytes = redactor.push(chunk);
      recorder.add(bytes);
      if (!meter.stream) held.push(bytes);
      else if (holding && meter.ended()) hold(bytes);
      else {
        letGo();
        this.push(bytes);
      }
      done();
    },
    flush(done) {
      over.abort();
      const rest = redactor.end();
      recorder.add(rest);
      settled(cut).then((instead) => {
        if (cut && !meter.stream) held.length = 0;
        letGo();
        if (instead === null) done(null, rest);
        else done(null, meter.stream ? Buffer.concat([rest, Buffer.from(instead)]) : Buffer.from(instead));
      }, done);
    },
    destroy(error, done) {
      over.abort();
      done(error);
    },
  });
  return {
    stream,
    async *limited(answer) {
      for await (const chunk of answer) {
        meter.see(chunk);
        onChunk();
        if (!isPastLimit(meter, reserved?.outputTokens ?? null)) {
          yield chunk;
          continue;
        }
        cut = true;
        // Up to the end of an event, if there is one, so that the client can parse what it gets.
        const end = chunk.indexOf('\n\n');
        if (meter.stream && end >= 0) yield chunk.subarray(0, end);
        return;
      }
    },
    record() {
      recorder.add(redactor.end());
      return recorder.taken();
    },
  };
}

function openRecorder(most: number): { add(bytes: Buffer): void; taken(): Buffer | null } {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    add(bytes) {
      size += bytes.length;
      if (size <= most) chunks.push(bytes);
      else chunks.length = 0;
    },
    taken: () => (most > 0 && size <= most ? Buffer.concat(chunks) : null),
  };
}

interface Redactor {
  /** The bytes that may be passed on. A possible start of a key at the end of the chunk is held back. */
  push(chunk: Buffer): Buffer;
  end(): Buffer;
}

/** Replaces secrets in a stream of bytes, even if one is split over chunks. Holds back as little as possible. */
export function createRedactor(secrets: readonly string[]): Redactor {
  // latin1 maps bytes to characters one to one, so that cut UTF-8 sequences survive.
  const needles = secrets.map((secret) => Buffer.from(secret).toString('latin1'));
  let held = '';
  return {
    push(chunk) {
      const text = redactText(held + chunk.toString('latin1'), needles);
      const keep = Math.max(0, ...needles.map((needle) => possibleStart(text, needle)));
      held = text.slice(text.length - keep);
      return Buffer.from(text.slice(0, text.length - keep), 'latin1');
    },
    end() {
      const rest = Buffer.from(held, 'latin1');
      held = '';
      return rest;
    },
  };
}

/** Length of the longest suffix of `text` that is a prefix of `needle`. */
function possibleStart(text: string, needle: string): number {
  for (let length = Math.min(needle.length - 1, text.length); length > 0; length -= 1) {
    if (needle.startsWith(text.slice(text.length - length))) return length;
  }
  return 0;
}

/**
 * How far an answer may exceed the tokens that are booked for it. Estimates are rough: code has three to four
 * characters a token, tables and indentation more. An answer that is not a stream is measured in bytes, with its JSON,
 * signatures and encrypted thoughts; so is a stream, whose events have several hundred bytes a token. A provider's own
 * count may be slightly above the limit that it was given. Our defaults.
 */
const STREAMED = {
  charactersPerToken: 6,
  onTop: 2_000,
  bytesPerToken: 1_000,
  bytesOnTop: 8 * 2 ** 20,
} as const;
const WHOLE = { bytesPerToken: 24, onTop: 65_536, most: 32 * 2 ** 20 } as const;
const REPORTED = { share: 1.1, onTop: 256 } as const;

/** Whether an answer has exceeded the limit that was booked for it; `tokens` null: nothing was booked. */
function isPastLimit(meter: Meter, tokens: number | null): boolean {
  if (!meter.stream) {
    const most = tokens === null ? WHOLE.most : tokens * WHOLE.bytesPerToken + WHOLE.onTop;
    return meter.bytes() > Math.min(most, WHOLE.most);
  }
  if (tokens === null) return false;
  if (meter.characters() > tokens * STREAMED.charactersPerToken + STREAMED.onTop) return true;
  // The content of unknown fields does not count as characters of the answer, but is paid for nevertheless.
  if (meter.bytes() > tokens * STREAMED.bytesPerToken + STREAMED.bytesOnTop) return true;
  // A finished stream is paid for, and the last usage in it is its cost.
  return !meter.ended() && (meter.reportedOutput() ?? 0) > tokens * REPORTED.share + REPORTED.onTop;
}

export const CUT =
  'The model provider wrote more than the output limit of this call allows; the answer was cut.';

/** Ends a stream that was cut off, so that its client sees an error and not a broken connection. */
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

/** The last event of a stream, which contains nothing of the answer. Agents treat a stream without it as broken. */
const STREAM_END: Readonly<
  Partial<Record<ModelProtocol, { readonly mark: RegExp; readonly event: string }>>
> = {
  anthropic: {
    mark: /"type"\s*:\s*"message_stop"/,
    event: 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  },
  'openai-chat': { mark: /^data: ?\[DONE\]/m, event: `data: ${CLOSING_LINE}\n\n` },
};

/**
 * The record of a finished answer, ended as its provider would have ended it: a client that closes the connection after
 * the last usage report, as a killed one does, leaves a record without an end.
 */
export function closed(record: Buffer, meter: Meter, protocol: ModelProtocol): Buffer {
  const closing = STREAM_END[protocol];
  if (!meter.stream || closing === undefined) return record;
  // An incomplete line contains nothing yet.
  const text = record.toString('utf8', 0, record.lastIndexOf(0x0a) + 1);
  if (closing.mark.test(text.slice(-MAX_CLOSING))) return record;
  const gap = /\n\r?\n$/.test(text) ? '' : '\n';
  return Buffer.from(`${text}${gap}${closing.event}`);
}

/** Number of characters in which the last event of a stream is, including what providers add to it. */
const MAX_CLOSING = 2_000;
