import type { IncomingMessage, ServerResponse } from 'node:http';
import { type HeldBody, openBodyBytes } from '../core/bodies/index.ts';

/** `dropped`: there was no memory for it, or others needed it; `late`: it took too long. */
export type Body =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'too-long' }
  | { readonly kind: 'dropped' }
  | { readonly kind: 'late' };

export interface Reading {
  /** Bytes. */
  readonly limit: number;
  /** Milliseconds until it must have arrived whole, from now on. */
  readonly ms: number;
  /** Reserves its share of the memory of all bodies; `dropped` is called when it is taken away. */
  readonly hold: (dropped: () => void) => HeldBody;
}

/** Whether a request says itself that its body is longer than `limit` bytes. */
export const saysTooLong = ({ headers }: IncomingMessage, limit: number): boolean =>
  Number(headers['content-length'] ?? 0) > limit;

/** The body of a request; of one that cannot be taken nothing is kept. Rejects when the sender goes away. */
export async function readBody(request: IncomingMessage, { limit, ms, hold }: Reading): Promise<Body> {
  const ended = Promise.withResolvers<Body>();
  const held = hold(() => ended.resolve({ kind: 'dropped' }));
  const body = openBodyBytes(limit, (bytes) => held.hold(bytes));
  // Not `for await`: leaving such a loop early destroys the request, and the sender would see no answer.
  const onData = (part: Buffer): void => {
    const added = body.add(part);
    if (added !== 'added') ended.resolve({ kind: added === 'no-room' ? 'dropped' : added });
  };
  // What has come while this process was busy is read first.
  const timer = setTimeout(() => setImmediate(() => ended.resolve({ kind: 'late' })), ms);
  request.on('data', onData);
  request.once('end', () => {
    const { buffer, byteOffset, byteLength } = body.take();
    ended.resolve({ kind: 'bytes', bytes: Buffer.from(buffer, byteOffset, byteLength) });
  });
  request.once('error', ended.reject);
  request.once('close', () =>
    ended.reject(new Error('The sender closed the connection before the body was complete.')),
  );
  try {
    const read = await ended.promise;
    if (read.kind === 'bytes') held.keep();
    else held.release();
    return read;
  } catch (thrown) {
    held.release();
    throw thrown;
  } finally {
    clearTimeout(timer);
    // The listeners stay as long as the connection, which may be long; the bytes need not.
    body.take();
    request.off('data', onData).pause();
  }
}

/** How long the rest of a body that is refused is read and thrown away, milliseconds; our default. */
const DRAIN_MS = 2_000;
/**
 * How much of it: a body that came with its headers, so that an honest sender sees the answer, and no more, since reading
 * is work. Of one that is too long all that GitHub sends (25 MB). Our defaults.
 */
const DRAIN_BYTES = 256 * 2 ** 10;
const DRAIN_TOO_LONG_BYTES = 32 * 2 ** 20;

export interface BodyRefusal {
  readonly status: number;
  /** One line. */
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Answers and closes the connection. What the sender still writes is thrown away for a moment first: closing at once
 * would reset the connection, and the answer would be lost on its way. A body that has arrived whole ends at once: until
 * then it takes room from others.
 */
export function refuseBody(
  request: IncomingMessage,
  response: ServerResponse,
  { status, text, headers }: BodyRefusal,
): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(text) + 1,
    ...headers,
    connection: 'close',
  });
  response.write(`${text}\n`);
  const end = (): void => {
    clearTimeout(timer);
    request.pause();
    response.end();
    request.socket.destroySoon();
  };
  const timer = setTimeout(end, DRAIN_MS);
  let left = status === 413 ? DRAIN_TOO_LONG_BYTES : DRAIN_BYTES;
  request.on('data', (part: Buffer) => {
    left -= part.length;
    if (left < 0) end();
  });
  request.once('end', end).once('close', end).resume();
  if (request.readableEnded) end();
}
