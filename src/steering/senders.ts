import type { Actor } from '../core/model/index.ts';
import { handleOf, mayWrite, requireGitHub, type World } from '../pipeline/index.ts';
import type { RepositoryHandle } from '../ports/index.ts';

/**
 * Milliseconds for which a refusal is not asked for again. Our default: whoever is given the right waits a minute at most.
 * A grant is never kept: the right is read when something is done (I4).
 */
const REFUSED_MS = 60_000;
/** Milliseconds for which somebody counts as a writer where it matters only who waits for whom. Our default. */
const WRITER_MS = 10 * 60_000;
/** Things that one person can have stored in a repository in a minute before GitHub has said that they may write there. Our default. */
const MOST_A_MINUTE = 20;
const MINUTE_MS = 60_000;
/** People who are remembered; beyond that the longest known are forgotten. Our default. */
const MOST_PEOPLE = 10_000;

/**
 * GitHub's words beside a comment for somebody who may be a writer. They decide whose turn comes first, nothing else: a
 * member may have no right here, and one whose membership is private does not have the word.
 */
const LIKELY: ReadonlySet<string> = new Set(['OWNER', 'MEMBER', 'COLLABORATOR']);
export const isLikely = (association: string | undefined): boolean => LIKELY.has(association ?? '');

/** What this process remembers for a short time of people who send something. Nothing of it lets anybody do anything. */
export interface Senders {
  /** Whether one more thing of theirs may be stored. */
  admits(place: RepositoryHandle, by: Actor): boolean;
  /** Something was not stored: it is counted, and the log says so. */
  dropped(place: RepositoryHandle): void;
  /** May they write there now? A refusal of the last minute stands. Faults: GITHUB_UNAVAILABLE. */
  mayWrite(place: RepositoryHandle, by: Actor): Promise<boolean>;
  /** Were they allowed to write lately? For whose turn comes first only. */
  wasWriter(place: RepositoryHandle, by: Actor): boolean;
}

export function openSenders(world: World): Senders {
  const { elapsed } = world.clock;
  const refused = openMemory<number>();
  const writers = openMemory<number>();
  const stored = openMemory<{ readonly since: number; times: number }>();
  const dropped = openMemory<{ readonly since: number; times: number }>();
  const key = ({ repositoryId }: RepositoryHandle, { id }: Actor): string => `${repositoryId} ${id}`;
  const within = (at: number | undefined, ms: number): boolean => at !== undefined && elapsed() - at < ms;

  /** How often something happened within a minute that began with its first time, this time included. */
  function timesIn(counts: typeof stored, name: string): number {
    const known = counts.get(name);
    const count = known && within(known.since, MINUTE_MS) ? known : { since: elapsed(), times: 0 };
    count.times += 1;
    counts.set(name, count);
    return count.times;
  }
  const wasWriter: Senders['wasWriter'] = (place, by) => within(writers.get(key(place, by)), WRITER_MS);

  return {
    wasWriter,
    admits(place, by) {
      if (within(refused.get(key(place, by)), REFUSED_MS)) return false;
      return wasWriter(place, by) || timesIn(stored, key(place, by)) <= MOST_A_MINUTE;
    },
    dropped({ repositoryId }) {
      const before = dropped.get(String(repositoryId))?.times ?? 0;
      if (timesIn(dropped, String(repositoryId)) > 1) return;
      world.log.warn(
        { repository: repositoryId, before },
        'commands or labels of people who may not write there were not stored; this is said once a minute at most',
      );
    },
    async mayWrite(place, by) {
      if (within(refused.get(key(place, by)), REFUSED_MS)) return false;
      const reader = await requireGitHub(world).reader(handleOf(place));
      const allowed = await mayWrite(reader, by);
      (allowed ? writers : refused).set(key(place, by), elapsed());
      (allowed ? refused : writers).delete(key(place, by));
      return allowed;
    },
  };
}

/** A map that forgets what was set longest ago where it becomes too large. */
function openMemory<T>() {
  const entries = new Map<string, T>();
  return {
    get: (key: string): T | undefined => entries.get(key),
    delete: (key: string): boolean => entries.delete(key),
    set(key: string, value: T): void {
      entries.delete(key);
      entries.set(key, value);
      for (const oldest of entries.keys()) {
        if (entries.size <= MOST_PEOPLE) break;
        entries.delete(oldest);
      }
    },
  };
}
