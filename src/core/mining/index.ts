export {
  CHANGE_LIMITS,
  classifyChanges,
  type HistoryChange,
  type LeftOut,
  type MinedChange,
  taskIdOf,
  taskPaths,
} from './changes.ts';
export { PROOF_TIMES, verdictOn, verdictText } from './proof.ts';
export {
  latestByCommit,
  MINED_FILE,
  type MinedOutcome,
  MinedRecord,
  type MiningSummary,
  OUTCOMES,
  progressText,
  STOPS,
  type Stop,
  summaryOf,
  summaryRows,
} from './records.ts';
export { statementOf } from './statement.ts';
