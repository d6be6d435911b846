import type { Evidence } from '../evidence/index.ts';
import type { Weights } from '../policy/index.ts';
import { rounded, sum } from './numbers.ts';
import type { Metrics } from './ranked.ts';

/**
 * Three ratios, each 1 for the best survivor. Without peer tests there is no evidence for `tests`: its weight goes to
 * the other two. Weights need not add up to anything.
 */
export function metricsOf(evidence: Evidence, survivors: readonly Evidence[], weights: Weights): Metrics {
  const tests = shareOfPeerTests(evidence);
  const simplicity = ratio(survivors, evidence, (one) => one.productionLines);
  const speed = ratio(survivors, evidence, (one) => one.coderMs);
  const weighed = [
    ...(tests === null ? [] : [{ weight: weights.tests, value: tests }]),
    { weight: weights.simplicity, value: simplicity },
    { weight: weights.speed, value: speed },
  ];
  const whole = sum(weighed.map(({ weight }) => weight));
  const total = whole === 0 ? 0 : (100 * sum(weighed.map(({ weight, value }) => weight * value))) / whole;
  return { tests, simplicity, speed, total: Math.min(100, rounded(total)) };
}

/** Mean over authors, so that nobody gains by writing many tests. */
function shareOfPeerTests({ peerTests }: Evidence): number | null {
  const shares = peerTests.filter((one) => one.total > 0).map((one) => one.passed / one.total);
  return shares.length === 0 ? null : rounded(sum(shares) / shares.length);
}

/** The survivors' least, divided by this one's; a candidate that is no survivor can be below it and counts as 1. */
function ratio(survivors: readonly Evidence[], own: Evidence, measure: (one: Evidence) => number): number {
  const least = Math.min(...survivors.map((one) => Math.max(1, measure(one))));
  return Number.isFinite(least) ? rounded(Math.min(1, least / Math.max(1, measure(own)))) : 1;
}
