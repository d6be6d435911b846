export { LAUNCH_LOCK } from './connection.ts';
export { openDbosEngine } from './engine.ts';
export { type FenceOptions, type HeartbeatOptions, type OwnFence, openFence } from './fence.ts';
export type { CoderQueue, DbosEngineOptions } from './options.ts';
export { prepareEngineSchema } from './schema.ts';
