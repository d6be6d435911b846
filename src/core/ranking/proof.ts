import {
  type Evidence,
  failsAgainst,
  lacksResultOf,
  NO_INDEPENDENT_TESTS,
  type SameSetTests,
  shownBy,
} from '../evidence/index.ts';
import type { Alias } from '../model/index.ts';
import { type Calibration, type Ranked, type Separator, sameSetOf } from './odds.ts';

/** The parts of a judgement that the decision uses. */
export interface JudgedOutcome {
  readonly kind: 'judged' | 'discarded' | 'unanswered';
  readonly confidence: 'clear' | 'likely' | 'toss-up';
  readonly because: string;
}

/** The first survivor, and what its chance is estimated from. */
export interface LeadingCandidate {
  readonly best: Ranked;
  readonly winning: Evidence;
  /** Survivors with a different change, best first. */
  readonly rivals: readonly Ranked[];
  readonly evidence: readonly Evidence[];
  readonly sameSet: (alias: Alias) => SameSetTests;
  /** What separated it from the first rival. */
  readonly decidedBy: Separator;
  readonly judgement?: JudgedOutcome | undefined;
  readonly calibration: Calibration;
}

/** What was found about a ranked candidate. */
export const evidenceOf = (
  { evidence }: Pick<LeadingCandidate, 'evidence'>,
  { alias }: Pick<Ranked, 'alias'>,
): Evidence | undefined => evidence.find((one) => one.alias === alias);

/** Rivals that break nothing. */
const unbrokenRivals = ({ rivals }: LeadingCandidate): readonly Ranked[] =>
  rivals.filter(({ regressions }) => regressions === 0);

/** Rivals that break nothing and fix as many base tests. */
export const soundRivals = (standing: LeadingCandidate): readonly Ranked[] =>
  unbrokenRivals(standing).filter(({ fixed }) => fixed >= standing.best.fixed);

/**
 * Whether an executed test shows that something is fixed: a test of the task, of the base, or a new one that another
 * candidate confirms. A candidate's own unconfirmed test is weak evidence, and none at all if a rival is left that
 * breaks nothing: otherwise writing a test would be enough to be right.
 */
export function fixShown(standing: LeadingCandidate, alone: boolean): 'executed' | 'own-test' | 'nothing' {
  const { winning, sameSet } = standing;
  if (hasIndependentProof(standing) || isShownByPeers(sameSet(winning.alias))) return 'executed';
  return alone && (winning.provenTests ?? 0) > 0 ? 'own-test' : 'nothing';
}

/**
 * Tests that a task asks for are proven by what they catch. Tests written by models show nothing if they disagree: if
 * they favour a rival that breaks nothing at least as often as the pick, it is unknown which of them misread the task.
 */
export function hasIndependentProof(standing: LeadingCandidate): boolean {
  const { written } = shownBy(standing.winning.independentTests ?? NO_INDEPENDENT_TESTS);
  return (
    isShownByTask(standing.winning) ||
    (written > 0 && disputes(standing).every(({ lost, won }) => lost < won))
  );
}

/** Whether a test of its own is confirmed, or it passes a confirmed one of another candidate. */
const isShownByPeers = ({ ownConfirmed, confirmed, passedOfOthers }: SameSetTests): boolean =>
  ownConfirmed || confirmed.passed > 0 || passedOfOthers > 0;

/** Whether an example of the issue, a test of the base that failed, or a mutant that an asked-for test catches shows it. */
const isShownByTask = ({ independentTests = NO_INDEPENDENT_TESTS, baseTests, mutants }: Evidence): boolean =>
  shownBy(independentTests).issue > 0 || (baseTests?.fixed.length ?? 0) > 0 || (mutants?.caught ?? 0) > 0;

/**
 * Whether an executed test shows that the task is done, apart from tests that models of the pick's own family, or of an
 * unknown one, wrote and confirmed: they may have misread the task as its author did. Candidates with the same change
 * are one: another family that made it read the task in the same way.
 */
export function isShownByOthers(standing: LeadingCandidate): boolean {
  const { winning, evidence } = standing;
  if (isShownByTask(winning)) return true;
  if (isShownByPeers(sameSetOf(evidence, 'other-families')(winning.alias))) return true;
  const writers = winning.independentTests?.written?.families ?? [];
  const authors = evidence.filter(
    ({ alias, survivor }) => survivor && (alias === winning.alias || winning.alike?.includes(alias)),
  );
  const isForeign = (writer: string) =>
    authors.some(({ family }) => family !== undefined && family !== writer);
  return writers.some(isForeign) && hasIndependentProof(standing);
}

/** Whether tests of the base that it makes pass are all that shows the fix, and they failed in a single run there. */
export function hasOnlyFlakyProof(standing: LeadingCandidate): boolean {
  const { winning, sameSet } = standing;
  const { issue, written } = shownBy(winning.independentTests ?? NO_INDEPENDENT_TESTS);
  return (
    (winning.baseTests?.fixed.length ?? 0) > 0 &&
    winning.baseTests?.baseRuns === undefined &&
    winning.baseTests?.fixedAgain !== true &&
    issue + written === 0 &&
    !isShownByPeers(sameSet(winning.alias))
  );
}

/** The rivals that break nothing and pass independent tests that the pick fails: how many, and the other way round. */
export const disputes = (standing: LeadingCandidate) =>
  unbrokenRivals(standing).flatMap((rival) => {
    const own = standing.winning.independentTests;
    const theirs = evidenceOf(standing, rival)?.independentTests;
    const lost = failsAgainst(own, theirs);
    return lost > 0 ? [{ alias: rival.alias, lost, won: failsAgainst(theirs, own) }] : [];
  });

/** The first rival that breaks nothing and on which an independent test gave a result, but none on the pick. */
export const rivalTriedOnMore = (standing: LeadingCandidate): Ranked | undefined =>
  unbrokenRivals(standing).find((rival) =>
    lacksResultOf(standing.winning.independentTests, evidenceOf(standing, rival)?.independentTests),
  );

/** The pick, or the first rival that breaks nothing, without results of probes although another survivor has some. */
export function unprobed(standing: LeadingCandidate): Alias | undefined {
  const isProbed = (one: Evidence | undefined) => (one?.behaviour?.observed ?? 0) > 0;
  if (!standing.evidence.some((one) => one.survivor && isProbed(one))) return undefined;
  return [standing.best, ...unbrokenRivals(standing)].find((one) => !isProbed(evidenceOf(standing, one)))
    ?.alias;
}
