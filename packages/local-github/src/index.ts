export type { CheckSummary, Client, CommentSummary, PullSummary, RepositoryName } from './client.ts';
export { ApiError } from './emulator.ts';
export type { Commit } from './push.ts';
export type { Faults, InjectedFault } from './server.ts';
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
