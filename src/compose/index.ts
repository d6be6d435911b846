export { agentsOf } from './agents.ts';
export { openArena, openContestFolders } from './arena.ts';
export { closing, disposedOnFailure, openAppGitHub } from './connections.ts';
export { diagnose } from './doctor.ts';
export { ownCommand, ownCommit } from './installation.ts';
export { openLog } from './instrumentation.ts';
export { createBelow, openMining, openPreparing, openSelecting, replaceBelow } from './local.ts';
export { openRunPage, showLocalPages } from './local-pages.ts';
export { moveAway, pruneByHand } from './maintenance.ts';
export { readOperator, readSettings, settingsSource } from './operator-settings.ts';
export { openRuntime } from './runtime.ts';
export { type Served, serve, startApp } from './serve.ts';

export { openWorker, work } from './worker.ts';
