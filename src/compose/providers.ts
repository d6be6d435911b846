import { PROVIDER_URLS, type Providers } from '../adapters/gateway/index.ts';
import type { Operator } from '../core/policy/index.ts';

/** Keys and addresses of model providers. A custom OpenAI address speaks Chat Completions: that is what imitators have. */
export function providersOf(operator: Operator): Providers {
  const { anthropic, openai } = operator.models;
  return {
    ...(anthropic
      ? { anthropic: { key: anthropic.key, baseUrl: anthropic.baseUrl ?? PROVIDER_URLS.anthropic } }
      : {}),
    ...(openai
      ? {
          openai: {
            key: openai.key,
            baseUrl: openai.baseUrl ?? PROVIDER_URLS.openai,
            protocol: openai.baseUrl ? ('openai-chat' as const) : ('openai-responses' as const),
            ...(openai.model ? { defaultModel: openai.model } : {}),
          },
        }
      : {}),
  };
}
