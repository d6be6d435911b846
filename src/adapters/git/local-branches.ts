import type { LocalBranch, LocalBranches } from '../../ports/index.ts';
import { gitFault } from './faults.ts';
import type { Git } from './git.ts';
import { checkedSha } from './layout.ts';
import { inUserRepository, NO_PARENT_REPOSITORY } from './sources.ts';
import { userOf } from './trees.ts';

const BRANCHES = 'refs/heads/';

/** Makes the layout of our folders before a call, and looks for damage if it fails. */
type Prepared = <A extends readonly unknown[], R>(
  work: (...args: A) => Promise<R>,
) => (...args: A) => Promise<R>;

/** Lists and deletes branches in a repository of whoever runs Runoff. Its hooks and programs do not run. */
export function openLocalBranches(git: Git, prepared: Prepared): LocalBranches {
  const quiet = inUserRepository(git);

  async function names(top: string, prefix: string, format: string, more: readonly string[] = []) {
    return quiet({ cwd: top, args: ['for-each-ref', ...more, `--format=${format}`, `${BRANCHES}${prefix}`] });
  }

  return {
    branches: prepared(async (top: string, prefix: string) => {
      const listed = await names(top, prefix, '%(refname)%00%(objectname)%00%(tree)%00%(worktreepath)');
      if (listed.exitCode !== 0) throw gitFault(`Reading the branches of ${top}`, listed);
      const merged = await names(top, prefix, '%(refname)', ['--merged=HEAD']);
      // Without a commit, nothing is merged.
      const isMerged = new Set(merged.exitCode === 0 ? merged.stdout.split('\n') : []);
      return listed.stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line): LocalBranch => {
          const [ref = '', sha = '', tree = '', workTree = ''] = line.split('\0');
          const name = ref.slice(BRANCHES.length);
          return { name, sha, tree, isCheckedOut: workTree !== '', isMerged: isMerged.has(ref) };
        });
    }),

    deleteBranch: prepared(async (top: string, { name, sha }: Pick<LocalBranch, 'name' | 'sha'>) => {
      const ref = `${BRANCHES}${name}`;
      const done = await quiet({
        cwd: top,
        // Only if it still points there.
        args: ['update-ref', '-d', ref, checkedSha(sha)],
        env: NO_PARENT_REPOSITORY,
        as: await userOf(top),
      });
      if (done.exitCode !== 0) throw gitFault(`Deleting the branch ${name} of ${top}`, done);
    }),
  };
}
