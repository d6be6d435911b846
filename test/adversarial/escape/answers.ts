/**
 * How a backend says no. Each test states what must be true in any backend; where that leaves several answers, the exact
 * one of this backend stands here.
 */
export interface Answers {
  /** Accounts that a command sees. */
  readonly accounts: readonly string[];
  /** Its own number inside: one that every command has, or its user's outside. */
  readonly user: 'one for all' | 'as outside';
  /** Groups besides its own are given up; an engine names its own once more among them. */
  readonly groups: 'none' | 'its own';
  /** The errno for arguments that the filter refuses, and for a family of sockets. */
  readonly argument: 'EPERM' | 'ENOSYS';
  readonly family: 'EAFNOSUPPORT' | 'ENOSYS';
  /** Typing into a terminal that the command made itself; another it has not. */
  readonly ownTerminal: 'refused' | 'allowed';
  /** What stands in the root besides, and in /sys and /run. */
  readonly besides: readonly string[];
  /** A folder that the probe must speak of as weaker when anything of the host's shows there. */
  readonly sys: 'absent' | 'empty, or named by the probe';
  /** Processes that a command may have above its limit, because the backend's own are counted with them. */
  readonly processesBesides: number;
  /** A fork bomb beside it: what it does to a sandbox that is about to start. One that runs goes on in any case. */
  readonly besideBomb: 'starts' | 'may start late, as the probe says';
  /** Why nothing is written to /dev. */
  readonly device: 'Read-only file system' | 'Permission denied';
  /** Watches of files: each sandbox has its own number of them, or all share one, which the probe must speak of. */
  readonly watches: 'own' | 'shared, as the probe says';
}

export const BUBBLEWRAP: Answers = {
  accounts: ['root', 'agent', 'nobody'],
  user: 'one for all',
  groups: 'none',
  argument: 'EPERM',
  family: 'EAFNOSUPPORT',
  ownTerminal: 'refused',
  besides: [],
  sys: 'absent',
  processesBesides: 0,
  besideBomb: 'starts',
  device: 'Read-only file system',
  watches: 'own',
};

export const CONTAINER: Answers = {
  accounts: ['root', 'agent'],
  user: 'as outside',
  groups: 'its own',
  argument: 'ENOSYS',
  family: 'ENOSYS',
  ownTerminal: 'allowed',
  // Marks of engines, and folders that are empty inside.
  besides: ['run', 'sys', '.containerenv', '.dockerenv', 'secrets'],
  sys: 'empty, or named by the probe',
  processesBesides: 32,
  besideBomb: 'may start late, as the probe says',
  device: 'Permission denied',
  watches: 'shared, as the probe says',
};

/** Numbers of errors, as programs print them. */
export const ERRNO = { EPERM: '1', ENOSYS: '38', EAFNOSUPPORT: '97' } as const;
