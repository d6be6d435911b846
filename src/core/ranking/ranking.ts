import { type Evidence, GATES, NO_INDEPENDENT_TESTS } from '../evidence/index.ts';
import type { Alias } from '../model/index.ts';
import type { Settings, Weights } from '../settings/index.ts';
import {
  byPatchHash,
  metricsOf,
  type Ranked,
  type RankedEvidence,
  rounded,
  type Separator,
  type Signal,
  signalsOf,
  strongestSignal,
  supportOf,
} from './odds.ts';
import { reasonFor } from './reasons.ts';

/**
 * Survivors between whom executed evidence does not decide, best first: none of them breaks a base test, each is near the
 * best, and of those who made the same change only the first is named. Who yields to the first is not among them. Fewer than
 * two: there is nothing to ask.
 */
export function undecided(ranking: readonly Ranked[], evidence: readonly Evidence[]): readonly Alias[] {
  const sound = ranking.filter((one) => one.survivor && one.regressions === 0);
  const best = Math.max(...sound.map((one) => one.support));
  const near = sound.filter((one) => best - one.support <= UNDECIDED_MARGIN).map(({ alias }) => alias);
  const found = (alias: Alias) => evidence.find((one) => one.alias === alias);
  const first = sound[0] && found(sound[0].alias);
  return near.filter((alias, at) => {
    const own = found(alias);
    if (own && first && isOverruledBy(own, first)) return false;
    const alike = own?.alike ?? [];
    return !near.slice(0, at).some((before) => alike.includes(before));
  });
}

/** The strategies that put survivors in order, each among those whom the ones before it leave undecided. */
const STRATEGIES = ['evidence', 'judges', 'vote', 'score', 'metrics'] as const;
type Strategy = (typeof STRATEGIES)[number];

/** What the settings name, as strategies of the ranking; `reviewer` and `human` act on the decision. */
const strategiesOf = (evaluator: Settings['evaluator']): readonly Strategy[] => [
  ...new Set(evaluator.flatMap((name) => STRATEGY_OF_EVALUATOR[name] ?? [])),
];
const STRATEGY_OF_EVALUATOR: Readonly<Record<Settings['evaluator'][number], Strategy | null>> = {
  evidence: 'evidence',
  model: 'judges',
  tournament: 'judges',
  vote: 'vote',
  score: 'score',
  metrics: 'metrics',
  reviewer: null,
  human: null,
};

/** How the settings want survivors put in order. */
export const rankingOptionsOf = ({
  weights,
  evaluator,
}: Pick<Settings, 'weights' | 'evaluator'>): RankingOptions => ({
  weights,
  strategies: strategiesOf(evaluator),
});

export interface RankingOptions {
  readonly weights: Weights;
  /** In order; what none of them separates is left to the hash. */
  readonly strategies: readonly Strategy[];
  /** Strengths by the judges' verdicts, where there are any. */
  readonly strengths?: ReadonlyMap<Alias, number>;
  /** Signals that shall not count, to see what each adds. */
  readonly without?: readonly Signal[];
}

/** Logarithm of odds within which executed evidence alone does not decide. Our default, from dev data (docs/selection.md). */
const UNDECIDED_MARGIN = 0.45;

/**
 * Survivors first; then fewest regressions; then the strategies, each among those whom the one before leaves undecided;
 * at last the hash of the patch. Who would be first yields to one that a critic's test speaks for. Same evidence in any
 * order, same ranking.
 */
export function rank(evidence: readonly Evidence[], options: RankingOptions): readonly Ranked[] {
  const survivors = evidence.filter((one) => one.survivor);
  const standings = evidence
    .map((one) => rankedEvidenceOf(one, survivors, options))
    .sort((a, b) => byPatchHash(a.evidence, b.evidence));
  const levels = orderByObjections(
    groupedEqual(standings, byGatesAndRegressions).flatMap((level) =>
      orderedByStrategies(level, options.strategies),
    ),
    options,
  );
  const by = (ahead: RankedEvidence, behind: RankedEvidence) =>
    levels.promoted.has(ahead) ? 'objections' : separatorBetween(ahead, behind, options.strategies);
  return levels.order.map((standing, i) => {
    const above = levels.order[i - 1];
    const below = levels.order[i + 1];
    return {
      alias: standing.evidence.alias,
      place: i + 1,
      survivor: standing.evidence.survivor,
      regressions: standing.regressions,
      signals: standing.signals,
      support: standing.support,
      metrics: standing.metrics,
      ...(below ? { separatedBy: by(standing, below) } : {}),
      because: reasonFor(
        standing,
        above && { standing: above, by: by(above, standing) },
        below && { standing: below, by: by(standing, below) },
      ),
    };
  });
}

function rankedEvidenceOf(
  evidence: Evidence,
  survivors: readonly Evidence[],
  options: RankingOptions,
): RankedEvidence {
  const signals = signalsOf(evidence, options.without);
  return {
    evidence,
    gatesPassed: GATES.filter((name) => evidence.gates.some((gate) => gate.gate === name && gate.passed))
      .length,
    regressions: evidence.baseTests?.regressions.length ?? 0,
    signals,
    support: supportOf(signals),
    metrics: metricsOf(evidence, survivors, options.weights),
    judgeStrength: options.strengths?.get(evidence.alias) ?? null,
    votes: familyVotes(evidence, survivors),
  };
}

