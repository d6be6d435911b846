import type { Environment } from './environment.ts';
import type { ModelProtocol, Settings } from './settings.ts';

export interface ModelAccess {
  readonly key: string;
  readonly baseUrl: string;
  /** Not the vendor's own address. */
  readonly custom: boolean;
  readonly protocols: readonly ModelProtocol[];
  /** For runs whose settings name no model. */
  readonly defaultModel?: string;
}

/** The shape of a contestant in the model. */
export interface Entrant {
  readonly agent: string;
  readonly model: string;
  readonly prompt: string;
  readonly argv?: readonly [string, ...string[]];
  /** The repetition of the same agent, model and prompt; absent: the first. */
  readonly seed?: number;
}

/** Placeholder if no model is named and no key is set: the gateway reports the missing key. */
const NO_MODEL = 'anthropic/default';
const PLAIN = 'plain';
/** The name in `coders` in whose place contestants are chosen from earlier runs. */
export const AUTO = 'auto';

/** Defaults of the operator's machine for missing settings. */
interface Field {
  /** `provider/model` for coders that name none. */
  readonly models: readonly string[];
  readonly prompts: readonly string[];
  /** Whether an agent supports a model; false if either is unknown. */
  readonly fits: (agent: string, model: string) => boolean;
}

/**
 * Creates as many contestants as `candidates`, cycling through the coders. One without a model gets the next default
 * model that it supports; one without a prompt, or in a later cycle, gets the prompt variant used least often with
 * its agent and model; remaining repetitions differ by their seed.
 */
export function contestants(
  settings: Pick<Settings, 'coders' | 'candidates'>,
  { models, prompts, fits }: Field,
): readonly Entrant[] {
  const variants = prompts.length > 0 ? prompts : [PLAIN];
  const had = new Map<string, string[]>();
  const chosen: string[] = [];
  const entrants: Entrant[] = [];
  for (let i = 0; i < settings.candidates; i++) {
    const { agent, argv, ...coder } = settings.coders[
      i % settings.coders.length
    ] as Settings['coders'][number];
    const fitting = models.filter((model) => fits(agent, model));
    // If none is supported, the first, so that the fault names an existing model.
    const model = coder.model ?? leastTaken(fitting, chosen) ?? models[0] ?? NO_MODEL;
    if (!coder.model) chosen.push(model);
    const key = JSON.stringify([agent, argv ?? null, model]);
    const taken = had.get(key) ?? [];
    const prompt =
      (i < settings.coders.length ? coder.prompt : undefined) ?? (leastTaken(variants, taken) as string);
    had.set(key, [...taken, prompt]);
    const seed = taken.filter((one) => one === prompt).length;
    entrants.push({ agent, model, prompt, ...(argv ? { argv } : {}), ...(seed > 0 ? { seed } : {}) });
  }
  return entrants;
}

/** The first of those used least often; undefined if there are none. */
function leastTaken(options: readonly string[], taken: readonly string[]): string | undefined {
  const times = (option: string) => taken.filter((one) => one === option).length;
  const fewest = Math.min(...options.map(times));
  return options.find((option) => times(option) === fewest);
}

/**
 * Assigns each contestant a letter, `A` to `Z`, by a shuffle that depends on the run id alone: the letter reveals
 * nothing about the author, and a replay gives the same letters. Contestants of a sequential field start in turn and get
 * their letters in that order instead. At most 26.
 */
export function assignAliases(runId: string, count: number): readonly string[] {
  if (!Number.isInteger(count) || count < 0 || count > 26) {
    throw new RangeError(`There are aliases for 0 to 26 candidates, not for ${count}.`);
  }
  const letters = Array.from({ length: count }, (_, i) => String.fromCharCode(65 + i));
  // Run ids are random already.
  const random = mulberry32(fnv1a(runId));
  for (let i = letters.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [letters[i], letters[j]] = [letters[j] as string, letters[i] as string];
  }
  return letters;
}

/** FNV-1a over UTF-16 code units, 32 bits. Without cryptographic strength. */
export function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** Tommy Ettinger's mulberry32: a stream of numbers in [0, 1) from a seed of 32 bits. */
export function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Providers that have a key, or an address of their own, by name. */
export function modelsOf(env: Environment): Readonly<Record<string, ModelAccess>> {
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
      // Self-hosted servers often need no key, but clients send one.
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
  // OpenAI-compatible servers usually support Chat Completions, and have other model names.
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

/** A known provider of models. */
interface KnownProvider {
  readonly baseUrl: string;
  /** Supported protocols, preferred first. */
  readonly protocols: readonly ModelProtocol[];
  /** Environment variable of the key. */
  readonly keyVariable: string;
  /** The vendor's current mid-priced model for agents; only of vendors that train their own. Default. */
  readonly defaultModel?: string;
  /** What the names of the vendor's own models begin with. */
  readonly ownModels?: RegExp;
}

/** By the prefix before the slash in a model's name, as spelt in the price table. */
export const PROVIDERS = {
  anthropic: {
    baseUrl: 'https://api.anthropic.com',
    protocols: ['anthropic'],
    keyVariable: 'ANTHROPIC_API_KEY',
    defaultModel: 'claude-sonnet-5',
    ownModels: /^claude-/,
  },
  openai: {
    baseUrl: 'https://api.openai.com/v1',
    protocols: ['openai-responses', 'openai-chat'],
    keyVariable: 'OPENAI_API_KEY',
    defaultModel: 'gpt-6-sol',
    ownModels: /^(?:gpt-|o\d|codex-)/,
  },
  google: {
    baseUrl: 'https://generativelanguage.googleapis.com',
    protocols: ['gemini'],
    keyVariable: 'GEMINI_API_KEY',
    defaultModel: 'gemini-3.1-pro-preview',
    ownModels: /^gemini-/,
  },
  deepseek: {
    baseUrl: 'https://api.deepseek.com/v1',
    protocols: ['openai-chat'],
    keyVariable: 'DEEPSEEK_API_KEY',
    ownModels: /^deepseek-/,
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
    ownModels: /^(?:mistral|ministral|magistral|codestral|devstral)-/,
  },
  groq: {
    baseUrl: 'https://api.groq.com/openai/v1',
    protocols: ['openai-chat'],
    keyVariable: 'GROQ_API_KEY',
  },
  'x-ai': {
    baseUrl: 'https://api.x.ai/v1',
    protocols: ['openai-chat'],
    keyVariable: 'XAI_API_KEY',
    ownModels: /^grok-/,
  },
} as const satisfies Record<string, KnownProvider>;

/**
 * `provider/model` for a model that was named in another way: by its own name (`claude-sonnet-5`), which its vendor
 * offers, or else the only provider with a key; or by a vendor without a provider of its own (`z-ai/glm-5`), which
 * OpenRouter offers. Any other name is returned as it is. `withKey`: names of the providers that have a key.
 */
export function fullModelName(name: string, withKey: readonly string[]): string {
  const [vendor = '', ...rest] = name.split('/');
  if (rest.length > 0) {
    return !Object.hasOwn(PROVIDERS, vendor) && withKey.includes('openrouter') ? `openrouter/${name}` : name;
  }
  const rows: [string, KnownProvider][] = Object.entries(PROVIDERS);
  const offering = rows.find(([, { ownModels }]) => ownModels?.test(name))?.[0];
  const provider = offering ?? (withKey.length === 1 ? withKey[0] : undefined);
  return provider === undefined ? name : `${provider}/${name}`;
}
