/** In order of size, so that the sum does not depend on the order of arrival. */
export const sum = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b).reduce((total, n) => total + n, 0);

/** Sums of different fractions that mean the same must compare as equal. */
export const rounded = (n: number): number => Math.round(n * 1e9) / 1e9;
