import { isUtf8 } from 'node:buffer';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { JSON_LIMITS, openBoundedBuffer, parseUntrustedJson } from '../../core/model/index.ts';
import type { ModelProtocol } from '../../core/settings/index.ts';
import { type Body, checkBody, isObject, type OutputLimit } from './bodies/index.ts';
import { type CallEndpoint, type Endpoint, endpointFor, keyInQuery } from './endpoints.ts';
import { type InputTokens, measure } from './input-tokens.ts';
import { dialectOf, type ProviderAccess, type Providers, providerFor } from './providers.ts';

export const sha256Of = (key: string): Buffer => createHash('sha256').update(key).digest();

/** Permissions of a lease key. */
export interface LeaseTerms {
  readonly keyHash: Buffer;
  /** By the monotonic clock. */
  readonly expiresAt: number;
  /** `provider/model`. */
  readonly models: readonly string[];
}

/** A call that may be made if the budget suffices. */
export interface AdmittedCall {
  readonly kind: 'call';
  readonly endpoint: CallEndpoint;
  /** Name of the provider, and how to reach it. */
  readonly provider: string;
  readonly access: ProviderAccess;
  /** The provider's name for it. */
  readonly model: string;
  readonly body: Body;
  readonly input: InputTokens;
  /** Whether it asks for a cache that is kept for an hour, which costs more to write. */
  readonly hourCache: boolean;
  readonly limit: OutputLimit;
  /** Names of fields that were dropped because they are on no list. The client chose them. */
  readonly unknown: readonly string[];
}

/** Why a call is rejected, for metrics; a closed set, so that clients cannot add to it. */
export type RefusalKind =
  | 'key'
  | 'path'
  | 'size'
  | 'json'
  | 'model'
  | 'content'
  | 'limit'
  | 'budget'
  | 'ledger'
  /** Others use the memory or the budget that it needs; it may be retried. */
  | 'busy';

export interface RefusedCall {
  readonly kind: 'refused';
  readonly why: RefusalKind;
  readonly protocol: ModelProtocol | null;
  readonly status: number;
  /** For the agent. */
  readonly message: string;
}

type Admission =
  | AdmittedCall
  | RefusedCall
  | { readonly kind: 'models'; readonly protocol: ModelProtocol }
  /** A request that only checks whether a server is there: nothing that an agent needed was rejected. */
  | { readonly kind: 'probe' };

const refusalOf =
  (protocol: ModelProtocol | null) =>
  (why: RefusalKind, status: number, message: string): RefusedCall => ({
    kind: 'refused',
    why,
    protocol,
    status,
    message,
  });

/** Decides from the request alone: key, expiry, path, size, model, content. */
export async function admit(
  request: IncomingMessage,
  terms: LeaseTerms,
  providers: Providers,
  now: number,
  memory: RequestMemory,
): Promise<Admission> {
  const { method = '', url = '' } = request;
  const endpoint = endpointFor(method, url);
  if (!endpoint && ['GET', 'HEAD'].includes(method)) return { kind: 'probe' };
  const refuse = refusalOf(endpoint?.protocol ?? null);
  if (!timingSafeEqual(sha256Of(apiKeyOf(request, endpoint)), terms.keyHash))
    return refuse('key', 403, 'The key is not valid here.');
  if (now >= terms.expiresAt) return refuse('key', 403, 'The key has expired.');
  if (!endpoint) return refuse('path', 404, 'Not available through this gateway.');
  if (endpoint.kind === 'models') return { kind: 'models', protocol: endpoint.protocol };

  const read = await readRequestBody(request, memory);
  if (read.kind === 'refused') return refuse(read.why, read.status, read.message);
  return admitBody(endpoint, read, terms, providers);
}

