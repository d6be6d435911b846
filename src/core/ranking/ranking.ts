import { changeClasses, type Evidence, GATES } from '../evidence/index.ts';
import type { Alias } from '../model/index.ts';
import {
  byPatchHash,
  metricsOf,
  type Ranked,
  type RankedEvidence,
  sameSetOf,
  signalsOf,
  supportOf,
} from './odds.ts';
import { reasonFor } from './reasons.ts';
import {
  allSteps,
  isOverruledBy,
  isWeighted,
  leadingGroup,
  namedSteps,
  orderedBySteps,
  type Placed,
  type RankingOptions,
  type Strategy,
  weightedScores,
} from './strategies.ts';

/**
 * Ranks survivors first; then by fewest regressions; then by the strategies, each applied to the candidates that the
 * previous ones leave undecided; finally by executed evidence, whether named as a strategy or not. Remaining ties are
 * ordered by the hash of the patch, which decides nothing. Candidates with the same change count as one and follow
 * their representative. The first candidate is replaced by one that a critic's test favours. The result does not
 * depend on the order of the evidence.
 */
export function rank(evidence: readonly Evidence[], options: RankingOptions): readonly Ranked[] {
  const { represented, followers } = comparedCandidates(evidence, options);
  const levels = groupedEqual(represented, byGatesAndRegressions).map((level, at) =>
    at === 0 ? orderByObjections(level, options) : orderedBySteps(level, allSteps(options), options),
  );
  const placed = withFollowers(joinedLevels(levels), followers);
  const places = placesOf(placed);
  return placed.map(({ standing, by }, i) => {
    const above = placed[i - 1];
    const below = placed[i + 1];
    return {
      alias: standing.evidence.alias,
      place: places[i] ?? i + 1,
      survivor: standing.evidence.survivor,
      regressions: standing.regressions,
      fixed: standing.fixed,
      signals: standing.signals,
      support: standing.support,
      metrics: standing.metrics,
      votes: standing.votes,
      ...(standing.weighted === null ? {} : { weighted: standing.weighted }),
      ...(by ? { separatedBy: by } : {}),
      because: reasonFor(
        standing,
        above?.by && { standing: above.standing, by: above.by },
        below && by && { standing: below.standing, by },
      ),
    };
  });
}

/**
 * The survivors among which a strategy decides, best first by executed evidence: those that break no base test and
 * that the preceding strategies leave undecided with the best, one for each change, except those that a critic's test
 * excludes. If no strategy precedes it, or the strategy is not named, these are all. With fewer than two there is
 * nothing to decide.
 */
export function undecidedBefore(
  strategy: Strategy,
  evidence: readonly Evidence[],
  options: RankingOptions,
): readonly Alias[] {
  const { represented } = comparedCandidates(evidence, options);
  let group: readonly RankedEvidence[] = represented.filter(
    (one) => one.evidence.survivor && one.regressions === 0,
  );
  for (const step of namedSteps(options)) {
    const weighed = step.strategy === 'weights' && strategy in (options.strategyWeights ?? {});
    if (step.strategy === strategy || weighed || group.length < 2) break;
    group = leadingGroup(group, step, options);
  }
  const left = group.filter((one) => !group.some((other) => isOverruledBy(one.evidence, other.evidence)));
  return orderedBySteps(left, [{ strategy: 'evidence', margin: 0 }], options).map(
    ({ standing }) => standing.evidence.alias,
  );
}

function standingsOf(evidence: readonly Evidence[], options: RankingOptions): readonly RankedEvidence[] {
  const survivors = evidence.filter((one) => one.survivor);
  const sameSet = sameSetOf(evidence);
  return evidence.toSorted(byPatchHash).map((one) => {
    const same = sameSet(one.alias);
    const signals = signalsOf(one, same, options);
    return {
      evidence: one,
      gatesPassed: GATES.filter((name) => one.gates.some(({ gate, passed }) => gate === name && passed))
        .length,
      regressions: one.baseTests?.regressions.length ?? 0,
      fixed: one.baseTests?.fixed.length ?? 0,
      sameSet: same,
      signals,
      support: supportOf(signals, options.calibration),
      metrics: metricsOf(one, same, { survivors, weights: options.weights }),
      judgeStrength: options.strengths?.get(one.alias) ?? null,
      votes: familyVotes(one, survivors),
      weighted: null,
    };
  });
}

/** Repeated runs of one model are one vote. */
function familyVotes({ alias, alike = [alias] }: Evidence, survivors: readonly Evidence[]): number {
  const those = survivors.filter((one) => alike.includes(one.alias));
  return new Set(those.map(({ family, alias: own }) => family ?? `of ${own}`)).size;
}

interface Representatives {
  /** All ranked candidates: those that did not survive, and one representative of survivors with the same change. */
  readonly represented: readonly RankedEvidence[];
  readonly followers: ReadonlyMap<RankedEvidence, readonly RankedEvidence[]>;
}

