import type { Usd } from '../../core/model/index.ts';
import { money } from '../../core/reports/index.ts';
import type { CapName, Grant, LedgerSums } from '../../ports/index.ts';
import type { AdmittedCall } from './admission.ts';
import type { PriceBook, Tokens } from './providers.ts';

/** Remaining budget. */
interface Left {
  readonly usd: Usd;
  /** Tokens for models without a price. */
  readonly tokens: number;
}

/** The maximum cost of a call; it counts against all budgets until it is settled. */
export interface Reservation {
  readonly usd: Usd;
  /** Input and output. */
  readonly tokens: number;
}

/**
 * Computes the reservation for the remaining budget; null if it is not enough. It may exceed what is left by the
 * difference between the call's maximum and its estimate. `contended` means that more will be left when other calls
 * end.
 */
export type Plan<R extends Reservation> = (left: Left, contended: boolean) => R | null;

/** One cap, and what counts against it: dollars, or tokens for the cap of that name. */
interface Scope {
  readonly name: CapName;
  readonly cap: number;
  /** Spent and booked, including active calls at their maximum. */
  readonly booked: number;
  /** The part of `booked` that active calls hold; they will release most of it. */
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
  /** The money would suffice without active calls, which will use less than they hold. */
  | { readonly kind: 'wait' }
  | CapReached;

/**
 * Decides how much of what its caps leave a call gets. Every other call counts at its maximum, and only the new one at
 * its estimate, so a cap is exceeded by at most one call's maximum, whatever the calls cost (docs/decisions/0048).
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
  // If no cap is too low by itself, the last one is reported.
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

/** US dollars that may be spent in one day (UTC). */
export interface DailyBudgets {
  readonly repositoryUsd: Usd;
  readonly everythingUsd: Usd;
}

/** Who pays for the calls, and the caps. */
export type BilledGrant = Pick<
  Grant,
  'runId' | 'spender' | 'repository' | 'capUsd' | 'runCapUsd' | 'capTokens'
>;

/** Usage of one spender in one run, without what active calls hold. */
export interface Tally {
  usd: Usd;
  tokensIn: number;
  tokensOut: number;
  calls: number;
}

const MS_PER_DAY = 24 * 60 * 60 * 1000;
export const midnightBefore = (now: number): number => Math.floor(now / MS_PER_DAY) * MS_PER_DAY;

/** The caps of one call, with what the ledger contains, whichever process wrote it. */
export function scopesOf(payer: BilledGrant, dayCaps: DailyBudgets, sums: LedgerSums): readonly Scope[] {
  const { spender, spenderTokens, run, repositoryDay, day } = sums;
  return [
    { name: 'spender', cap: payer.capUsd, ...spender },
    // All tokens of the spender count, including those of models with a price: better too early than too late.
    { name: 'tokens', cap: payer.capTokens ?? 0, ...spenderTokens },
    { name: 'run', cap: sums.runCap ?? payer.runCapUsd, ...run },
    { name: 'repository-day', cap: dayCaps.repositoryUsd, ...repositoryDay },
    { name: 'day', cap: dayCaps.everythingUsd, ...day },
  ];
}

/** The caps of the spender alone, with what its calls are known to have cost. */
export const settledScopes = (payer: BilledGrant, own: Tally): readonly Scope[] => [
  { name: 'spender', cap: payer.capUsd, booked: own.usd, held: 0 },
  { name: 'tokens', cap: payer.capTokens ?? 0, booked: own.tokensIn + own.tokensOut, held: 0 },
];

/** The maximum cost of a call: all input newly cached if that costs more, and all output that it may generate. */
export interface CallReservation extends Reservation {
  readonly outputTokens: number;
}

/** Fewer output tokens than this are useless for an agent: the cap counts as reached. */
const MIN_OUTPUT = 256;
/** While other calls hold money, it is better to wait than to get an answer shorter than this. */
const MIN_CONTENDED_OUTPUT = 8_000;

const FREE_CALL: CallReservation = { usd: 0, tokens: 0, outputTokens: 0 };

/** For calls that cost nothing: at the cap they are not sent either. */
export const freePlan: Plan<CallReservation> = ({ usd }) => (usd > 0 ? FREE_CALL : null);

/** Input at the highest price of the provider: newly cached, for an hour if that is requested. */
export const dearest = (call: AdmittedCall, input: number): Omit<Tokens, 'output'> => ({
  input,
  cacheRead: 0,
  cacheWrite: input,
  cacheWriteHour: call.hourCache ? input : 0,
});

interface Price {
  /** A model without a price uses tokens instead of money. */
  readonly priced: boolean;
  readonly inputUsd: Usd;
  /** US dollars per output token. */
  readonly perToken: Usd;
}

function priceOf(call: AdmittedCall, book: PriceBook, at: number, input: number): Price {
  const cost = (tokens: Omit<Tokens, 'output'>, output: number) =>
    book.cost(call.provider, call.model, { ...tokens, output }, at);
  const fresh = { input, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 };
  const plain = cost(fresh, 0);
  if (plain === null) return { priced: false, inputUsd: 0, perToken: 0 };
  return {
    priced: true,
    inputUsd: Math.max(plain, cost(dearest(call, input), 0) ?? plain),
    perToken: ((cost(fresh, 1000) ?? Number.POSITIVE_INFINITY) - plain) / 1000,
  };
}

/**
 * How much to reserve for a call: its maximum cost. The call is sent if its probable cost fits, with its output limited
 * accordingly; null if not even that fits. So the maximum may exceed what is left, but as it is in the ledger until the
 * call is settled, no other call is sent meanwhile that could exceed it too. A model without a price uses the remaining
 * tokens instead of money.
 */
export function planFor(call: AdmittedCall, book: PriceBook, at: number): Plan<CallReservation> {
  const { estimate, most } = call.input;
  const wanted = call.limit.asked;
  const probable = priceOf(call, book, at, estimate);
  const highest = priceOf(call, book, at, most);
  const affordableOutput = ({ usd, tokens }: Left): number => {
    if (!probable.priced) return tokens - estimate;
    return probable.perToken > 0 ? Math.floor((usd - probable.inputUsd) / probable.perToken) : wanted;
  };
  return (left, contended) => {
    // At the cap nothing is sent, not even a call that is free.
    if (left.usd <= 0 || !(probable.inputUsd <= left.usd)) return null;
    const fits = affordableOutput(left);
    if (fits < Math.min(wanted, contended ? MIN_CONTENDED_OUTPUT : MIN_OUTPUT)) return null;
    const outputTokens = Math.min(wanted, fits);
    return {
      usd: highest.inputUsd + outputTokens * highest.perToken,
      tokens: most + outputTokens,
      outputTokens,
    };
  };
}

/** Minimum budget for a call to be sent, with the shortest allowed output. */
export function leastFor(call: AdmittedCall, book: PriceBook, at: number): Reservation {
  const { estimate } = call.input;
  const { inputUsd, perToken } = priceOf(call, book, at, estimate);
  const output = Math.min(call.limit.asked, MIN_OUTPUT);
  return { usd: inputUsd + output * perToken, tokens: estimate + output };
}

/** Whose budget each dollar cap is. */
const OWNERS = {
  run: 'the run',
  'repository-day': 'this repository for today (UTC)',
  day: 'everything for today (UTC)',
} as const;

const DAYS = {
  'repository-day': 'MAX_BUDGET_REPOSITORY_DAY',
  day: 'MAX_BUDGET_DAY',
} as const;

/** What spenders of a run work on, by the beginning of their names in the ledger, which people do not know. */
const WORKS: readonly (readonly [RegExp, string])[] = [
  [/^brief(?:-|$)/, 'the plan'],
  [/^debate-/, 'the debate'],
  [/^judge-/, 'the judges'],
  [/^review(?:er|-)/, 'the review'],
  [/^(?:writer|distinguisher)$/, 'the written tests'],
  [/^setup$/, 'the set-up commands'],
];

const workOf = (spender: string): string => WORKS.find(([name]) => name.test(spender))?.[1] ?? spender;

/** For people: which cap, how much of it is used, and the minimum that the rejected call needed. */
export function capMessage({ whose, spent, cap }: CapReached, spender: string, needed: Reservation): string {
  const state = spent >= cap ? 'is used up' : 'does not suffice for another call';
  if (whose === 'tokens') {
    const amounts = `${Math.round(spent)} of ${cap} spent, about ${needed.tokens} needed`;
    return `The budget of tokens of ${workOf(spender)} for models without a known price ${state}: ${amounts}.`;
  }
  const owner = whose === 'spender' ? workOf(spender) : OWNERS[whose];
  const inCents = isWholeCents(cap) && (needed.usd === 0 || needed.usd >= 0.01);
  const amount = inCents ? centsUp : fractionsUp;
  // A model without a price needs no money, but gets nothing if none is left.
  const need = needed.usd > 0 ? `, about ${amount(needed.usd)} needed` : '';
  const limit = isWholeCents(cap) ? money(cap) : fractionsUp(cap);
  const amounts = `${spent > 0 ? amount(spent) : money(0)} of ${limit} spent${need}`;
  const day =
    whose === 'repository-day' || whose === 'day'
      ? ` The operator sets it with ${DAYS[whose]}; it resets at midnight UTC.`
      : '';
  return `The budget of ${owner} ${state}: ${amounts}.${day}`;
}

const ROUNDING_ERROR = 1e-6;
const isWholeCents = (usd: Usd): boolean => Math.abs(usd * 100 - Math.round(usd * 100)) < ROUNDING_ERROR;
/** Rounded up, as the next one is: amounts that do not fit must not look as if they did. */
const centsUp = (usd: Usd): string => money(Math.ceil(usd * 100 - ROUNDING_ERROR) / 100);
/** `$0.0043`: where a cent would be too coarse. */
const fractionsUp = (usd: Usd): string =>
  `$${(Math.ceil(usd * 10_000 - ROUNDING_ERROR) / 10_000).toFixed(4)}`;
