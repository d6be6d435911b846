export { withhold } from './address.ts';
export { type BlindPatch, blind, changedFiles, ROOM, type ShownLine } from './blind.ts';
export { bradleyTerry, type Fit, type Game, type Strength } from './bradley-terry.ts';
export { type Identities, identitiesOf, leaksIn, scrub } from './identity.ts';
export { type Hearing, judgementOf, notJudged, strengthsOf, winsTiesLosses } from './judgement.ts';
export { afterRound, type Round, roundOf } from './knockout.ts';
export { type AskedPair, outcomesOf } from './outcomes.ts';
export {
  allPairs,
  familyOf,
  judgeModels,
  MOST_CALLS,
  MOST_JUDGES,
  type Pair,
  type PanelJudge,
  type Plan,
  type PlanOptions,
  panelOf,
  planOf,
} from './panel.ts';
export { alike, factsOf, type Question, questionOf, reviewQuestionOf, type SideShown } from './question.ts';
export * from './types.ts';
export { type Heard, heard, type Shown, type Side, Verdict } from './verdict.ts';
export {
  type CriticReport,
  confirmed,
  fateOf,
  MOST_WINNERS,
  type Objection,
  type ObjectionFate,
  type Reproduction,
  Review,
  type Reviewed,
  type ReviewOutcome,
  reviewed,
  reviewWanted,
  settleReview,
  type VetoClaim,
  type WinnerReview,
} from './winner-review.ts';
