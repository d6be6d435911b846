export { cumulative, draw, meanOf, quantile } from './beta.ts';
export { editedShare, effectOn } from './changed-lines.ts';
export {
  CONFIDENCE_RULES,
  confidenceNote,
  confidenceShift,
  shiftedCalibration,
} from './confidence.ts';
export { conventionalTitle, writesConventionalCommits } from './conventional.ts';
export {
  chooseField,
  FIELD_RULES,
  type FieldChoice,
  type FieldRequest,
  fieldReasons,
  type Option,
} from './field.ts';
export { type Leaderboard, leaderboardOf, type Standing } from './leaderboard.ts';
export {
  agentName,
  type CandidateOutcome,
  creditOf,
  type MergeFacts,
  outcomesOf,
} from './outcome.ts';
export { type CommitMessage, pullOf, revertedAt, revertsIn, revertsNamed } from './reverts.ts';
export { type SequenceChoice, sequenceOf, sequenceReason } from './sequence.ts';
export type { Tally } from './shrinkage.ts';
export { expectedLeft, stageTimes } from './stage-times.ts';
export { mainLanguageOf, WORK_KINDS, type WorkKind, workKindOf } from './work-kind.ts';
