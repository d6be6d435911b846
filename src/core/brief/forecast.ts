import type { Brief, Usd } from '../model/index.ts';
import type { Settings } from '../settings/index.ts';

/** Tokens that one coder uses on a task of a size, lower and upper end. */
interface TokenRange {
  /** In, mostly read from a cache. */
  readonly tokensIn: readonly [least: number, most: number];
  readonly tokensOut: readonly [least: number, most: number];
}

/** Our defaults from runs of agents on small repositories; tune on the ledger of real runs. */
export const TOKENS_BY_SIZE: Readonly<Record<NonNullable<Brief['size']>, TokenRange>> = {
  small: { tokensIn: [60_000, 300_000], tokensOut: [3_000, 12_000] },
  medium: { tokensIn: [200_000, 1_200_000], tokensOut: [8_000, 40_000] },
  large: { tokensIn: [800_000, 4_000_000], tokensOut: [30_000, 120_000] },
};

/** Part of a coder's input that providers read from their caches: it sends the whole talk again at each turn. Our default. */
const CACHED_SHARE = 0.8;

/** What planning, tests written by models and judging add to the coders' cost. Our default. */
const OVERHEAD_SHARE = 0.15;

export interface Forecast {
  /** US dollars. */
  readonly least: Usd;
  readonly most: Usd;
}

/** What tokens cost at one contestant's model, US dollars; null where nobody knows. */
export type CostOf = (tokens: {
  readonly tokensIn: number;
  /** Part of `tokensIn` that is read from a provider's cache. */
  readonly tokensCached: number;
  readonly tokensOut: number;
}) => Usd | null;

/**
 * What a run will probably cost, never more than its caps allow. Null where the size of the work or the price of a model
 * is not known.
 */
export function forecast(
  { size }: Pick<Brief, 'size'>,
  { budget }: Pick<Settings, 'budget'>,
  contestants: readonly CostOf[],
): Forecast | null {
  if (size === undefined || contestants.length === 0) return null;
  const range = TOKENS_BY_SIZE[size];
  const sum = (end: 0 | 1): number | null =>
    contestants.reduce<number | null>((total, costOf) => {
      const tokensIn = range.tokensIn[end];
      const usd = costOf({
        tokensIn,
        tokensCached: tokensIn * CACHED_SHARE,
        tokensOut: range.tokensOut[end],
      });
      return total === null || usd === null ? null : total + Math.min(usd, budget.candidate);
    }, 0);
  const [least, most] = [sum(0), sum(1)];
  if (least === null || most === null) return null;
  const capped = (usd: number) => Math.min(budget.run, usd * (1 + OVERHEAD_SHARE));
  return { least: capped(least), most: capped(most) };
}
