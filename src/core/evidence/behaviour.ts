import { type Alias, byCodeUnits } from '../model/index.ts';
import { breadths } from './breadth.ts';
import type { DerivedTests, Observation, ProbeRun } from './observations.ts';
import {
  answerGroups,
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

/** A difference between a candidate's behaviour and that of the others, for people. */
interface BehaviourDifference {
  readonly input: string;
  /** The candidate's result. */
  readonly got: string;
  /** The result of most others that pass the existing tests and the examples of the issue. */
  readonly others: string;
  /** The result of the base; null if it has none. */
  readonly base: string | null;
}

/** The results of the probes for one candidate. */
export interface Behaviour {
  readonly id: string;
  /** Probes that observed its behaviour. */
  readonly observed: number;
  /** Of these, the probes on which candidates differ. */
  readonly contested: number;
  /**
   * Likelihood that this candidate is correct given all observations, relative to the best of the pool, 0 to 1: the
   * best has 1. All have 1 when no probe separates them.
   */
  readonly support: number;
  /** Natural logarithm of the odds against the best, at most 0. */
  readonly logOdds: number;
  /**
   * On contested probes: the share of other voters with the same behaviour, averaged over kinds of difference; 1
   * without contested probes.
   */
  readonly agreement: number;
  /** Share of probes on which it behaves like the base. */
  readonly asBase: number;
  /** 0-based number of its group. No probe separates candidates of one group. */
  readonly group: number;
  /** The most informative differences, at most three. */
  readonly differences: readonly BehaviourDifference[];
  /** Where inputs were left out because some took long, hung or ended the process; absent if nowhere. */
  readonly leftOut?: 'base' | 'own';
}

/** An input on which candidates differ. */
export interface ContestedInput {
  readonly input: string;
  /** Null: unknown there. */
  readonly base: string | null;
  /** Without candidates on which it was not observed. */
  readonly byAlias: ReadonlyMap<Alias, string>;
}

interface BehaviourComparison {
  /** In the order of the candidates. */
  readonly behaviour: readonly Behaviour[];
  /** The inputs on which candidates differ, one of each kind of difference first; at most 200. */
  readonly inputs: readonly ContestedInput[];
}

/**
 * Compares the behaviour of candidates on the same inputs. `base` holds two or more runs of the base itself: results
 * that differ between them are ignored, as are unconfirmed inputs derived from a candidate's tests. What it says of a
 * candidate does not depend on the order of candidates.
 */
export function compareBehaviour(
  base: readonly ProbeRun[],
  given: readonly ProbedCandidate[],
  likenessOfChanges: Likeness,
  files: DerivedTests['files'] = [],
): BehaviourComparison {
  const likeness = votersOf(given, likenessOfChanges);
  const probes = stableProbes(base, given, unconfirmedFiles(files, given, likeness));
  const candidates = withoutEmptyRuns(given, probes);
  const breadth = breadths(probes, candidates, likeness);
  const splits = splitsOf(probes);
  const voted = splits.map((split) => ({
    split,
    groups: answerGroups(split, candidates, likeness, breadth),
  }));
  const fits = logLikelihoods(voted, candidates, breadth);
  const best = Math.max(...fits.filter((_, at) => candidates[at]?.run !== null), Number.NEGATIVE_INFINITY);
  const groups = behaviourGroups(splits, candidates);
  const behaviour = candidates.map((candidate, at) => {
    const logOdds =
      candidate.run === null || !Number.isFinite(best) ? Number.NEGATIVE_INFINITY : (fits[at] ?? 0) - best;
    return {
      ...behaviourSummary(at, candidates, probes, voted),
      group: groups[at] ?? 0,
      ...supportFrom(logOdds),
    };
  });
  return { behaviour, inputs: contestedInputs(splits, candidates) };
}

/** Without the runs that observed nothing where others did: no result is not the same as behaving like the base. */
function withoutEmptyRuns(
  candidates: readonly ProbedCandidate[],
  probes: readonly ProbeComparison[],
): readonly ProbedCandidate[] {
  const isSeen = (at: number) => probes.some(({ observations }) => observations[at] !== undefined);
  if (![...candidates.keys()].some(isSeen)) return candidates;
  return candidates.map((one, at) => (isSeen(at) ? one : { ...one, run: null }));
}

/** Maximum inputs that are listed, and of these with the same difference. */
const MAX_INPUTS = 200;
const MAX_ALIKE_INPUTS = 20;

function contestedInputs(
  splits: readonly Split[],
  candidates: readonly ProbedCandidate[],
): readonly ContestedInput[] {
  const kinds = splits
    .toSorted((a, b) => splitWeight(b) - splitWeight(a) || byCodeUnits(splitKey(a), splitKey(b)))
    .map(({ examples }) =>
      examples.toSorted((a, b) => readingCost(a) - readingCost(b) || byCodeUnits(a.id, b.id)),
    );
  const found = new Map<string, ContestedInput>();
  for (let nth = 0; nth < MAX_ALIKE_INPUTS; nth += 1) {
    for (const examples of kinds) {
      const example = examples[nth];
      if (example && !found.has(example.id) && found.size < MAX_INPUTS)
        found.set(example.id, contestedInput(example, candidates));
    }
  }
  return [...found.values()];
}

function contestedInput(
  { base, observations }: ProbeComparison,
  candidates: readonly ProbedCandidate[],
): ContestedInput {
  const seen = observations.flatMap((each) => each ?? []);
  return {
    input: seen[0]?.input ?? base?.input ?? '',
    base: base?.text ?? null,
    byAlias: new Map(
      candidates.flatMap(({ id }, at) => {
        const own = observations[at];
        return own ? [[id, own.text] as const] : [];
      }),
    ),
  };
}

/**
 * Counts candidates of one model family as one voter, like those with identical changes: repeated samples of a model
 * confirm nothing. If all candidates are of one family, each votes.
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
 * Test files added by candidates where no other voter passes every test that the author passes. An author could
 * choose such inputs to stand out.
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
/** Smaller odds are not distinguished. */
const MIN_LOG_ODDS = -100;

function behaviourSummary(
  at: number,
  candidates: readonly ProbedCandidate[],
  probes: readonly ProbeComparison[],
  voted: readonly VotedSplit[],
) {
  const { id = '', run = null } = candidates[at] ?? {};
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
      .flatMap(({ split }) => differenceOn(at, split, candidates))
      .slice(0, MAX_DIFFERENCES),
  };
}

/** Share of the others' votes with the same result; 1 if there are no others. */
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

/** The simplest example of a split, if most of the other sound candidates have one other result there. */
function differenceOn(
  at: number,
  { examples }: Split,
  candidates: readonly ProbedCandidate[],
): readonly BehaviourDifference[] {
  const [example] = examples.toSorted((a, b) => readingCost(a) - readingCost(b) || byCodeUnits(a.id, b.id));
  const own = example?.observations[at];
  if (!example || !own) return [];
  const others = example.observations.filter(
    (_, other) => other !== at && candidates[other]?.passesTests && candidates[other].run,
  );
  const isUsual = (one: Observation) =>
    2 * others.filter((other) => other && exactKey(other) === exactKey(one)).length > others.length;
  const usual = others.find((one) => one && isUsual(one));
  if (!usual || exactKey(usual) === exactKey(own)) return [];
  return [{ input: own.input, got: own.text, others: usual.text, base: example.base?.text ?? null }];
}

/** Candidates that no split separates share a number. Numbers follow the order of results, not of candidates. */
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
