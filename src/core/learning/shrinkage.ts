import { type Beta, logBeta } from './beta.ts';

/** Wins, possibly partial, out of trials; both may be weighted, so they need not be whole. */
export interface Tally {
  readonly wins: number;
  readonly trials: number;
}

export const NO_TALLY: Tally = { wins: 0, trials: 0 };

export const plus = (one: Tally, other: Tally): Tally => ({
  wins: one.wins + other.wins,
  trials: one.trials + other.trials,
});

/** A prior by its mean in [0, 1] and the number of trials that it is worth. */
export interface Prior {
  readonly mean: number;
  readonly strength: number;
}

/** What is expected of a contestant where nothing is known: one of three wins. Our default. */
const UNKNOWN: Prior = { mean: 1 / 3, strength: 2 };
/** Trials that a prior is worth when there are too few contestants to tell how much they differ. Our default. */
const DEFAULT_STRENGTH = 4;
const MIN_CONTESTANTS = 3;
/**
 * The least is the default: contestants of one run win at each other's expense, so that a few runs look as if they
 * differed far more than they do.
 */
const STRENGTHS = [DEFAULT_STRENGTH, 6, 8, 12, 16, 24, 32];

/** The posterior mean stays off 0 and 1, where a beta distribution has no mean. */
const inside = (mean: number): number => Math.min(0.98, Math.max(0.02, mean));

/**
 * Empirical Bayes: the contestants' own results say around what and how closely they lie. The mean is the pooled one;
 * the strength maximises the beta-binomial likelihood. Efron and Morris, "Data analysis using Stein's estimator and
 * its generalizations", JASA 70 (1975); for shares Kleinman, "Proportions with extraneous variance", JASA 68 (1973).
 */
export function priorFrom(tallies: readonly Tally[]): Prior {
  const known = tallies.filter(({ trials }) => trials > 0);
  const all = known.reduce(plus, NO_TALLY);
  const mean = inside((all.wins + UNKNOWN.mean * UNKNOWN.strength) / (all.trials + UNKNOWN.strength));
  if (known.length < MIN_CONTESTANTS) return { mean, strength: DEFAULT_STRENGTH };
  const scored = STRENGTHS.map((strength) => ({ strength, score: logLikelihood(known, { mean, strength }) }));
  const best = scored.reduce((one, other) => (other.score > one.score ? other : one));
  return { mean, strength: best.strength };
}

function logLikelihood(tallies: readonly Tally[], { mean, strength }: Prior): number {
  const [a, b] = [mean * strength, (1 - mean) * strength];
  return tallies.reduce(
    (sum, { wins, trials }) => sum + logBeta(a + wins, b + trials - wins) - logBeta(a, b),
    0,
  );
}

export const posterior = ({ mean, strength }: Prior, { wins, trials }: Tally): Beta => ({
  a: mean * strength + wins,
  b: (1 - mean) * strength + Math.max(0, trials - wins),
});
