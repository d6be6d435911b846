import type { Behaving, Likeness } from './behaviour.ts';
import { type Example, exactly, type Split, weightOf } from './splits.ts';

/**
 * Chances that a voter shows what it shows, if an answer is the right one. `kept`: the right answer is the base's own,
 * and the voter keeps it. `met`: the right answer is another, and the voter has it; `missed`: the voter is still as the
 * base. Ours, tuned on patches whose outcome is known; small changes of them change little.
 */
const SOUND = { kept: 0.83, met: 0.56, missed: 0.3 } as const;
const UNSOUND = { kept: 0.75, met: 0.4, missed: 0.33 } as const;
/** Chance that the base's answer is the right one, where candidates differ. */
const BASE_RIGHT = 0.6;
/** Votes of candidates that are alike count less; of full likeness this much is held against a further vote. */
const KINSHIP = 0.4;
/** All votes on one kind of difference together, however many they are, and the least that they are divided by. */
const VOTES = 2;
const LEAST_VOTES = 0.5;
/** Natural logarithm of the odds against an answer that shows a slip (NaN, `undefined` inside, a fault) where the base shows none. */
const SLIP = 1;
/** Breadth below which a candidate is narrow, and natural logarithm of the odds against one of no breadth at all. */
const NARROW_BELOW = 0.5;
const NARROW = 6;
/** A narrow patch is in good company when another one changes at most this many times as much, and some. */
const COMPANY = { times: 4, more: 4 } as const;

/**
 * How broadly each candidate changes what the base does, against the broadest of those that are sound: 0 to 1, by
 * logarithms of how many probes it changes. A patch for nothing but the example changes next to none. Sound
 * candidates of which several change little are not narrow: then it is the broad one that is odd.
 */
export function breadthOf(
  probes: readonly Example[],
  candidates: readonly Behaving[],
  likeness: Likeness,
): readonly number[] {
  const changed = candidates.map((_, at) => probes.filter((probe) => changes(probe, at)).length);
  const most = Math.max(...changed.filter((_, at) => candidates[at]?.sound), 0);
  return changed.map((own, at) => {
    const company = changed.some(
      (others, other) =>
        candidates[other]?.sound &&
        others <= COMPANY.times * own + COMPANY.more &&
        other !== at &&
        likeness(at, other) < 1,
    );
    if (most === 0 || (candidates[at]?.sound && company)) return 1;
    return Math.min(1, Math.log1p(own) / Math.log1p(most));
  });
}

function changes({ base, seen }: Example, at: number): boolean {
  const own = seen[at];
  return base !== undefined && own !== undefined && own.strain !== 'as-is' && exactly(own) !== exactly(base);
}

/** A kind of difference, and who stands where. */
export interface Voted {
  readonly split: Split;
  readonly camps: readonly Camp[];
}

/** By candidate: logarithm of the chance of all that was seen, if its answers are the right ones. */
export function fitsOf(
  voted: readonly Voted[],
  candidates: readonly Behaving[],
  breadth: readonly number[],
): readonly number[] {
  const totals = breadth.map((own) => -NARROW * Math.max(0, 1 - own / NARROW_BELOW));
  for (const { split, camps } of voted) {
    const fits = split.answers.map((right, at) =>
      right === null
        ? null
        : weightOf(split) * (fitOf(right, split, camps, candidates) - (split.slips[at] ? SLIP : 0)),
    );
    // What is not known of a candidate neither helps nor harms it: it is taken for a usual one.
    const sound = fits.filter((fit, at) => fit !== null && candidates[at]?.sound);
    const known = (sound.length > 0 ? sound : fits).filter((fit) => fit !== null);
    const usual = sum(known.toSorted((a, b) => a - b)) / known.length;
    for (const [at, fit] of fits.entries()) totals[at] = (totals[at] ?? 0) + (fit ?? usual);
  }
  return totals.map(rounded);
}

/** Those who gave one answer, and how much the vote of each counts. */
export interface Camp {
  readonly answer: number;
  readonly voters: readonly { readonly voter: number; readonly vote: number }[];
}

/** Those that are the same have one vote together, those that are like each other little more; idle ones have none. */
export function campsOf(
  { answers }: Split,
  candidates: readonly Behaving[],
  likeness: Likeness,
  breadth: readonly number[],
): readonly Camp[] {
  const known = [...new Set(answers)].filter((answer) => answer !== null).sort((a, b) => a - b);
  return known.map((answer) => {
    const members = [...answers.keys()].filter(
      (at) => answers[at] === answer && !candidates[at]?.idle && candidates[at]?.run,
    );
    const voters = members.map((voter) => {
      const kin = members.map((other) => (other === voter ? 0 : likeness(voter, other)));
      const alike = sum(kin.map((each) => (each >= 1 ? 1 : KINSHIP * each)).sort((a, b) => a - b));
      // Who changes next to nothing says nothing by leaving this as it was, either.
      const heard = answer === 0 ? Math.min(1, (breadth[voter] ?? 1) / NARROW_BELOW) : 1;
      return { voter, vote: heard / (1 + alike) };
    });
    return { answer, voters };
  });
}

/**
 * Logarithm of the chance of what all others showed, if this answer is the right one. It is the same for all who gave it:
 * what no probe tells apart is not told apart by who looks like whom.
 */
function fitOf(right: number, split: Split, camps: readonly Camp[], candidates: readonly Behaving[]): number {
  const parts = camps.flatMap(({ answer, voters }) => {
    const all = sum(voters.map(({ vote }) => vote).sort((a, b) => a - b));
    // Nobody votes for itself: of the camp itself one full vote is left out.
    const share = answer === right ? Math.max(0, all - 1) / Math.max(all, 1) : 1;
    return voters.map(({ voter, vote }) => {
      const chance = chanceOf(answer, right, candidates[voter]?.sound === true, split.baseKnown);
      return { vote: share * vote, log: share * vote * Math.log(chance) };
    });
  });
  const votes = sum(parts.map(({ vote }) => vote).sort((a, b) => a - b));
  const logs = sum(parts.map(({ log }) => log).sort((a, b) => a - b));
  const others = (logs * VOTES) / Math.max(votes, LEAST_VOTES);
  return others + (split.baseKnown ? Math.log(right === 0 ? BASE_RIGHT : 1 - BASE_RIGHT) : 0);
}

function chanceOf(answer: number, right: number, sound: boolean, baseKnown: boolean): number {
  const { kept, met, missed } = sound ? SOUND : UNSOUND;
  if (!baseKnown) return answer === right ? met : 1 - met;
  if (right === 0) return answer === 0 ? kept : 1 - kept;
  if (answer === right) return met;
  return answer === 0 ? missed : 1 - met - missed;
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);
/** So that the order of a sum's parts has no effect. */
export const rounded = (number: number): number => Math.round(number * 1e9) / 1e9;
