export type { CheckSummary, Client, CommentSummary, Commit, PullSummary, RepositoryName } from './client.ts';
export { ApiError } from './emulator.ts';
export type { Faults, InjectedFault } from './faults.ts';
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
