import type { ContestRecords } from '../../core/arena/index.ts';
import { asFault, fullNameOf, openTimedCache } from '../../core/model/index.ts';
import type { ContestFolder, InstalledRepository } from '../../ports/index.ts';
import { requireGitHub, sourcesOf } from '../../runs/index.ts';
import type { ArenaOptions, Viewer, WebParts } from '../context.ts';

/** Milliseconds for which the list of repositories with the App is used. As for rights. */
const INSTALLED_MS = 60_000;

type MayRead = (
  viewer: Viewer,
  folder: Pick<ContestFolder, 'absolute'>,
  records: Pick<ContestRecords, 'contest'>,
) => Promise<boolean>;

/**
 * Whether a viewer may read all that the tasks of a contest show (I11): on GitHub, each repository that they are from, by
 * rights that are a minute old at most. A repository of this machine that GitHub does not know, or where the App is not
 * installed or refuses to say where it is, so that rights cannot be read, is for the person at this machine alone. Fault:
 * GITHUB_UNAVAILABLE.
 */
export function openContestAccess(
  { githubUrl }: Pick<ArenaOptions, 'githubUrl'>,
  { access, world }: Pick<WebParts, 'access' | 'world'>,
): MayRead {
  const known = openTimedCache<readonly InstalledRepository[]>(world.clock.elapsed, INSTALLED_MS, 1);
  const installed = () => known.get('all', () => requireGitHub(world).repositories());
  return async (viewer, folder, records) => {
    if (viewer.kind === 'local') return true;
    const { local, onGitHub } = await sourcesOf({ workspaces: world.workspaces, githubUrl }, folder, records);
    if (local) return false;
    const mayReadNamed = async (name: string): Promise<boolean> => {
      const found = (await installed()).find((one) => fullNameOf(one).toLowerCase() === name);
      return found !== undefined && (await access.right(viewer, found)) !== 'none';
    };
    try {
      for (const name of onGitHub) if (!(await mayReadNamed(name))) return false;
      return true;
    } catch (thrown) {
      // GitHub's own words may name repositories and installations.
      if (asFault(thrown).code === 'GITHUB_REFUSED') return false;
      throw thrown;
    }
  };
}
