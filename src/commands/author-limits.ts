import type { Actor } from '../core/model/index.ts';
import type { RepositoryHandle } from '../ports/index.ts';
import { handleOf, mayWrite, requireGitHub, type World } from '../runs/index.ts';

/**
 * Milliseconds for which a refusal is kept before GitHub is asked again. Our default: whoever gets write access
 * meanwhile waits a minute at most. A grant is never kept: permission is read when a command is applied (I4).
 */
const REFUSED_MS = 60_000;
/** Milliseconds for which somebody counts as a writer for the order of commands, and for nothing else. Our default. */
const WRITER_MS = 10 * 60_000;
/**
 * Commands and labels of one person that are stored per minute and repository, before GitHub has said that the person
 * has write access. Our default.
 */
const MAX_A_MINUTE = 20;
const MINUTE_MS = 60_000;
/** Entries of each map; beyond that the oldest are dropped. Our default. */
const MAX_ENTRIES = 10_000;

/** What this process keeps for a short time about the authors of commands and labels. None of it grants anything. */
export interface AuthorLimits {
  /** Whether one more command or label of this person may be stored. Each call counts as one. */
  mayStore(place: RepositoryHandle, by: Actor): boolean;
  /** Counts a command or label that was not stored, and logs it once a minute, with the count of the last time. */
  noteDropped(place: RepositoryHandle): void;
  /** Whether the person has write access now. A refusal is kept for a minute. Faults: GITHUB_UNAVAILABLE. */
  mayWrite(place: RepositoryHandle, by: Actor): Promise<boolean>;
  /** Whether the person had write access lately. Only for the order of commands. */
  isRecentWriter(place: RepositoryHandle, by: Actor): boolean;
}

export function openAuthorLimits(world: Pick<World, 'clock' | 'github' | 'log'>): AuthorLimits {
  const { elapsed } = world.clock;
  const refused = openBoundedMap<number>();
  const writers = openBoundedMap<number>();
  const stored = openBoundedMap<{ readonly since: number; times: number }>();
  const dropped = openBoundedMap<{ readonly since: number; times: number }>();
  const key = ({ repositoryId }: RepositoryHandle, { id }: Actor): string => `${repositoryId} ${id}`;
  const within = (at: number | undefined, ms: number): boolean => at !== undefined && elapsed() - at < ms;

  /** How often something happened in the minute that began with its first time, this time included. */
  function timesIn(counts: typeof stored, name: string): number {
    const known = counts.get(name);
    const count = known && within(known.since, MINUTE_MS) ? known : { since: elapsed(), times: 0 };
    count.times += 1;
    counts.set(name, count);
    return count.times;
  }
  const wasWriter: AuthorLimits['isRecentWriter'] = (place, by) =>
    within(writers.get(key(place, by)), WRITER_MS);

  return {
    isRecentWriter: wasWriter,
    mayStore(place, by) {
      if (within(refused.get(key(place, by)), REFUSED_MS)) return false;
      return wasWriter(place, by) || timesIn(stored, key(place, by)) <= MAX_A_MINUTE;
    },
    noteDropped({ repositoryId }) {
      const lastCount = dropped.get(String(repositoryId))?.times ?? 0;
      if (timesIn(dropped, String(repositoryId)) > 1) return;
      world.log.warn(
        { repository: repositoryId, lastCount },
        'commands or labels by people without write permission were not stored; logged once a minute at most',
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

/** A map that drops the entries that were set longest ago when it becomes too large. */
function openBoundedMap<T>() {
  const entries = new Map<string, T>();
  return {
    get: (key: string): T | undefined => entries.get(key),
    delete: (key: string): boolean => entries.delete(key),
    set(key: string, value: T): void {
      entries.delete(key);
      entries.set(key, value);
      for (const oldest of entries.keys()) {
        if (entries.size <= MAX_ENTRIES) break;
        entries.delete(oldest);
      }
    },
  };
}
