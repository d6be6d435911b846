import { type Evidence, GATES } from '../evidence/index.ts';
import type { Weights } from '../policy/index.ts';
import { metricsOf } from './metrics.ts';
import { rounded, sum } from './numbers.ts';
import type { Ranked, Separator, Standing } from './ranked.ts';
import { reasonFor } from './reasons.ts';

/**
 * Survivors first; then fewest regressions, larger share of the others' tests, larger metrics, and at last the hash
 * of the patch. Same evidence in any order, same ranking.
 */
export function rank(evidence: readonly Evidence[], weights: Weights): readonly Ranked[] {
  const survivors = evidence.filter((one) => one.survivor);
  const standings = evidence
    .map((one) => standingOf(one, survivors, weights))
    .sort((a, b) => compare(a, b).order);
  return standings.map((standing, i) => {
    const above = standings[i - 1];
    const below = standings[i + 1];
    return {
      alias: standing.evidence.alias,
      place: i + 1,
      survivor: standing.evidence.survivor,
      regressions: standing.regressions,
      peerShare: standing.peerShare,
      metrics: standing.metrics,
      ...(below ? { aheadBy: compare(standing, below).by } : {}),
      because: reasonFor(
        standing,
        above && { standing: above, by: compare(above, standing).by },
        below && { standing: below, by: compare(standing, below).by },
      ),
    };
  });
}

function standingOf(evidence: Evidence, survivors: readonly Evidence[], weights: Weights): Standing {
  return {
    evidence,
    gatesPassed: GATES.filter((name) => evidence.gates.some((gate) => gate.gate === name && gate.passed))
      .length,
    regressions: evidence.baseTests?.regressions.length ?? 0,
    peerShare: peerShareOf(evidence),
    metrics: metricsOf(evidence, survivors, weights),
  };
}

/** CodeT's idea with own tests left out, one vote for each author, and a Laplace prior of one half. */
function peerShareOf({ peerTests }: Evidence): number {
  const shares = peerTests.filter((one) => one.total > 0).map((one) => one.passed / one.total);
  return rounded((0.5 + sum(shares)) / (1 + shares.length));
}

/** Negative: a stands before b. */
function compare(a: Standing, b: Standing): { readonly order: number; readonly by: Separator } {
  const steps: readonly (readonly [Separator, number])[] = [
    ['gates', Number(b.evidence.survivor) - Number(a.evidence.survivor)],
    ['gates', b.gatesPassed - a.gatesPassed],
    ['regressions', a.regressions - b.regressions],
    ['peer-tests', b.peerShare - a.peerShare],
    ['metrics', b.metrics.total - a.metrics.total],
  ];
  const step = steps.find(([, order]) => order !== 0);
  if (step) return { by: step[0], order: step[1] };
  return {
    by: 'hash',
    order:
      byText(a.evidence.patchSha256, b.evidence.patchSha256) || byText(a.evidence.alias, b.evidence.alias),
  };
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
