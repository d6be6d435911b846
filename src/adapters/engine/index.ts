export { openDbosEngine } from './engine.ts';
export type { HeartbeatOptions } from './heartbeat.ts';
export type { CoderQueue, DbosEngineOptions } from './options.ts';
