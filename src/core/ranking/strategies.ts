import { type Evidence, failsAgainst } from '../evidence/index.ts';
import type { Settings, Weights } from '../settings/index.ts';
import {
  CALIBRATION,
  type RankedEvidence,
  rounded,
  type Separator,
  type SignalOptions,
  sortedSum,
  strongestSignal,
} from './odds.ts';

/** The strategies that order survivors, each applied to those that the previous ones leave undecided. */
const STRATEGIES = ['evidence', 'judges', 'vote', 'score', 'metrics'] as const;
export type Strategy = (typeof STRATEGIES)[number];

export interface RankingOptions extends SignalOptions {
  readonly weights: Weights;
  /** In order. Executed evidence comes last, whether named or not. */
  readonly strategies: readonly Strategy[];
  /**
   * If one is above 0, survivors are ordered by the weighted mean of standardised scores instead of one strategy
   * after the other.
   */
  readonly strategyWeights?: StrategyWeights;
  /** Strengths from the judges' verdicts, if any. */
  readonly strengths?: ReadonlyMap<string, number>;
}

type StrategyWeights = Readonly<Partial<Record<Strategy, number>>>;

/** The ranking options in the settings. `reviewer` and `human` affect the decision instead. */
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

/** Whether strategies are combined by weight. */
export const isWeighted = ({ strategyWeights = {} }: Pick<RankingOptions, 'strategyWeights'>): boolean =>
  Object.keys(strategyWeights).length > 0;

/** Whether blind judges are needed. */
export const wantsJudges = (options: RankingOptions): boolean =>
  isWeighted(options) ? 'judges' in (options.strategyWeights ?? {}) : options.strategies.includes('judges');

/** Whether models may write tests for what execution leaves undecided. */
export const mayWriteTests = ({ strategies }: RankingOptions): boolean => strategies.includes('judges');

/** A strategy, and the lead within which candidates remain undecided. */
interface RankingStep {
  readonly strategy: Strategy | 'weights';
  readonly margin: number;
}

/** The steps that the settings name. */
export function namedSteps(options: RankingOptions): readonly RankingStep[] {
  const { strategies, calibration = CALIBRATION } = options;
  if (isWeighted(options)) return [{ strategy: 'weights', margin: 0 }];
  return strategies.map((strategy) => ({
    strategy,
    margin: strategy === 'evidence' ? calibration.undecidedMargin : 0,
  }));
}

/** The steps that the settings name, then executed evidence without a margin. */
export const allSteps = (options: RankingOptions): readonly RankingStep[] => [
  ...namedSteps(options),
  { strategy: 'evidence', margin: 0 },
];

/** A candidate in its place, and what separated it from the next one. */
export interface Placed {
  readonly standing: RankedEvidence;
  /** Absent for the last. */
  readonly by?: Separator;
}

/**
 * Orders by the first step. Candidates that it leaves undecided with its best are ordered by the next steps, the
 * others by all steps again. Candidates that no step separates are tied and keep their input order.
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

/** The candidates that a strategy puts first or leaves undecided with the first; in input order. */
export function leadingGroup(
  all: readonly RankedEvidence[],
  { strategy, margin }: RankingStep,
  { without = [] }: Pick<RankingOptions, 'without'>,
): readonly RankedEvidence[] {
  const group = strategy === 'evidence' ? undominated(all, !without.includes('tests')) : all;
  const best = Math.max(...group.map((one) => strategyValue(one, strategy)));
  const near = group.filter((one) => {
    const value = strategyValue(one, strategy);
    return value === best || rounded(best - value) <= margin;
  });
  // New findings of a type check that does not eliminate decide only where tests and behaviour do not.
  const typed = strategy === 'evidence' ? near.filter((one) => !hasTypeErrors(one)) : near;
  return typed.length > 0 ? typed : near;
}

const hasTypeErrors = ({ evidence: { types } }: RankedEvidence): boolean =>
  types !== undefined && (types.addedCount > 0 || types.failed === true);

