import type { ProbeRun, Seen, Strain } from './observations.ts';

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

/** What a probe adds to the weight of its kind of difference. */
const STRAIN_WEIGHT: Readonly<Record<Strain, number>> = { 'as-is': 1, near: 0.7, further: 0.6, far: 0.25 };
/** Of that, where the base fails with a fault: hardly an input that the code is meant for. */
const FAULTY_INPUT = 0.5;
/** Of that, where only the wording of errors differs. */
const WORDING = 0.3;
/** Probes that split the pool in the same way. */
export interface Split {
  /** By candidate: number of what it showed; 0 is what the base showed, null that nothing is known. */
  readonly answers: readonly (number | null)[];
  readonly baseKnown: boolean;
  readonly slips: readonly boolean[];
  weight: number;
  readonly factor: number;
  readonly examples: Example[];
}

export interface Example {
  readonly id: string;
  readonly base: Seen | undefined;
  readonly seen: readonly (Seen | undefined)[];
}

/** What was seen of each input, on the base and on each candidate; without what differs between two runs of the base. */
export function stableProbes(
  base: readonly ProbeRun[],
  candidates: readonly { readonly run: ProbeRun | null }[],
): readonly Example[] {
  const ids = new Set(
    [...base, ...candidates.flatMap(({ run }) => run ?? [])].flatMap(({ seen }) => [...seen.keys()]),
  );
  return [...ids].sort().flatMap((id): readonly Example[] => {
    const [first, ...again] = base.map(({ seen }) => seen.get(id));
    if (again.some((other) => other?.text !== first?.text || other?.kind !== first?.kind)) return [];
    return [{ id, base: first, seen: candidates.map(({ run }) => run?.seen.get(id)) }];
  });
}

export const exactly = (seen: Seen): string => `${seen.kind} ${seen.text}`;
const roughly = (seen: Seen): string =>
  seen.kind === 'error' ? `error ${seen.text.split(':')[0]}` : exactly(seen);

export function splitsOf(probes: readonly Example[]): readonly Split[] {
  const splits = new Map<string, Split>();
  for (const probe of probes) {
    const rough = add(splits, probe, roughly, 1);
    const seen = probe.seen.flatMap((each) => each ?? []);
    if (new Set(seen.map(exactly)).size > Math.max(1, rough)) add(splits, probe, exactly, WORDING);
  }
  return [...splits.values()];
}

/** Counts a probe to its split; returns how many different answers there are. */
function add(
  splits: Map<string, Split>,
  probe: Example,
  textOf: (seen: Seen) => string,
  factor: number,
): number {
  const ofBase = probe.base ? textOf(probe.base) : null;
  const texts = probe.seen.flatMap((seen) => (seen ? [textOf(seen)] : [])).filter((text) => text !== ofBase);
  // Numbered by what they say, not by who said it first.
  const numbers = new Map([...new Set(texts)].sort().map((text, nth) => [text, nth + 1]));
  const answers = probe.seen.map((seen) => (seen ? (numbers.get(textOf(seen)) ?? 0) : null));
  const different = new Set(answers.filter((answer) => answer !== null)).size;
  if (different < 2) return different;
  const slips = probe.seen.map(
    (seen) => seen !== undefined && isSlip(seen) && !(probe.base && isSlip(probe.base)),
  );
  const key = JSON.stringify([answers, probe.base !== undefined, slips, factor]);
  const split = splits.get(key) ?? {
    answers,
    baseKnown: probe.base !== undefined,
    slips,
    weight: 0,
    factor,
    examples: [],
  };
  const faulty = probe.base?.kind === 'fault' || probe.base?.kind === 'stuck' ? FAULTY_INPUT : 1;
  split.weight += strainOf(probe) * faulty;
  split.examples.push(probe);
  splits.set(key, split);
  return different;
}

/** What hardly anybody means to return, whatever the question: faults, and traces of missing values inside of others. */
const isSlip = ({ kind, text }: Seen): boolean =>
  kind === 'fault' ||
  kind === 'stuck' ||
  (kind === 'value' && /\bNaN\b|.\bundefined\b|\[object \w+\]|\\u0000|\uFFFD/.test(text));

/** Many probes that split the pool alike are one difference, seen often: they add up by their logarithm. */
export const weightOf = ({ weight, factor }: Split): number => factor * Math.sqrt(Math.log2(1 + weight));

/** Small for what people see through at once. */
export const plainness = (example: Example): number => {
  const lengths = example.seen.flatMap((seen) => (seen ? [seen.input.length + seen.text.length] : []));
  return Math.max(0, ...lengths) + 200 * (1 - strainOf(example));
};

/** The same on every tree; where trees say otherwise, the least. */
const strainOf = ({ seen }: Example): number =>
  Math.min(1, ...seen.flatMap((each) => (each ? [STRAIN_WEIGHT[each.strain]] : [])));

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
interface Camp {
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
