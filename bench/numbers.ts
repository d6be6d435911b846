/** The value that this part of the others is below, 0 to 1: 0.5 is the median. NaN without values. */
export const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ??
  Number.NaN;

/** The numbers of a variable such as `30000,100000`; at least one. */
export function numbersIn(text: string): readonly [number, ...number[]] {
  const [first = Number.NaN, ...more] = text.split(',').map(Number);
  return [first, ...more];
}
