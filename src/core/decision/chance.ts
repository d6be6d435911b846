import type { Evidence } from '../evidence/index.ts';
import type { Ranked } from '../ranking/index.ts';

export interface Standing {
  readonly best: Ranked;
  readonly winning: Evidence;
  /** Survivors that made another change, best first. */
  readonly rivals: readonly Ranked[];
  readonly survivors: number;
}

/**
 * Estimated chance that the best survivor is right, in [0, 1]: a logistic curve over what evidence says for it and how far
 * it is ahead. Coefficients from dev data with round figures (docs/selection.md has the curve).
 */
export function chanceOf({ best, winning, rivals }: Standing): number {
  const [next] = rivals;
  const lead = next ? best.support - next.support : 0.3;
  const mended = (winning.neutralTests?.passed ?? 0) > 0 || (winning.baseTests?.fixed.length ?? 0) > 0;
  const score = -1.5 + 4 * (best.support - 0.5) + 5 * Math.min(lead, 0.3) + (mended ? 1 : 0);
  return Math.round(1000 / (1 + Math.exp(-score))) / 1000;
}
