/** One commit of the default branch. */
export interface CommitMessage {
  readonly sha: string;
  readonly message: string;
  /** Committer time, milliseconds since 1970 UTC. */
  readonly at: number;
}

/** What a pull request left on the branch that it was merged into. */
export interface MergedPull {
  readonly number: number;
  /** Name of that branch. */
  readonly base: string;
  /** Its merge commit, and the last commit of its branch. */
  readonly shas: readonly string[];
}

/** Git's own sentence, with a full or abbreviated name; for a merge, more follows. */
const REVERTS_COMMIT = /^This reverts commit ([0-9a-f]{7,40})\b/gim;
/** GitHub's body of a pull request that reverts another one, as it stands in a squashed commit or a merge. */
const REVERTS_PULL = /^Reverts ([\w.-]+\/[\w.-]+)?#(\d{1,9})\b/gim;

/**
 * When the work of a pull request was reverted, milliseconds since 1970 UTC; null if it was not, or if its revert was
 * reverted in turn. `repository`: `owner/name`, for reverts that name a pull request. `commits`: oldest first.
 */
export function revertedAt(
  pull: Pick<MergedPull, 'number' | 'shas'> & { readonly repository: string },
  commits: readonly CommitMessage[],
): number | null {
  let at: number | null = null;
  let reverts: string[] = [];
  for (const { sha, message, at: time } of commits) {
    if (at !== null && namesCommit(message, reverts)) {
      at = null;
      reverts = [];
    } else if (namesCommit(message, pull.shas) || namesPull(message, pull)) {
      at ??= time;
      reverts.push(sha);
    }
  }
  return at;
}

const namesCommit = (message: string, shas: readonly string[]): boolean =>
  [...message.matchAll(REVERTS_COMMIT)].some(([, target = '']) =>
    shas.some((sha) => sha.startsWith(target.toLowerCase())),
  );

const namesPull = (
  message: string,
  { number, repository }: { readonly number: number; readonly repository: string },
): boolean =>
  [...message.matchAll(REVERTS_PULL)].some(
    ([, where = repository, target]) =>
      Number(target) === number && where.toLowerCase() === repository.toLowerCase(),
  );
