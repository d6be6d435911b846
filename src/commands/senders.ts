import type { Actor } from '../core/model/index.ts';
import type { RepositoryHandle } from '../ports/index.ts';
import { handleOf, mayWrite, requireGitHub, type World } from '../runs/index.ts';

/**
 * Milliseconds for which a refusal stands before GitHub is asked again. Our default: whoever is given write permission
 * meanwhile waits a minute at most. A grant is never kept: permission is read when a command is obeyed (I4).
 */
const REFUSED_MS = 60_000;
/** Milliseconds for which somebody still counts as a writer in deciding who waits for whom. Our default. */
const WRITER_MS = 10 * 60_000;
/**
 * Commands and labels that are stored in a minute of one person in a repository, before GitHub has said that they may
 * write there. Our default.
 */
const MOST_A_MINUTE = 20;
const MINUTE_MS = 60_000;
/** Entries of each memory; beyond that the oldest are forgotten. Our default. */
const MOST_ENTRIES = 10_000;

/** What this process remembers for a short time about people who send commands and labels. None of it grants anything. */
export interface Senders {
  /** Whether one more command or label of theirs may be stored. It is counted. */
  admits(place: RepositoryHandle, by: Actor): boolean;
  /** Counts something that was not stored, and logs it once a minute, with how many there were the last time. */
  dropped(place: RepositoryHandle): void;
  /** May they write there now? A refusal is kept for a minute. Faults: GITHUB_UNAVAILABLE. */
  mayWrite(place: RepositoryHandle, by: Actor): Promise<boolean>;
  /** Were they allowed to write lately? Only for deciding whose turn comes first. */
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
        if (entries.size <= MOST_ENTRIES) break;
        entries.delete(oldest);
      }
    },
  };
}
