export { type BlindPatch, blind, changedFiles, ROOM, type ShownLine } from './blind.ts';
export { withhold } from './blind-line.ts';
export { bradleyTerry, type Fit, type Game, type Strength } from './bradley-terry.ts';
export { type Identities, identitiesOf, leaksIn, scrub } from './identity.ts';
export { type Hearing, judgementOf, notJudged, strengthsOf, winsTiesLosses } from './judgement.ts';
export {
  afterRound,
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
  type Round,
  roundOf,
} from './panel.ts';
export { alike, factsOf, type Question, questionOf, reviewQuestionOf, type SideShown } from './question.ts';
export * from './types.ts';
export { type AskedPair, type Heard, heard, outcomesOf, type Shown, type Side, Verdict } from './verdict.ts';

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
