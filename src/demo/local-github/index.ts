export type { Client, ShownComment, ShownPull } from './client.ts';
export { Refusal } from './emulator.ts';
export { startLocalGitHub } from './start.ts';
export type {
  Delivery,
  LocalGitHub,
  LocalGitHubOptions,
  LocalHandle,
  LocalRepository,
  Reaction,
  Role,
} from './types.ts';
