import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Provider } from './endpoints.ts';

/** Milliseconds without a byte from the provider after which a call is given up. Reasoning can be silent for minutes. */
export const UPSTREAM_SILENCE_MS = 10 * 60_000;

export interface UpstreamCall {
  readonly url: URL;
  readonly provider: Provider;
  readonly key: string;
  readonly payload: Buffer;
  /** Of the client; nearly all are dropped, its authorisation above all. */
  readonly headers: http.IncomingHttpHeaders;
  readonly silenceMs: number;
  readonly signal: AbortSignal;
}

/** Headers of the client that mean something to a provider and cannot redirect, authorise or encode anything. */
const PASSED_UP = ['accept', 'anthropic-version', 'anthropic-beta', 'openai-beta'];
/** Headers of the provider that an agent uses. */
const PASSED_DOWN = [
  'content-type',
  'cache-control',
  'retry-after',
  'retry-after-ms',
  'request-id',
  'x-request-id',
];

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
    request.destroy(new Error('the provider was silent for too long')),
  );
  request.on('response', resolve);
  request.on('error', reject);
  request.end(call.payload);
  return promise;
}

function headersUp(call: UpstreamCall): http.OutgoingHttpHeaders {
  const passed = Object.fromEntries(
    PASSED_UP.flatMap((name) => {
      const value = call.headers[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  return {
    ...(call.provider === 'anthropic' ? { 'anthropic-version': '2023-06-01' } : {}),
    ...passed,
    ...(call.provider === 'anthropic' ? { 'x-api-key': call.key } : { authorization: `Bearer ${call.key}` }),
    'accept-encoding': 'identity',
    'content-type': 'application/json',
    'content-length': call.payload.length,
    'user-agent': 'runoff',
  };
}

export function headersDown(
  answer: IncomingMessage,
  clean: (text: string) => string,
): http.OutgoingHttpHeaders {
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
