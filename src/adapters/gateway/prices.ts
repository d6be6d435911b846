import { calcPrice } from '@pydantic/genai-prices';
import type { Usd } from '../../core/model/index.ts';

/** US dollars for a million tokens. */
export interface TokenPrice {
  readonly input: number;
  readonly output: number;
  /** Tokens read from the provider's cache; absent: as `input`. */
  readonly cacheRead?: number;
  /** Tokens written to the provider's cache; absent: as `input`. */
  readonly cacheWrite?: number;
}

/** Tokens of one call. */
export interface Tokens {
  /** All that went in, cached or not. */
  readonly input: number;
  /** Part of `input`. */
  readonly cacheRead: number;
  /** Part of `input`; for five minutes or an hour. */
  readonly cacheWrite: number;
  /** Part of `cacheWrite`: kept for an hour, which costs more. */
  readonly cacheWriteHour: number;
  /** Reasoning included. */
  readonly output: number;
}

export interface PriceBook {
  /** Null when no price is known. `at`: milliseconds since 1970, for prices that change with the date or the hour. */
  cost(provider: string, model: string, tokens: Tokens, at: number): Usd | null;
}

/**
 * Prices from the maintained table, unless `overrides` names the model as `provider/model`. A custom address is
 * looked up by its host first; if the table has no such provider, a model of the provider that the address stands in
 * for has that provider's price (a proxy in front of it), and any other model has none.
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
    // For an hour Anthropic takes twice the price of input: platform.claude.com/docs/en/build-with-claude/prompt-caching.
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
    // The table throws for a kind of token that it does not price for a model: all input counts as uncached then.
    return calcPrice(plain, model, where)?.total_price ?? null;
  }
}
