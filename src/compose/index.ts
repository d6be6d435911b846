export { agentsOf } from './agents.ts';
export { closing, disposedOnFailure, openAppGitHub } from './connections.ts';
export { diagnose } from './doctor.ts';
export { openLog } from './log.ts';
export { moveAway, pruneByHand } from './maintenance.ts';
export {
  type OperatorSettings,
  readOperator,
  readSettings,
  type SettingsSource,
  settingsSource,
} from './operator-settings.ts';
export { openPreparing } from './prepare.ts';
export { openRuntime, type RuntimeOptions } from './runtime.ts';
export { openSelecting } from './select.ts';
export { type Served, serve, startApp } from './serve.ts';

export { openWorker, type RunningWorker, work } from './worker.ts';
