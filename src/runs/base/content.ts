import type { Sha } from '../../core/model/index.ts';
import {
  absentContent,
  absentContentFiles,
  gitDependencyFiles,
  gitEnvironment,
  lfsPaths,
} from '../../core/settings/index.ts';
import type { RepositorySource } from '../../ports/index.ts';
import { readTextAt, type World } from '../context.ts';

type Ports = Pick<World, 'workspaces'>;

async function textsAt(
  world: Ports,
  source: RepositorySource,
  sha: Sha,
  paths: readonly string[],
): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const path of paths) {
    const text = await readTextAt(world, source, sha, path);
    if (text !== null) texts[path] = text;
  }
  return texts;
}

/** Content that a commit only references, one sentence each: submodules and files in Git LFS. */
export async function absentContentAt(
  world: Ports,
  source: RepositorySource,
  sha: Sha,
): Promise<readonly string[]> {
  const paths = await world.workspaces.listFiles(source, sha);
  const texts = await textsAt(world, source, sha, absentContentFiles(paths));
  const suspects = lfsPaths(texts['.gitattributes'] ?? '', paths);
  return absentContent({ ...texts, ...(await textsAt(world, source, sha, suspects)) });
}

/** Environment in which git fetches a commit's dependencies over HTTPS. */
export async function gitEnvironmentAt(
  world: Ports,
  source: RepositorySource,
  sha: Sha,
): Promise<Readonly<Record<string, string>>> {
  const paths = await world.workspaces.listFiles(source, sha);
  return gitEnvironment(Object.values(await textsAt(world, source, sha, gitDependencyFiles(paths))));
}
