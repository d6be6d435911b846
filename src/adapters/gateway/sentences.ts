import type { Usd } from '../../core/model/index.ts';
import type { CapReached, Reservation } from './caps.ts';

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
      ? ` The operator sets it with ${DAYS[whose]}; it starts anew at midnight UTC.`
      : '';
  return `The budget of ${owner} ${state}: ${figures}.${day}`;
}

/** Rounded up: what is needed must not look like less than what is left. */
const dollarsUp = (usd: Usd): string => `$${(Math.ceil(usd * 1e4) / 1e4).toFixed(4)}`;
