import { isUtf8 } from 'node:buffer';
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BodyBudget } from '../core/bodies/index.ts';
import { type BodyRefusal, readBody, refuseBody, saysTooLong } from './body.ts';
import { type Connections, senderOf } from './connections.ts';

/** Probot's middleware: answers the request and resolves with true, or resolves with anything else and leaves it alone. */
export type WebhookMiddleware = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Where GitHub's deliveries go. */
export interface Webhook {
  /** What GitHub signs with. A body that is not signed with it reaches nobody. */
  readonly secret: string;
  readonly take: WebhookMiddleware;
}

export interface DeliveryLimits {
  /** Longest body, bytes. */
  readonly bodyLimitBytes: number;
  /** Milliseconds for a body, from its headers to its last byte. */
  readonly bodyMs: number;
}

export interface DeliveryParts extends DeliveryLimits {
  /** Absent while the App is being set up. */
  readonly webhook?: Webhook | undefined;
  readonly budget: BodyBudget;
  readonly connections: Connections;
  /** Counts what was refused, for the log. */
  readonly refused: (why: string) => void;
}

/** Seconds after which a sender may try again; by then the bodies that were too many are gone. Our default. */
const RETRY_SECONDS = 10;

/** The headers without which GitHub sends no delivery. The names of events and the ids are GitHub's. */
const HEADERS: readonly (readonly [name: string, form: RegExp])[] = [
  ['x-github-event', /^[A-Za-z_]{1,64}$/],
  ['x-github-delivery', /^[\w-]{1,80}$/],
  ['x-hub-signature-256', /^sha256=[0-9a-f]{64}$/],
];

/** Decided by the headers alone, before a byte of the body is read. Null: it may be a delivery. */
function refusalByHeaders(request: IncomingMessage, parts: DeliveryParts): BodyRefusal | null {
  const { headers, method } = request;
  if (method !== 'POST')
    return { status: 405, text: 'Deliveries must be sent with POST.', headers: { allow: 'POST' } };
  if (!parts.webhook) {
    return { status: 503, text: 'The GitHub App is not set up yet.', headers: { 'retry-after': '60' } };
  }
  const wrong = HEADERS.find(([name, form]) => !form.test(String(headers[name] ?? '')));
  if (wrong)
    return { status: 400, text: `The header ${wrong[0]} is missing, or is not one that GitHub sends.` };
  if (!/^application\/json(?:;|$)/i.test(headers['content-type'] ?? '')) {
    return { status: 415, text: 'The body must be application/json: choose that for the webhook on GitHub.' };
  }
  return saysTooLong(request, parts.bodyLimitBytes) ? tooLong(parts) : null;
}

const tooLong = ({ bodyLimitBytes }: DeliveryLimits): BodyRefusal => ({
  status: 413,
  text: `The body is longer than ${bodyLimitBytes} bytes.`,
});
const DROPPED: BodyRefusal = {
  status: 503,
  text: 'Too many bodies are being sent at once, so this one was dropped. Send it again later.',
  headers: { 'retry-after': String(RETRY_SECONDS) },
};
const LATE = ({ bodyMs }: DeliveryLimits): BodyRefusal => ({
  status: 408,
  text: `The body did not arrive within ${bodyMs / 1000} seconds.`,
});

/**
 * Hands a delivery to Probot with its body read: Probot itself sets no limit and takes `body` as it is (a string). False:
 * the middleware left it alone.
 */
export async function deliver(
  parts: DeliveryParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const { webhook, budget, connections } = parts;
  const refuse = (refusal: BodyRefusal): true => {
    parts.refused(refusal.text);
    refuseBody(request, response, refusal);
    return true;
  };
  const early = refusalByHeaders(request, parts);
  if (early || !webhook) return refuse(early ?? DROPPED);
  if (request.headers.expect !== undefined) response.writeContinue();
  const body = await readBody(request, {
    limit: parts.bodyLimitBytes,
    ms: parts.bodyMs,
    hold: (dropped) => {
      const held = budget.open(senderOf(request.socket), dropped);
      response.once('close', held.release);
      return held;
    },
  });
  if (body.kind === 'too-long') return refuse(tooLong(parts));
  if (body.kind === 'dropped') return refuse(DROPPED);
  if (body.kind === 'late') return refuse(LATE(parts));
  if (!isSigned(body.bytes, String(request.headers['x-hub-signature-256']), webhook.secret)) {
    return refuse({ status: 400, text: 'The signature does not match the body.' });
  }
  // Reading other bytes as UTF-8 would repair them, and what is verified would not be what came.
  if (!isUtf8(body.bytes)) return refuse({ status: 400, text: 'The body is not UTF-8.' });
  response.once('close', connections.busy(request.socket));
  const taken = await webhook.take(Object.assign(request, { body: body.bytes.toString('utf8') }), response);
  return taken === true || response.headersSent;
}

function isSigned(bytes: Buffer, signature: string, secret: string): boolean {
  const wanted = Buffer.from(`sha256=${createHmac('sha256', secret).update(bytes).digest('hex')}`);
  const given = Buffer.from(signature);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
