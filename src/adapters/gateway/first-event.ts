import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { parseUntrustedJson } from '../../core/model/index.ts';
import { isObject } from './bodies/index.ts';
import { errorIn } from './endings.ts';

/**
 * Looks at what a stream begins with, and leaves it there: HTTP status of an error that is its first event, as vendors
 * send it who were too busy after they had said 200; else null. Rejects when the connection breaks before.
 */
export async function errorAtFirst(answer: IncomingMessage): Promise<number | null> {
  const begun = await firstBytes(answer);
  if (begun === null) return null;
  answer.unshift(begun);
  const lines = begun.toString('utf8').split('\n');
  const data = lines.find((line) => line.startsWith('data:'))?.slice('data:'.length);
  const event = data === undefined ? null : parseUntrustedJson(data);
  return event?.kind === 'json' && isObject(event.value) ? errorIn(event.value) : null;
}

/** Null where there are none. */
async function firstBytes(answer: IncomingMessage): Promise<Buffer | null> {
  for (;;) {
    const bytes: Buffer | null = answer.read();
    if (bytes !== null || answer.readableEnded) return bytes;
    if (answer.destroyed)
      throw answer.errored ?? new Error('the connection was closed before the first byte');
    const seen = new AbortController();
    const { signal } = seen;
    try {
      // `end` without `readable` comes of an answer without a byte; `close` of one that was cut.
      await Promise.race(['readable', 'end', 'close'].map((event) => once(answer, event, { signal })));
    } finally {
      seen.abort();
    }
  }
}
