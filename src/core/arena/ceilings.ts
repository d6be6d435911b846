import type { Ceilings } from '../settings/index.ts';
import type { Contest } from './contest.ts';

/**
 * Lowers what a contest asks for to what the operator of this machine allows: whoever shares a contest does not decide
 * what it may cost here. `lowered` has one sentence per change that the contest had named. None of it is part of a
 * contest's version.
 */
export function capContest<C extends Pick<Contest, 'budget' | 'limits'>>(
  contest: C,
  ceilings: Pick<Ceilings, 'budgetCandidate' | 'budgetRun' | 'candidates' | 'timeoutCandidateSeconds'>,
): { readonly contest: C; readonly lowered: readonly string[] } {
  const lowered: string[] = [];
  const cap = (
    name: string,
    wanted: number,
    most: number,
    setting: string,
    shown: (value: number) => string,
  ) => {
    if (wanted <= most) return wanted;
    lowered.push(`${name} was lowered from ${shown(wanted)} to ${shown(most)}, which ${setting} allows.`);
    return most;
  };
  const { limits } = contest;
  const dollars = (usd: number): string => `$${usd}`;
  const budget = cap('budget', contest.budget, ceilings.budgetRun, 'MAX_BUDGET_RUN', dollars);
  const each =
    limits.dollars === undefined
      ? ceilings.budgetCandidate
      : cap('limits.dollars', limits.dollars, ceilings.budgetCandidate, 'MAX_BUDGET_CANDIDATE', dollars);
  const seconds = ceilings.timeoutCandidateSeconds;
  return {
    contest: {
      ...contest,
      budget,
      limits: {
        ...limits,
        dollars: Math.min(each, budget),
        time: cap('limits.time', limits.time, seconds, 'MAX_TIMEOUT', (value) => `${value} s`),
        parallel: cap('limits.parallel', limits.parallel, ceilings.candidates, 'MAX_CANDIDATES', String),
      },
    },
    lowered,
  };
}
