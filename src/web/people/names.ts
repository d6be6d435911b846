import { Semaphore } from 'async-mutex';
import { asFault, Fault, fullNameOf, openBoundedMap, openTimedCache } from '../../core/model/index.ts';
import type { RepositoryHandle } from '../../ports/index.ts';
import type { World } from '../../runs/index.ts';
import type { NameAge, Names } from '../context.ts';

/** Longest age of a name for what is shown, milliseconds. Our default, as for rights. */
const LATELY_MS = 60_000;
/** The same for what starts or changes something. Our default: requests of one moment share an answer. */
const NOW_MS = 1_000;
/** Names kept in memory; beyond that the oldest are dropped. Our default. */
const MAX_KEPT_NAMES = 5_000;
/** Names that GitHub is asked for at the same time. Our default. */
const MAX_CONCURRENT = 8;
/** Milliseconds until a page stops waiting for GitHub. Our default: people reload a page that takes longer. */
const GITHUB_MS = 8_000;

/**
 * Present names of repositories. What runs and tokens store can be a former name, which another repository has taken. Like
 * a right, a name that cannot be read is not replaced by an older one.
 */
export function openNames({ clock, github }: Pick<World, 'clock' | 'github'>): Names {
  const kept = {
    lately: openTimedCache<string | null>(clock.elapsed, LATELY_MS, MAX_KEPT_NAMES),
    now: openTimedCache<string | null>(clock.elapsed, NOW_MS, MAX_KEPT_NAMES),
  } as const satisfies Record<NameAge, unknown>;
  const last = openBoundedMap<string>(MAX_KEPT_NAMES);
  const reads = new Semaphore(MAX_CONCURRENT);
  const keyOf = ({ repositoryId }: RepositoryHandle): string => String(repositoryId);

  async function read(repository: RepositoryHandle): Promise<string | null> {
    if (!github) return null;
    try {
      const { fullName } = await withinTime(
        reads.runExclusive(async () => (await github.reader(repository)).repository()),
      );
      last.set(keyOf(repository), fullName);
      return fullName;
    } catch (thrown) {
      // It is gone, or the App was removed from it: nobody reaches it any more.
      if (asFault(thrown).code === 'GITHUB_REFUSED') return null;
      throw thrown;
    }
  }

  async function present(repository: RepositoryHandle, age: NameAge): Promise<RepositoryHandle | null> {
    const key = keyOf(repository);
    const found = await kept[age].get(key, () => read(repository));
    // A failed question of who changes something takes no name from those who read.
    if (age === 'now') kept.lately.set(key, Promise.resolve(found));
    const [owner, name] = found?.split('/') ?? [];
    return owner === undefined || name === undefined ? null : { ...repository, owner, name };
  }

  return {
    present,
    async find(name, among, age) {
      const wasCalled = (one: RepositoryHandle): boolean =>
        isCalled(name, last.get(keyOf(one)) ?? fullNameOf(one));
      const others = among.filter((one) => !wasCalled(one));
      for (const one of among.filter(wasCalled)) {
        const found = await present(one, age);
        if (found && isCalled(name, fullNameOf(found))) return found;
      }
      const now = await Promise.all(others.map((one) => present(one, 'lately')));
      const named = now.find((one) => one && isCalled(name, fullNameOf(one)));
      const found = named ? await present(named, age) : null;
      return found && isCalled(name, fullNameOf(found)) ? found : null;
    },
  };
}

/** Whether two names are the same to GitHub, which ignores case. */
export const isCalled = (name: string, other: string): boolean => name.toLowerCase() === other.toLowerCase();

/** Faults: GITHUB_UNAVAILABLE, if GitHub takes longer than a page waits. */
export function withinTime<T>(work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Fault('GITHUB_UNAVAILABLE', `GitHub did not answer within ${GITHUB_MS / 1000} s.`)),
    GITHUB_MS,
  );
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}
