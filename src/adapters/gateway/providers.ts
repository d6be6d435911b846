import { Fault, type ModelProtocol } from '../../core/model/index.ts';
import { PROVIDERS } from '../../core/policy/index.ts';
import type { ModelRoute } from '../../ports/index.ts';
import type { Dialect } from './bodies/index.ts';
import type { PriceBook } from './prices.ts';

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

export interface NamedModel {
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

export const isPriced = (book: PriceBook, { provider, model }: NamedModel, at: number): boolean =>
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
      'MODEL_UNAVAILABLE',
      `${name} is not a model: write provider/model, such as anthropic/${PROVIDERS.anthropic.defaultModel}.`,
    );
  }
  const access = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
  if (access) return access;
  const known = Object.entries(PROVIDERS).find(([one]) => one === provider)?.[1];
  throw new Fault(
    'MODEL_KEY_MISSING',
    known
      ? `There is no key for ${name}: ${known.keyVariable} is not set.`
      : `There is no provider ${provider} for ${name}; providers are ${Object.keys(PROVIDERS).join(', ')}.`,
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
