import type { ContestRecords } from '../../core/arena/index.ts';
import { hubRepository } from '../../core/mining/index.ts';
import { fullNameOf } from '../../core/model/index.ts';
import type { ContestFolder } from '../../ports/index.ts';
import type { World } from '../context.ts';

/** Whose code the tasks of a contest show. */
interface ContestSources {
  /** Repositories on the configured GitHub, as `owner/name` in lower case. */
  readonly onGitHub: readonly string[];
  /** Whether there are repositories of this machine that are not known to be on GitHub, or no longer exist. */
  readonly local: boolean;
}

/**
 * The repositories whose commits are tasks of a contest, by their remotes as they are now. Templates and texts are the
 * contest's own. `githubUrl`: where the pages of GitHub are.
 */
export async function sourcesOf(
  {
    workspaces,
    githubUrl,
  }: { readonly workspaces: Pick<World['workspaces'], 'origin'>; readonly githubUrl: string },
  folder: Pick<ContestFolder, 'absolute'>,
  { contest }: Pick<ContestRecords, 'contest'>,
): Promise<ContestSources> {
  const paths = contest.tasks.flatMap((task) =>
    task.kind === 'repo' && 'repository' in task.base ? [folder.absolute(task.base.repository)] : [],
  );
  const found = await Promise.all(
    [...new Set(paths)].map(async (path) => {
      const origin = await workspaces.origin(path);
      return origin === null ? null : hubRepository(origin, githubUrl);
    }),
  );
  const onGitHub = found.flatMap((one) => (one === null ? [] : [fullNameOf(one).toLowerCase()]));
  return { onGitHub: [...new Set(onGitHub)], local: found.includes(null) };
}
