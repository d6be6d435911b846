import type { Usd } from '../../core/model/index.ts';
import type { CapName, Grant, LedgerSums } from '../../ports/index.ts';
import type { AdmittedCall } from './admission.ts';
import type { PriceBook, Tokens } from './prices.ts';

/** What may still be spent. */
interface Left {
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
interface Scope {
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

/** The most that a call can cost: all its input newly cached where that is dearer, and all the output it may write. */
export interface CallReservation extends Reservation {
  readonly outputTokens: number;
}

/** Fewer output tokens than this are of no use to an agent: the cap counts as reached. */
const LEAST_OUTPUT = 256;
/** While other calls hold money back, waiting for them is better than an answer cut shorter than this. */
const LEAST_CONTENDED_OUTPUT = 8_000;

const NOTHING: CallReservation = { usd: 0, tokens: 0, outputTokens: 0 };

/** For calls that cost nothing: at the cap not even these go out. */
export const freePlan: Plan<CallReservation> = ({ usd }) => (usd > 0 ? NOTHING : null);

/** Input at the dearest that a provider may bill it: newly cached, for an hour where that is asked for. */
export const dearest = (call: AdmittedCall, input: number): Omit<Tokens, 'output'> => ({
  input,
  cacheRead: 0,
  cacheWrite: input,
  cacheWriteHour: call.hourCache ? input : 0,
});

interface Price {
  /** A model without a price takes from tokens instead of money. */
  readonly priced: boolean;
  readonly inputUsd: Usd;
  /** Of output. */
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
 * How much to set aside for a call of what is left: the most that it can cost. It goes out when what it probably costs
 * fits, with its output clamped to that; null when not even that does. So it may pass what is left by itself, and as its
 * most stands in the ledger until it is settled, no other call goes out meanwhile that could pass it too. A model without
 * a price takes from the tokens that are left instead of the money.
 */
export function planFor(call: AdmittedCall, book: PriceBook, at: number): Plan<CallReservation> {
  const { estimate, most } = call.input;
  const wanted = call.limit.asked;
  const probable = priceOf(call, book, at, estimate);
  const highest = priceOf(call, book, at, most);
  const room = ({ usd, tokens }: Left): number => {
    if (!probable.priced) return tokens - estimate;
    return probable.perToken > 0 ? Math.floor((usd - probable.inputUsd) / probable.perToken) : wanted;
  };
  return (left, contended) => {
    // At the cap nothing goes out, not even a call that is free of charge.
    if (left.usd <= 0 || !(probable.inputUsd <= left.usd)) return null;
    const fits = room(left);
    if (fits < Math.min(wanted, contended ? LEAST_CONTENDED_OUTPUT : LEAST_OUTPUT)) return null;
    const outputTokens = Math.min(wanted, fits);
    return {
      usd: highest.inputUsd + outputTokens * highest.perToken,
      tokens: most + outputTokens,
      outputTokens,
    };
  };
}

/** What must be left for a call to go out, with its output as short as we let it be. */
export function leastFor(call: AdmittedCall, book: PriceBook, at: number): Reservation {
  const { estimate } = call.input;
  const { inputUsd, perToken } = priceOf(call, book, at, estimate);
  const output = Math.min(call.limit.asked, LEAST_OUTPUT);
  return { usd: inputUsd + output * perToken, tokens: estimate + output };
}

/** Whose budget each cap of dollars is. */
const OWNERS = {
  run: 'the run',
  'repository-day': 'this repository for today (UTC)',
  day: 'everything for today (UTC)',
} as const;

const DAYS = {
  'repository-day': 'MAX_BUDGET_REPOSITORY_DAY',
  day: 'MAX_BUDGET_DAY',
} as const;

/** For people: which cap, how far it is, and what the call that it stopped needed at least. */
export function capSentence({ whose, spent, cap }: CapReached, spender: string, needed: Reservation): string {
  const state = spent >= cap ? 'is used up' : 'does not suffice for another call';
  if (whose === 'tokens') {
    const figures = `${Math.round(spent)} of ${cap} spent, about ${needed.tokens} needed`;
    return `The budget of tokens of ${spender} for models without a known price ${state}: ${figures}.`;
  }
  const owner = whose === 'spender' ? spender : OWNERS[whose];
  // A model without a price needs none of it, and yet gets nothing where none is left.
  const need = needed.usd > 0 ? `, about ${dollarsUp(needed.usd)} needed` : '';
  const figures = `$${spent.toFixed(4)} of $${cap} spent${need}`;
  const day =
    whose === 'repository-day' || whose === 'day'
      ? ` The operator sets it with ${DAYS[whose]}; it resets at midnight UTC.`
      : '';
  return `The budget of ${owner} ${state}: ${figures}.${day}`;
}

/** Rounded up: what is needed must not look like less than what is left. */
const dollarsUp = (usd: Usd): string => `$${(Math.ceil(usd * 1e4) / 1e4).toFixed(4)}`;
