export type { Client, Place, ShownCheck, ShownComment, ShownPull } from './client.ts';
export type { Commit } from './commits.ts';
export { Refusal } from './emulator.ts';
export type { Faults, Mishap } from './faults.ts';
export { appEnvironment, startLocalGitHub } from './start.ts';
export type {
  Delivery,
  LocalGitHub,
  LocalGitHubOptions,
  LocalHandle,
  LocalRepository,
  Minimised,
  Reaction,
  Role,
} from './types.ts';
