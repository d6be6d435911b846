import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { ModelProtocol } from '../../core/model/index.ts';
import { acceptHeader, anthropicHeaders } from './headers.ts';

/**
 * Milliseconds for one call from its first byte to its last, however it trickles: the longest answers that models write
 * take some ten minutes. Our default.
 */
export const UPSTREAM_MOST_MS = 20 * 60_000;
/** Milliseconds without a byte from the provider after which a call is given up. Reasoning can be silent for minutes. */
export const UPSTREAM_SILENCE_MS = 10 * 60_000;

export interface UpstreamCall {
  readonly url: URL;
  readonly protocol: ModelProtocol;
  readonly key: string;
  readonly payload: Buffer;
  /** Of the client; headers.ts says what of them goes up. */
  readonly headers: http.IncomingHttpHeaders;
  readonly silenceMs: number;
  readonly signal: AbortSignal;
}

/** Headers of the provider that an agent uses. */
const PASSED_DOWN = [
  'content-type',
  'cache-control',
  'retry-after',
  'retry-after-ms',
  'request-id',
  'x-request-id',
];

/** Who said nothing for so long would be waited for as long again. */
export class Silent extends Error {}

/** Sends one call; rejects when no answer begins. Redirects are not followed. */
export function send(call: UpstreamCall): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const start = call.url.protocol === 'https:' ? https.request : http.request;
  // A connection of its own: one that the provider closes while idle would look like a paid call that failed.
  const request = start(call.url, {
    method: 'POST',
    headers: headersUp(call),
    signal: call.signal,
    agent: false,
  });
  request.setTimeout(call.silenceMs, () =>
    request.destroy(new Silent('the provider was silent for too long')),
  );
  request.on('response', resolve);
  request.on('error', reject);
  request.end(call.payload);
  return promise;
}

function headersUp(call: UpstreamCall): http.OutgoingHttpHeaders {
  return {
    ...(call.protocol === 'anthropic' ? anthropicHeaders(call.headers) : {}),
    ...acceptHeader(call.headers),
    ...authorization(call.protocol, call.key),
    'accept-encoding': 'identity',
    'content-type': 'application/json',
    'content-length': call.payload.length,
    'user-agent': 'runoff',
  };
}

function authorization(protocol: ModelProtocol, key: string): http.OutgoingHttpHeaders {
  if (protocol === 'anthropic') return { 'x-api-key': key };
  if (protocol === 'gemini') return { 'x-goog-api-key': key };
  return { authorization: `Bearer ${key}` };
}

export type JsonAnswer =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'unreachable' };

export interface JsonQuestion {
  readonly url: URL;
  readonly protocol: ModelProtocol;
  readonly key: string;
  readonly mostBytes: number;
  readonly signal: AbortSignal;
}

/** Reads one small document. Never rejects; what is too large or no JSON comes as an undefined value. */
export async function fetchJson(question: JsonQuestion): Promise<JsonAnswer> {
  const { url, protocol, key, signal } = question;
  const start = url.protocol === 'https:' ? https.get : http.get;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers = {
    ...(protocol === 'anthropic' ? anthropicHeaders({}) : {}),
    ...authorization(protocol, key),
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'runoff',
  };
  start(url, { headers, signal, agent: false }, resolve).on('error', reject);
  try {
    const answer = await promise;
    if (answer.statusCode === 200) return { kind: 'json', value: await readJson(answer, question.mostBytes) };
    answer.destroy();
    return { kind: 'status', status: answer.statusCode ?? 502 };
  } catch {
    // The reasons name addresses at best; the caller says what was tried.
    return { kind: 'unreachable' };
  }
}

/** Undefined where it is too long or no JSON; rejects when the answer breaks off. */
export async function readJson(answer: IncomingMessage, mostBytes: number): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer) {
    bytes += chunk.length;
    if (bytes > mostBytes) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return undefined;
  }
}

export function headersDown(
  answer: IncomingMessage,
  clean: (text: string) => string,
): Record<string, string> {
  return Object.fromEntries(
    PASSED_DOWN.flatMap((name) => {
      const value = answer.headers[name];
      return typeof value === 'string' ? [[name, clean(value)]] : [];
    }),
  );
}

/** True when the request cannot have reached the provider. */
export function neverSent(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'].includes(code);
}
