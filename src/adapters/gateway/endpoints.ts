import type { ModelProtocol } from '../../ports/index.ts';

export type Provider = 'anthropic' | 'openai';

export type Endpoint =
  | { readonly kind: 'generate'; readonly provider: Provider; readonly protocol: ModelProtocol }
  | { readonly kind: 'count'; readonly provider: Provider; readonly protocol: ModelProtocol }
  | { readonly kind: 'models'; readonly protocol: null };

/** All that a lease key can reach: exact method and path. */
const ENDPOINTS: ReadonlyMap<string, Endpoint> = new Map<string, Endpoint>([
  ['POST /v1/messages', { kind: 'generate', provider: 'anthropic', protocol: 'anthropic' }],
  ['POST /v1/messages/count_tokens', { kind: 'count', provider: 'anthropic', protocol: 'anthropic' }],
  ['POST /v1/chat/completions', { kind: 'generate', provider: 'openai', protocol: 'openai-chat' }],
  ['POST /v1/responses', { kind: 'generate', provider: 'openai', protocol: 'openai-responses' }],
  ['GET /v1/models', { kind: 'models', protocol: null }],
]);

/** Query strings are never forwarded, so they are cut before the look-up. */
export function endpointFor(method: string, target: string): Endpoint | null {
  const [path = ''] = target.split('?', 1);
  return ENDPOINTS.get(`${method} ${path}`) ?? null;
}

const COUNT_PATH = '/messages/count_tokens';
const GENERATE_PATHS: Readonly<Record<ModelProtocol, string>> = {
  anthropic: '/messages',
  'openai-chat': '/chat/completions',
  'openai-responses': '/responses',
};

/** The provider's own address for a call; an address without a path gets `/v1`. */
export function upstreamUrl(baseUrl: string, endpoint: Exclude<Endpoint, { kind: 'models' }>): URL {
  const base = new URL(baseUrl);
  const folder = base.pathname.replace(/\/+$/, '');
  // Anthropic's address is customarily given without /v1, those of OpenAI's protocols with it.
  const versioned = endpoint.provider === 'anthropic' ? `${folder.replace(/\/v1$/, '')}/v1` : folder || '/v1';
  base.pathname = versioned + (endpoint.kind === 'count' ? COUNT_PATH : GENERATE_PATHS[endpoint.protocol]);
  return base;
}

/**
 * The body of a refusal, in the shape of the protocol. It says nothing of keys or providers, and avoids the words
 * that agents take as a reason to try again.
 */
export function refusalBody(protocol: ModelProtocol | null, status: number, message: string): string {
  if (protocol === 'anthropic') {
    const type = status === 402 ? 'billing_error' : 'permission_error';
    return JSON.stringify({ type: 'error', error: { type, message } });
  }
  const type = status === 402 ? 'budget_reached' : 'not_available';
  return JSON.stringify({ error: { message, type, code: type, param: null } });
}
