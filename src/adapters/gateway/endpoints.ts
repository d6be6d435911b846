import type { ModelProtocol } from '../../core/settings/index.ts';

/** A call to a model. Gemini's protocol names it in the path, the others in the body. */
export interface CallEndpoint {
  readonly kind: 'generate' | 'count';
  readonly protocol: ModelProtocol;
  /** From the path. */
  readonly model?: string;
  /** The provider's path, after its version. */
  readonly path: string;
  /** The part of the query that is passed on, with its question mark; usually empty. */
  readonly query: string;
}

export type Endpoint =
  | CallEndpoint
  | { readonly kind: 'models'; readonly protocol: 'openai-chat' | 'gemini' };

/** Everything that a lease key can reach besides Gemini's models: exact method and path. */
const ENDPOINTS: ReadonlyMap<string, Endpoint> = new Map<string, Endpoint>([
  ['POST /v1/messages', call('generate', 'anthropic', '/messages')],
  ['POST /v1/messages/count_tokens', call('count', 'anthropic', '/messages/count_tokens')],
  ['POST /v1/chat/completions', call('generate', 'openai-chat', '/chat/completions')],
  ['POST /v1/responses', call('generate', 'openai-responses', '/responses')],
  ['GET /v1/models', { kind: 'models', protocol: 'openai-chat' }],
  ['GET /v1beta/models', { kind: 'models', protocol: 'gemini' }],
]);

function call(kind: CallEndpoint['kind'], protocol: ModelProtocol, path: string): CallEndpoint {
  return { kind, protocol, path, query: '' };
}

/** No slash, no percent sign and no dot at the start: what matches cannot lead elsewhere. */
const GEMINI_PATH =
  /^\/(?:v1beta|v1)\/models\/([A-Za-z0-9][A-Za-z0-9._-]*):(generateContent|streamGenerateContent|countTokens)$/;

/** Of query strings only Gemini's `alt=sse` is passed on. */
export function endpointFor(method: string, target: string): Endpoint | null {
  const [path = '', query = ''] = target.split('?', 2);
  const known = ENDPOINTS.get(`${method} ${path}`);
  if (known) return known;
  const [, model, action] = (method === 'POST' && GEMINI_PATH.exec(path)) || [];
  if (!model || !action) return null;
  return {
    kind: action === 'countTokens' ? 'count' : 'generate',
    protocol: 'gemini',
    model,
    path: `/models/${model}:${action}`,
    query:
      action === 'streamGenerateContent' && new URLSearchParams(query).get('alt') === 'sse' ? '?alt=sse' : '',
  };
}

/** The API key in the query, where Google's clients may put it; empty if there is none. */
export const keyInQuery = (target: string): string =>
  new URLSearchParams(target.split('?', 2)[1] ?? '').get('key') ?? '';

/** Version in the path, if the base URL does not contain it. Base URLs of Anthropic and Google usually do not. */
const VERSIONS: Readonly<Record<ModelProtocol, string>> = {
  anthropic: '/v1',
  gemini: '/v1beta',
  'openai-chat': '/v1',
  'openai-responses': '/v1',
};

/**
 * A path at the provider's own URL. For OpenAI's protocols a base URL with a path is used as it is; otherwise `/v1` is
 * added.
 */
export function upstreamUrl(baseUrl: string, protocol: ModelProtocol, path: string, query = ''): URL {
  const base = new URL(baseUrl);
  const folder = base.pathname.replace(/\/+$/, '');
  const version = VERSIONS[protocol];
  const named = protocol === 'anthropic' || protocol === 'gemini';
  const versioned = named ? folder.replace(/\/v1(beta)?$/, '') + version : folder || version;
  base.pathname = versioned + path;
  base.search = query;
  return base;
}

/** Google's names of statuses. None may be RESOURCE_EXHAUSTED, on which agents retry for ever. */
const GEMINI_STATUS: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  413: 'INVALID_ARGUMENT',
  502: 'INTERNAL',
  503: 'UNAVAILABLE',
};

/**
 * The body of a rejection, in the format of the protocol. It does not mention keys or providers, and avoids words on
 * which agents retry.
 */
export function refusalBody(protocol: ModelProtocol | null, status: number, message: string): string {
  if (protocol === 'anthropic') {
    const type = status === 402 ? 'billing_error' : 'permission_error';
    return JSON.stringify({ type: 'error', error: { type, message } });
  }
  if (protocol === 'gemini') {
    const word = GEMINI_STATUS[status] ?? 'INTERNAL';
    return JSON.stringify({ error: { code: status, message, status: word } });
  }
  const type = status === 402 ? 'budget_reached' : 'not_available';
  return JSON.stringify({ error: { message, type, code: type, param: null } });
}
