export { type BlindPatch, blindPatch, changedFiles, SHOWN_LIMITS, type ShownLine } from './blind.ts';
export { redactInjections } from './blind-line.ts';
export { type BradleyTerryFit, bradleyTerry, type Game, type Strength } from './bradley-terry.ts';
export { type Identities, identitiesOf, leaksIn, scrub } from './identity.ts';
export { type JudgingResults, judgementOf, notJudged, strengthsOf, winsTiesLosses } from './judgement.ts';
export {
  advancing,
  allPairs,
  familyOf,
  type JudgingPlan,
  type JudgingPlanOptions,
  judgeModels,
  judgesForPair,
  judgingPlanOf,
  type KnockoutRound,
  knockoutRound,
  MAX_CALLS,
  MAX_JUDGES,
  type Pair,
  type PanelJudge,
} from './panel.ts';
export {
  comparisonQuestion,
  factsOf,
  type JudgeQuestion,
  looksIdentical,
  reviewQuestion,
  type ShownCandidate,
} from './question.ts';
export * from './types.ts';
export {
  type AskedPair,
  checkVerdict,
  type JudgeAnswer,
  outcomesOf,
  type ShownPair,
  type Side,
  Verdict,
} from './verdict.ts';

export {
  type CheckedReview,
  type CriticReport,
  checkReview,
  hasConfirmedObjection,
  MAX_REVIEWED_WINNERS,
  type Objection,
  type ObjectionOutcome,
  objectionOutcome,
  type Reproduction,
  Review,
  type ReviewOutcome,
  reviewOutcome,
  reviewWanted,
  type VetoClaim,
  type WinnerReview,
} from './winner-review.ts';
