/** A map that drops the entries that were set longest ago when it becomes too large. */
export interface BoundedMap<T> {
  get(key: string): T | undefined;
  set(key: string, value: T): void;
  delete(key: string): boolean;
}

export function openBoundedMap<T>(maxEntries: number): BoundedMap<T> {
  const entries = new Map<string, T>();
  return {
    get: (key) => entries.get(key),
    delete: (key) => entries.delete(key),
    set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      for (const oldest of entries.keys()) {
        if (entries.size <= maxEntries) break;
        entries.delete(oldest);
      }
    },
  };
}

/** Answers that are used until they are too old. A failed one is not kept. */
interface TimedCache<T> {
  /** The kept answer, or what `find` begins to find. */
  get(key: string, find: () => Promise<T>): Promise<T>;
  /** The kept answer if it is younger than this; default: the cache's own limit. */
  fresh(key: string, withinMs?: number): Promise<T> | undefined;
  set(key: string, answer: Promise<T>): Promise<T>;
}

/** `elapsed`: monotonic milliseconds. Beyond `maxEntries`, the oldest answers are dropped. */
export function openTimedCache<T>(elapsed: () => number, ms: number, maxEntries: number): TimedCache<T> {
  const entries = openBoundedMap<{ readonly at: number; readonly answer: Promise<T> }>(maxEntries);
  const fresh = (key: string, withinMs = ms): Promise<T> | undefined => {
    const entry = entries.get(key);
    return entry && elapsed() - entry.at < withinMs ? entry.answer : undefined;
  };
  function set(key: string, answer: Promise<T>): Promise<T> {
    const entry = { at: elapsed(), answer };
    entries.set(key, entry);
    answer.catch(() => {
      if (entries.get(key) === entry) entries.delete(key);
    });
    return answer;
  }
  return { fresh, set, get: (key, find) => fresh(key) ?? set(key, find()) };
}

const MINUTE_MS = 60_000;

/**
 * Counts uses for each name, in minutes that begin with the first one. The function that it returns counts one more, or
 * is false if there were `most` already. `elapsed`: monotonic milliseconds.
 */
export function openRateLimit(
  elapsed: () => number,
  maxNames: number,
): (name: string, most: number) => boolean {
  const counts = openBoundedMap<{ readonly since: number; times: number }>(maxNames);
  return (name, most) => {
    const known = counts.get(name);
    const count = known && elapsed() - known.since < MINUTE_MS ? known : { since: elapsed(), times: 0 };
    counts.set(name, count);
    if (count.times >= most) return false;
    count.times += 1;
    return true;
  };
}
