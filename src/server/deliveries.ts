import { isUtf8 } from 'node:buffer';
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { openBoundedBuffer } from '../core/model/index.ts';
import { type BodyBudget, type Connections, type HeldBody, senderOf } from './limits.ts';

/** Probot's middleware: answers the request and resolves with true, or resolves with anything else and ignores it. */
export type WebhookMiddleware = (request: IncomingMessage, response: ServerResponse) => unknown;

/** The receiver of GitHub's deliveries. */
export interface Webhook {
  /** The secret that GitHub signs with. A body without a matching signature is never passed on. */
  readonly secret: string;
  readonly take: WebhookMiddleware;
}

interface DeliveryLimits {
  /** Longest body, bytes. */
  readonly bodyLimitBytes: number;
  /** Milliseconds for a body, from the end of the headers to its last byte. */
  readonly bodyMs: number;
}

export interface DeliveryParts extends DeliveryLimits {
  /** Absent while the App is being set up. */
  readonly webhook?: Webhook | undefined;
  readonly budget: BodyBudget;
  readonly connections: Connections;
  /** Counts rejected deliveries for the log. */
  readonly refused: (why: string) => void;
}

/** Seconds after which a sender may retry; the bodies that used up the memory will have been freed by then. Default. */
const RETRY_SECONDS = 10;

/** Headers that every delivery of GitHub has. The event names and ids are GitHub's. */
const HEADERS: readonly (readonly [name: string, form: RegExp])[] = [
  ['x-github-event', /^[A-Za-z_]{1,64}$/],
  ['x-github-delivery', /^[\w-]{1,80}$/],
  ['x-hub-signature-256', /^sha256=[0-9a-f]{64}$/],
];

/** Decides by the headers alone, before the body is read. Null: it may be a delivery. */
function refusalByHeaders(request: IncomingMessage, parts: DeliveryParts): BodyRefusal | null {
  const { headers, method } = request;
  if (method !== 'POST')
    return { status: 405, text: 'Deliveries must be sent with POST.', headers: { allow: 'POST' } };
  if (!parts.webhook) {
    return { status: 503, text: 'The GitHub App is not set up yet.', headers: { 'retry-after': '60' } };
  }
  const wrong = HEADERS.find(([name, form]) => !form.test(String(headers[name] ?? '')));
  if (wrong) return { status: 400, text: `The header ${wrong[0]} is missing or invalid.` };
  if (!/^application\/json(?:;|$)/i.test(headers['content-type'] ?? '')) {
    return {
      status: 415,
      text: 'The body must be application/json: select that content type for the webhook on GitHub.',
    };
  }
  return null;
}

const tooLong = ({ bodyLimitBytes }: DeliveryLimits): BodyRefusal => ({
  status: 413,
  text: `The body is longer than ${bodyLimitBytes} bytes.`,
});
const DROPPED: BodyRefusal = {
  status: 503,
  text: 'Too many requests are in progress, so this one was dropped. Send it again later.',
  headers: { 'retry-after': String(RETRY_SECONDS) },
};
const LATE = ({ bodyMs }: DeliveryLimits): BodyRefusal => ({
  status: 408,
  text: `The body did not arrive within ${bodyMs / 1000} seconds.`,
});

/**
 * Passes a delivery to Probot with its body already read, because Probot sets no limit and accepts `body` as a string.
 * False: the middleware ignored it.
 */
export async function deliver(
  parts: DeliveryParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const { webhook, connections } = parts;
  const refuse = (refusal: BodyRefusal): true => {
    parts.refused(refusal.text);
    refuseBody(request, response, refusal);
    return true;
  };
  const early = refusalByHeaders(request, parts);
  if (early || !webhook) return refuse(early ?? DROPPED);
  const bytes = await readBody(parts, request, response, parts.refused);
  if (bytes === null) return true;
  if (!isSigned(bytes, String(request.headers['x-hub-signature-256']), webhook.secret)) {
    return refuse({ status: 400, text: 'The signature does not match the body.' });
  }
  // Decoding other bytes as UTF-8 would change them, and the verified text would not be the received one.
  if (!isUtf8(bytes)) return refuse({ status: 400, text: 'The body is not UTF-8.' });
  response.once('close', connections.busy(request.socket));
  const taken = await webhook.take(Object.assign(request, { body: bytes.toString('utf8') }), response);
  return taken === true || response.headersSent;
}

