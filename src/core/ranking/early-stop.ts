import type { Evidence } from '../evidence/index.ts';
import { type Alias, byCodeUnits } from '../model/index.ts';

/**
 * Graded agreement from which two changes count as the same answer, in [0, 1]. From patches whose outcome is known
 * (docs/decisions/0025): of two that break nothing, by different families, 53 % were right; 71 % from 0.8 on, 76 % from 0.9
 * on, and exactly the same change is no better than that.
 */
export const AGREEMENT_THRESHOLD = 0.9;

/** A candidate that was examined while others are still at work. */
export interface FinishedCandidate {
  readonly evidence: Evidence;
  /** Model family of its author. */
  readonly family: string;
}

type EarlyStopDecision =
  | { readonly kind: 'wait' }
  /** `aliases` agree, sorted; `because` is a clause for the notes of those who are stopped. */
  | { readonly kind: 'stop'; readonly aliases: readonly Alias[]; readonly because: string };

export interface AgreementContext {
  /** Model families that compete in the run, those at work included. */
  readonly families: number;
  /** Graded agreement of two candidates' changes, in [0, 1]; 1 for the same class. */
  readonly similarity: (a: Alias, b: Alias) => number;
}

/**
 * Whether those at work can be stopped: at least two finishers passed every gate and break nothing, as tests say that pass
 * on the base, and all of these agree
 * with each other. Where several model families compete, two must be among them: repetitions of one model agree by habit.
 * Same finishers in any order, same answer.
 */
export function decideEarlyStop(
  finishers: readonly FinishedCandidate[],
  field: AgreementContext,
): EarlyStopDecision {
  const clean = finishers.filter(
    ({ evidence: { survivor, baseTests } }) =>
      survivor && baseTests?.regressions.length === 0 && !baseTests.silent,
  );
  const families = new Set(clean.map(({ family }) => family)).size;
  if (clean.length < 2 || families < Math.min(2, field.families)) return { kind: 'wait' };
  const aliases = clean.map(({ evidence }) => evidence.alias).toSorted(byCodeUnits);
  const alike = aliases.every((a, i) =>
    aliases.slice(i + 1).every((b) => agreementOf(field, a, b) >= AGREEMENT_THRESHOLD),
  );
  if (!alike) return { kind: 'wait' };
  return {
    kind: 'stop',
    aliases,
    because: `stopped early: ${aliases.slice(0, -1).join(', ')} and ${aliases.at(-1)} passed and agree`,
  };
}

/** A measure that is not symmetric must not bring the order in. */
const agreementOf = ({ similarity }: AgreementContext, a: Alias, b: Alias): number =>
  Math.min(similarity(a, b), similarity(b, a));
