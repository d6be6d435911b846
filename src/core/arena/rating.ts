import { bradleyTerryStrengths } from '../judging/index.ts';
import { byCodeUnits, uniqueSorted } from '../model/index.ts';
import { exponential, normal, quantile, seededRandom } from './chance.ts';

/** The result of one comparison of two contestants on one task. */
export interface Match {
  readonly task: string;
  readonly a: string;
  readonly b: string;
  /** From the point of view of `a`: 1 for a win, ½ for a tie, 0 for a loss. */
  readonly score: 0 | 0.5 | 1;
  /** Nobody was asked, because both answers are identical: a tie. Weighs from 0 to 1; absent: 1. */
  readonly alike?: number;
}

/** 95% interval. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

export interface Rating {
  readonly contestant: string;
  /** Bradley-Terry, log-odds; the mean of its group is 0. */
  readonly strength: number;
  readonly strengthInterval: Interval;
  /** The same on the scale of Elo, where the mean of the group is 1,500 and 400 points are odds of 10 to 1. */
  readonly elo: number;
  readonly eloInterval: Interval;
  readonly wins: number;
  readonly ties: number;
  readonly losses: number;
  /** Best and worst place in its group that the comparisons allow. */
  readonly places: { readonly best: number; readonly worst: number };
  /** Contestants of its group from which the comparisons do not tell it apart. */
  readonly notToldApart: readonly string[];
}

export interface RatingTable {
  /** Groups of contestants that comparisons connect, the largest first. Ratings of two groups are not comparable. */
  readonly groups: readonly (readonly Rating[])[];
  /** Contestants without a comparison. */
  readonly unrated: readonly string[];
  /** Contestants that lost or tied no comparison, and those that won or tied none: only the prior bounds them. */
  readonly unbeaten: readonly string[];
  readonly winless: readonly string[];
  /** Comparisons that somebody decided, and tasks with at least one. */
  readonly matches: number;
  readonly tasks: number;
}

/** Elo's definition: odds of 10 to 1 for 400 points. The mean is a convention of chess. */
const ELO_PER_LOG_ODDS = 400 / Math.LN10;
const ELO_MEAN = 1500;
export const eloOf = (strength: number): number => ELO_MEAN + ELO_PER_LOG_ODDS * strength;

/** Our default: percentiles of 95% vary by about 0.05 standard errors. */
const REPLICATES = 1000;
const TAIL = 0.025;

/**
 * Rates contestants by all their comparisons at once. Strengths are a Bradley-Terry fit in which a tie is half a win
 * for each (as in FastChat, `rating_systems.py`), with a normal prior, so that they are finite for contestants that
 * never lose. Intervals are a weighted Bayesian bootstrap (Newton, Polson & Xu 2021, "Weighted Bayesian bootstrap for
 * scalable posterior distributions"): each replicate draws a weight for every task, shares it among the task's
 * comparisons, and draws the means of the prior. Resampling alone would give an unbeaten contestant an interval
 * without width.
 *
 * Depends on contestants and comparisons as sets: neither their order nor which contestant is called `a` matters.
 * Ignores comparisons of unknown contestants.
 */
export function rate(
  contestants: readonly string[],
  matches: readonly Match[],
  options: { readonly seed: number; readonly replicates?: number },
): RatingTable {
  const names = uniqueSorted(contestants);
  const known = new Set(names);
  const sorted = matches
    .filter((match) => match.a !== match.b && known.has(match.a) && known.has(match.b) && weightOf(match) > 0)
    .map(canonical)
    .toSorted(byMatch);
  const connected = componentsOf(names, sorted);
  const groups = connected.filter((group) => group.length > 1);
  const replicates = replicatesOf(names, sorted, options);
  const decided = sorted.filter(({ alike }) => alike === undefined);
  const without = (points: 0 | 1) =>
    names.filter((name) => {
      const own = decided.filter(({ a, b }) => a === name || b === name);
      return own.length > 0 && own.every((match) => pointsOf(match, name) === 1 - points);
    });
  return {
    groups: groups.map((group) => groupRatings(group, names, sorted, replicates)),
    unrated: connected.flatMap((group) => (group.length === 1 ? group : [])),
    unbeaten: without(0),
    winless: without(1),
    matches: decided.length,
    tasks: new Set(decided.map(({ task }) => task)).size,
  };
}

const canonical = (match: Match): Match =>
  match.a < match.b
    ? match
    : { ...match, a: match.b, b: match.a, score: (1 - match.score) as Match['score'] };

/** Comparisons that are equal in all of these are interchangeable. */
const byMatch = (x: Match, y: Match): number =>
  byCodeUnits(x.task, y.task) ||
  byCodeUnits(x.a, y.a) ||
  byCodeUnits(x.b, y.b) ||
  x.score - y.score ||
  (x.alike ?? 2) - (y.alike ?? 2);

const pointsOf = ({ a, score }: Match, name: string): number => (a === name ? score : 1 - score);
const weightOf = ({ alike }: Pick<Match, 'alike'>): number => alike ?? 1;

