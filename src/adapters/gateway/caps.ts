import type { Usd } from '../../core/model/index.ts';
import type { CapName } from '../../ports/index.ts';

/** What may still be spent. */
export interface Left {
  readonly usd: Usd;
  /** Tokens for models without a price. */
  readonly tokens: number;
}

/** What a call may cost at most; counts against all budgets until it is settled. */
export interface Reservation {
  readonly usd: Usd;
  /** In and out. */
  readonly tokens: number;
}

/**
 * What to reserve when so much is left; null when it is not enough. It may be more than is left, by what one call's most
 * is above its estimate. `contended` tells that more will be left when other calls end.
 */
export type Plan<R extends Reservation> = (left: Left, contended: boolean) => R | null;

/** One cap, and what counts against it: dollars, or tokens for the cap of that name. */
export interface Scope {
  readonly name: CapName;
  readonly cap: number;
  /** Spent and booked, the calls under way included at their most. */
  readonly booked: number;
  /** Part of `booked`: what calls under way hold, and will mostly give back. */
  readonly held: number;
}

export interface CapReached {
  readonly kind: 'cap';
  readonly whose: CapName;
  /** Without what is only held. */
  readonly spent: number;
  readonly cap: number;
}

export type Taken<R extends Reservation> =
  | { readonly kind: 'taken'; readonly reservation: R }
  /** The money would suffice but for calls under way, which use less than they hold. */
  | { readonly kind: 'wait' }
  | CapReached;

/**
 * Decides what a call gets of what all its caps leave. Every other call counts at its most, and only the new one at its
 * estimate: so a cap is passed by no more than one call's most, whatever the calls come to (docs/decisions/0048).
 */
export function take<R extends Reservation>(scopes: readonly Scope[], plan: Plan<R>): Taken<R> {
  const left = leftOf(scopes, ({ cap, booked }) => cap - booked);
  const best = leftOf(scopes, ({ cap, booked, held }) => cap - booked + held);
  const contended = best.usd > left.usd || best.tokens > left.tokens;
  const reservation = plan(left, contended);
  if (reservation) return { kind: 'taken', reservation };
  if (contended && plan(best, false)) return { kind: 'wait' };
  const short = scopes.find(
    (scope) =>
      plan(
        leftOf([scope], (one) => one.cap - one.booked + one.held),
        false,
      ) === null,
  );
  // No cap is too low by itself only if none is at all: the last stands for all.
  const scope = short ?? scopes.at(-1);
  if (!scope) throw new Error('a call without any cap');
  return { kind: 'cap', whose: scope.name, spent: scope.booked - scope.held, cap: scope.cap };
}

function leftOf(scopes: readonly Scope[], of: (scope: Scope) => number): Left {
  const least = (tokens: boolean) =>
    Math.min(
      Number.POSITIVE_INFINITY,
      ...scopes.filter(({ name }) => (name === 'tokens') === tokens).map(of),
    );
  return { usd: least(false), tokens: least(true) };
}
