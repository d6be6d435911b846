export { generatedText, generateLine } from './arena.ts';
export { arenaReportText, arenaSectionText } from './arena-report.ts';
export {
  type BallotPage,
  ballotJson,
  ballotPage,
  lastTop,
  resultsText,
  rowsOfPage,
  screenLines,
} from './ballot.ts';
export { mergeCommand, shellMerge, shellWord, trustText } from './commands.ts';
export { debateJson, debateProgress, debateReport, roundLine } from './debate.ts';
export { diffText } from './diff.ts';
export { explainText } from './explain.ts';
export { finalReport } from './final-report.ts';
export { includedText } from './included.ts';
export { jsonLine, jsonText, runJson } from './json.ts';
export { leaderboardText } from './leaderboard.ts';
export { nextTryText, preparedText, stepText, surveyText, testCounts, testsProblem } from './prepare.ts';
export { progressLine, renderProgress, stoppedText } from './progress.ts';
export {
  clipped,
  displayWidth,
  openTerminalFilter,
  type Paint,
  padded,
  painter,
  printable as shown,
  terminalText,
  wrap,
} from './terminal.ts';
