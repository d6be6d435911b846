export { type CoderQueue, type DbosEngineOptions, prepareEngineSchema } from './dbos-config.ts';
export { openDbosEngine } from './engine.ts';
export { type FenceOptions, type HeartbeatOptions, type OwnFence, openFence } from './heartbeat.ts';
export { LAUNCH_LOCK } from './locks.ts';
