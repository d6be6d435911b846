import type { ProbeRun } from './observations.ts';
import { type Example, exactly, plainness, type Split, splitsOf, stableProbes, weightOf } from './splits.ts';

/** A candidate whose behaviour is compared. */
export interface Behaving {
  /** Alias, or id of a request: names it in the result and has no other effect. */
  readonly id: string;
  /** Null when its tree could not be probed. */
  readonly run: ProbeRun | null;
  /** Passes all that is known to be right: the visible tests and the examples. Others have a smaller vote. */
  readonly sound: boolean;
  /** Changes nothing that could matter: it says no more than the base does. */
  readonly idle: boolean;
}

/** How much two candidates' source changes are alike, 0 to 1; 1 makes them one voter. Symmetric. */
export type Likeness = (one: number, other: number) => number;

/** Where a candidate behaves as others do not, for people. */
export interface Telling {
  readonly input: string;
  /** What it showed. */
  readonly got: string;
  /** What most others showed, by votes. */
  readonly others: string;
  /** What the base showed; null when nothing. */
  readonly base: string | null;
}

/** What the probes say about one candidate. */
export interface Behaviour {
  readonly id: string;
  /** Probes that showed something of it. */
  readonly observed: number;
  /** Of these, the ones on which candidates differ. */
  readonly contested: number;
  /**
   * How well all that was observed fits this candidate being right, 0 to 1, against the best of the pool: the best has 1.
   * Where nothing separates candidates all have 1.
   */
  readonly support: number;
  /** The same as natural logarithm of the odds against the best, at most 0. */
  readonly logOdds: number;
  /** On what is contested: share of the other voters that behave as it does, mean over kinds of difference; 1 without any. */
  readonly agreement: number;
  /** Share of probes on which it behaves as the base. */
  readonly asBase: number;
  /** 0-based number of its group: candidates that no probe tells apart. */
  readonly group: number;
  /** The most telling differences, at most three. */
  readonly telling: readonly Telling[];
}

/**
 * Chances that a voter shows what it shows, if the candidate in question is right. `kept`: the right answer is the base's
 * own, and the voter keeps it. `met`: the right answer is another, and the voter has it; `missed`: the voter is still
 * as the base. Ours, tuned on patches whose outcome is known; small changes of them change little.
 */
const SOUND = { kept: 0.85, met: 0.55, missed: 0.3 } as const;
const UNSOUND = { kept: 0.75, met: 0.4, missed: 0.35 } as const;
/** Chance that the base's answer is the right one, where candidates differ. */
const BASE_RIGHT = 0.6;
/** Votes of alike candidates count less: of full likeness only this is left out. */
const KINSHIP = 0.7;
/** All votes on one kind of difference together, so that candidates with many kin are judged by as much as others. */
const VOTES = 2.5;
/** Natural logarithm of the odds against an answer that shows a slip (NaN, `undefined` inside, a fault) where others show none. */
const SLIP = 1;

/** Breadth below which a candidate is narrow, and natural logarithm of the odds against one of no breadth at all. */
const NARROW_BELOW = 0.5;
const NARROW = 6;

/**
 * Compares what candidates do on the same inputs. `base` holds two runs or more of the base itself: what differs between
 * them is left out. The order of candidates has no effect on what is said of each.
 */
export function compareBehaviour(
  base: readonly ProbeRun[],
  candidates: readonly Behaving[],
  likeness: Likeness,
): readonly Behaviour[] {
  const probes = stableProbes(base, candidates);
  const splits = splitsOf(probes);
  const fits = fitsOf(splits, candidates, likeness, breadthOf(probes, candidates, likeness));
  const best = Math.max(...fits.filter((_, at) => candidates[at]?.run !== null), Number.NEGATIVE_INFINITY);
  const groups = groupsOf(splits, candidates);
  return candidates.map((candidate, at) => {
    const logOdds =
      candidate.run === null || !Number.isFinite(best) ? Number.NEGATIVE_INFINITY : (fits[at] ?? 0) - best;
    return {
      ...summaryOf(at, candidate, probes, splits, candidates, likeness),
      group: groups[at] ?? 0,
      ...odds(logOdds),
    };
  });
}

