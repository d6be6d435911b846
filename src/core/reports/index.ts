export { examinationTimeLeft, progressLabel, STEP_LABELS, stepTime } from './activity.ts';
export {
  blindNote,
  type HiddenNames,
  hiddenCandidate,
  hiddenNames,
  hidesNames,
  leavesChoiceToPerson,
  withHiddenNames,
  withoutNames,
  withoutOptions,
} from './blind.ts';
export { checkText } from './check-text.ts';
export {
  commandFailure,
  commandNotes,
  howEnded,
  lentNote,
  quotedCode,
  registryOutage,
} from './commands.ts';
export { COMMIT_AUTHOR, commitMessage, followUpMessage } from './commit-message.ts';
export { comparison, outcomeComment, pickComment, pickOptions } from './comparison.ts';
export { ENDED_UNCHANGED, noSurvivorAdvice } from './decision-sections.ts';
export { type DiffLineKind, diffLineKinds } from './diff-lines.ts';
export { MAX_REPORT_COMMENTS, type ReportComments } from './diff-pages.ts';
export { type DocumentParts, runDocument } from './document.ts';
export { JudgedPairDocument } from './document-brief.ts';
export { CandidateDocument, RunDocument } from './document-schema.ts';
export { countedPeerTests } from './executed.ts';
export { explanation } from './explanation.ts';
export { failureLines } from './failure-lines.ts';
export { lookAtNotes, lookAtText } from './findings.ts';
export {
  branchMerge,
  branchName,
  branchOf,
  branchPrefix,
  CANDIDATE_STATE_LABELS,
  contestantName,
  costText,
  counted,
  DEBATE_STOP_LABELS,
  decisionLabel,
  dollars,
  elapsed,
  HIDDEN,
  LOCAL_BRANCHES,
  localBranch,
  money,
  ordinal,
  plusMinus,
  queueText,
  readLocalBranch,
  shortContestantNames,
  shortSha,
  stageOf,
  tokens,
  tokensText,
  toolsText,
} from './format.ts';
export { choiceText } from './headline.ts';
export { NONE_TOLD_APART, peopleNotes, standingTexts } from './leaderboard.ts';
export {
  BODY_LIMIT,
  code,
  fencedDiff,
  findMarker,
  htmlCode,
  inertSentence,
  link,
  type Marker,
  marker,
  plainLine,
  prose,
  REPORT_KINDS,
  type ReportKind,
  replyScope,
  report,
} from './markdown.ts';
export { type Markup, PAGE, personFirst } from './markup.ts';
export { overlapGap, overlapLines } from './overlaps.ts';
export { pullRequest, withCiStarted } from './pull.ts';
export { pushRefusal } from './push-refusal.ts';
export { type RankReason, reasons, reasonsOnce } from './rank-reasons.ts';
export { type RankRow, rankRows, standings } from './ranking-table.ts';
export { type DayCap, type Refusal, type RunTrigger, refusalComment, refusalText } from './refusal.ts';
export {
  type CheckboxEdit,
  checkboxEdit,
  helpReply,
  noteReply,
  questionComment,
  settingsReply,
  statusReply,
  type UnansweredPolicy,
  unknownReply,
} from './replies.ts';
export { criticText, debateSummary, OBJECTION_RESULT_LABELS, reviewOutcome } from './sections.ts';
export { sequencePlan, sequenceResult } from './sequence.ts';
export { couldKeepCommands, settingsPull } from './settings-pull.ts';
export { ALL_CODERS, spendingGroups } from './spending.ts';
export { statusComment } from './status.ts';
export { type RunSummary, runSummary } from './summary.ts';
export {
  agreementNote,
  contestedQuestion,
  excludedTestsNote,
  PARTIAL_WORK_JUDGED,
  silenceNote,
  testNotes,
} from './test-facts.ts';
export {
  differingInputs,
  type Inputs,
  type Matrix,
  type MatrixGroup,
  type MatrixRow,
  matrixOf,
} from './test-matrix.ts';
export {
  type ActivityStep,
  type BaseStep,
  type CandidateView,
  type ChecksView,
  type CommandFiles,
  type DecisionRecord,
  type Diffs,
  type DiffView,
  decisionRecord,
  type ExaminationStep,
  type LentView,
  type OriginView,
  type OutcomeView,
  type Report,
  type RunView,
  type SandboxView,
} from './view.ts';
export {
  cut,
  escapeHtml,
  type HostFolder,
  tailOf,
  visible,
  visibleCode,
  visibleLine,
  withoutHostPaths,
} from './visible.ts';
