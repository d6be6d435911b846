import { Transform } from 'node:stream';
import type { Clock } from '../../ports/index.ts';
import type { Meter } from './meter.ts';
import type { CallReservation } from './plan.ts';
import { createRedactor } from './redact.ts';

/**
 * Characters of a stream for each reserved token, and on top, beyond which it is cut. Estimates are rough: code has
 * three to four characters a token, tables and indentation more.
 */
const MOST_CHARACTERS = { perToken: 6, onTop: 2_000 } as const;
/** Milliseconds for which the end of an answer is held back while its provider does not close it. Our default. */
const HELD_MS = 1_000;

export interface PassageParts {
  readonly meter: Meter;
  readonly reserved: CallReservation | null;
  readonly secrets: readonly string[];
  readonly clock: Pick<Clock, 'sleep'>;
  /** Bytes up to which the answer is recorded; 0: not at all. */
  readonly recordBytes: number;
  readonly seen: () => void;
  /** The answer came to its end; what it resolves to is waited for before its last bytes go on. */
  readonly settled: () => Promise<void>;
}

export interface Passage {
  readonly stream: Transform;
  /** All that was passed on, or would have been; null when it is not recorded. To be asked once, at the end. */
  record(): Buffer | null;
}

export class TooLong extends Error {
  override message = 'The answer was longer than what was reserved for it.';
}

/**
 * Passes bytes on without keys. The end waits for the ledger, so that no answer is complete before it is booked; of one
 * that is recorded everything waits from where it says that it is over, as agents act on that.
 */
export function openPassage(parts: PassageParts): Passage {
  const { meter, reserved, secrets, clock, recordBytes, seen, settled } = parts;
  const redactor = createRedactor(secrets);
  const recorder = openRecorder(recordBytes);
  const held: Buffer[] = [];
  const over = new AbortController();
  let holding = recordBytes > 0;
  const tokens = reserved?.outputTokens ?? Number.POSITIVE_INFINITY;
  // An answer that is no stream comes when all of it is written and paid: to cut it would save nothing.
  const most = meter.stream
    ? tokens * MOST_CHARACTERS.perToken + MOST_CHARACTERS.onTop
    : Number.POSITIVE_INFINITY;
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
      seen();
      meter.see(chunk);
      if (meter.characters() > most) return done(new TooLong());
      const bytes = redactor.push(chunk);
      recorder.add(bytes);
      if (holding && meter.ended()) hold(bytes);
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
      settled().then(() => {
        letGo();
        done(null, rest);
      }, done);
    },
    destroy(error, done) {
      over.abort();
      done(error);
    },
  });
  return {
    stream,
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
