import { Transform } from 'node:stream';
import type { Clock } from '../../ports/index.ts';
import { isPastLimit } from './cut.ts';
import type { Meter } from './meter.ts';
import type { CallReservation } from './plan.ts';
import { createRedactor } from './redact.ts';

/** Milliseconds for which the end of an answer is held back while its provider does not close it. Our default. */
const HELD_MS = 1_000;

export interface PassageParts {
  readonly meter: Meter;
  readonly reserved: CallReservation | null;
  readonly secrets: readonly string[];
  readonly clock: Pick<Clock, 'sleep'>;
  /** Bytes up to which the answer is recorded; 0: not at all. */
  readonly recordBytes: number;
  /** Called for each chunk, when the meter has seen it. */
  readonly seen: () => void;
  /**
   * The answer came to its end, or was cut; waited for before its last bytes go on. Resolves to what the client gets
   * for its end, of a stream, or for the whole of any other answer; null: what came.
   */
  readonly settled: (cut: boolean) => Promise<string | null>;
}

export interface Passage {
  /** Reads the answer to its end, or to where it passes its limit. */
  readonly limited: (answer: AsyncIterable<Buffer>) => AsyncIterable<Buffer>;
  readonly stream: Transform;
  /** All that was passed on, or would have been; null when it is not recorded. To be asked once, at the end. */
  record(): Buffer | null;
}

/**
 * Passes bytes on without keys. The end waits for the ledger, so that no answer is complete before it is booked; of one
 * that is recorded everything waits from where it says that it is over, as agents act on that; and of one that is no
 * stream everything waits, as it may still prove too long.
 */
export function openPassage(parts: PassageParts): Passage {
  const { meter, reserved, secrets, clock, recordBytes, seen, settled } = parts;
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
        seen();
        if (!isPastLimit(meter, reserved?.outputTokens ?? null)) {
          yield chunk;
          continue;
        }
        cut = true;
        // Up to the end of an event, where there is one, so that the client can read what it gets.
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
