export { setAsideNote, silenceNote } from './base-notes.ts';
export { comparison, noSurvivorAdvice, outcomeComment, pickComment, pickOptions } from './comparison.ts';
export { noPatchAtAll, votesLine } from './decision-summary.ts';
export { MAX_REPORT_COMMENTS, type ReportComments } from './diff-pages.ts';
export { explanation } from './explanation.ts';
export { commandFailure, type FailedCommand, failureLines, howEnded } from './failure-output.ts';
export {
  branchName,
  branchOf,
  counted,
  dollars,
  elapsed,
  localBranch,
  money,
  personFirst,
  personIn,
  plusMinus,
  shortSha,
  tokens,
} from './format.ts';
export {
  activityLabel,
  CANDIDATE_STATE_LABELS,
  contestantName,
  DEBATE_STOP_LABELS,
  decisionLabel,
  GATE_FAILURE_LABELS,
  ordinal,
  progressLabel,
  queueText,
  SEPARATOR_LABELS,
  STAGE_LABELS,
  shortContestantNames,
  stageNumber,
  stageOf,
} from './labels.ts';
export {
  BODY_LIMIT,
  findMarker,
  type Marker,
  marker,
  REPORT_KINDS,
  type ReportKind,
  replyScope,
  report,
} from './layout.ts';
export {
  type CheckText,
  checkText,
  commitMessage,
  type FollowUpCommit,
  followUpMessage,
  type PullText,
  pullRequest,
} from './pull.ts';
export {
  type CheckboxEdit,
  checkboxEdit,
  questionComment,
  type UnansweredPolicy,
} from './question-comment.ts';
export {
  type FailingTests,
  type InputExample,
  type RankReason,
  type RankRow,
  rankRows,
  reasons,
  standings,
} from './ranking-table.ts';
export { type DayCap, type Refusal, type RefusalText, refusalComment, refusalText } from './refusal.ts';
export { helpReply, noteReply, statusReply, unknownReply } from './replies.ts';
export { code, fencedDiff, htmlCode, inertSentence, link, plain, prose } from './safe.ts';
export { criticText, debateSummary, OBJECTION_RESULT_LABELS, reviewOutcome } from './sections.ts';
export { statusComment } from './status.ts';
export { agreementNote, contestedQuestion, PARTIAL_WORK_JUDGED, testNotes } from './test-facts.ts';
export type {
  ChecksView,
  Diffs,
  DiffView,
  OriginView,
  OutcomeView,
  Report,
  RunView,
  SandboxView,
  StageView,
  TroubleView,
} from './view.ts';
export {
  type Bounds,
  cut,
  type HostFolder,
  tailOf,
  visible,
  visibleCode,
  visibleLine,
  withoutEscapes,
  withoutHostPaths,
} from './visible.ts';