/** Those that fix the most base tests, without those that another one of them surpasses on independent tests. */
function undominated(all: readonly RankedEvidence[], byIndependentTests: boolean): readonly RankedEvidence[] {
  const most = Math.max(...all.map((one) => one.fixed));
  const fixing = all.filter((one) => one.fixed === most);
  if (!byIndependentTests) return fixing;
  return fixing.filter((one) => !fixing.some((other) => isSurpassedBy(one.evidence, other.evidence)));
}

/** Larger is better; equal for all if the strategy has no data. */
function strategyValue(one: RankedEvidence, strategy: RankingStep['strategy']): number {
  switch (strategy) {
    case 'evidence':
      return one.support;
    case 'judges':
      // If judges compared some candidates, those that they did not compare rank below; if they compared none, all
      // are equal.
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

/** What separated the last of a leading group from the first of the others. */
function separatorOf(
  { strategy }: RankingStep,
  near: readonly RankedEvidence[],
  { last, next }: { readonly last: RankedEvidence; readonly next: RankedEvidence },
  { calibration = CALIBRATION, without = [] }: RankingOptions,
): Separator {
  if (strategy !== 'evidence') return strategy;
  if (last.fixed !== next.fixed) return 'fixed';
  const tests = !without.includes('tests');
  if (tests && near.some((one) => isOverruledBy(next.evidence, one.evidence))) return 'objections';
  if (tests && near.some((one) => isSurpassedBy(next.evidence, one.evidence))) return 'independent';
  if (hasTypeErrors(next) && near.every((one) => !hasTypeErrors(one))) {
    const lead = rounded(last.support - next.support);
    if (lead <= calibration.undecidedMargin) return 'types';
  }
  return strongestSignal(last.signals, next.signals, calibration) ?? 'tie';
}

/**
 * Whether a candidate fails an independent test that another one passes, while that one fails no test that it passes.
 * Then no independent evidence favours it. Compares the sets of failed tests, not their number: several tests may
 * detect the same defect, and a defect of the other candidate counts, too.
 */
export const isSurpassedBy = (
  { independentTests: own }: Evidence,
  { independentTests: theirs }: Evidence,
  counts?: Parameters<typeof failsAgainst>[2],
): boolean => failsAgainst(own, theirs, counts) > 0 && failsNothingElse(theirs, own);

/** The same, if a critic who reviewed the candidate's diff wrote one of these tests. */
export const isOverruledBy = (own: Evidence, other: Evidence): boolean =>
  isSurpassedBy(own, other, ({ origin }) => origin === 'reviewer');

/** Whether every independent test that one candidate fails is failed by the other one, too. */
function failsNothingElse(own: Evidence['independentTests'], theirs: Evidence['independentTests']): boolean {
  const failingThere = new Set(theirs?.failing.map(({ id }) => id));
  return (own?.failing ?? []).every(({ id }) => failingThere.has(id));
}

/**
 * Whether executed evidence contradicts a preference for `own`: the other candidate fixes more base tests and fails
 * no independent test that `own` passes, or surpasses it on independent tests and fixes as many. Of the issue's own
 * examples, one is enough: a red base test that turns green may have to do with something else.
 */
export function isContradictedBy(own: RankedEvidenceFacts, other: RankedEvidenceFacts): boolean {
  const ofIssue = isSurpassedBy(own.evidence, other.evidence, ({ origin }) => origin === 'issue');
  if (isSurpassedBy(own.evidence, other.evidence)) return ofIssue || other.fixed >= own.fixed;
  return other.fixed > own.fixed && !isSurpassedBy(other.evidence, own.evidence);
}

type RankedEvidenceFacts = Pick<RankedEvidence, 'evidence' | 'fixed'>;

/**
 * H = sum w z / sum w over the weighted strategies; z is a score minus the mean of the pool, divided by its standard
 * deviation, or 0 if all are equal or none was judged. By candidate.
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
