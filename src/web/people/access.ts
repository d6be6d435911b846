import { createHmac, randomBytes } from 'node:crypto';
import { Semaphore } from 'async-mutex';
import {
  asFault,
  Fault,
  fullNameOf,
  type Origin,
  openBoundedMap,
  openRateLimit,
  openTimedCache,
  type RunId,
} from '../../core/model/index.ts';
import type { RepositoryHandle } from '../../ports/index.ts';
import { handleOf, MAY_WRITE, type World } from '../../runs/index.ts';
import type {
  Access,
  NameAge,
  NamedRepository,
  Names,
  Right,
  Viewer,
  VisibleRepositories,
  WebParts,
} from '../context.ts';
import { isCalled, withinTime } from './names.ts';

/** Longest age of a right that is still used, milliseconds. Our default: who loses it sees nothing a minute later. */
const RIGHT_MS = 60_000;
/** Rights kept in memory; beyond that the oldest are dropped. Our default. */
const MAX_RIGHTS = 20_000;
/** Milliseconds for which lists leave out a repository that the viewer was found not to see. Our default. */
const DENIED_IN_LISTS_MS = 10 * 60_000;
/**
 * Questions a minute about repositories that a viewer is not known to see: for all that they open, and the part of these
 * that lists may use. Our defaults: GitHub allows an installation 5,000 requests an hour, which runs need.
 */
const UNKNOWN_A_MINUTE = 40;
const UNKNOWN_IN_LISTS_A_MINUTE = 20;
/** Questions about rights that GitHub is asked at the same time. Our default. */
const MAX_CONCURRENT = 8;
/** Repositories whose right is read for one list. Our default: further ones are found by their name. */
const MAX_LISTED = 100;

type AccessPorts = Pick<World, 'clock' | 'github' | 'store'>;
/** Null: anybody, who may read what is public on GitHub. */
type RemoteViewer = Extract<Viewer, { kind: 'github' }> | null;

interface AccessOptions {
  /** Whether everybody may read what is public on GitHub. */
  readonly publicRepositories?: boolean;
}

/**
 * Rights of viewers, read from GitHub by numeric id with the installation's token (I4, I11), also those that are denied.
 * A failed read is not kept, and rejects: nobody sees anything while GitHub cannot be reached.
 */
export function openAccess(
  ports: AccessPorts,
  names: Names,
  { publicRepositories = false }: AccessOptions = {},
): Access {
  const rights = openRights(ports);
  const decoyKey = randomBytes(32);

  /**
   * The repository that is asked about for a run or a name that does not exist, so that the answer takes as long as for
   * one that may not be seen: one of those that the viewer is not known to see, always the same for the same name.
   */
  function decoy(
    viewer: RemoteViewer,
    name: string,
    all: readonly RepositoryHandle[],
  ): RepositoryHandle | null {
    const hidden = all.filter((one) => !rights.isSeen(viewer, one));
    const from = hidden.length > 0 ? hidden : all;
    const draw = createHmac('sha256', decoyKey).update(name).digest().readUInt32BE();
    return from[draw % from.length] ?? null;
  }

  async function right(viewer: Viewer | null, repository: RepositoryHandle): Promise<Right> {
    if (viewer?.kind === 'local' || (viewer === null && !publicRepositories)) return 'none';
    return rights.get(viewer, repository);
  }

  async function listedRight(viewer: Viewer | null, repository: RepositoryHandle): Promise<Right | null> {
    if (viewer?.kind === 'local' || (viewer === null && !publicRepositories)) return 'none';
    return rights.getListed(viewer, repository);
  }

  /** As `right`, for a repository or run that the viewer names: anybody can name any, so the questions are limited. */
  async function rightToNamed(viewer: RemoteViewer, repository: RepositoryHandle): Promise<Right> {
    if (viewer === null && !publicRepositories) return 'none';
    return rights.getNamed(viewer, repository);
  }

  async function rightTo(viewer: Viewer | null, origin: Origin | null, id: RunId): Promise<Right> {
    if (viewer?.kind === 'local') return origin?.kind === 'local' ? 'write' : 'none';
    const other = decoy(viewer, id, await ports.store.repositoriesWithRuns());
    const known = origin?.kind === 'github' ? handleOf(origin) : null;
    const place = known ?? other;
    const found = place ? await rightToNamed(viewer, place) : 'none';
    return known ? found : 'none';
  }

  async function visibleNamed(viewer: Viewer | null, name: string, age: NameAge): Promise<NamedRepository> {
    if (viewer?.kind === 'local') return { repository: null };
    const all = await ports.store.repositoriesWithRuns();
    const named = all.filter((one) => isCalled(name, fullNameOf(one)));
    const other = decoy(viewer, name.toLowerCase(), all);
    const asked = named.length === 0 && other ? [other] : named;
    const found = await Promise.all(asked.map((one) => rightToNamed(viewer, one)));
    const seen = named.filter((_, at) => found[at] !== 'none');
    const called = await names.find(name, seen, age);
    if (called) return { repository: called };
    // No run was started under a new name yet.
    const { repositories } = await visibleRepositories(viewer);
    const repository = await names.find(name, repositories, age);
    const [former] = repository ? [] : seen;
    const now = former ? await names.present(former, 'lately') : null;
    return { repository, ...(now ? { renamed: fullNameOf(now) } : {}) };
  }

  async function visibleRepositories(viewer: Viewer | null): Promise<VisibleRepositories> {
    if (viewer?.kind === 'local' || (viewer === null && !publicRepositories))
      return { repositories: [], complete: true };
    const all = await ports.store.repositoriesWithRuns();
    const asked = all.slice(0, MAX_LISTED);
    const found = await Promise.all(asked.map((one) => listedRight(viewer, one)));
    return {
      repositories: asked.filter((_, at) => found[at] === 'read' || found[at] === 'write'),
      complete: asked.length === all.length && !found.includes(null),
    };
  }

  return {
    right,
    listedRight,
    visibleNamed,
    visibleRepositories,
    async visibleRun(viewer, id) {
      if (!viewer && !publicRepositories) return null;
      const granted = await rightTo(viewer, await ports.store.originOf(id), id);
      if (granted === 'none') return null;
      const run = await ports.store.run(id);
      return run && { run, right: granted };
    },
  };
}

