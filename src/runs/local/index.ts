export { debateText } from './debate-text.ts';
export {
  type Prepared,
  type PreparedPlace,
  type PrepareTools,
  prepareRepository,
  type Survey,
  type SurveyTools,
  surveyRepository,
} from './prepare.ts';
export { type SelectOptions, type SelectTools, select } from './select.ts';
export { openShell, type ShellTerminal } from './shell.ts';
