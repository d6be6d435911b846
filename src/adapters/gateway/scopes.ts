import type { Usd } from '../../core/model/index.ts';
import type { Grant, LedgerSums } from '../../ports/index.ts';
import type { Scope } from './caps.ts';

/** US dollars that may be spent in one day, UTC. */
export interface DayCaps {
  readonly repositoryUsd: Usd;
  readonly everythingUsd: Usd;
}

/** Whose calls these are, and their caps. */
export type Payer = Pick<Grant, 'runId' | 'spender' | 'repository' | 'capUsd' | 'runCapUsd' | 'capTokens'>;

/** What one spender in one run has used; what calls under way hold is not in it. */
export interface Tally {
  usd: Usd;
  tokensIn: number;
  tokensOut: number;
  calls: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;
export const midnightBefore = (now: number): number => Math.floor(now / DAY_MS) * DAY_MS;

/** The caps of one call, by what the ledger holds, whatever process wrote it. */
export function scopesOf(payer: Payer, dayCaps: DayCaps, sums: LedgerSums): readonly Scope[] {
  const { spender, spenderTokens, run, repositoryDay, day } = sums;
  return [
    { name: 'spender', cap: payer.capUsd, ...spender },
    // All tokens of the spender count, also those of models with a price: rather too early than too late.
    { name: 'tokens', cap: payer.capTokens ?? 0, ...spenderTokens },
    { name: 'run', cap: sums.runCap ?? payer.runCapUsd, ...run },
    { name: 'repository-day', cap: dayCaps.repositoryUsd, ...repositoryDay },
    { name: 'day', cap: dayCaps.everythingUsd, ...day },
  ];
}

/** The caps of the spender alone, by what its calls are known to have come to. */
export const settledScopes = (payer: Payer, own: Tally): readonly Scope[] => [
  { name: 'spender', cap: payer.capUsd, booked: own.usd, held: 0 },
  { name: 'tokens', cap: payer.capTokens ?? 0, booked: own.tokensIn + own.tokensOut, held: 0 },
];