const odds = (logOdds: number) => ({
  logOdds: Math.max(logOdds, LEAST),
  support: Math.exp(Math.max(logOdds, LEAST)),
});
/** Odds below are not worth telling apart. */
const LEAST = -100;

/**
 * How broadly each candidate changes what the base does in a way that another one does as well, against the broadest of
 * those that are sound: 0 to 1, by logarithms of how many probes it is. A patch for nothing but the example has
 * next to none.
 */
function breadthOf(
  probes: readonly Example[],
  candidates: readonly Behaving[],
  likeness: Likeness,
): readonly number[] {
  const shared = candidates.map((_, at) => {
    const others = [...candidates.keys()].filter((other) => other !== at && likeness(at, other) < 1);
    return Math.log1p(probes.filter((probe) => changesWithAnother(probe, at, others)).length);
  });
  const most = Math.max(...shared.filter((_, at) => candidates[at]?.sound), 0);
  return shared.map((each) => (most === 0 ? 1 : Math.min(1, each / most)));
}

function changesWithAnother({ base, seen }: Example, at: number, others: readonly number[]): boolean {
  const own = seen[at];
  if (!base || !own || own.strain === 'as-is') return false;
  const shown = exactly(own);
  if (shown === exactly(base)) return false;
  return others.some((other) => {
    const theirs = seen[other];
    return theirs !== undefined && exactly(theirs) === shown;
  });
}

/** By candidate: logarithm of the chance of all that was seen, if its answers are the right ones. */
function fitsOf(
  splits: readonly Split[],
  candidates: readonly Behaving[],
  likeness: Likeness,
  breadth: readonly number[],
): readonly number[] {
  const totals = candidates.map((_, at) => -NARROW * Math.max(0, 1 - (breadth[at] ?? 1) / NARROW_BELOW));
  for (const split of splits) {
    const fits = candidates.map((_, at) => fitOf(at, split, candidates, likeness, breadth));
    const known = fits.filter((fit) => fit !== null);
    // What is not known of a candidate neither helps nor harms it.
    const usual = sum(known.toSorted((a, b) => a - b)) / known.length;
    for (const [at, fit] of fits.entries()) totals[at] = (totals[at] ?? 0) + (fit ?? usual);
  }
  return totals.map(rounded);
}

/** Logarithm of the chance of what all others showed, if this candidate's answer is the right one; null without one. */
function fitOf(
  at: number,
  split: Split,
  candidates: readonly Behaving[],
  likeness: Likeness,
  breadth: readonly number[],
): number | null {
  const right = split.answers[at] ?? null;
  if (right === null) return null;
  let logs = 0;
  let votes = 0;
  for (const { voter, vote } of votesOn(at, split, candidates, likeness)) {
    const answer = split.answers[voter] ?? null;
    if (answer === null) continue;
    // Who changes next to nothing says nothing by leaving this as it was, either.
    const weight = answer === 0 ? vote * Math.min(1, (breadth[voter] ?? 1) / NARROW_BELOW) : vote;
    logs += weight * Math.log(chanceOf(answer, right, candidates[voter]?.sound === true, split.baseKnown));
    votes += weight;
  }
  const others = votes === 0 ? 0 : (logs * VOTES) / Math.max(votes, 0.5);
  const base = split.baseKnown ? Math.log(right === 0 ? BASE_RIGHT : 1 - BASE_RIGHT) : 0;
  return weightOf(split) * (others + base - (split.slips[at] ? SLIP : 0));
}

function chanceOf(answer: number, right: number, sound: boolean, baseKnown: boolean): number {
  const { kept, met, missed } = sound ? SOUND : UNSOUND;
  if (!baseKnown) return answer === right ? met : 1 - met;
  if (right === 0) return answer === 0 ? kept : 1 - kept;
  if (answer === right) return met;
  return answer === 0 ? missed : 1 - met - missed;
}

