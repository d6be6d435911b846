import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { openBodyBytes } from '../../core/bodies/index.ts';
import type { ModelProtocol } from '../../core/model/index.ts';
import { type InputTokens, measure } from './content.ts';
import { type CallEndpoint, type Endpoint, endpointFor, keyInQuery } from './endpoints.ts';
import { geminiLimit, geminiRequest } from './gemini.ts';
import { dialectOf, type ProviderAccess, type Providers, providerFor } from './providers.ts';
import {
  atListPrice,
  type Body,
  forbidden,
  hasTooManyValues,
  keepLocalTools,
  type OutputLimit,
  outputLimit,
  parseBody,
} from './requests.ts';
import { MOST_BODY_BYTES, type Room, type Taken } from './room.ts';

export const hashOf = (key: string): Buffer => createHash('sha256').update(key).digest();

/** What a lease key opens. */
export interface LeaseTerms {
  readonly keyHash: Buffer;
  /** By the clock that never jumps. */
  readonly expiresAt: number;
  /** `provider/model`. */
  readonly models: readonly string[];
}

/** A call that may be made, if the money suffices. */
export interface AdmittedCall {
  readonly kind: 'call';
  readonly endpoint: CallEndpoint;
  /** Name of the provider, and where it is. */
  readonly provider: string;
  readonly access: ProviderAccess;
  /** As the provider knows it. */
  readonly model: string;
  readonly body: Body;
  readonly input: InputTokens;
  /** It asks for a cache that is kept for an hour, which is dearer to write. */
  readonly hourCache: boolean;
  readonly limit: OutputLimit;
}

export interface Refused {
  readonly kind: 'refused';
  readonly protocol: ModelProtocol | null;
  readonly status: number;
  /** For the agent. */
  readonly message: string;
}

export type Admission =
  | AdmittedCall
  | Refused
  | { readonly kind: 'models'; readonly protocol: ModelProtocol }
  /** A look at whether anything is here: nothing that an agent wanted was refused. */
  | { readonly kind: 'probe' };

/** Decides from the request alone: key, expiry, path, size, model, contents. */
export async function admit(
  request: IncomingMessage,
  terms: LeaseTerms,
  providers: Providers,
  now: number,
  room: Room,
): Promise<Admission> {
  const { method = '', url = '' } = request;
  const endpoint = endpointFor(method, url);
  if (!endpoint && ['GET', 'HEAD'].includes(method)) return { kind: 'probe' };
  const refuse = (status: number, message: string): Refused => ({
    kind: 'refused',
    protocol: endpoint?.protocol ?? null,
    status,
    message,
  });
  if (!timingSafeEqual(hashOf(keyOf(request, endpoint)), terms.keyHash))
    return refuse(403, 'The key is not valid here.');
  if (now >= terms.expiresAt) return refuse(403, 'The key has expired.');
  if (!endpoint) return refuse(404, 'Not available through this gateway.');
  if (endpoint.kind === 'models') return { kind: 'models', protocol: endpoint.protocol };

  const bytes = await readBody(request, room);
  if (bytes === 'crowded')
    return refuse(503, 'Too many large requests are being made at once. Try again in a few seconds.');
  if (bytes === 'too-large' || hasTooManyValues(bytes)) return refuse(413, 'The request is too large.');
  const sent = parseBody(bytes);
  if (!sent) return refuse(400, 'The body must be one JSON object, without content-encoding.');
  const model = endpoint.model ?? sent.model;
  const provider =
    typeof model === 'string' ? providerFor(providers, terms.models, endpoint.protocol, model) : null;
  const access = provider === null ? undefined : providers[provider];
  if (typeof model !== 'string' || provider === null || !access)
    return refuse(403, 'This model is not available here.');
  const prepared = cleaned(endpoint.protocol, sent, model, provider, access);
  if (prepared.kind === 'forbidden') return refuse(403, unavailable(prepared.why));
  const { body, limit } = prepared;
  // Written out, a number like 1e20 is five times as long.
  const text = JSON.stringify(body);
  const size = Math.max(bytes.length, Buffer.byteLength(text));
  const measured = measure(endpoint.protocol, body, size, access.official);
  if (measured.kind === 'forbidden') return refuse(403, unavailable(measured.why));
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
  };
}

const unavailable = (why: string): string => `Not available through this gateway: ${why}.`;

type Cleaned =
  | { readonly kind: 'may-pass'; readonly body: Body; readonly limit: OutputLimit }
  | { readonly kind: 'forbidden'; readonly why: string };

function cleaned(
  protocol: ModelProtocol,
  sent: Body,
  model: string,
  provider: string,
  access: ProviderAccess,
): Cleaned {
  if (protocol === 'gemini') {
    const made = geminiRequest(sent, model);
    return made.kind === 'forbidden' ? made : { ...made, limit: geminiLimit(made.body) };
  }
  const why = forbidden(protocol, sent);
  if (why) return { kind: 'forbidden', why };
  const dialect = dialectOf(provider, access);
  keepLocalTools(sent);
  atListPrice(protocol, sent, dialect);
  return { kind: 'may-pass', body: sent, limit: outputLimit(protocol, sent, dialect) };
}

/** Clients of each protocol have their own place for it; one that a request names first counts. */
function keyOf(request: IncomingMessage, endpoint: Endpoint | null): string {
  const { headers, url = '' } = request;
  const bearer = /^Bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1];
  const named = [headers['x-api-key'], headers['x-goog-api-key'], bearer].find(
    (key) => typeof key === 'string',
  );
  return String(named ?? (endpoint?.protocol === 'gemini' ? keyInQuery(url) : ''));
}

/** In one block, however small the parts are in which it comes. */
async function readBody(request: IncomingMessage, room: Room): Promise<Buffer | Exclude<Taken, 'taken'>> {
  const at: { held: number; taken: Taken } = { held: 0, taken: 'taken' };
  const body = openBodyBytes(MOST_BODY_BYTES, (bytes) => {
    at.taken = room.take(bytes - at.held);
    at.held = bytes;
    return at.taken === 'taken';
  });
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    if (body.add(chunk) !== 'added') return at.taken === 'crowded' ? 'crowded' : 'too-large';
  }
  const { buffer, byteOffset, byteLength } = body.take();
  return Buffer.from(buffer, byteOffset, byteLength);
}
