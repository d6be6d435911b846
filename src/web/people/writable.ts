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
