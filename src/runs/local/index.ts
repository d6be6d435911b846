export { debateText } from './debate-text.ts';
export {
  openShell,
  type Prepared,
  type PreparedPlace,
  type PrepareTools,
  prepareRepository,
  type ShellTerminal,
  type Survey,
  surveyRepository,
} from './prepare.ts';
export { decidePatches, mayAskModels, type SelectOptions, type SelectTools, select } from './select.ts';
export { type TidiedBranch, tidyBranches } from './tidy-branches.ts';
