/**
 * Keeps what was read in memory, for what never changes. `most`: maximum of the weights of all values together; the one
 * that has not been used for longest is forgotten first, and one that is heavier by itself is not kept. Failures are not
 * kept either.
 */
export function openImmutableCache<V>(
  most: number,
  weightOf: (value: V) => number,
): (key: string, read: () => Promise<V>) => Promise<V> {
  const kept = new Map<string, { readonly value: V; readonly weight: number }>();
  let total = 0;

  const forget = (key: string): void => {
    total -= kept.get(key)?.weight ?? 0;
    kept.delete(key);
  };
  const keep = (key: string, value: V): void => {
    const weight = weightOf(value);
    forget(key);
    if (weight > most) return;
    kept.set(key, { value, weight });
    total += weight;
    for (const oldest of kept.keys()) {
      if (total <= most) return;
      forget(oldest);
    }
  };
  return async (key, read) => {
    const known = kept.get(key);
    const value = known ? known.value : await read();
    keep(key, value);
    return value;
  };
}
