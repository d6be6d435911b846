import type { Sha } from '../core/model/index.ts';

/** A branch of a repository of whoever runs Runoff. */
export interface LocalBranch {
  /** Without `refs/heads/`. */
  readonly name: string;
  readonly sha: Sha;
  readonly tree: Sha;
  /** In any work tree of the repository. */
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
