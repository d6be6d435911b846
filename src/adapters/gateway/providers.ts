import { createRequire } from 'node:module';
import type * as Prices from '@pydantic/genai-prices';
import { z } from 'zod';
import { Fault, formatList, type Usd } from '../../core/model/index.ts';
import { type ModelProtocol, PROVIDERS, suggest } from '../../core/settings/index.ts';
import type { Clock, ModelRoute, Offer } from '../../ports/index.ts';
import type { Dialect } from './bodies/index.ts';
import { upstreamUrl } from './endpoints.ts';
import { fetchJson } from './upstream.ts';

/** US dollars per million tokens. */
export interface TokenPrice {
  readonly input: number;
  readonly output: number;
  /** Tokens read from the provider's cache. Default: `input`. */
  readonly cacheRead?: number;
  /** Tokens written to the provider's cache. Default: `input`. */
  readonly cacheWrite?: number;
}

/** Tokens of one call. */
export interface Tokens {
  /** All input, cached or not. */
  readonly input: number;
  /** Part of `input`. */
  readonly cacheRead: number;
  /** Part of `input`; cached for five minutes or an hour. */
  readonly cacheWrite: number;
  /** Part of `cacheWrite`: cached for an hour, which costs more. */
  readonly cacheWriteHour: number;
  /** Including reasoning. */
  readonly output: number;
}

export interface PriceBook {
  /** Null if no price is known. `at`: milliseconds since 1970, for prices that depend on the date or the hour. */
  cost(provider: string, model: string, tokens: Tokens, at: number): Usd | null;
}

/**
 * Prices from the maintained table, unless `overrides` contains the model as `provider/model`. A custom URL is first
 * looked up by its host. If the table has no such provider, a model of the provider that the URL replaces has that
 * provider's price (the URL is a proxy), and any other model has none.
 */
export function priceBook(
  overrides: Readonly<Record<string, TokenPrice>>,
  baseUrls: Readonly<Record<string, string>>,
): PriceBook {
  return {
    cost(provider, model, tokens, at) {
      const name = `${provider}/${model}`;
      const own = Object.hasOwn(overrides, name) ? overrides[name] : undefined;
      if (own) return atPrice(own, tokens);
      const timestamp = new Date(at);
      const host = baseUrls[provider];
      return (
        (host ? fromTable(model, tokens, { providerApiUrl: host, timestamp }) : null) ??
        fromTable(model, tokens, { providerId: provider, timestamp })
      );
    },
  };
}

function atPrice(price: TokenPrice, tokens: Tokens): Usd {
  const fresh = Math.max(0, tokens.input - tokens.cacheRead - tokens.cacheWrite);
  const write = price.cacheWrite ?? price.input;
  const millionths =
    fresh * price.input +
    tokens.cacheRead * (price.cacheRead ?? price.input) +
    (tokens.cacheWrite - tokens.cacheWriteHour) * write +
    // For an hour Anthropic charges twice the input price:
    // platform.claude.com/docs/en/build-with-claude/prompt-caching.
    tokens.cacheWriteHour * (price.cacheWrite === undefined ? write : Math.max(write, 2 * price.input)) +
    tokens.output * price.output;
  return millionths / 1e6;
}

const require = createRequire(import.meta.url);
/** Loaded when the first price is asked for: the table takes 5 MB, and an idle App needs no price. */
const priceTable = (): typeof Prices => require('@pydantic/genai-prices') as typeof Prices;

function fromTable(
  model: string,
  tokens: Tokens,
  where: { providerApiUrl?: string; providerId?: string; timestamp: Date },
): Usd | null {
  const input = Math.max(tokens.input, tokens.cacheRead + tokens.cacheWrite);
  const plain = { input_tokens: input, output_tokens: tokens.output };
  const full = {
    ...plain,
    cache_read_tokens: tokens.cacheRead,
    ...(tokens.cacheWrite > 0 ? { cache_write_tokens: tokens.cacheWrite } : {}),
    ...(tokens.cacheWriteHour > 0 ? { cache_write_1h_tokens: tokens.cacheWriteHour } : {}),
  };
  const { calcPrice } = priceTable();
  try {
    return calcPrice(full, model, where)?.total_price ?? null;
  } catch {
    // The table throws for a kind of token without a price; all input then counts as uncached.
    return calcPrice(plain, model, where)?.total_price ?? null;
  }
}

