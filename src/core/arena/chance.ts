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

/** One result on a task. */
interface TaskResult {
  readonly task: string;
  readonly isRight: boolean;
}

/**
 * Wilson's 95% interval of the share of right results, of which several may be on one task. These are alike, so they
 * count as fewer: the effective number follows from the variance between tasks (Kish 1965; with Wilson's interval: Dean
 * and Pagano 2015; docs/decisions/0234). With one result for each task, it is their number.
 */
export function wilsonByTask(results: readonly TaskResult[]): ReturnType<typeof wilson> {
  const all = results.length;
  const right = results.filter(({ isRight }) => isRight).length;
  const tasks = [...Map.groupBy(results, ({ task }) => task).values()].map((own) => ({
    all: own.length,
    right: own.filter(({ isRight }) => isRight).length,
  }));
  const sum = (of: (task: (typeof tasks)[number]) => number) =>
    tasks.reduce((total, one) => total + of(one), 0);
  // If all results on a task were equal.
  const least = all ** 2 / sum((own) => own.all ** 2);
  // In whole numbers: the order of tasks and rounding must not show.
  const between = sum((own) => (own.right * all - right * own.all) ** 2);
  const effective =
    between === 0 ? least : (right * (all - right) * all ** 2 * (1 - 1 / tasks.length)) / between;
  const count = Math.min(all, Math.max(least, effective));
  return wilson((right / all) * count, count);
}
