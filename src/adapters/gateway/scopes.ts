import type { Usd } from '../../core/model/index.ts';
import type { CapName, Clock, Grant } from '../../ports/index.ts';
import type { Ledger } from './bookings.ts';
import type { Held, Reservation, Scope } from './caps.ts';

/** US dollars that may be spent in one day, UTC. */
export interface DayCaps {
  readonly repositoryUsd: Usd;
  readonly everythingUsd: Usd;
}

/** Whose calls these are, and their caps. */
export type Payer = Pick<Grant, 'runId' | 'spender' | 'repository' | 'capUsd' | 'runCapUsd' | 'capTokens'>;

/** What one spender in one run has used; what calls in flight hold is not in it. */
export interface Tally {
  usd: Usd;
  tokensIn: number;
  tokensOut: number;
  calls: number;
}

/** Dollars that the ledger holds, booked ones included, whatever process wrote them. */
export interface Sums {
  readonly run: Usd;
  readonly repositoryDay: Usd;
  readonly day: Usd;
  /** What the run may spend by now, where its record says so: a person may have changed it, in whatever process. */
  readonly runCap: Usd | null;
}

const DAY_MS = 24 * 60 * 60 * 1000;

export async function readSums(ledger: Ledger, clock: Pick<Clock, 'now'>, payer: Payer): Promise<Sums> {
  const midnight = Math.floor(clock.now() / DAY_MS) * DAY_MS;
  const [run, repositoryDay, day, runCap] = await Promise.all([
    ledger.usage(payer.runId),
    ledger.spentSince(midnight, payer.repository),
    ledger.spentSince(midnight),
    ledger.runCap(payer.runId),
  ]);
  return { run: run.usd, repositoryDay, day, runCap };
}

const keysOf = ({ runId, spender, repository }: Payer): Readonly<Record<CapName, string>> => ({
  spender: JSON.stringify(['spender', runId, spender]),
  run: JSON.stringify(['run', runId]),
  'repository-day': JSON.stringify(['repository', repository]),
  day: 'day',
  tokens: JSON.stringify(['tokens', runId, spender]),
});

/** The caps that other processes draw on too. */
export function sharedScopes(held: Held, payer: Payer, dayCaps: DayCaps, sums: Sums): readonly Scope[] {
  const keys = keysOf(payer);
  const scope = (name: CapName, cap: number, booked: number): Scope => ({
    name,
    cap,
    booked,
    held: held.of(keys[name]),
  });
  return [
    scope('run', sums.runCap ?? payer.runCapUsd, sums.run),
    scope('repository-day', dayCaps.repositoryUsd, sums.repositoryDay),
    scope('day', dayCaps.everythingUsd, sums.day),
  ];
}

/** The caps of the spender, who is in one process only. */
export function ownScopes(held: Held, payer: Payer, own: Tally): readonly Scope[] {
  const keys = keysOf(payer);
  const usd = held.of(keys.spender);
  const tokens = held.of(keys.tokens);
  return [
    { name: 'spender', cap: payer.capUsd, booked: own.usd + usd, held: usd },
    // All tokens of the spender count, also those of models with a price: rather too early than too late.
    {
      name: 'tokens',
      cap: payer.capTokens ?? 0,
      booked: own.tokensIn + own.tokensOut + tokens,
      held: tokens,
    },
  ];
}

/** `add` when a call begins to hold money, `remove` when it gives it back. */
export function hold(held: Held, payer: Payer, { usd, tokens }: Reservation, how: 'add' | 'remove'): void {
  const { tokens: ofTokens, ...ofMoney } = keysOf(payer);
  for (const key of Object.values(ofMoney)) held[how](key, usd);
  held[how](ofTokens, tokens);
}
