import { fileOfProbe, type Observation, type ProbeRun, type ProbeVariation } from './observations.ts';

/** A candidate whose behaviour is compared. */
export interface ProbedCandidate {
  /** Alias, or id of a request: used as a name in the result only. */
  readonly id: string;
  /** Null if its tree could not be probed. */
  readonly run: ProbeRun | null;
  /**
   * Passes everything known to be correct: the visible tests and the examples. Other candidates have a
   * smaller vote.
   */
  readonly passesTests: boolean;
  /** Has no change that could matter, so it adds nothing to the base's result. */
  readonly hasNoEffect: boolean;
  /** Family of the model that wrote it; absent if unknown. */
  readonly family?: string;
}

/** Similarity of two candidates' source changes, 0 to 1; 1 makes them one voter. Symmetric. */
export type Likeness = (one: number, other: number) => number;

/** The weight that a probe adds to its kind of difference. */
const VARIATION_WEIGHTS: Readonly<Record<ProbeVariation, number>> = {
  'as-is': 1,
  near: 0.7,
  further: 0.6,
  far: 0.25,
};
/** Factor if the base fails with a fault: the code is probably not meant for this input. */
const BASE_FAULT_FACTOR = 0.5;
/** Factor if only the wording of errors differs. */
const WORDING_FACTOR = 0.3;
/** Probes that split the pool in the same way. */
export interface Split {
  /** By candidate: number of its result; 0 is the result of the base, null is unknown. */
  readonly answers: readonly (number | null)[];
  readonly baseKnown: boolean;
  readonly likelyBugs: readonly boolean[];
  weight: number;
  readonly factor: number;
  readonly examples: ProbeComparison[];
}

export interface ProbeComparison {
  readonly id: string;
  readonly base: Observation | undefined;
  readonly observations: readonly (Observation | undefined)[];
}

/**
 * The results for each input, on the base and on each candidate, without results that differ between two runs of the
 * base.
 */
export function stableProbes(
  base: readonly ProbeRun[],
  candidates: readonly { readonly run: ProbeRun | null }[],
  ignoredFiles: ReadonlySet<string> = new Set(),
): readonly ProbeComparison[] {
  const ids = new Set(
    [...base, ...candidates.flatMap(({ run }) => run ?? [])].flatMap(({ observations }) => [
      ...observations.keys(),
    ]),
  );
  return [...ids].sort().flatMap((id): readonly ProbeComparison[] => {
    if (ignoredFiles.has(fileOfProbe(id))) return [];
    const [first, ...again] = base.map(({ observations }) => observations.get(id));
    if (again.some((other) => other?.text !== first?.text || other?.kind !== first?.kind)) return [];
    return [{ id, base: first, observations: candidates.map(({ run }) => run?.observations.get(id)) }];
  });
}

export const exactKey = (observation: Observation): string => `${observation.kind} ${observation.text}`;
const roughKey = (observation: Observation): string =>
  observation.kind === 'error' ? `error ${observation.text.split(':')[0]}` : exactKey(observation);

export function splitsOf(probes: readonly ProbeComparison[]): readonly Split[] {
  const splits = new Map<string, Split>();
  for (const probe of probes) {
    const rough = addToSplit(splits, probe, roughKey, 1);
    const observations = probe.observations.flatMap((each) => each ?? []);
    if (new Set(observations.map(exactKey)).size > Math.max(1, rough))
      addToSplit(splits, probe, exactKey, WORDING_FACTOR);
  }
  return [...splits.values()];
}