function admitBody(
  endpoint: CallEndpoint,
  { sent, bytes }: Extract<ReadBody, { kind: 'read' }>,
  terms: LeaseTerms,
  providers: Providers,
): AdmittedCall | RefusedCall {
  const refuse = refusalOf(endpoint.protocol);
  const model = endpoint.model ?? sent.model;
  const provider =
    typeof model === 'string' ? providerFor(providers, terms.models, endpoint.protocol, model) : null;
  const access = provider === null ? undefined : providers[provider];
  if (typeof model !== 'string' || provider === null || !access)
    return refuse('model', 403, 'This model is not available here.');
  const checked = checkBody(sent, {
    protocol: endpoint.protocol,
    model,
    counting: endpoint.kind === 'count',
    dialect: dialectOf(provider, access),
  });
  if (checked.kind === 'invalid') return refuse('limit', 400, checked.why);
  if (checked.kind === 'forbidden') return refuse('content', 403, unavailable(checked.why));
  const { body, limit, unknown } = checked;
  // Written out, a number like 1e20 is five times as long.
  const text = JSON.stringify(body);
  const size = Math.max(bytes, Buffer.byteLength(text));
  const measured = measure(endpoint.protocol, body, size, access.official);
  if (measured.kind === 'forbidden') return refuse('content', 403, unavailable(measured.why));
  return {
    kind: 'call',
    endpoint,
    provider,
    access,
    model,
    body,
    input: measured.input,
    hourCache: text.includes('"ttl":"1h"'),
    limit,
    unknown,
  };
}

const unavailable = (why: string): string => `Not available through this gateway: ${why}.`;

/** Clients of each protocol send the key in another place; the first one that a request contains counts. */
function apiKeyOf(request: IncomingMessage, endpoint: Endpoint | null): string {
  const { headers, url = '' } = request;
  const bearer = /^Bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1];
  const named = [headers['x-api-key'], headers['x-goog-api-key'], bearer].find(
    (key) => typeof key === 'string',
  );
  return String(named ?? (endpoint?.protocol === 'gemini' ? keyInQuery(url) : ''));
}

type ReadBody =
  | { readonly kind: 'read'; readonly sent: Body; readonly bytes: number }
  | (Pick<RefusedCall, 'kind' | 'status' | 'message'> & { readonly why: 'size' | 'json' | 'busy' });

const NOT_JSON = 'The body is not one JSON object in UTF-8. Correct it before you send it again.';

/** Everything that is checked in a body before it is traversed. */
async function readRequestBody(request: IncomingMessage, memory: RequestMemory): Promise<ReadBody> {
  const refuse = (why: 'size' | 'json' | 'busy', status: number, message: string): ReadBody => ({
    kind: 'refused',
    why,
    status,
    message,
  });
  if (!isUncompressedUtf8(request.headers))
    return refuse('json', 415, 'The body is encoded. Send it uncompressed, as JSON in UTF-8.');
  const bytes = await receive(request, memory);
  if (bytes === 'too-large') return refuse('size', 413, 'The request is too large.');
  if (bytes === 'crowded')
    return refuse('busy', 503, 'Too many large requests are being made at once. Try again in a few seconds.');
  if (!isUtf8(bytes)) return refuse('json', 400, NOT_JSON);
  const parsed = parseUntrustedJson(bytes.toString('utf8'));
  switch (parsed.kind) {
    case 'too-many-values':
      return refuse('size', 413, 'The request is too large: it holds too many values.');
    case 'too-deep':
      return refuse(
        'json',
        400,
        `The body is nested more than ${JSON_LIMITS.depth} levels deep. Flatten it.`,
      );
    case 'invalid':
      return refuse('json', 400, NOT_JSON);
    case 'json':
      return isObject(parsed.value)
        ? { kind: 'read', sent: parsed.value, bytes: bytes.length }
        : refuse('json', 400, NOT_JSON);
  }
}

/** We do not decompress or convert anything: what is checked must be what was sent. */
function isUncompressedUtf8(headers: IncomingMessage['headers']): boolean {
  const encoding = headers['content-encoding'] ?? 'identity';
  const charset = /charset\s*=\s*"?([^\s";]*)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  return encoding.toLowerCase() === 'identity' && /^(?:utf-?8|us-ascii)$/i.test(charset);
}

