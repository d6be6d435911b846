export {
  type Exposure,
  exposureOfLocal,
  isLikelyWriter,
  MAY_WRITE,
  mayWrite,
  Overrides,
  RunRequest,
  requireNamed,
} from './admit/index.ts';
export {
  decideContest,
  type Generated,
  type GenerateEvent,
  type GeneratePorts,
  generateSamples,
  judgeContest,
  loadContest,
  type Mined,
  type MinePorts,
  mineHistory,
  payerOf,
  readDecisions,
  sourcesOf,
  Voting,
} from './arena/index.ts';
export { keepAnswers } from './ask-model.ts';
export type { DebateEvent } from './brief/index.ts';
export { COLLECTING } from './code/index.ts';
export {
  type Announcer,
  type GitHubRun,
  handleOf,
  isGitHubRun,
  isLocalKey,
  loadRun,
  readPatch,
  repositoryKeyOf,
  requireGitHub,
  type World,
} from './context.ts';
export {
  debateText,
  mayAskModels,
  openShell,
  type Prepared,
  type PreparedPlace,
  type PrepareTools,
  prepareRepository,
  type SelectOptions,
  type SelectTools,
  type ShellTerminal,
  type Survey,
  select,
  surveyRepository,
  type TidiedBranch,
  tidyBranches,
} from './local/index.ts';
export { tryKeepOutcomes } from './outcomes.ts';
export { opinionsOn, pickLocally, requireLocalChoice, standingPicks } from './picks.ts';
export {
  applyPick,
  type CommitPorts,
  choiceTexts,
  endWaitForPick,
  loadOnGitHub,
  openAnnouncer,
  type PublishPorts,
  proposeSettings,
  refreshTally,
  releaseCi,
  statusUrl,
  whyNotOurs,
  writtenComparison,
} from './publish/index.ts';
export {
  acceptedBox,
  findComment,
  findOwnComment,
  firstQuestionText,
  inquiryOf,
  questionCommentOf,
  questionText,
  reportUnrecognized,
  restoreQuestion,
} from './questions/index.ts';
export { flows } from './run.ts';
export { type ShownCall, type ShownWork, shownWork } from './shown.ts';
export { idempotentWrite, unlessDamaged } from './stage.ts';
export {
  announceEndedRuns,
  awaitedInquiry,
  cancelRun,
  executorOfRun,
  followPull,
  isWaiting,
  keepDueOutcomes,
  type PullState,
  type RetentionTimes,
  type Retired,
  reconcile,
  reply,
  retire,
  settleOutcomes,
  startLocalRun,
  startRun,
  stoppedRuns,
  sweepEnded,
} from './upkeep/index.ts';
export { announceQueue, diffsOf, LABEL, loadTestTable, queuedRuns, RUNNING_LABEL, viewOf } from './view.ts';