/** Adds a probe to its split; returns the number of different answers. */
function addToSplit(
  splits: Map<string, Split>,
  probe: ProbeComparison,
  textOf: (observation: Observation) => string,
  factor: number,
): number {
  const ofBase = probe.base ? textOf(probe.base) : null;
  const texts = probe.observations
    .flatMap((observation) => (observation ? [textOf(observation)] : []))
    .filter((text) => text !== ofBase);
  // Numbered by content, so that the order of candidates has no effect.
  const numbers = new Map([...new Set(texts)].sort().map((text, nth) => [text, nth + 1]));
  const answers = probe.observations.map((observation) =>
    observation ? (numbers.get(textOf(observation)) ?? 0) : null,
  );
  const different = new Set(answers.filter((answer) => answer !== null)).size;
  if (different < 2) return different;
  const likelyBugs = probe.observations.map(
    (observation) =>
      observation !== undefined && isLikelyBug(observation) && !(probe.base && isLikelyBug(probe.base)),
  );
  const key = JSON.stringify([answers, probe.base !== undefined, likelyBugs, factor]);
  const split = splits.get(key) ?? {
    answers,
    baseKnown: probe.base !== undefined,
    likelyBugs,
    weight: 0,
    factor,
    examples: [],
  };
  const faulty = probe.base?.kind === 'fault' || probe.base?.kind === 'stuck' ? BASE_FAULT_FACTOR : 1;
  split.weight += variationWeight(probe) * faulty;
  split.examples.push(probe);
  splits.set(key, split);
  return different;
}

/** Results that are rarely intended: faults, and traces of missing values inside others. */
const isLikelyBug = ({ kind, text }: Observation): boolean =>
  kind === 'fault' ||
  kind === 'stuck' ||
  (kind === 'value' && /\bNaN\b|.\bundefined\b|\[object \w+\]|\\u0000|\uFFFD/.test(text));

/** Many probes with the same split are one difference: their weight grows with the logarithm. */
export const splitWeight = ({ weight, factor }: Split): number => factor * Math.sqrt(Math.log2(1 + weight));

/** Low for examples that people understand quickly. */
export const readingCost = (example: ProbeComparison): number => {
  const lengths = example.observations.flatMap((observation) =>
    observation ? [observation.input.length + observation.text.length] : [],
  );
  return Math.max(0, ...lengths) + 200 * (1 - variationWeight(example));
};

/** The same on every tree; if trees disagree, the lowest weight. */
const variationWeight = ({ observations }: ProbeComparison): number =>
  Math.min(1, ...observations.flatMap((each) => (each ? [VARIATION_WEIGHTS[each.variation]] : [])));

/**
 * Probabilities of a voter's result, given the right answer. `kept`: the right answer is the base's, and the voter
 * keeps it. `met`: the right answer is another, and the voter has it; `missed`: the voter still behaves like the
 * base. Tuned on patches with known outcome; small changes have little effect.
 */
const PASSING_VOTER = { kept: 0.83, met: 0.56, missed: 0.3 } as const;
const FAILING_VOTER = { kept: 0.75, met: 0.4, missed: 0.33 } as const;
/** Probability that the base's answer is right when candidates differ. */
const BASE_RIGHT = 0.6;
/** Votes of similar candidates count less; full similarity reduces a further vote by this share. */
const LIKENESS_DISCOUNT = 0.4;
/** Maximum total weight of all votes on one kind of difference, and the minimum divisor. */
const TOTAL_VOTE_WEIGHT = 2;
const MIN_VOTES = 0.5;
/**
 * Natural logarithm of the odds against an answer that looks like a bug (NaN, `undefined` inside, a fault) if the
 * base's does not.
 */
const LIKELY_BUG_PENALTY = 1;
/** Breadth below which a candidate is narrow, and natural logarithm of the odds against zero breadth. */
const NARROW_BELOW = 0.5;
const NARROW_PENALTY = 6;

/** A kind of difference, and the groups of candidates by answer. */
export interface VotedSplit {
  readonly split: Split;
  readonly groups: readonly AnswerGroup[];
}

/** By candidate: log-likelihood of all observations if its answers are right. */
export function logLikelihoods(
  voted: readonly VotedSplit[],
  candidates: readonly ProbedCandidate[],
  breadth: readonly number[],
): readonly number[] {
  const totals = breadth.map((own) => -NARROW_PENALTY * Math.max(0, 1 - own / NARROW_BELOW));
  for (const { split, groups } of voted) {
    const fits = split.answers.map((right, at) =>
      right === null
        ? null
        : splitWeight(split) *
          (answerLogLikelihood(right, split, groups, candidates) -
            (split.likelyBugs[at] ? LIKELY_BUG_PENALTY : 0)),
    );
    // Unknown results are neutral: the candidate is treated as average.
    const sound = fits.filter((fit, at) => fit !== null && candidates[at]?.passesTests);
    const known = (sound.length > 0 ? sound : fits).filter((fit) => fit !== null);
    const usual = total(known.toSorted((a, b) => a - b)) / known.length;
    for (const [at, fit] of fits.entries()) totals[at] = (totals[at] ?? 0) + (fit ?? usual);
  }
  return totals.map(rounded);
}

