export { agentsOf } from './agents.ts';
export { closedOnFailure, openClosers } from './closers.ts';
export { diagnose } from './doctor.ts';
export { openLog } from './log.ts';
export { moveAway } from './move.ts';
export {
  type OperatorSettings,
  readOperator,
  readSettings,
  type SettingsSource,
  settingsSource,
} from './operator.ts';
export { pruneByHand } from './prune.ts';
export { openAppGitHub, openRuntime, type RuntimeOptions } from './runtime.ts';
export { openSelecting } from './select.ts';
export { type Served, serve, startApp } from './serve.ts';
export { openWorker, type Working, work } from './worker.ts';
