import { z } from 'zod';
import { Fault } from '../../core/model/index.ts';
import { type ModelProtocol, PROVIDERS, suggest } from '../../core/settings/index.ts';
import type { Clock, ModelRoute, Offer } from '../../ports/index.ts';
import type { Dialect } from './bodies/index.ts';
import { upstreamUrl } from './endpoints.ts';
import type { PriceBook } from './prices.ts';
import { fetchJson } from './upstream.ts';

/** Where a provider is and how it is paid; the key stays in this process. */
export interface ProviderAccess {
  readonly key: string;
  readonly baseUrl: string;
  /** The vendor's own address, not one that imitates its protocol. */
  readonly official: boolean;
  /** What it speaks, the protocol to prefer first. */
  readonly protocols: readonly ModelProtocol[];
  /** For runs whose settings name no model, as this provider calls it. */
  readonly defaultModel?: string;
}

/** By the name that stands before the slash of a model. */
export type Providers = Readonly<Record<string, ProviderAccess>>;

interface NamedModel {
  readonly provider: string;
  /** As the provider knows it; may hold slashes itself. */
  readonly model: string;
}

export function namedModel(name: string): NamedModel {
  const slash = name.indexOf('/');
  return { provider: name.slice(0, Math.max(0, slash)), model: name.slice(slash + 1) };
}

/** One token in, one out: enough to ask whether a price is known. */
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
      `${name} cannot be called as ${spoken.join(' or ') || 'nothing'}: ${named.provider} speaks ${access.protocols.join(' and ')}.`,
    );
  }
  if (how.capTokens === undefined && !isPriced(book, named, at)) {
    throw new Fault('MODEL_PRICE_UNKNOWN', `No price is known for ${name}, so its budget cannot be kept.`);
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

/** The provider of a grant's model that a call in some protocol names; null when the grant has none such. */
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

/** Mistral: https://github.com/avante-corp/avante.nvim/issues/2347, https://github.com/editor-code-assistant/eca/issues/231. */
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
/** The longest list we know (OpenRouter's) has under two MiB. */
const MOST_BYTES = 16 * 2 ** 20;
/** As providers name models; what is printed on a terminal may hold nothing else. */
const Id = z.string().regex(/^[\w.:@/+~-]{1,200}$/);

const OpenAiList = z.object({ data: z.array(z.unknown()) });
const GeminiList = z.object({ models: z.array(z.unknown()) });
const WithId = z.object({ id: Id }).transform(({ id }) => id);
const Gemini = z
  .object({ name: z.string(), supportedGenerationMethods: z.array(z.string()).optional() })
  .refine(({ supportedGenerationMethods: methods }) => methods?.includes('generateContent') ?? true)
  .transform(({ name }) => name.replace(/^models\//, ''))
  .pipe(Id);

/** Where each protocol lists its models; both lists have pages, and a thousand is the most of one. */
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

/** Asks all providers at once. Never rejects. */
export const offersOf = (input: OffersInput): Promise<readonly Offer[]> =>
  Promise.all(Object.entries(input.providers).map(([name, access]) => offerOf(input, name, access)));

async function offerOf(input: OffersInput, provider: string, access: ProviderAccess): Promise<Offer> {
  const failed = (why: string): Offer => ({ kind: 'failed', provider, why });
  const [protocol = 'openai-chat'] = access.protocols;
  const ms = input.ms ?? OFFERS_MS;
  const limit = AbortSignal.timeout(ms);
  const signal = input.signal ? AbortSignal.any([limit, input.signal]) : limit;
  const url = upstreamUrl(access.baseUrl, protocol, '/models', LISTS[protocol]);
  const answer = await fetchJson({ url, protocol, key: access.key, mostBytes: MOST_BYTES, signal });
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

/** Null when it is no list; single entries that are no models are left out. */
function idsIn(protocol: ModelProtocol, value: unknown): readonly string[] | null {
  const [items, Item] =
    protocol === 'gemini'
      ? ([GeminiList.safeParse(value).data?.models, Gemini] as const)
      : ([OpenAiList.safeParse(value).data?.data, WithId] as const);
  if (!items) return null;
  const ids = items.flatMap((item) => Item.safeParse(item).data ?? []);
  return [...new Set(ids)].toSorted();
}

/** A thousand tokens: some prices rise with the length of the input. */
const SAMPLE = 1000;
const EMPTY = { input: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 0 };

function priceOf({ book, clock }: OffersInput, provider: string, model: string) {
  const million = (tokens: { input: number } | { output: number }) =>
    book.cost(provider, model, { ...EMPTY, ...tokens }, clock.now());
  const [input, output] = [million({ input: SAMPLE }), million({ output: SAMPLE })];
  if (input === null || output === null) return null;
  const per = (usd: number) => Number(((usd / SAMPLE) * 1e6).toFixed(6));
  return { input: per(input), output: per(output) };
}