/** How a provider is reached and paid; the key stays in this process. */
export interface ProviderAccess {
  readonly key: string;
  readonly baseUrl: string;
  /** Whether it is the vendor's own URL, not one that imitates its protocol. */
  readonly official: boolean;
  /** The protocols that it speaks, the preferred one first. */
  readonly protocols: readonly ModelProtocol[];
  /** For runs whose settings name no model, by this provider's name for it. */
  readonly defaultModel?: string;
}

/** By the name before the slash of a model. */
export type Providers = Readonly<Record<string, ProviderAccess>>;

interface NamedModel {
  readonly provider: string;
  /** The provider's name for it; may contain slashes itself. */
  readonly model: string;
}

export function namedModel(name: string): NamedModel {
  const slash = name.indexOf('/');
  return { provider: name.slice(0, Math.max(0, slash)), model: name.slice(slash + 1) };
}

/** One token of each kind: enough to find out whether a price is known. */
const ONE_TOKEN = { input: 1, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 1 };

const isPriced = (book: PriceBook, { provider, model }: NamedModel, at: number): boolean =>
  book.cost(provider, model, ONE_TOKEN, at) !== null;

/** The port's `route`, for the providers that have a key. */
export function routeTo(
  providers: Providers,
  book: PriceBook,
  at: number,
  name: string,
  how: { readonly protocols?: readonly ModelProtocol[]; readonly capTokens?: number } = {},
): ModelRoute {
  const named = namedModel(name);
  const access = accessOf(providers, name, named);
  const spoken = how.protocols ?? access.protocols;
  const protocol = spoken.find((one) => access.protocols.includes(one));
  if (!protocol) {
    throw new Fault(
      'MODEL_MISMATCH',
      `${name} cannot be called as ${spoken.join(' or ') || 'nothing'}: ${named.provider} speaks ${formatList(access.protocols)}.`,
    );
  }
  if (how.capTokens === undefined && !isPriced(book, named, at)) {
    throw new Fault(
      'MODEL_PRICE_UNKNOWN',
      `No price is known for ${name}, so its budget cannot be enforced.`,
    );
  }
  return { protocol, model: named.model };
}

function accessOf(providers: Providers, name: string, { provider, model }: NamedModel): ProviderAccess {
  if (provider === '' || model === '') {
    throw new Fault(
      'MODEL_UNKNOWN',
      `${name} is not a model: write provider/model, such as anthropic/${PROVIDERS.anthropic.defaultModel}.`,
    );
  }
  const access = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
  if (access) return access;
  const known = Object.entries(PROVIDERS).find(([one]) => one === provider)?.[1];
  if (known) {
    throw new Fault('MODEL_KEY_MISSING', `There is no key for ${name}: ${known.keyVariable} is not set.`);
  }
  const meant = suggest(provider, Object.keys(PROVIDERS));
  const hint = meant ? ` Did you mean ${meant}/${model}?` : '';
  throw new Fault(
    'MODEL_UNKNOWN',
    `There is no provider ${provider} for ${name}; providers are ${Object.keys(PROVIDERS).join(', ')}.${hint}`,
  );
}

/** The provider of the model in a grant that a call in some protocol names; null if the grant does not contain it. */
export function providerFor(
  providers: Providers,
  granted: readonly string[],
  protocol: ModelProtocol,
  model: string,
): string | null {
  const found = granted
    .map(namedModel)
    .find((one) => one.model === model && providers[one.provider]?.protocols.includes(protocol));
  return found?.provider ?? null;
}

const VENDORS = ['anthropic', 'openai', 'google'];

/**
 * Mistral: https://github.com/avante-corp/avante.nvim/issues/2347,
 * https://github.com/editor-code-assistant/eca/issues/231.
 */
export const dialectOf = (provider: string, { official }: ProviderAccess): Dialect => ({
  original: official && VENDORS.includes(provider),
  strict: official && provider === 'mistral',
});

