import type { Usd } from '../../core/model/index.ts';
import type { AdmittedCall } from './admission.ts';
import type { Left, Plan, Reservation } from './caps.ts';
import type { PriceBook, Tokens } from './prices.ts';

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
