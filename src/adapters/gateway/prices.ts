import { calcPrice } from '@pydantic/genai-prices';
import type { Usd } from '../../core/model/index.ts';

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
  try {
    return calcPrice(full, model, where)?.total_price ?? null;
  } catch {
    // The table throws for a kind of token without a price; all input then counts as uncached.
    return calcPrice(plain, model, where)?.total_price ?? null;
  }
}
