import type { Viewer, VisibleRepositories, WebParts } from '../context.ts';

/** Repositories with runs to which a viewer may write, as far as lists know. */
export async function writableRepositories(
  { access }: Pick<WebParts, 'access'>,
  viewer: Viewer,
): Promise<VisibleRepositories> {
  const { repositories, complete } = await access.visibleRepositories(viewer);
  const rights = await Promise.all(repositories.map((one) => access.listedRight(viewer, one)));
  return { repositories: repositories.filter((_, at) => rights[at] === 'write'), complete };
}

/** Said of a repository that does not exist, and of one that the viewer may not see (decision 127). */
export const noSuchRepository = (name: string): string =>
  `${name} is no repository with runs that you may see. Check its name. The first run of a repository is started with a label, a comment or the API.`;