/** Into one block, however small the received parts are. */
async function receive(
  request: IncomingMessage,
  memory: RequestMemory,
): Promise<Buffer | Exclude<Taken, 'taken'>> {
  const at: { held: number; taken: Taken } = { held: 0, taken: 'taken' };
  const body = openBoundedBuffer(MAX_BODY_BYTES, (bytes) => {
    at.taken = memory.take(bytes - at.held);
    at.held = bytes;
    return at.taken === 'taken';
  });
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    if (body.add(chunk) !== 'added') return at.taken === 'crowded' ? 'crowded' : 'too-large';
  }
  const { buffer, byteOffset, byteLength } = body.take();
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Maximum number of bytes of a request body. A million tokens of text are about four million bytes. */
const MAX_BODY_BYTES = 16 * 2 ** 20;
/** Maximum number of bytes of all bodies that one lease has in memory: an agent with a few subagents. Our default. */
const MAX_LEASE_BYTES = 3 * MAX_BODY_BYTES;
/** Bytes that each lease has for itself; most requests of an agent are much smaller. Our default. */
const LEASE_FLOOR_BYTES = 4 * 2 ** 20;
/** Bytes that all leases share beyond that: six leases at their maximum. Our default. */
const MAX_SHARED_BYTES = 256 * 2 ** 20;

/** `crowded`: not too large, but there is no memory left for it now. */
type Taken = 'taken' | 'too-large' | 'crowded';

/** Memory for one request. */
export interface RequestMemory {
  take(bytes: number): Taken;
  /** The request has ended. */
  leave(): void;
}

/** The memory that the requests of all leases share beyond what each lease has for itself. */
export interface SharedMemory {
  bytes: number;
}

/**
 * Maximum calls of one lease that are not settled. Our default: twice as many as it has connections, because a call whose
 * client has left is still under way for a moment.
 */
const MAX_UNSETTLED = 48;

/**
 * Decides whether a lease may begin another call; null if it may. Without a limit, one connection could carry thousands
 * of calls, which would wait for the budget before those of other coders. A connection that goes on sending before it
 * has read the refusal is closed, because its answers would fill memory.
 */
export function openCallLimit(): (
  request: IncomingMessage,
  response: ServerResponse,
  unsettled: number,
) => RefusedCall | null {
  const refused = new WeakSet<object>();
  return ({ socket }, response, unsettled) => {
    if (unsettled < MAX_UNSETTLED) return null;
    if (refused.has(socket)) socket.destroy();
    refused.add(socket);
    response.once('close', () => refused.delete(socket));
    const why = `${MAX_UNSETTLED} calls of this coder are under way, and no more are made at once. Send it again after one of them has ended.`;
    return refusalOf(null)('busy', 429, why);
  };
}

/**
 * The memory that the requests of one lease share. Neither many requests nor many sandboxes must exhaust the gateway's.
 */
export function openLeaseMemory(shared: SharedMemory = { bytes: 0 }): { enter(): RequestMemory } {
  let all = 0;
  const beyond = (bytes: number): number => Math.max(0, bytes - LEASE_FLOOR_BYTES);
  return {
    enter() {
      let own = 0;
      return {
        take(bytes) {
          if (own + bytes > MAX_BODY_BYTES) return 'too-large';
          const more = beyond(all + bytes) - beyond(all);
          if (all + bytes > MAX_LEASE_BYTES || (more > 0 && shared.bytes + more > MAX_SHARED_BYTES))
            return 'crowded';
          shared.bytes += more;
          own += bytes;
          all += bytes;
          return 'taken';
        },
        leave() {
          shared.bytes -= beyond(all) - beyond(all - own);
          all -= own;
          own = 0;
        },
      };
    },
  };
}
