import { type Evidence, NO_INDEPENDENT_TESTS } from '../evidence/index.ts';
import type { Settings, Weights } from '../settings/index.ts';
import {
  type RankedEvidence,
  rounded,
  type Separator,
  type SignalOptions,
  sortedSum,
  strongestSignal,
} from './odds.ts';
import { CALIBRATION } from './weights.ts';

/** The strategies that put survivors in order, each among those whom the ones before it leave undecided. */
const STRATEGIES = ['evidence', 'judges', 'vote', 'score', 'metrics'] as const;
export type Strategy = (typeof STRATEGIES)[number];

export interface RankingOptions extends SignalOptions {
  readonly weights: Weights;
  /** In order. Executed evidence is the last, whether it is named or not. */
  readonly strategies: readonly Strategy[];
  /** Where one is above 0, survivors are ordered by the weighted mean of standardised scores, and not in turn. */
  readonly strategyWeights?: StrategyWeights;
  /** Strengths by the judges' verdicts, where there are any. */
  readonly strengths?: ReadonlyMap<string, number>;
}

export type StrategyWeights = Readonly<Partial<Record<Strategy, number>>>;

/** How the settings want survivors put in order. `reviewer` and `human` act on the decision. */
export const rankingOptionsOf = ({
  weights,
  evaluator,
}: Pick<Settings, 'weights' | 'evaluator'>): RankingOptions => ({
  weights,
  strategies: [...new Set(evaluator.flatMap((name) => STRATEGY_OF_EVALUATOR[name] ?? []))],
  strategyWeights: Object.fromEntries(
    STRATEGIES.flatMap((name) => {
      const weight = weights[name] ?? 0;
      return weight > 0 ? [[name, weight] as const] : [];
    }),
  ),
});
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

/** Are strategies weighed against each other? */
export const isWeighted = ({ strategyWeights = {} }: Pick<RankingOptions, 'strategyWeights'>): boolean =>
  Object.keys(strategyWeights).length > 0;

/** Whether blind judges are wanted at all. */
export const wantsJudges = (options: RankingOptions): boolean =>
  isWeighted(options) ? 'judges' in (options.strategyWeights ?? {}) : options.strategies.includes('judges');

/** A strategy, and the lead within which it leaves candidates undecided. */
interface RankingStep {
  readonly strategy: Strategy | 'weights';
  readonly margin: number;
}

/** What the settings name. */
export function namedSteps(options: RankingOptions): readonly RankingStep[] {
  const { strategies, calibration = CALIBRATION } = options;
  if (isWeighted(options)) return [{ strategy: 'weights', margin: 0 }];
  return strategies.map((strategy) => ({
    strategy,
    margin: strategy === 'evidence' ? calibration.undecidedMargin : 0,
  }));
}

/** What the settings name, then executed evidence down to the smallest difference. */
export const allSteps = (options: RankingOptions): readonly RankingStep[] => [
  ...namedSteps(options),
  { strategy: 'evidence', margin: 0 },
];

/** A candidate in its place, and what put it before the next one. */
export interface Placed {
  readonly standing: RankedEvidence;
  /** Absent on the last. */
  readonly by?: Separator;
}

/**
 * By the first step; whom it leaves undecided with its best are put in order by the next ones, the others by all of them
 * again. Candidates between whom no step decides are tied: they keep the order in which they came.
 */
export function orderedBySteps(
  all: readonly RankedEvidence[],
  steps: readonly RankingStep[],
  options: RankingOptions,
): readonly Placed[] {
  const [step, ...rest] = steps;
  if (!step || all.length < 2)
    return all.map((standing, at) => (at < all.length - 1 ? { standing, by: 'tie' } : { standing }));
  const near = leadingGroup(all, step, options);
  const behind = orderedBySteps(
    all.filter((one) => !near.includes(one)),
    steps,
    options,
  );
  const front = orderedBySteps(near, rest, options);
  const [last, next] = [front.at(-1), behind[0]];
  if (!last || !next) return front;
  const by = separatorOf(step, near, { last: last.standing, next: next.standing }, options);
  return [...front.slice(0, -1), { standing: last.standing, by }, ...behind];
}

/** Those whom a strategy puts first, or leaves undecided with the first; in the order given. */
export function leadingGroup(
  all: readonly RankedEvidence[],
  { strategy, margin }: RankingStep,
  { without = [] }: Pick<RankingOptions, 'without'>,
): readonly RankedEvidence[] {
  const group = strategy === 'evidence' ? undominated(all, !without.includes('tests')) : all;
  const best = Math.max(...group.map((one) => strategyValue(one, strategy)));
  return group.filter((one) => {
    const value = strategyValue(one, strategy);
    return value === best || rounded(best - value) <= margin;
  });
}