/** Reads the right of a viewer, a few at a time. */
function readerOfRights({ github }: Pick<AccessPorts, 'github'>) {
  const reads = new Semaphore(MAX_CONCURRENT);
  return async function read(viewer: RemoteViewer, repository: RepositoryHandle): Promise<Right> {
    if (!github) return 'none';
    try {
      return await reads.runExclusive(async () => {
        const reader = await github.reader(repository);
        if (!viewer) return (await reader.repository()).private ? 'none' : 'read';
        const permission = await reader.permission(viewer);
        if (MAY_WRITE.has(permission)) return 'write';
        return permission === 'none' ? 'none' : 'read';
      });
    } catch (thrown) {
      // The repository is gone, or the App was removed from it: nobody has a right to it any more.
      if (asFault(thrown).code === 'GITHUB_REFUSED') return 'none';
      throw thrown;
    }
  };
}

function openRights(ports: AccessPorts) {
  const { clock } = ports;
  const known = openTimedCache<Right>(clock.elapsed, RIGHT_MS, MAX_RIGHTS);
  /** Of what was asked last: to these, the viewer had a right. */
  const seen = openBoundedMap<true>(MAX_RIGHTS);
  const read = readerOfRights(ports);
  const isWithinLimit = openRateLimit(clock.elapsed, MAX_RIGHTS);
  const person = (viewer: RemoteViewer): string => String(viewer?.id ?? 'anybody');
  const key = (viewer: RemoteViewer, { repositoryId }: RepositoryHandle) =>
    `${person(viewer)} ${repositoryId}`;
  /** False for repositories that the viewer is not known to see, once `most` of these were asked about in a minute. */
  const mayAsk = (viewer: RemoteViewer, name: string, most: number): boolean =>
    seen.get(name) === true || isWithinLimit(person(viewer), most);

  async function ask(viewer: RemoteViewer, repository: RepositoryHandle): Promise<Right> {
    const right = await withinTime(read(viewer, repository));
    const name = key(viewer, repository);
    if (right === 'none') seen.delete(name);
    else seen.set(name, true);
    return right;
  }
  return {
    get: (viewer: RemoteViewer, repository: RepositoryHandle): Promise<Right> =>
      known.get(key(viewer, repository), () => ask(viewer, repository)),
    /** Faults: GITHUB_UNAVAILABLE, also if the viewer named too many repositories that they are not known to see. */
    async getNamed(viewer: RemoteViewer, repository: RepositoryHandle): Promise<Right> {
      const name = key(viewer, repository);
      const right = known.fresh(name);
      if (right) return right;
      // Nobody signed in is one viewer for all, whom one stranger must not shut out.
      if (viewer && !mayAsk(viewer, name, UNKNOWN_A_MINUTE)) {
        const why = `${viewer.login} has opened more than ${UNKNOWN_A_MINUTE} runs or repositories within a minute that they are not known to see.`;
        throw new Fault('GITHUB_UNAVAILABLE', why);
      }
      return known.set(name, ask(viewer, repository));
    },
    /** Null: not known, and GitHub is not asked more for the lists of this viewer at the moment. */
    async getListed(viewer: RemoteViewer, repository: RepositoryHandle): Promise<Right | null> {
      const name = key(viewer, repository);
      const right = known.fresh(name, seen.get(name) ? RIGHT_MS : DENIED_IN_LISTS_MS);
      if (right) return right;
      if (!mayAsk(viewer, name, UNKNOWN_IN_LISTS_A_MINUTE)) return null;
      return known.set(name, ask(viewer, repository));
    },
    /** Whether the viewer was found to see the repository, and need not ask again. */
    isSeen: (viewer: RemoteViewer, repository: RepositoryHandle): boolean =>
      known.fresh(key(viewer, repository)) !== undefined && seen.get(key(viewer, repository)) === true,
  };
}

/** Repositories with runs to which a viewer may write, as far as lists know, by their present names. */
export async function writableRepositories(
  { access, names }: Pick<WebParts, 'access' | 'names'>,
  viewer: Viewer,
): Promise<VisibleRepositories> {
  const { repositories, complete } = await access.visibleRepositories(viewer);
  const rights = await Promise.all(repositories.map((one) => access.listedRight(viewer, one)));
  const writable = repositories.filter((_, at) => rights[at] === 'write');
  const present = await Promise.all(writable.map((one) => names.present(one, 'lately')));
  return { repositories: present.filter((one) => one !== null), complete };
}

/** Said of a repository that does not exist, and of one that the viewer may not see (decision 127). */
export const noSuchRepository = (name: string, renamed?: string): string =>
  renamed === undefined
    ? `${name} is no repository with runs that you may see. Check its name. The first run of a repository is started with a label, a comment or the API.`
    : `The repository that was ${name} is now ${renamed}. Use this name.`;
