import { byCodeUnits } from '../model/index.ts';
import { exponential, quantile, seededRandom } from './chance.ts';
import type { Interval } from './rating.ts';

/** Two verdicts about one pair of answers: the scores of the same answer, 1 for a win, ½ for a tie, 0 for a loss. */
export interface TwoVerdicts {
  readonly task: string;
  /** Identifies the pair of answers. Several people may have voted on it. */
  readonly pair: string;
  readonly one: 0 | 0.5 | 1;
  readonly other: 0 | 0.5 | 1;
}

export interface Agreement {
  /** Number of verdicts that were compared, and of pairs of answers. */
  readonly verdicts: number;
  readonly pairs: number;
  /** Share of equal verdicts, 0 to 1. */
  readonly raw: number;
  /** Cohen's kappa: 0 for agreement by chance, 1 for full agreement. Null if chance alone would agree always. */
  readonly kappa: number | null;
  /** 95%, by a Bayesian bootstrap over tasks; null without `kappa`. */
  readonly kappaInterval: Interval | null;
}

/** Our default. */
const REPLICATES = 1000;

/**
 * Agreement of two raters (Cohen 1960). Which answer of a pair counts as the first is arbitrary, so each verdict counts
 * in both directions; otherwise that choice would influence the agreement expected by chance. Null without verdicts.
 */
export function agreementOf(verdicts: readonly TwoVerdicts[], seed: number): Agreement | null {
  if (verdicts.length === 0) return null;
  const byTask = [...Map.groupBy(verdicts, ({ task }) => task)]
    .toSorted(([x], [y]) => byCodeUnits(x, y))
    .map(([, own]) => countsOf(own));
  const counts = sumOf(byTask.map((own) => [own, 1] as const));
  const kappa = kappaOf(counts);
  const random = seededRandom(`agreement ${seed}`);
  const draws = Array.from({ length: kappa === null ? 0 : REPLICATES }, () =>
    kappaOf(sumOf(byTask.map((own) => [own, exponential(random)] as const))),
  )
    .filter((draw) => draw !== null)
    .toSorted((x, y) => x - y);
  return {
    verdicts: verdicts.length,
    pairs: new Set(verdicts.map(({ pair }) => pair)).size,
    raw: counts.equal / counts.all,
    kappa,
    kappaInterval:
      kappa === null
        ? null
        : { low: Math.min(kappa, quantile(draws, 0.025)), high: Math.max(kappa, quantile(draws, 0.975)) },
  };
}

interface VerdictCounts {
  readonly all: number;
  readonly equal: number;
  /** Ties of each rater. */
  readonly oneTies: number;
  readonly otherTies: number;
}

const countsOf = (verdicts: readonly TwoVerdicts[]): VerdictCounts => ({
  all: verdicts.length,
  equal: verdicts.filter(({ one, other }) => one === other).length,
  oneTies: verdicts.filter(({ one }) => one === 0.5).length,
  otherTies: verdicts.filter(({ other }) => other === 0.5).length,
});

const sumOf = (weighted: readonly (readonly [VerdictCounts, number])[]): VerdictCounts => {
  const sum = (field: keyof VerdictCounts) =>
    weighted.reduce((total, [counts, weight]) => total + counts[field] * weight, 0);
  return { all: sum('all'), equal: sum('equal'), oneTies: sum('oneTies'), otherTies: sum('otherTies') };
};

/** In both directions wins are as frequent as losses, so each is half of what is no tie. */
function kappaOf({ all, equal, oneTies, otherTies }: VerdictCounts): number | null {
  const [one, other] = [oneTies / all, otherTies / all];
  const chance = one * other + ((1 - one) * (1 - other)) / 2;
  return 1 - chance < 1e-9 ? null : (equal / all - chance) / (1 - chance);
}