/** Candidates with the same answer, and the weight of each vote. */
interface AnswerGroup {
  readonly answer: number;
  readonly voters: readonly { readonly voter: number; readonly vote: number }[];
}

/**
 * Identical candidates share one vote, similar ones have little more; candidates without effect have none. Nor has one
 * that fails, beside an identical one that passes: the copy would make what is known of the same change weaker.
 */
export function answerGroups(
  { answers }: Split,
  candidates: readonly ProbedCandidate[],
  likeness: Likeness,
  breadth: readonly number[],
): readonly AnswerGroup[] {
  const known = [...new Set(answers)].filter((answer) => answer !== null).sort((a, b) => a - b);
  return known.map((answer) => {
    const members = [...answers.keys()].filter(
      (at) => answers[at] === answer && !candidates[at]?.hasNoEffect && candidates[at]?.run,
    );
    const sound = members.filter((at) => candidates[at]?.passesTests);
    const voting = members.filter(
      (at) => candidates[at]?.passesTests || !sound.some((other) => likeness(at, other) >= 1),
    );
    const voters = voting.map((voter) => {
      const similarities = voting.map((other) => (other === voter ? 0 : likeness(voter, other)));
      const alike = total(
        similarities.map((each) => (each >= 1 ? 1 : LIKENESS_DISCOUNT * each)).sort((a, b) => a - b),
      );
      // A candidate that changes almost nothing adds little by keeping the base's result.
      const voteShare = answer === 0 ? Math.min(1, (breadth[voter] ?? 1) / NARROW_BELOW) : 1;
      return { voter, vote: voteShare / (1 + alike) };
    });
    return { answer, voters };
  });
}

/**
 * Log-likelihood of all other results if this answer is right. Equal for all candidates with this answer: similarity
 * must not separate candidates that no probe separates.
 */
function answerLogLikelihood(
  right: number,
  split: Split,
  groups: readonly AnswerGroup[],
  candidates: readonly ProbedCandidate[],
): number {
  const parts = groups.flatMap(({ answer, voters }) => {
    const all = total(voters.map(({ vote }) => vote).sort((a, b) => a - b));
    // A candidate does not vote for itself: one full vote of its own group is left out.
    const share = answer === right ? Math.max(0, all - 1) / Math.max(all, 1) : 1;
    return voters.map(({ voter, vote }) => {
      const chance = answerChance(answer, right, candidates[voter]?.passesTests === true, split.baseKnown);
      return { vote: share * vote, log: share * vote * Math.log(chance) };
    });
  });
  const votes = total(parts.map(({ vote }) => vote).sort((a, b) => a - b));
  const logs = total(parts.map(({ log }) => log).sort((a, b) => a - b));
  const others = (logs * TOTAL_VOTE_WEIGHT) / Math.max(votes, MIN_VOTES);
  return others + (split.baseKnown ? Math.log(right === 0 ? BASE_RIGHT : 1 - BASE_RIGHT) : 0);
}

function answerChance(answer: number, right: number, sound: boolean, baseKnown: boolean): number {
  const { kept, met, missed } = sound ? PASSING_VOTER : FAILING_VOTER;
  if (!baseKnown) return answer === right ? met : 1 - met;
  if (right === 0) return answer === 0 ? kept : 1 - kept;
  if (answer === right) return met;
  return answer === 0 ? missed : 1 - met - missed;
}

export const total = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);
/** Makes the result independent of the order of summation. */
export const rounded = (number: number): number => Math.round(number * 1e9) / 1e9;
