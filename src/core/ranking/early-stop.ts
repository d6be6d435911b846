import type { Evidence } from '../evidence/index.ts';
import { type Alias, byCodeUnits, formatList } from '../model/index.ts';

/**
 * Minimum graded agreement for two changes to count as the same answer, in [0, 1]. From patches with known outcome
 * (docs/decisions/0025): of pairs from different families that break nothing, 53% were right; from 0.8 it was 71%,
 * from 0.9 76%, and identical changes were no better than that.
 */
export const AGREEMENT_THRESHOLD = 0.9;

/** A candidate that was examined while others are still being coded. */
export interface FinishedCandidate {
  readonly evidence: Evidence;
  /** Model family of its author. */
  readonly family: string;
}

type EarlyStopDecision =
  | { readonly kind: 'wait' }
  /** `aliases` agree, sorted; `because` is a clause for the notes of stopped candidates. */
  | { readonly kind: 'stop'; readonly aliases: readonly Alias[]; readonly because: string };

export interface AgreementContext {
  /** Model families that compete in the run, including candidates still being coded. */
  readonly families: number;
  /** Graded agreement of two candidates' changes, in [0, 1]; 1 for the same class. */
  readonly similarity: (a: Alias, b: Alias) => number;
}

/**
 * Whether the remaining candidates can be stopped: at least two finishers passed every gate and break no test that
 * passes on the base, and all of these agree with each other. If several model families compete, they must come from
 * at least two, because repetitions of one model tend to agree. The result does not depend on the order of the
 * finishers.
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
    because: `stopped early: ${formatList(aliases)} passed and agree`,
  };
}

/** Makes an asymmetric measure independent of the order. */
const agreementOf = ({ similarity }: AgreementContext, a: Alias, b: Alias): number =>
  Math.min(similarity(a, b), similarity(b, a));