/** Those that fix the most base tests, without those that another one of them surpasses on independent tests. */
function undominated(all: readonly RankedEvidence[], byIndependentTests: boolean): readonly RankedEvidence[] {
  const most = Math.max(...all.map((one) => one.fixed));
  const fixing = all.filter((one) => one.fixed === most);
  if (!byIndependentTests) return fixing;
  return fixing.filter((one) => !fixing.some((other) => isSurpassedBy(one.evidence, other.evidence)));
}

/** Larger is better; equal for all where a strategy has nothing to go by. */
function strategyValue(one: RankedEvidence, strategy: RankingStep['strategy']): number {
  switch (strategy) {
    case 'evidence':
      return one.support;
    case 'judges':
      // Where judges compared some candidates, those they did not see stand behind; where they compared nobody, all are equal.
      return one.judgeStrength ?? Number.NEGATIVE_INFINITY;
    case 'vote':
      return one.votes;
    case 'score':
      return one.evidence.staticScore?.score ?? 0;
    case 'metrics':
      return one.metrics.total;
    case 'weights':
      return one.weighted ?? 0;
  }
}

/** What put the last of a leading group before the first of the others. */
function separatorOf(
  { strategy }: RankingStep,
  near: readonly RankedEvidence[],
  { last, next }: { readonly last: RankedEvidence; readonly next: RankedEvidence },
  { calibration, without = [] }: RankingOptions,
): Separator {
  if (strategy !== 'evidence') return strategy;
  if (last.fixed !== next.fixed) return 'fixed';
  const tests = !without.includes('tests');
  if (tests && near.some((one) => isOverruledBy(next.evidence, one.evidence))) return 'objections';
  if (tests && near.some((one) => isSurpassedBy(next.evidence, one.evidence))) return 'independent';
  return strongestSignal(last.signals, next.signals, calibration) ?? 'tie';
}

/**
 * Does a candidate fail an independent test that another one passes, which fails none that it passes itself? Then nothing that
 * nobody who competes has written speaks for it. By the sets of failed tests, not by their number: several tests that find
 * one defect are one reason, and a defect of the other one is a reason too.
 */
export const isSurpassedBy = (own: Evidence, other: Evidence): boolean =>
  failsMoreThan(own, other, () => true);

/** The same, where one of these tests was written by a critic who looked at the candidate's diff. */
export const isOverruledBy = (own: Evidence, other: Evidence): boolean =>
  failsMoreThan(own, other, (origin) => origin === 'reviewer');

type IndependentFailure = NonNullable<Evidence['independentTests']>['failing'][number];

function failsMoreThan(
  { independentTests: own = NO_INDEPENDENT_TESTS }: Evidence,
  { independentTests: theirs = NO_INDEPENDENT_TESTS }: Evidence,
  counts: (origin: IndependentFailure['origin']) => boolean,
): boolean {
  const failingThere = new Set(theirs.failing.map(({ id }) => id));
  // A test that could not be run on the other one speaks for nobody.
  return (
    theirs.total >= own.total &&
    own.failing.some(({ id, origin }) => counts(origin) && !failingThere.has(id)) &&
    [...failingThere].every((id) => own.failing.some((one) => one.id === id))
  );
}

/**
 * Does executed evidence contradict a preference for `own`: the other one fixes more base tests and fails no independent
 * test that it passes, or it surpasses it on independent tests and fixes as many?
 */
export function isContradictedBy(own: RankedEvidenceFacts, other: RankedEvidenceFacts): boolean {
  if (isSurpassedBy(own.evidence, other.evidence)) return other.fixed >= own.fixed;
  return other.fixed > own.fixed && !isSurpassedBy(other.evidence, own.evidence);
}

type RankedEvidenceFacts = Pick<RankedEvidence, 'evidence' | 'fixed'>;

/**
 * H = sum w z / sum w over the strategies with a weight; z is a score minus the mean of the pool, divided by its standard
 * deviation, or 0 where all are equal or nobody judged. By candidate.
 */
export function weightedScores(
  pool: readonly RankedEvidence[],
  weights: StrategyWeights,
): ReadonlyMap<RankedEvidence, number> {
  const named = STRATEGIES.flatMap((name) =>
    weights[name] === undefined ? [] : [[name, weights[name]] as const],
  );
  const whole = named.reduce((sum, [, weight]) => sum + weight, 0);
  const standardised = named.map(([name, weight]) => {
    const values = pool.map((one) => strategyValue(one, name));
    const known = values.filter(Number.isFinite);
    const mean = sortedSum(known) / known.length;
    const deviation = Math.sqrt(sortedSum(known.map((value) => (value - mean) ** 2)) / known.length);
    return values.map((value) =>
      Number.isFinite(value) && deviation > 0 ? (weight * (value - mean)) / deviation : 0,
    );
  });
  return new Map(
    pool.map((one, at) => [one, rounded(sortedSum(standardised.map((all) => all[at] ?? 0)) / whole)]),
  );
}
