export { blindPatch, type ShownLine } from './blind.ts';
export { redactInjections } from './blind-line.ts';
export { bradleyTerry, bradleyTerryStrengths, type Game } from './bradley-terry.ts';
export { type Identities, identitiesOf, leaksIn, scrub } from './identity.ts';
export {
  type JudgingResults,
  judgementOf,
  MAX_INCONSISTENT,
  notJudged,
  strengthsOf,
  winsTiesLosses,
} from './judgement.ts';
export {
  advancing,
  allPairs,
  familyOf,
  type JudgingPlan,
  judgeModels,
  judgesForPair,
  judgingPlanOf,
  knockoutRound,
  MAX_CALLS,
  type Pair,
} from './panel.ts';
export {
  comparisonQuestion,
  factsOf,
  looksIdentical,
  reviewQuestion,
  type ShownCandidate,
} from './question.ts';
export * from './types.ts';
export { type AskedPair, checkVerdict, type JudgeAnswer, outcomesOf, Verdict } from './verdict.ts';

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
  reviewOutcome,
  reviewWanted,
  type WinnerReview,
} from './winner-review.ts';
