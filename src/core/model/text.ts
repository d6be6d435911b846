/** Compares by code units: a locale's own order would depend on the machine. */
export const byCodeUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Each text once, ordered by code units. */
export const uniqueSorted = (texts: Iterable<string>): readonly string[] =>
  [...new Set(texts)].sort(byCodeUnits);

/** `1 file`, `2 files`. */
export const counted = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;
