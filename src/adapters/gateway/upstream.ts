import http, { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { ModelProtocol } from '../../core/settings/index.ts';

/**
 * Milliseconds without a byte from the provider after which a call is given up. A reasoning model can be silent for
 * minutes.
 */
export const UPSTREAM_SILENCE_MS = 10 * 60_000;

export interface UpstreamCall {
  readonly url: URL;
  readonly protocol: ModelProtocol;
  readonly key: string;
  readonly payload: Buffer;
  /** Headers of the client; the lists below say which are passed on. */
  readonly headers: http.IncomingHttpHeaders;
  readonly silenceMs: number;
  readonly signal: AbortSignal;
  /** Called once the connection, with TLS its handshake, is complete: from then on, the provider may get the request. */
  readonly onConnected?: () => void;
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

/** A provider that was silent for so long is not tried again, because it would be silent for as long. */
export class Silent extends Error {}

/** Sends one call; rejects if no answer begins. Does not follow redirects. */
export function sendUpstream(call: UpstreamCall): Promise<IncomingMessage> {
  const start = call.url.protocol === 'https:' ? https.request : http.request;
  // A separate connection: one that the provider closes while it is idle would look like a paid call that failed.
  const request = start(call.url, {
    method: 'POST',
    headers: headersUp(call),
    signal: call.signal,
    agent: false,
  });
  request.setTimeout(call.silenceMs, () =>
    request.destroy(new Silent('the provider was silent for too long')),
  );
  const { onConnected } = call;
  request.on('socket', (socket) => {
    if (!socket.connecting) onConnected?.();
    else if (onConnected)
      socket.once(call.url.protocol === 'https:' ? 'secureConnect' : 'connect', onConnected);
  });
  request.end(call.payload);
  return answerTo(request);
}

/** Rejects if no answer begins. */
function answerTo(request: ClientRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request.on('response', resolve);
  // Without a listener, Node closes the connection of an answer with status 101 and reports neither answer nor error.
  request.on('upgrade', (answer, socket) => {
    socket.destroy();
    resolve(answer);
  });
  request.on('error', reject);
  request.on('close', () => reject(new Error('the connection was closed before an answer')));
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

type JsonAnswer =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'unreachable' };

interface JsonQuestion {
  readonly url: URL;
  readonly protocol: ModelProtocol;
  readonly key: string;
  readonly mostBytes: number;
  readonly signal: AbortSignal;
}

/** Reads one small document. Never rejects; a document that is too large or not JSON is returned as undefined. */
export async function fetchJson(question: JsonQuestion): Promise<JsonAnswer> {
  const { url, protocol, key, signal } = question;
  const start = url.protocol === 'https:' ? https.get : http.get;
  const headers = {
    ...(protocol === 'anthropic' ? anthropicHeaders({}) : {}),
    ...authorization(protocol, key),
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'runoff',
  };
  try {
    const answer = await answerTo(start(url, { headers, signal, agent: false }));
    if (answer.statusCode === 200) return { kind: 'json', value: await readJson(answer, question.mostBytes) };
    answer.destroy();
    return { kind: 'status', status: answer.statusCode ?? 502 };
  } catch {
    // The error messages contain addresses at best; the caller says what was tried.
    return { kind: 'unreachable' };
  }
}

/** Undefined if it is too long or not JSON; rejects if the answer breaks off. */
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

/** The error's code, or else its name: its message may contain what was sent. */
export function errorCode(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? error.name : 'unknown';
}

/** Why no answer began, for people. An alert is the provider's own complaint, for example about our certificate. */
export const unreachableText = (code: string): string =>
  /CERT|UNABLE_TO_VERIFY/.test(code) && !code.includes('ALERT')
    ? `The model provider cannot be reached: its certificate is not accepted (${code}).`
    : 'The model provider cannot be reached.';

/** Statuses with a description; 529 is Anthropic's. */
const IN_WORDS: Readonly<Record<number, string>> = {
  429: 'allows no more calls for now',
  503: 'is not available',
  529: 'is overloaded',
};
export const statusTrouble = (status: number): string =>
  IN_WORDS[status] === undefined
    ? `The model provider answered with HTTP ${status}.`
    : `The model provider ${IN_WORDS[status]} (HTTP ${status}).`;

/**
 * Values of `anthropic-beta` that are passed on, and why each may be: none changes the price, adds a tool that runs at
 * the provider, or makes an answer longer than its limit. They are those that claude-code 2.1.329, opencode, pi and the
 * AI SDK send and that a field on the list for bodies (bodies/anthropic.ts) may need. All others are dropped, among
 * them `context-1m-2025-08-07` (a surcharge that the price table does not contain for every model),
 * `fast-mode-2026-02-01` (six times the price), and those for hosted tools, servers, files, other models and summaries
 * within the call.
 */
export const BETAS: Readonly<Record<string, string>> = {
  'claude-code-20250219': 'names the client',
  'interleaved-thinking-2025-05-14': 'thoughts between calls of tools, which are billed as output',
  'context-management-2025-06-27': 'only the edits that clear something are on the list for bodies',
  'thinking-token-count-2026-05-13': 'tells how long the model has thought',
  'thinking-display-updates-2026-08-18': 'how thoughts are shown, which changes no figure',
  'redact-thinking-2026-02-12': 'how thoughts are shown, which changes no figure',
  'advanced-tool-use-2025-11-20': 'tools that are loaded later; callers other than the model are refused',
  'tool-search-tool-2025-10-19':
    'tools that are loaded later; the search that runs at the provider is left out',
  'effort-2025-11-24': 'how much the model writes, within the limit that is booked',
  'task-budgets-2026-03-13': 'how much the model writes, within the limit that is booked',
  'mid-conversation-tool-changes-2026-07-01': 'tools in messages, which are checked as the others are',
  'mid-conversation-system-2026-04-07': 'system text in messages, which is measured as all text is',
  'structured-outputs-2025-11-13': 'the form of an answer',
  'structured-outputs-2025-12-15': 'the form of an answer',
  'fine-grained-tool-streaming-2025-05-14': 'the parts in which an answer comes',
  'prompt-caching-2024-07-31': 'writing to the cache is booked at its price',
  'extended-cache-ttl-2025-04-11': 'writing to the cache for an hour is booked at its price',
  'pdfs-2024-09-25': 'documents are booked at the most that they can cost',
  'token-counting-2024-11-01': 'counting is free',
};

/** The version that our meter and lists of fields are written for; other versions use other events. */
const ANTHROPIC_VERSION = '2023-06-01';
const ACCEPTED: ReadonlySet<string> = new Set(['*/*', 'application/json', 'text/event-stream']);

/** Values are limited, not only names: a header may contain thousands. */
const betasIn = (headers: IncomingHttpHeaders): readonly string[] => [
  ...new Set(
    String(headers['anthropic-beta'] ?? '')
      .split(',')
      .map((value) => value.trim())
      .filter((value) => value !== ''),
  ),
];

/** Beta features that a client asked for and that are dropped. The client chose these words. */
export const unlistedBetas = (headers: IncomingHttpHeaders): readonly string[] =>
  betasIn(headers).filter((value) => !Object.hasOwn(BETAS, value));

/** Headers for Anthropic's protocol, by an allow-list of values. */
function anthropicHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const betas = betasIn(headers).filter((value) => Object.hasOwn(BETAS, value));
  return {
    'anthropic-version': ANTHROPIC_VERSION,
    ...(betas.length > 0 ? { 'anthropic-beta': betas.join(',') } : {}),
  };
}

/** The media types that the client accepts, if it uses the usual form. */
function acceptHeader({ accept = '' }: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const kinds = accept.split(',').map((kind) => kind.trim().toLowerCase());
  return kinds.every((kind) => ACCEPTED.has(kind)) ? { accept: kinds.join(', ') } : {};
}

/** Maximum number of calls to a provider for one question. Our default. */
const MAX_ATTEMPTS = 3;
/**
 * Milliseconds: the first wait is up to `first`, each further one up to twice as long, none longer than `most`. Our
 * defaults.
 */
const WAIT = { first: 1_000, most: 20_000 } as const;
/**
 * Maximum number of milliseconds that a provider may ask us to wait; if it asks for more, there is no further call. Our
 * default.
 */
const MAX_RETRY_AFTER_MS = 60_000;

/** Nothing was done, or a retry may help: too early, in conflict, too many requests, or the provider's own error. */
export const passing = (status: number): boolean => [408, 409, 425, 429].includes(status) || status >= 500;

/**
 * Milliseconds before the next try; null if there is none. If the provider does not say how long, the time is drawn
 * evenly from below a limit that doubles ("full jitter", AWS Architecture Blog, "Exponential Backoff and Jitter"), so
 * that clients that were rejected together do not retry together.
 */
export function waitAfter(
  tries: number,
  asked: number | null,
  chance: () => number = Math.random,
): number | null {
  if (tries >= MAX_ATTEMPTS) return null;
  if (asked !== null) return asked <= MAX_RETRY_AFTER_MS ? asked : null;
  return chance() * Math.min(WAIT.most, WAIT.first * 2 ** (tries - 1));
}

/** Milliseconds that an answer asks to wait; null if it does not say. `now`: milliseconds since 1970. */
export function askedToWait(headers: IncomingHttpHeaders, now: number): number | null {
  const ms = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return ms;
  const after = headers['retry-after'];
  if (after === undefined) return null;
  const seconds = Number(after);
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(after) - now;
  return Number.isFinite(wait) ? Math.max(0, wait) : null;
}
