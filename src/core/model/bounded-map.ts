/** A map that drops the entries that were set longest ago when it becomes too large. */
export interface BoundedMap<T> {
  get(key: string): T | undefined;
  set(key: string, value: T): void;
  delete(key: string): boolean;
}

/**
 * `most`: maximum of the weights of all values together; without weights, the number of entries. A value that is heavier by
 * itself is not kept. The weight of a value must not change.
 */
export function openBoundedMap<T>(most: number, weightOf: (value: T) => number = () => 1): BoundedMap<T> {
  const entries = new Map<string, { readonly value: T; readonly weight: number }>();
  let total = 0;
  const remove = (key: string): boolean => {
    total -= entries.get(key)?.weight ?? 0;
    return entries.delete(key);
  };
  return {
    get: (key) => entries.get(key)?.value,
    delete: remove,
    set(key, value) {
      remove(key);
      const weight = weightOf(value);
      if (weight > most) return;
      entries.set(key, { value, weight });
      total += weight;
      for (const oldest of entries.keys()) {
        if (total <= most) break;
        remove(oldest);
      }
    },
  };
}

/**
 * Keeps what was read, for what never changes: a function that reads a key once, while it is kept. What has not been used
 * for longest is dropped first. A failure is not kept. Limits as of `openBoundedMap`.
 */
export function openImmutableCache<T>(
  most: number,
  weightOf: (value: T) => number,
): (key: string, read: () => Promise<T>) => Promise<T> {
  const kept = openBoundedMap<{ readonly value: T }>(most, ({ value }) => weightOf(value));
  return async (key, read) => {
    const entry = kept.get(key) ?? { value: await read() };
    kept.set(key, entry);
    return entry.value;
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
