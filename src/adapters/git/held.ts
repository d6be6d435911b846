import type { Sha } from '../../core/model/index.ts';
import type { RepositorySource } from '../../ports/index.ts';
import type { Git } from './git.ts';
import { isSha, type Layout } from './layout.ts';
import { keyOfSource } from './sources.ts';

/**
 * Checks the ref, which git writes when the commit is complete: the commit itself may have been left by a fetch that
 * was killed or ran out of space.
 */
export async function has(git: Git, mirror: string, sha: Sha): Promise<boolean> {
  const done = await git({ cwd: mirror, args: ['rev-parse', '--verify', '--quiet', `refs/runoff/${sha}`] });
  return done.stdout.trim() === sha;
}

/** A commit that only the mirror has: of uncommitted changes. */
export async function heldCommit(
  git: Git,
  layout: Layout,
  source: RepositorySource,
  ref: string,
): Promise<Sha | null> {
  return isSha(ref) && (await has(git, layout.mirror(await keyOfSource(source)), ref)) ? ref : null;
}
