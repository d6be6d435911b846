import type { Environment } from './environment.ts';
import type { ModelAccess, Operator } from './operator.ts';
import { type KnownProvider, PROVIDERS } from './providers.ts';

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
