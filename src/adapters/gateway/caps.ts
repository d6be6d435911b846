import type { Usd } from '../../core/model/index.ts';
import type { CapName } from '../../ports/index.ts';

/** What may still be spent. */
export interface Left {
  readonly usd: Usd;
  /** Tokens for models without a price. */
  readonly tokens: number;
}

/** What a call may cost at most; taken from all budgets until it is settled. */
export interface Reservation {
  readonly usd: Usd;
  /** In and out. */
  readonly tokens: number;
}

/**
 * What to reserve of what is left; null when it is not enough. `contended` tells that more will be left when other
 * calls end.
 */
export type Plan<R extends Reservation> = (left: Left, contended: boolean) => R | null;

/** One cap, and what counts against it: dollars, or tokens for the cap of that name. */
export interface Scope {
  readonly name: CapName;
  readonly cap: number;
  /** Spent and booked, the calls in flight included. */
  readonly booked: number;
  /** Part of `booked`: what calls in flight in this process hold, and will mostly give back. */
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
  /** The money would suffice but for calls in flight, which use less than they hold. */
  | { readonly kind: 'wait' }
  | CapReached;

/** Decides what a call gets of what all its caps leave. */
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

/** Rests of adding up cents in binary. */
const ROUNDING = 1e-9;

/** The first cap that is passed by what is booked. */
export const passed = (scopes: readonly Scope[]): Scope | undefined =>
  scopes.find(({ cap, booked }) => booked > cap + ROUNDING);

/** What calls in flight in this process hold, by whose budget it is. */
export interface Held {
  of(key: string): number;
  add(key: string, amount: number): void;
  remove(key: string, amount: number): void;
}

export function openHeld(): Held {
  const sums = new Map<string, { amount: number; calls: number }>();
  return {
    of: (key) => sums.get(key)?.amount ?? 0,
    add(key, amount) {
      const sum = sums.get(key) ?? { amount: 0, calls: 0 };
      sums.set(key, { amount: sum.amount + amount, calls: sum.calls + 1 });
    },
    remove(key, amount) {
      const sum = sums.get(key) ?? { amount: 0, calls: 1 };
      // Exactly nothing when nothing is in flight: a rounding rest would let calls wait for one that never ends.
      if (sum.calls <= 1) sums.delete(key);
      else sums.set(key, { amount: sum.amount - amount, calls: sum.calls - 1 });
    },
  };
}
