export { branchMerge, mergeCommand, nextCommands, shellWord, trustText } from './commands.ts';
export { debateJson, debateProgress, debateReport, type EndedDebate, roundLine } from './debate.ts';
export { type FinalReportOptions, finalReport } from './final-report.ts';
export {
  type CandidateJson,
  type CheckJson,
  type CommentJson,
  type DecisionJson,
  type GitHubParts,
  jsonLine,
  jsonText,
  type PullJson,
  type RunJson,
  runJson,
} from './json.ts';
export { progressLine, renderProgress } from './progress.ts';
export {
  clipped,
  displayWidth,
  type Paint,
  padded,
  painter,
  shown,
  type Tone,
  terminalText,
  wrap,
} from './terminal.ts';
