import { anthropic } from './anthropic.ts';
import { gemini } from './gemini.ts';
import { openAiChat } from './openai-chat.ts';
import { openAiResponses } from './openai-responses.ts';
import type { Json, Wire } from './wire.ts';

/** What a request is for. */
export type Route =
  | {
      readonly kind: 'generate';
      readonly wire: Wire;
      readonly model: string;
      readonly stream: boolean;
    }
  | { readonly kind: 'count'; readonly field: 'input_tokens' | 'totalTokens' }
  | { readonly kind: 'models' }
  | { readonly kind: 'unknown' };

const WIRES: ReadonlyMap<string, Wire> = new Map([
  ['/v1/messages', anthropic],
  ['/v1/chat/completions', openAiChat],
  ['/v1/responses', openAiResponses],
]);

const GEMINI = /^\/v1beta\/models\/([^/:]+):(generateContent|streamGenerateContent|countTokens)$/;

export function routeOf(method: string, path: string, body: Json): Route {
  if (method === 'GET') {
    return { kind: path === '/v1/models' || path === '/v1beta/models' ? 'models' : 'unknown' };
  }
  if (method !== 'POST') return { kind: 'unknown' };
  if (path === '/v1/messages/count_tokens') return { kind: 'count', field: 'input_tokens' };
  const [, model = '', verb] = GEMINI.exec(path) ?? [];
  if (verb === 'countTokens') return { kind: 'count', field: 'totalTokens' };
  if (verb) return { kind: 'generate', wire: gemini, model, stream: verb === 'streamGenerateContent' };
  const wire = WIRES.get(path);
  return wire
    ? { kind: 'generate', wire, model: String(body.model ?? ''), stream: body.stream === true }
    : { kind: 'unknown' };
}

/** Both shapes of a list of models in one: OpenAI's and Anthropic's `data`, Gemini's `models`. */
export const modelList = (names: readonly string[]): Json => ({
  object: 'list',
  data: names.map((id) => ({
    id,
    object: 'model',
    type: 'model',
    display_name: id,
    created: 0,
    created_at: '2026-01-01T00:00:00Z',
    owned_by: 'scripted',
  })),
  has_more: false,
  first_id: names[0] ?? null,
  last_id: names.at(-1) ?? null,
  models: names.map((name) => ({
    name: `models/${name}`,
    displayName: name,
    supportedGenerationMethods: ['generateContent', 'countTokens'],
  })),
});