/** Three runs of one model are one vote. */
function familyVotes({ alias, alike = [alias] }: Evidence, survivors: readonly Evidence[]): number {
  const those = survivors.filter((one) => alike.includes(one.alias));
  return new Set(those.map(({ family, alias: own }) => family ?? `of ${own}`)).size;
}

/** What no strategy can outweigh. Negative: a stands before b. */
const byGatesAndRegressions = (a: RankedEvidence, b: RankedEvidence): number =>
  Number(b.evidence.survivor) - Number(a.evidence.survivor) ||
  b.gatesPassed - a.gatesPassed ||
  a.regressions - b.regressions;

/** Best first, where equal ones keep their order. */
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

/** By the first strategy; those near its best are then put in order by the next ones. */
function orderedByStrategies(
  all: readonly RankedEvidence[],
  strategies: readonly Strategy[],
): readonly RankedEvidence[] {
  const [first, ...rest] = strategies;
  if (!first || all.length < 2) return all;
  const values = new Map(all.map((one) => [one, strategyValue(one, first)]));
  const value = (one: RankedEvidence) => values.get(one) ?? 0;
  const sorted = all.toSorted((a, b) => value(b) - value(a));
  const best = sorted[0] ? value(sorted[0]) : 0;
  const near = sorted.filter((one) => rounded(best - value(one)) <= STRATEGY_MARGINS[first]);
  const behind = sorted.filter((one) => !near.includes(one));
  // Sorting is stable: where the next strategies say nothing, what this one said still stands.
  return [...orderedByStrategies(near, rest), ...behind];
}

/** `risen`: who was put before the one behind it by a critic's test, whatever else says. */
interface ObjectionOrder {
  readonly order: readonly RankedEvidence[];
  readonly promoted: ReadonlySet<RankedEvidence>;
}

/** Ends, since each who rises fails fewer tests than the one that yields. */
function orderByObjections(order: readonly RankedEvidence[], options: RankingOptions): ObjectionOrder {
  const [first] = order;
  const better =
    first &&
    order.find(
      (one) => byGatesAndRegressions(one, first) === 0 && isOverruledBy(first.evidence, one.evidence),
    );
  if (!better || options.without?.includes('tests')) return { order, promoted: new Set() };
  const { order: seated, promoted } = orderByObjections(
    [better, ...order.filter((one) => one !== better)],
    options,
  );
  return { order: seated, promoted: new Set([...promoted, better]) };
}

/** Larger is better; equal for all where a strategy has nothing to go by. */
function strategyValue(one: RankedEvidence, strategy: Strategy): number {
  switch (strategy) {
    case 'evidence':
      return one.support;
    case 'judges':
      return one.judgeStrength ?? 0;
    case 'vote':
      return one.votes;
    case 'score':
      return one.evidence.staticScore ?? 0;
    case 'metrics':
      return one.metrics.total;
  }
}

const STRATEGY_MARGINS: Readonly<Record<Strategy, number>> = {
  evidence: UNDECIDED_MARGIN,
  judges: 0,
  vote: 0,
  score: 0,
  metrics: 0,
};

/** What put `ahead` before `behind`. */
function separatorBetween(
  ahead: RankedEvidence,
  behind: RankedEvidence,
  strategies: readonly Strategy[],
): Separator {
  if (ahead.evidence.survivor !== behind.evidence.survivor) return 'gates';
  if (ahead.gatesPassed !== behind.gatesPassed) return 'gates';
  if (ahead.regressions !== behind.regressions) return 'regressions';
  const signal = strongestSignal(ahead.signals, behind.signals) ?? 'hash';
  for (const strategy of strategies) {
    const lead = rounded(strategyValue(ahead, strategy) - strategyValue(behind, strategy));
    if (lead > STRATEGY_MARGINS[strategy]) return strategy === 'evidence' ? signal : strategy;
  }
  return strategies.includes('evidence') && ahead.support > behind.support ? signal : 'hash';
}

/**
 * Does a candidate fail a critic's test that another one passes, which fails no independent test that it passes itself? Then there
 * is nothing among what nobody who competes has written for which it could be preferred. By the sets of failed tests, not
 * by their number: several critics who find one defect are one reason, and a defect of the other one is a reason too.
 */
export function isOverruledBy(own: Evidence, other: Evidence): boolean {
  const { failing, total } = own.independentTests ?? NO_INDEPENDENT_TESTS;
  const theirs = other.independentTests ?? NO_INDEPENDENT_TESTS;
  const failingThere = new Set(theirs.failing.map(({ id }) => id));
  // What could not be tried on the other one speaks for nobody.
  return (
    theirs.total >= total &&
    failing.some(({ id, origin }) => origin === 'reviewer' && !failingThere.has(id)) &&
    [...failingThere].every((id) => failing.some((one) => one.id === id))
  );
}