/** Voters on a candidate: one vote for all that are the same, less for those that are like it, none for idle ones. */
function votesOn(at: number, split: Split, candidates: readonly Behaving[], likeness: Likeness) {
  const others = candidates.flatMap((candidate, voter) =>
    voter === at || candidate.idle || candidate.run === null || split.answers[voter] === undefined
      ? []
      : [voter],
  );
  return others.flatMap((voter) => {
    const kin = likeness(at, voter);
    if (kin >= 1) return [];
    const same = others.filter((other) => other === voter || likeness(voter, other) >= 1).length;
    return [{ voter, vote: (1 - KINSHIP * kin) / same }];
  });
}

function summaryOf(
  at: number,
  { id, run }: Behaving,
  probes: readonly Example[],
  splits: readonly Split[],
  candidates: readonly Behaving[],
  likeness: Likeness,
) {
  const own = probes.filter(({ seen }) => seen[at] !== undefined);
  const withBase = own.filter(({ base }) => base !== undefined);
  const same = withBase.filter(({ base, seen }) => base && seen[at] && exactly(base) === exactly(seen[at]));
  const asked = splits.filter(({ answers, factor }) => answers[at] !== null && factor === 1);
  const shares = asked.map((split) => {
    const votes = votesOn(at, split, candidates, likeness).filter(
      ({ voter }) => split.answers[voter] !== null,
    );
    const all = sum(votes.map(({ vote }) => vote));
    const like = votes.filter(({ voter }) => split.answers[voter] === split.answers[at]);
    return { split, share: all === 0 ? 1 : sum(like.map(({ vote }) => vote)) / all, weight: weightOf(split) };
  });
  const weights = sum(shares.map(({ weight }) => weight));
  return {
    id,
    observed: run === null ? 0 : own.length,
    contested: sum(asked.map(({ examples }) => examples.length)),
    agreement: weights === 0 ? 1 : rounded(sum(shares.map(({ share, weight }) => share * weight)) / weights),
    asBase: withBase.length === 0 ? 1 : same.length / withBase.length,
    telling: shares
      .filter(({ share }) => share < 0.5)
      .sort(
        (a, b) =>
          b.weight * (1 - b.share) - a.weight * (1 - a.share) || compare(keyOf(a.split), keyOf(b.split)),
      )
      .slice(0, MOST_TELLING)
      .flatMap(({ split }) => tellingOf(at, split)),
  };
}

const MOST_TELLING = 3;
const keyOf = ({ examples }: Split): string => examples[0]?.id ?? '';
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The plainest of a split's examples, and what most others showed there. */
function tellingOf(at: number, { examples }: Split): readonly Telling[] {
  const [example] = examples.toSorted((a, b) => plainness(a) - plainness(b) || compare(a.id, b.id));
  const own = example?.seen[at];
  if (!example || !own) return [];
  const counts = new Map<string, number>();
  for (const [voter, seen] of example.seen.entries()) {
    if (seen && voter !== at && exactly(seen) !== exactly(own))
      counts.set(seen.text, (counts.get(seen.text) ?? 0) + 1);
  }
  const [others] = [...counts].sort((a, b) => b[1] - a[1] || compare(a[0], b[0]));
  if (!others) return [];
  return [
    {
      input: own.input,
      got: own.text,
      others: others[0],
      base: example.base?.text ?? null,
    },
  ];
}

/** Candidates that no split tells apart share a number; numbers go by the order of what was seen, not of candidates. */
function groupsOf(splits: readonly Split[], candidates: readonly Behaving[]): readonly number[] {
  const marks = candidates.map(({ run }, at) =>
    run === null ? 'none' : splits.map(({ answers }) => answers[at] ?? '-').join(','),
  );
  const known = [...new Set(marks)].sort();
  return marks.map((mark) => known.indexOf(mark));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);
/** So that the order of a sum's parts has no effect. */
const rounded = (number: number): number => Math.round(number * 1e9) / 1e9;
