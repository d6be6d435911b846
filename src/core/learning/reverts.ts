/** One commit of the branch that a pull request was merged into. */
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
  /** Runoff's commit, the last commit of its branch, and its merge commit. */
  readonly shas: readonly string[];
}

/** Git's own sentence, with a full or abbreviated name; for a merge, more follows. Or another one with a full name. */
const REVERTS_COMMIT = /^This reverts commit ([0-9a-f]{7,40})\b|\breverts (?:commit )?([0-9a-f]{40})\b/gim;
/**
 * GitHub's body of a pull request that reverts another one, as it stands in a squashed commit, and its name for the
 * branch in a merge. The repository may have had another name then, so it is not compared.
 */
const REVERTS_PULL =
  /^(?:Reverts (?:[\w.-]+\/[\w.-]+)?#|Merge pull request #\d{1,9} from [\w.-]+\/revert-)(\d{1,9})\b/gim;
/** The number of the pull request that a commit came from, in its first line. */
const OWN_PULL = /^(?:Merge pull request #(\d{1,9}) |.*\(#(\d{1,9})\)\s*$)/;

/** What a message says that its commit reverts: commits by full or abbreviated names, and pull requests. */
export const revertsIn = (
  message: string,
): { readonly commits: readonly string[]; readonly pulls: readonly number[] } => ({
  commits: [...message.matchAll(REVERTS_COMMIT)].map(([, git, other]) => (git ?? other ?? '').toLowerCase()),
  pulls: [...message.matchAll(REVERTS_PULL)].map(([, number]) => Number(number)),
});

/** The number of the pull request that a commit came from, by its message; null if it names none. */
export function pullOf(message: string): number | null {
  const own = OWN_PULL.exec(message.split('\n', 1)[0] ?? '');
  return own ? Number(own[1] ?? own[2]) : null;
}

/**
 * The commits that by their messages revert a pull request, or revert one of these in turn, oldest first as given.
 * Anybody may write such a message: what a commit changes tells whether it is true.
 */
export function revertsNamed(
  { number, shas }: Pick<MergedPull, 'number' | 'shas'>,
  commits: readonly CommitMessage[],
): readonly CommitMessage[] {
  const known = [...shas];
  const numbers = new Set([number]);
  return commits.filter(({ sha, message }) => {
    const { commits: targets, pulls } = revertsIn(message);
    const isOne =
      targets.some((target) => known.some((one) => one.startsWith(target))) ||
      pulls.some((target) => numbers.has(target));
    if (!isOne) return false;
    known.push(sha);
    const own = pullOf(message);
    if (own !== null) numbers.add(own);
    return true;
  });
}

/**
 * When a change was reverted, milliseconds since 1970 UTC; null if it was not, or if it was put back since. `before`:
 * what was known, which stays if nothing else is seen. `steps`: oldest first.
 */
export function revertedAt(
  before: number | null,
  steps: readonly { readonly at: number; readonly effect: 'takes back' | 'puts back' | null }[],
): number | null {
  let found = before;
  for (const { at, effect } of steps) {
    if (effect === 'takes back') found ??= at;
    else if (effect === 'puts back') found = null;
  }
  return found;
}