interface BodyParts extends DeliveryLimits {
  readonly budget: BodyBudget;
}

/**
 * The body of a delivery, or of a request to pages or API. Null: it was refused because of a limit, and that has been
 * answered and told to `refused`.
 */
export async function readBody(
  parts: BodyParts,
  request: IncomingMessage,
  response: ServerResponse,
  refused: (why: string) => void,
): Promise<Buffer | null> {
  const refuse = (refusal: BodyRefusal): null => {
    refused(refusal.text);
    refuseBody(request, response, refusal);
    return null;
  };
  if (saysTooLong(request, parts.bodyLimitBytes)) return refuse(tooLong(parts));
  if (request.headers.expect !== undefined) response.writeContinue();
  const body = await readDelivery(request, {
    limit: parts.bodyLimitBytes,
    ms: parts.bodyMs,
    hold: (dropped) => {
      const held = parts.budget.open(senderOf(request.socket), dropped);
      response.once('close', held.release);
      return held;
    },
  });
  if (body.kind === 'bytes') return body.bytes;
  if (body.kind === 'too-long') return refuse(tooLong(parts));
  return refuse(body.kind === 'late' ? LATE(parts) : DROPPED);
}

function isSigned(bytes: Buffer, signature: string, secret: string): boolean {
  const wanted = Buffer.from(`sha256=${createHmac('sha256', secret).update(bytes).digest('hex')}`);
  const given = Buffer.from(signature);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** `dropped`: there was no memory for it, or others needed it; `late`: it took too long. */
type Body =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'too-long' }
  | { readonly kind: 'dropped' }
  | { readonly kind: 'late' };

interface BodyLimits {
  /** Bytes. */
  readonly limit: number;
  /** Milliseconds from now until the whole body must have arrived. */
  readonly ms: number;
  /** Reserves its share of the memory of all bodies. `dropped` is called if it loses its share. */
  readonly hold: (dropped: () => void) => HeldBody;
}

/** Whether the request itself declares a body of more than `limit` bytes. */
const saysTooLong = ({ headers }: IncomingMessage, limit: number): boolean =>
  Number(headers['content-length'] ?? 0) > limit;

/** The body of a request. Nothing is kept of a body that is not accepted. Rejects if the sender closes the connection. */
async function readDelivery(request: IncomingMessage, { limit, ms, hold }: BodyLimits): Promise<Body> {
  const ended = Promise.withResolvers<Body>();
  const held = hold(() => ended.resolve({ kind: 'dropped' }));
  const body = openBoundedBuffer(limit, (bytes) => held.hold(bytes));
  // Not `for await`: leaving such a loop early destroys the request, and the sender would see no answer.
  const onData = (part: Buffer): void => {
    const added = body.add(part);
    if (added !== 'added') ended.resolve({ kind: added === 'refused' ? 'dropped' : added });
  };
  // First read what arrived while this process was busy.
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
    // The listeners last as long as the connection, which may be long; the bytes are released earlier.
    body.take();
    request.off('data', onData).pause();
  }
}

/** Milliseconds for which the rest of a rejected body is read and discarded. Default. */
const DRAIN_MS = 2_000;
/**
 * Maximum bytes of it that are read: enough for a body that arrived with its headers, so that an honest sender sees
 * the answer, and no more, because reading costs time. If the body is too long, the maximum that GitHub sends (25
 * MB). Defaults.
 */
const DRAIN_BYTES = 256 * 2 ** 10;
const DRAIN_TOO_LONG_BYTES = 32 * 2 ** 20;

interface BodyRefusal {
  readonly status: number;
  /** One line. */
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Answers and closes the connection. First discards what the sender is still writing for a moment: closing at once
 * would reset the connection, and the answer would be lost. If the body has arrived completely, it ends at once,
 * because until then it uses memory that others need.
 */
function refuseBody(
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
