import type { Usd } from '../../core/model/index.ts';
import type { AdmittedCall } from './admission.ts';
import type { Left, Plan, Reservation } from './caps.ts';
import type { PriceBook } from './prices.ts';

/** What is set aside for a call: all its input uncached and newly cached, and all the output it may write. */
export interface CallReservation extends Reservation {
  readonly outputTokens: number;
}

/** Code and English have three to four bytes a token; the low end, so that we reserve too much. */
const BYTES_PER_TOKEN = 3;
/** Fewer output tokens than this are of no use to an agent: the cap counts as reached. */
const LEAST_OUTPUT = 256;
/** While other calls hold money back, waiting for them is better than an answer cut shorter than this. */
const LEAST_CONTENDED_OUTPUT = 8_000;

/** What vendors add to a request: a few hundred tokens that explain the use of tools to the model. */
const ADDED_TOKENS = 500;

export const estimatedInput = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN) + ADDED_TOKENS;

const NOTHING: CallReservation = { usd: 0, tokens: 0, outputTokens: 0 };

/** For calls that cost nothing: at the cap not even these go out. */
export const freePlan: Plan<CallReservation> = ({ usd }) => (usd > 0 ? NOTHING : null);

interface Estimate {
  readonly input: number;
  /** Tokens of output that the request asks for, or that we allow where it does not say. */
  readonly wanted: number;
  /** A model without a price takes from tokens instead of money. */
  readonly priced: boolean;
  readonly inputUsd: Usd;
  /** Of output. */
  readonly perToken: Usd;
}

function estimate(call: AdmittedCall, book: PriceBook, at: number): Estimate {
  const input = estimatedInput(call.bytes);
  const cost = (cacheWrite: number, output: number) =>
    book.cost(
      call.provider,
      call.model,
      { input, cacheRead: 0, cacheWrite, cacheWriteHour: call.hourCache ? cacheWrite : 0, output },
      at,
    );
  const plain = cost(0, 0);
  return {
    input,
    wanted: call.limit.asked,
    priced: plain !== null,
    inputUsd: plain === null ? 0 : Math.max(plain, cost(input, 0) ?? plain),
    perToken: plain === null ? 0 : ((cost(0, 1000) ?? Number.POSITIVE_INFINITY) - plain) / 1000,
  };
}

/**
 * How much to set aside for a call of what is left; null when that does not suffice. The output is clamped to it. A
 * model without a price takes from the tokens that are left instead of the money.
 */
export function planFor(call: AdmittedCall, book: PriceBook, at: number): Plan<CallReservation> {
  const { input, wanted, priced, inputUsd, perToken } = estimate(call, book, at);
  const room = ({ usd, tokens }: Left): number => {
    if (!priced) return tokens - input;
    return perToken > 0 ? Math.floor((usd - inputUsd) / perToken) : wanted;
  };
  return (left, contended) => {
    // At the cap nothing goes out, not even a call that is free of charge.
    if (left.usd <= 0 || !(inputUsd <= left.usd)) return null;
    const most = room(left);
    if (most < Math.min(wanted, contended ? LEAST_CONTENDED_OUTPUT : LEAST_OUTPUT)) return null;
    const outputTokens = Math.min(wanted, most);
    return { usd: inputUsd + outputTokens * perToken, tokens: input + outputTokens, outputTokens };
  };
}

/** What must be left for a call to go out, with its output as short as we let it be. */
export function leastFor(call: AdmittedCall, book: PriceBook, at: number): Reservation {
  const { input, wanted, inputUsd, perToken } = estimate(call, book, at);
  const output = Math.min(wanted, LEAST_OUTPUT);
  return { usd: inputUsd + output * perToken, tokens: input + output };
}
