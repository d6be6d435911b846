import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Plan, Reservation } from './accounts.ts';
import { type Endpoint, endpointFor } from './endpoints.ts';
import type { PriceBook } from './prices.ts';
import { atListPrice, type Body, forbidden, type OutputLimit, outputLimit, parseBody } from './requests.ts';

export const hashOf = (key: string): Buffer => createHash('sha256').update(key).digest();

/** What a lease key opens. */
export interface LeaseTerms {
  readonly keyHash: Buffer;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** `provider/model`. */
  readonly models: readonly string[];
}

type CallEndpoint = Exclude<Endpoint, { kind: 'models' }>;

/** A call that may be made, if the money suffices. */
export interface AdmittedCall {
  readonly kind: 'call';
  readonly endpoint: CallEndpoint;
  /** As the provider knows it. */
  readonly model: string;
  readonly body: Body;
  /** Bytes of the request as the client sent it. */
  readonly bytes: number;
  readonly limit: OutputLimit;
}

export interface Refused {
  readonly kind: 'refused';
  readonly endpoint: Endpoint | null;
  readonly status: number;
  /** For the agent. */
  readonly message: string;
}

export type Admission =
  | AdmittedCall
  | Refused
  | { readonly kind: 'models'; readonly models: readonly string[] };

/** Bytes of one request body. A million tokens of text are about four. */
export const MOST_BODY_BYTES = 16 * 2 ** 20;

/** Decides from the request alone: key, expiry, path, size, model, contents. */
export async function admit(
  request: IncomingMessage,
  terms: LeaseTerms,
  now: number,
  isOfficial: (endpoint: CallEndpoint) => boolean,
): Promise<Admission> {
  const endpoint = endpointFor(request.method ?? '', request.url ?? '');
  const refuse = (status: number, message: string): Refused => ({
    kind: 'refused',
    endpoint,
    status,
    message,
  });
  if (!timingSafeEqual(hashOf(keyOf(request)), terms.keyHash))
    return refuse(403, 'The key is not valid here.');
  if (now >= terms.expiresAt) return refuse(403, 'The key has expired.');
  if (!endpoint) return refuse(404, 'Not available through this gateway.');
  if (endpoint.kind === 'models') return { kind: 'models', models: terms.models };

  const bytes = await readBody(request);
  if (!bytes) return refuse(413, 'The request is too large.');
  const body = parseBody(bytes);
  if (!body) return refuse(400, 'The body must be one JSON object, without content-encoding.');
  const { model } = body;
  if (typeof model !== 'string' || !terms.models.includes(`${endpoint.provider}/${model}`)) {
    return refuse(403, 'This model is not available here.');
  }
  const problem = forbidden(endpoint.protocol, body);
  if (problem) return refuse(403, `Not available through this gateway: ${problem}.`);
  atListPrice(endpoint.protocol, body);
  const limit = outputLimit(endpoint.protocol, body, isOfficial(endpoint));
  return { kind: 'call', endpoint, model, body, bytes: bytes.length, limit };
}

function keyOf(request: IncomingMessage): string {
  const header = request.headers['x-api-key'];
  const bearer = /^Bearer +(.+)$/i.exec(request.headers.authorization ?? '')?.[1];
  return (typeof header === 'string' ? header : bearer) ?? '';
}

/** Null when it is larger than we take. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > MOST_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** What is set aside for a call: all its input uncached and newly cached, and all the output it may write. */
export interface CallReservation extends Reservation {
  readonly outputTokens: number;
}

/** Code and English have three to four bytes a token; the low end, so that we reserve too much. */
const BYTES_PER_TOKEN = 3;
/** Output that we reserve when the request does not say: what current models write in one turn at the very most. */
const UNSTATED_OUTPUT = 32_000;
/** Fewer output tokens than this are of no use to an agent: the cap counts as reached. */
const LEAST_OUTPUT = 256;
/** While other calls hold money back, waiting for them is better than an answer cut shorter than this. */
const LEAST_CONTENDED_OUTPUT = 8_000;

/** What vendors add to a request: a few hundred tokens that explain the use of tools to the model. */
const ADDED_TOKENS = 500;

export const estimatedInput = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN) + ADDED_TOKENS;

/**
 * How much to set aside for a call when `left` dollars remain; null when they do not suffice. The output is clamped
 * to what is left. Null from `costs` cannot occur: models without a price get no lease.
 */
export function planFor(call: AdmittedCall, book: PriceBook, at: number): Plan<CallReservation> {
  const { provider } = call.endpoint;
  const input = estimatedInput(call.bytes);
  const cost = (cacheWrite: number, output: number) =>
    book.cost(provider, call.model, { input, cacheRead: 0, cacheWrite, cacheWriteHour: 0, output }, at) ??
    Number.POSITIVE_INFINITY;
  const inputUsd = Math.max(cost(0, 0), cost(input, 0));
  const perToken = (cost(0, 1000) - cost(0, 0)) / 1000;
  const wanted = call.limit.asked ?? UNSTATED_OUTPUT;
  return (left, contended) => {
    // At the cap nothing goes out, not even a call that is free of charge.
    if (left <= 0 || !(inputUsd <= left)) return null;
    const room = perToken > 0 ? Math.floor((left - inputUsd) / perToken) : wanted;
    if (room < Math.min(wanted, contended ? LEAST_CONTENDED_OUTPUT : LEAST_OUTPUT)) return null;
    const outputTokens = Math.min(wanted, room);
    return { usd: inputUsd + outputTokens * perToken, outputTokens };
  };
}

/**
 * Writes the limit into the request. One that states none is left as it is where we cannot know the model's own
 * maximum, as a number above it is an error there: the relay then cuts the answer.
 */
export function applyLimit(call: AdmittedCall, reserved: CallReservation, official: boolean): void {
  const clamped = reserved.outputTokens < (call.limit.asked ?? UNSTATED_OUTPUT);
  if (call.limit.asked !== null || official || clamped) call.limit.set(reserved.outputTokens);
}
