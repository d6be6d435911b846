import { fnv1a, mulberry32 } from '../settings/index.ts';

/** A stream of numbers in [0, 1) that depends on the seed alone. */
type Random01 = () => number;

/** Neighbouring seeds give unrelated streams. */
export const seededRandom = (seed: number | string): Random01 => mulberry32(fnv1a(`arena ${seed}`));

/** Mean 1. */
export const exponential = (random: Random01): number => -Math.log(1 - random());

/** Mean 0, variance 1: Box and Muller's transform. */
export const normal = (random: Random01): number =>
  Math.sqrt(2 * exponential(random)) * Math.cos(2 * Math.PI * random());

/** A quantile of sorted numbers, interpolated; NaN if there are none. */
export function quantile(sorted: readonly number[], share: number): number {
  const at = share * (sorted.length - 1);
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}

/**
 * Wilson's 95% interval of a share (Wilson 1927): unlike the usual one it has a width at 0 and 1. The whole range if
 * there is nothing to count.
 */
export function wilson(successes: number, total: number): { readonly low: number; readonly high: number } {
  if (total === 0) return { low: 0, high: 1 };
  const z = 1.959964;
  const share = successes / total;
  const scale = 1 + z ** 2 / total;
  const middle = (share + z ** 2 / (2 * total)) / scale;
  const half = (z / scale) * Math.sqrt((share * (1 - share)) / total + z ** 2 / (4 * total ** 2));
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}
