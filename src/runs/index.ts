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
  type PromptLibrary,
  requireGitHub,
  type World,
} from './context.ts';
export { debateText, type TextDebate, type TextDebateOptions } from './debate-text.ts';
export { type LocalPick, pickLocally } from './picks.ts';
export {
  type Prepared,
  type PrepareStep,
  type PrepareTools,
  prepareRepository,
} from './prepare.ts';
export {
  type Applied,
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
export { announceQueue, queuedRuns } from './queue.ts';
export {
  announceEndedRuns,
  awaitedInquiry,
  cancelRun,
  closeUnpicked,
  isWaiting,
  type ReplyResult,
  reconcile,
  reply,
  startLocalRun,
  startRun,
  sweepEnded,
} from './reconcile.ts';
export { type RetentionTimes, type Retired, retire } from './retire.ts';
export { flows, type RunEnd, runTask } from './run.ts';
export { type SelectOptions, type SelectTools, select } from './select.ts';
export { idempotentWrite, OUTAGES } from './stage.ts';
export { diffsOf, LABEL, RUNNING_LABEL, viewOf } from './view.ts';
