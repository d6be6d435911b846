import type { ModelProtocol } from '../model/index.ts';
import type { Environment } from './environment.ts';
import type { ModelAccess, Operator } from './operator.ts';

/** Providers that have a key, or an address of their own, by name. */
export function modelsOf(env: Environment): Operator['models'] {
  const address: Readonly<Record<string, string | undefined>> = {
    anthropic: env.ANTHROPIC_BASE_URL,
    openai: env.OPENAI_BASE_URL,
    google: env.GEMINI_BASE_URL,
  };
  const rows: [string, KnownProvider][] = Object.entries(PROVIDERS);
  return Object.fromEntries(
    rows.flatMap(([name, known]) => {
      const baseUrl = address[name];
      const key = env[known.keyVariable as 'OPENAI_API_KEY'];
      // A server of one's own often wants no key, but clients send one.
      const given = key ?? (name === 'openai' && baseUrl ? 'none' : undefined);
      return given ? [[name, accessTo(env, name, known, given, baseUrl)]] : [];
    }),
  );
}

function accessTo(
  env: Environment,
  name: string,
  known: KnownProvider,
  key: string,
  baseUrl: string | undefined,
): ModelAccess {
  const custom = baseUrl !== undefined;
  const openai = name === 'openai';
  // Imitators of OpenAI mostly speak Chat Completions, and call their models differently.
  const protocols = openai && custom ? env.OPENAI_PROTOCOLS : known.protocols;
  const defaultModel =
    (openai ? env.OPENAI_MODEL : undefined) ?? (openai && custom ? undefined : known.defaultModel);
  return {
    key,
    baseUrl: baseUrl ?? known.baseUrl,
    custom,
    protocols,
    ...(defaultModel ? { defaultModel } : {}),
  };
}

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
