import type { Sha } from '../core/model/index.ts';

/** A branch of a repository of whoever runs Runoff. */
export interface LocalBranch {
  /** Without `refs/heads/`. */
  readonly name: string;
  readonly sha: Sha;
  readonly tree: Sha;
  /** In any working tree of the repository. */
  readonly isCheckedOut: boolean;
  /** The checked-out commit contains it. */
  readonly isMerged: boolean;
}

/** Branches in repositories on this machine. */
export interface LocalBranches {
  /** Those whose names have this prefix, which ends with a slash. */
  branches(top: string, prefix: string): Promise<readonly LocalBranch[]>;
  /** Fault if the branch no longer points to this commit. */
  deleteBranch(top: string, branch: Pick<LocalBranch, 'name' | 'sha'>): Promise<void>;
}

/** A path that differs between a working tree and the checked-out commit. */
export interface KeptChange {
  readonly path: string;
  readonly change: 'added' | 'modified' | 'deleted';
}

/** The working tree of a local repository. */
export interface LocalChanges {
  /**
   * Keeps a local working tree as it is as a commit over the one that is checked out: tracked files, and those that are not
   * ignored; repositories inside it that are no submodules are left out. The commit is in Runoff's own copy; of the
   * repository neither index, branches, stash nor objects change, and no program is run that its settings or those of
   * its submodules name. `at`: milliseconds since 1970 UTC. `changes`: what differs between the two commits, in git's
   * order. Faults: NOT_A_REPOSITORY, REPOSITORY_EMPTY, CHANGES_REFUSED for conflicts, for names that are not UTF-8, and
   * for more than 256 MiB.
   */
  keepChanges(
    path: string,
    at: number,
  ): Promise<{ readonly sha: Sha; readonly changes: readonly KeptChange[] }>;
}