export const defaultModelsOf = (providers: Providers): readonly string[] =>
  Object.entries(providers).flatMap(([name, { defaultModel }]) =>
    defaultModel ? [`${name}/${defaultModel}`] : [],
  );

/** Our default: a person waits for it. */
const OFFERS_MS = 10_000;
/** The longest known list (OpenRouter's) has less than two MiB. */
const MAX_BYTES = 16 * 2 ** 20;
/** Model names of providers; nothing else may be printed in a terminal. */
const Id = z.string().regex(/^[\w.:@/+~-]{1,200}$/);

const OpenAiList = z.object({ data: z.array(z.unknown()) });
const GeminiList = z.object({ models: z.array(z.unknown()) });
const WithId = z.object({ id: Id }).transform(({ id }) => id);
const Gemini = z
  .object({ name: z.string(), supportedGenerationMethods: z.array(z.string()).optional() })
  .refine(({ supportedGenerationMethods: methods }) => methods?.includes('generateContent') ?? true)
  .transform(({ name }) => name.replace(/^models\//, ''))
  .pipe(Id);

/** Where each protocol lists its models; both lists have pages of up to a thousand. */
const LISTS: Readonly<Record<ModelProtocol, string>> = {
  anthropic: '?limit=1000',
  gemini: '?pageSize=1000',
  'openai-chat': '',
  'openai-responses': '',
};

interface OffersInput {
  readonly providers: Providers;
  readonly book: PriceBook;
  readonly clock: Pick<Clock, 'now'>;
  readonly ms: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Asks all providers in parallel. Never rejects. */
export const offersOf = (input: OffersInput): Promise<readonly Offer[]> =>
  Promise.all(Object.entries(input.providers).map(([name, access]) => offerOf(input, name, access)));

async function offerOf(input: OffersInput, provider: string, access: ProviderAccess): Promise<Offer> {
  const failed = (why: string): Offer => ({ kind: 'failed', provider, why });
  const [protocol = 'openai-chat'] = access.protocols;
  const ms = input.ms ?? OFFERS_MS;
  const limit = AbortSignal.timeout(ms);
  const signal = input.signal ? AbortSignal.any([limit, input.signal]) : limit;
  const url = upstreamUrl(access.baseUrl, protocol, '/models', LISTS[protocol]);
  const answer = await fetchJson({ url, protocol, key: access.key, mostBytes: MAX_BYTES, signal });
  switch (answer.kind) {
    case 'unreachable':
      if (input.signal?.aborted) return failed('The question was cancelled.');
      return failed(
        limit.aborted ? `It did not answer within ${Math.ceil(ms / 1000)} seconds.` : 'It cannot be reached.',
      );
    case 'status':
      return failed(
        [401, 403].includes(answer.status)
          ? `It refused the key (HTTP ${answer.status}).`
          : `It answered with HTTP ${answer.status}.`,
      );
    case 'json': {
      const ids = idsIn(protocol, answer.value);
      if (!ids) return failed('Its answer is not a list of models.');
      const models = ids.map((id) => ({ id, price: priceOf(input, provider, id) }));
      return { kind: 'models', provider, models };
    }
  }
}

/** Null if it is not a list; entries that are not models are dropped. */
function idsIn(protocol: ModelProtocol, value: unknown): readonly string[] | null {
  const [items, Item] =
    protocol === 'gemini'
      ? ([GeminiList.safeParse(value).data?.models, Gemini] as const)
      : ([OpenAiList.safeParse(value).data?.data, WithId] as const);
  if (!items) return null;
  const ids = items.flatMap((item) => Item.safeParse(item).data ?? []);
  return [...new Set(ids)].toSorted();
}

/** A thousand tokens: some prices depend on the length of the input. */
const SAMPLE = 1000;
const NO_TOKENS = { input: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 0 };

function priceOf({ book, clock }: OffersInput, provider: string, model: string) {
  const million = (tokens: { input: number } | { output: number }) =>
    book.cost(provider, model, { ...NO_TOKENS, ...tokens }, clock.now());
  const [input, output] = [million({ input: SAMPLE }), million({ output: SAMPLE })];
  if (input === null || output === null) return null;
  const per = (usd: number) => Number(((usd / SAMPLE) * 1e6).toFixed(6));
  return { input: per(input), output: per(output) };
}
