export type { CollectLimits } from './collect.ts';
export { COLLECT_LIMITS } from './collect.ts';
export { bytesOf } from './trees.ts';
export { openWorkspaces, type WorkspacesOptions } from './workspaces.ts';
