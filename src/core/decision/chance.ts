import type { Evidence } from '../evidence/index.ts';
import type { Ranked } from '../ranking/index.ts';

export interface Standing {
  readonly best: Ranked;
  readonly winning: Evidence;
  /** Survivors that made another change, best first. */
  readonly rivals: readonly Ranked[];
  readonly survivors: number;
}

/** Beyond this lead, logarithm of odds, more of it says little. */
const MOST_LEAD = 3;
/** What it is worth to be ahead of rivals that break base tests: they may be wrong in their own way. */
const UNRIVALLED = 1;

/**
 * Estimated chance that the best survivor is right, in [0, 1]: a logistic curve over how far it is ahead of the next other
 * change that breaks nothing, over the tests of others that it passes, and over whether anything is shown to be mended.
 * Our default, with round coefficients; docs/selection.md says how often picks of each word were right on dev data.
 */
export function chanceOf({ best, winning, rivals }: Standing): number {
  const next = rivals.find((one) => one.regressions === 0);
  const lead = next ? Math.min(MOST_LEAD, best.support - next.support) : UNRIVALLED;
  const tests = best.signals.tests === null ? -0.15 : best.signals.tests - 0.5;
  const mended =
    (winning.neutralTests?.passed ?? 0) > 0 ||
    (winning.baseTests?.fixed.length ?? 0) > 0 ||
    (winning.provenTests ?? 0) > 0;
  const score = -0.6 + 0.9 * lead + 3 * tests + (mended ? 0.5 : 0);
  return Math.round(1000 / (1 + Math.exp(-score))) / 1000;
}
