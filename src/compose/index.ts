export { agentsOf } from './agents.ts';
export { closedOnFailure, openClosers } from './closers.ts';
export { diagnose } from './doctor.ts';
export { openLog } from './log.ts';
export { readOperator } from './operator.ts';
export { openAppGitHub, openRuntime, type RuntimeOptions } from './runtime.ts';
export { openSelecting } from './select.ts';
export { type Served, serve, startApp } from './serve.ts';
export { openWorker, type Working, work } from './worker.ts';