/** The ranked candidates, with the weighted mean of their scores if the settings have weights. */
function comparedCandidates(evidence: readonly Evidence[], options: RankingOptions): Representatives {
  const { represented, followers } = representatives(standingsOf(evidence, options));
  if (!isWeighted(options)) return { represented, followers };
  const sound = represented.filter((one) => one.evidence.survivor && one.regressions === 0);
  const means = weightedScores(sound, options.strategyWeights ?? {});
  const weighed = new Map(represented.map((one) => [one, { ...one, weighted: means.get(one) ?? null }]));
  return {
    represented: represented.map((one) => weighed.get(one) ?? one),
    followers: new Map([...followers].map(([one, others]) => [weighed.get(one) ?? one, others])),
  };
}

/**
 * The representative of survivors with the same change is the one that breaks least, then the one with most tests of
 * its own.
 */
function representatives(standings: readonly RankedEvidence[]): Representatives {
  const survivors = standings.filter(({ evidence }) => evidence.survivor);
  const followers = new Map<RankedEvidence, readonly RankedEvidence[]>();
  for (const members of changeClasses(survivors.map(({ evidence }) => evidence))) {
    const [first, ...others] = survivors
      .filter(({ evidence }) => members.includes(evidence))
      .toSorted(byRepresentation);
    if (first) followers.set(first, others);
  }
  const hidden = new Set([...followers.values()].flat());
  return { represented: standings.filter((one) => !hidden.has(one)), followers };
}

const byRepresentation = (a: RankedEvidence, b: RankedEvidence): number =>
  a.regressions - b.regressions ||
  b.fixed - a.fixed ||
  b.evidence.addedTests - a.evidence.addedTests ||
  a.evidence.productionLines - b.evidence.productionLines ||
  byPatchHash(a.evidence, b.evidence);

/** Criteria that no strategy can outweigh. Negative: a ranks above b. */
const byGatesAndRegressions = (a: RankedEvidence, b: RankedEvidence): number =>
  Number(b.evidence.survivor) - Number(a.evidence.survivor) ||
  b.gatesPassed - a.gatesPassed ||
  a.regressions - b.regressions;

/** Best first; equal candidates keep their order. */
function groupedEqual(
  all: readonly RankedEvidence[],
  compare: (a: RankedEvidence, b: RankedEvidence) => number,
): readonly (readonly RankedEvidence[])[] {
  const groups: RankedEvidence[][] = [];
  for (const one of all.toSorted(compare)) {
    const last = groups.at(-1);
    if (last?.[0] && compare(last[0], one) === 0) last.push(one);
    else groups.push([one]);
  }
  return groups;
}

/**
 * In the order of the strategies, unless the first one fails a critic's test that another one passes, which then
 * becomes first.
 */
function orderByObjections(level: readonly RankedEvidence[], options: RankingOptions): readonly Placed[] {
  const order = orderedBySteps(level, allSteps(options), options);
  const [first] = order;
  if (!first || options.without?.includes('tests')) return order;
  const candidates = order.filter(({ standing }) =>
    isOverruledBy(first.standing.evidence, standing.evidence),
  );
  const better = candidates.find(
    ({ standing }) => !candidates.some((other) => isOverruledBy(standing.evidence, other.standing.evidence)),
  );
  if (!better) return order;
  const rest = level.filter((one) => one !== better.standing);
  return [
    { standing: better.standing, by: 'objections' },
    ...orderedBySteps(rest, allSteps(options), options),
  ];
}

function joinedLevels(levels: readonly (readonly Placed[])[]): readonly Placed[] {
  return levels.flatMap((level, at) => {
    const next = levels[at + 1]?.[0];
    return level.map((one, i): Placed => {
      if (i < level.length - 1 || !next) return one;
      const sameGates = byGates(one.standing, next.standing) === 0;
      return { ...one, by: sameGates ? 'regressions' : 'gates' };
    });
  });
}

const byGates = (a: RankedEvidence, b: RankedEvidence): number =>
  Number(b.evidence.survivor) - Number(a.evidence.survivor) || b.gatesPassed - a.gatesPassed;

/** Adds candidates with the same change after their representative. */
const withFollowers = (
  placed: readonly Placed[],
  followers: Representatives['followers'],
): readonly Placed[] =>
  placed.flatMap(({ standing, by }) => {
    const all = [standing, ...(followers.get(standing) ?? [])];
    return all.map((one, i): Placed => {
      if (i < all.length - 1) return { standing: one, by: 'alike' };
      return by ? { standing: one, by } : { standing: one };
    });
  });

/** 1-based; a candidate that is tied with the one above, or made the same change, shares its place. */
function placesOf(placed: readonly Placed[]): readonly number[] {
  const places: number[] = [];
  for (const [i] of placed.entries()) {
    const above = placed[i - 1]?.by;
    places.push(above === 'tie' || above === 'alike' ? (places[i - 1] ?? 1) : i + 1);
  }
  return places;
}
