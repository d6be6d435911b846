export {
  CHANGE_LIMITS,
  classifyChanges,
  type FoundChange,
  type HistoryChange,
  type LeftOut,
  type MinedChange,
  taskIdOf,
  taskPaths,
} from './changes.ts';
export {
  closedByPull,
  type HubRepository,
  hubRepository,
  MAX_ISSUES_OF_CHANGE,
  namedIssues,
  namesIssue,
} from './issues.ts';
export { PROOF_TIMES, verdictOn, verdictText } from './proof.ts';
export {
  latestByCommit,
  MINED_FILE,
  type MinedOutcome,
  MinedRecord,
  type MiningSummary,
  OUTCOMES,
  progressText,
  STATEMENTS,
  STOPS,
  type StatementCounts,
  type StatementSource,
  type Stop,
  statementLines,
  summaryOf,
  summaryRows,
} from './records.ts';
export { statementOf, statementOfIssues, statementTitle } from './statement.ts';
