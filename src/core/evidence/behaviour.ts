import { byCodeUnits } from '../model/index.ts';
import type { DerivedTests, ProbeRun } from './observations.ts';
import {
  answerGroups,
  breadths,
  exactKey,
  type Likeness,
  logLikelihoods,
  type ProbeComparison,
  type ProbedCandidate,
  readingCost,
  rounded,
  type Split,
  splitsOf,
  splitWeight,
  stableProbes,
  total,
  type VotedSplit,
} from './votes.ts';

/** Where a candidate behaves as others do not, for people. */
interface BehaviourDifference {
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
  readonly differences: readonly BehaviourDifference[];
}

/**
 * Compares what candidates do on the same inputs. `base` holds two runs or more of the base itself: what differs between
 * them is left out, as is what was derived from a candidate's tests that nobody confirms. The order of candidates has no
 * effect on what is said of each.
 */
export function compareBehaviour(
  base: readonly ProbeRun[],
  candidates: readonly ProbedCandidate[],
  likenessOfChanges: Likeness,
  files: DerivedTests['files'] = [],
): readonly Behaviour[] {
  const likeness = votersOf(candidates, likenessOfChanges);
  const probes = stableProbes(base, candidates, unconfirmedFiles(files, candidates, likeness));
  const breadth = breadths(probes, candidates, likeness);
  const splits = splitsOf(probes);
  const voted = splits.map((split) => ({
    split,
    groups: answerGroups(split, candidates, likeness, breadth),
  }));
  const fits = logLikelihoods(voted, candidates, breadth);
  const best = Math.max(...fits.filter((_, at) => candidates[at]?.run !== null), Number.NEGATIVE_INFINITY);
  const groups = behaviourGroups(splits, candidates);
  return candidates.map((candidate, at) => {
    const logOdds =
      candidate.run === null || !Number.isFinite(best) ? Number.NEGATIVE_INFINITY : (fits[at] ?? 0) - best;
    return {
      ...behaviourSummary(at, candidate, probes, voted),
      group: groups[at] ?? 0,
      ...supportFrom(logOdds),
    };
  });
}

/**
 * Candidates of one model family are one voter as those with one change are: a model that repeats itself confirms nothing.
 * Where all are known to be of one family there is nobody else, and each votes.
 */
function votersOf(candidates: readonly ProbedCandidate[], likeness: Likeness): Likeness {
  const families = new Set(candidates.map(({ family }) => family));
  if (families.size < 2) return likeness;
  return (one, other) => {
    const family = candidates[one]?.family;
    return family !== undefined && family === candidates[other]?.family ? 1 : likeness(one, other);
  };
}

/**
 * Test files that candidates added and of which no other voter passes all that their authors pass: inputs that one author
 * chose could be chosen to set it apart.
 */
function unconfirmedFiles(
  files: DerivedTests['files'],
  candidates: readonly ProbedCandidate[],
  likeness: Likeness,
): ReadonlySet<string> {
  const passing = (at: number, id: string) => candidates[at]?.run?.cases.get(id) === 'passed';
  const unconfirmed = files.filter(({ file, by, cases }) => {
    const authors = [...candidates.keys()].filter((at) => by.includes(candidates[at]?.id ?? ''));
    const [first] = authors;
    if (first === undefined) return by.length > 0;
    const passed = cases.map(({ id }) => `${file}.${id}`).filter((id) => passing(first, id));
    return ![...candidates.keys()].some(
      (at) => at !== first && likeness(at, first) < 1 && passed.every((id) => passing(at, id)),
    );
  });
  return new Set(unconfirmed.map(({ file }) => file));
}

const supportFrom = (logOdds: number) => ({
  logOdds: Math.max(logOdds, MIN_LOG_ODDS),
  support: Math.exp(Math.max(logOdds, MIN_LOG_ODDS)),
});
/** Odds below are not worth telling apart. */
const MIN_LOG_ODDS = -100;

function behaviourSummary(
  at: number,
  { id, run }: ProbedCandidate,
  probes: readonly ProbeComparison[],
  voted: readonly VotedSplit[],
) {
  const own = probes.filter(({ observations }) => observations[at] !== undefined);
  const withBase = own.filter(({ base }) => base !== undefined);
  const same = withBase.filter(
    ({ base, observations }) => base && observations[at] && exactKey(base) === exactKey(observations[at]),
  );
  const asked = voted.filter(({ split: { answers, factor } }) => answers[at] !== null && factor === 1);
  const shares = asked.map((each) => ({
    ...each,
    share: agreementShare(at, each),
    weight: splitWeight(each.split),
  }));
  const weights = total(shares.map(({ weight }) => weight));
  return {
    id,
    observed: run === null ? 0 : own.length,
    contested: total(asked.map(({ split }) => split.examples.length)),
    agreement:
      weights === 0 ? 1 : rounded(total(shares.map(({ share, weight }) => share * weight)) / weights),
    asBase: withBase.length === 0 ? 1 : same.length / withBase.length,
    differences: shares
      .filter(({ share }) => share < 0.5)
      .sort(
        (a, b) =>
          b.weight * (1 - b.share) - a.weight * (1 - a.share) ||
          byCodeUnits(splitKey(a.split), splitKey(b.split)),
      )
      .slice(0, MAX_DIFFERENCES)
      .flatMap(({ split }) => differenceOn(at, split)),
  };
}

/** Share of the others' votes that say the same; 1 where there are none. */
function agreementShare(at: number, { split, groups }: VotedSplit): number {
  const others = groups.flatMap(({ answer, voters }) =>
    voters.flatMap(({ voter, vote }) => (voter === at ? [] : [{ vote, like: answer === split.answers[at] }])),
  );
  const all = total(others.map(({ vote }) => vote).sort((a, b) => a - b));
  const like = others.filter((other) => other.like).map(({ vote }) => vote);
  return all === 0 ? 1 : Math.min(1, total(like.sort((a, b) => a - b)) / all);
}

const MAX_DIFFERENCES = 3;
const splitKey = ({ examples }: Split): string => examples[0]?.id ?? '';

/** The plainest of a split's examples, and what most others showed there. */
function differenceOn(at: number, { examples }: Split): readonly BehaviourDifference[] {
  const [example] = examples.toSorted((a, b) => readingCost(a) - readingCost(b) || byCodeUnits(a.id, b.id));
  const own = example?.observations[at];
  if (!example || !own) return [];
  const counts = new Map<string, number>();
  for (const [voter, observation] of example.observations.entries()) {
    if (observation && voter !== at && exactKey(observation) !== exactKey(own))
      counts.set(observation.text, (counts.get(observation.text) ?? 0) + 1);
  }
  const [others] = [...counts].sort((a, b) => b[1] - a[1] || byCodeUnits(a[0], b[0]));
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
function behaviourGroups(
  splits: readonly Split[],
  candidates: readonly ProbedCandidate[],
): readonly number[] {
  const marks = candidates.map(({ run }, at) =>
    run === null ? 'none' : splits.map(({ answers }) => answers[at] ?? '-').join(','),
  );
  const known = [...new Set(marks)].sort();
  return marks.map((mark) => known.indexOf(mark));
}
