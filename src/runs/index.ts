export {
  type Exposure,
  exposureOfLocal,
  isLikelyWriter,
  mayWrite,
  Overrides,
  RunRequest,
} from './admit/index.ts';
export type { DebateEvent } from './brief/index.ts';
export { COLLECTING } from './code/index.ts';
export {
  type Announcer,
  type GitHubRun,
  handleOf,
  isGitHubRun,
  loadRun,
  requireGitHub,
  type World,
} from './context.ts';
export { debateText } from './debate-text.ts';
export { pickLocally } from './picks.ts';
export {
  type Prepared,
  type PrepareTools,
  prepareRepository,
  type Survey,
  type SurveyTools,
  surveyRepository,
} from './prepare.ts';
export {
  applyPick,
  type CommitPorts,
  choiceTexts,
  loadOnGitHub,
  openAnnouncer,
  type PublishPorts,
  refreshTally,
  releaseCi,
  statusUrl,
  whyNotOurs,
  writtenComparison,
} from './publish/index.ts';
export {
  findComment,
  findOwnComment,
  firstQuestionText,
  inquiryOf,
  questionCommentOf,
  questionText,
  reportUnrecognized,
  restoreQuestion,
} from './question.ts';
export {
  announceEndedRuns,
  awaitedInquiry,
  cancelRun,
  closeUnpicked,
  isWaiting,
  reconcile,
  reply,
  startLocalRun,
  startRun,
  sweepEnded,
} from './reconcile.ts';
export { type RetentionTimes, type Retired, retire } from './retire.ts';
export { flows } from './run.ts';
export { type SelectOptions, type SelectTools, select } from './select.ts';
export { idempotentWrite, OUTAGES } from './stage.ts';
export { announceQueue, diffsOf, LABEL, queuedRuns, RUNNING_LABEL, viewOf } from './view.ts';
