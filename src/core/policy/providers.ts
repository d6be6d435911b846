import type { ModelProtocol } from '../model/index.ts';

/** A provider of models that Runoff knows by name. */
export interface KnownProvider {
  readonly baseUrl: string;
  /** What it speaks, the protocol to prefer first. */
  readonly protocols: readonly ModelProtocol[];
  /** The environment's variable that holds the key. */
  readonly keyVariable: string;
  /** The vendor's current model for agents at a middling price; only of vendors that train their own. Our default. */
  readonly defaultModel?: string;
}

/** By the name that stands before the slash of a model, as the price table spells it. */
export const PROVIDERS = {
  anthropic: {
    baseUrl: 'https://api.anthropic.com',
    protocols: ['anthropic'],
    keyVariable: 'ANTHROPIC_API_KEY',
    defaultModel: 'claude-sonnet-5',
  },
  openai: {
    baseUrl: 'https://api.openai.com/v1',
    protocols: ['openai-responses', 'openai-chat'],
    keyVariable: 'OPENAI_API_KEY',
    defaultModel: 'gpt-6-sol',
  },
  google: {
    baseUrl: 'https://generativelanguage.googleapis.com',
    protocols: ['gemini'],
    keyVariable: 'GEMINI_API_KEY',
    defaultModel: 'gemini-3.1-pro-preview',
  },
  deepseek: {
    baseUrl: 'https://api.deepseek.com/v1',
    protocols: ['openai-chat'],
    keyVariable: 'DEEPSEEK_API_KEY',
  },
  openrouter: {
    baseUrl: 'https://openrouter.ai/api/v1',
    protocols: ['openai-chat'],
    keyVariable: 'OPENROUTER_API_KEY',
  },
  mistral: {
    baseUrl: 'https://api.mistral.ai/v1',
    protocols: ['openai-chat'],
    keyVariable: 'MISTRAL_API_KEY',
  },
  groq: {
    baseUrl: 'https://api.groq.com/openai/v1',
    protocols: ['openai-chat'],
    keyVariable: 'GROQ_API_KEY',
  },
  'x-ai': { baseUrl: 'https://api.x.ai/v1', protocols: ['openai-chat'], keyVariable: 'XAI_API_KEY' },
} as const satisfies Record<string, KnownProvider>;