/** Connected components of the comparisons, the largest first, then by name. */
function componentsOf(names: readonly string[], matches: readonly Match[]): readonly (readonly string[])[] {
  const group = new Map(names.map((name) => [name, name] as const));
  const rootOf = (name: string): string => {
    let root = name;
    while (group.get(root) !== root) root = group.get(root) as string;
    return root;
  };
  for (const match of matches) group.set(rootOf(match.a), rootOf(match.b));
  const members = new Map<string, string[]>();
  for (const name of names) members.set(rootOf(name), [...(members.get(rootOf(name)) ?? []), name]);
  return [...members.values()].toSorted((x, y) => y.length - x.length || byCodeUnits(x[0] ?? '', y[0] ?? ''));
}

/** Strengths of each replicate by contestant, with mean 0 over all. */
type Replicates = readonly ReadonlyMap<string, number>[];

function replicatesOf(
  names: readonly string[],
  sorted: readonly Match[],
  { seed, replicates = REPLICATES }: { readonly seed: number; readonly replicates?: number },
): Replicates {
  const tasks = [...Map.groupBy(sorted, ({ task }) => task).values()].map((own) => own.length);
  const random = seededRandom(seed);
  const fitted = strengthsOver(names, sorted);
  return Array.from({ length: sorted.length === 0 ? 0 : replicates }, () => {
    const priors = new Map(names.map((name) => [name, normal(random)] as const));
    const weights: number[] = [];
    for (const comparisons of tasks) {
      const task = exponential(random);
      const shares = Array.from({ length: comparisons }, () => exponential(random));
      const all = shares.reduce((sum, share) => sum + share, 0);
      for (const share of shares) weights.push((task * comparisons * share) / all);
    }
    return fitted(weights, priors);
  });
}

/**
 * Fits strengths to the same comparisons with different weights, one for each. Comparisons of the same two contestants
 * are added up first: a contest may have ten thousand, and a bootstrap fits them a thousand times.
 */
function strengthsOver(
  names: readonly string[],
  sorted: readonly Match[],
): (weights: readonly number[], priors?: ReadonlyMap<string, number>) => ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  const met: { readonly a: string; readonly b: string }[] = [];
  const own = sorted.map(({ a, b, score, ...match }) => {
    const key = JSON.stringify([a, b]);
    const place = places.get(key) ?? met.push({ a, b }) - 1;
    places.set(key, place);
    return { place, score, weight: weightOf(match) };
  });
  return (weights, priors) => {
    const sums = met.map(() => ({ weight: 0, points: 0 }));
    for (const [i, { place, score, weight }] of own.entries()) {
      const sum = sums[place] as { weight: number; points: number };
      const drawn = weight * (weights[i] as number);
      sum.weight += drawn;
      sum.points += drawn * score;
    }
    const games = met.map((pair, i) => {
      const { weight, points } = sums[i] as { weight: number; points: number };
      return { ...pair, weight, y: points / weight };
    });
    return bradleyTerryStrengths(names, games, priors);
  };
}

function groupRatings(
  group: readonly string[],
  names: readonly string[],
  sorted: readonly Match[],
  replicates: Replicates,
): readonly Rating[] {
  const strengths = centred(strengthsOver(names, sorted)(sorted.map(() => 1)), group);
  const draws = replicates.map((replicate) => centred(replicate, group));
  const isAhead = (a: string, b: string) =>
    draws.filter((draw) => (draw.get(a) as number) > (draw.get(b) as number)).length >=
    (1 - TAIL) * draws.length;
  return group
    .map((contestant): Rating => {
      const strength = strengths.get(contestant) as number;
      const strengthInterval = intervalOf(
        draws.map((draw) => draw.get(contestant) as number),
        strength,
      );
      const others = group.filter((other) => other !== contestant);
      const better = others.filter((other) => isAhead(other, contestant)).length;
      const worse = others.filter((other) => isAhead(contestant, other)).length;
      return {
        contestant,
        strength,
        strengthInterval,
        elo: eloOf(strength),
        eloInterval: { low: eloOf(strengthInterval.low), high: eloOf(strengthInterval.high) },
        ...resultsOf(contestant, sorted),
        places: { best: 1 + better, worst: group.length - worse },
        notToldApart: others.filter((other) => !isAhead(other, contestant) && !isAhead(contestant, other)),
      };
    })
    .toSorted((x, y) => y.strength - x.strength || byCodeUnits(x.contestant, y.contestant));
}

/** Rounded, so that the order of a sum does not separate two equal strengths. */
function centred(
  strengths: ReadonlyMap<string, number>,
  group: readonly string[],
): ReadonlyMap<string, number> {
  const mean = group.reduce((sum, name) => sum + (strengths.get(name) as number), 0) / group.length;
  const rounded = (x: number) => Math.round(x * 1e8) / 1e8 + 0;
  return new Map(group.map((name) => [name, rounded((strengths.get(name) as number) - mean)]));
}

function intervalOf(draws: readonly number[], estimate: number): Interval {
  const sorted = draws.toSorted((x, y) => x - y);
  return {
    low: Math.min(estimate, quantile(sorted, TAIL)),
    high: Math.max(estimate, quantile(sorted, 1 - TAIL)),
  };
}

function resultsOf(name: string, matches: readonly Match[]): Pick<Rating, 'wins' | 'ties' | 'losses'> {
  const results = { wins: 0, ties: 0, losses: 0 };
  for (const match of matches) {
    if (match.alike !== undefined || (match.a !== name && match.b !== name)) continue;
    const points = pointsOf(match, name);
    results[points === 1 ? 'wins' : points === 0 ? 'losses' : 'ties'] += 1;
  }
  return results;
}
