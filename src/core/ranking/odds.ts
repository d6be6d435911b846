import { type Evidence, type SameSetTests, sameSetTests } from '../evidence/index.ts';
import { type Alias, byCodeUnits } from '../model/index.ts';
import type { Weights } from '../settings/index.ts';

/**
 * The constants of the ranking in one place, so that `bench/nested.ts` can tune them on one half of the repositories
 * and measure them on the other (docs/selection.md). Logarithms are natural.
 */
export interface Calibration {
  /** The weight of each signal, in log-odds over its whole range. */
  readonly signals: { readonly tests: number; readonly behaviour: number; readonly agreement: number };
  /** Votes of independent tests, relative to one for each group of test authors among the candidates. */
  readonly independentVotes: number;
  /** Maximum log-odds that tests confirmed only by their author's family can add together. */
  readonly unconfirmedTests: number;
  /** Log-odds within which executed evidence alone does not decide. */
  readonly undecidedMargin: number;
  /**
   * The log-odds that the pick is right, as a linear function. `alone`: no rival is left that breaks nothing;
   * `unfixed`: no executed test shows that the task is done; `ownTestOnly`: only the candidate's own test shows it;
   * `unmetExamples`: no candidate passes an example of the issue.
   */
  readonly chance: {
    readonly start: number;
    readonly alone: number;
    readonly perRivals: number;
    readonly perBehaviour: number;
    readonly unfixed: number;
    readonly ownTestOnly: number;
    readonly unmetExamples: number;
  };
  /** Minimum estimated chance of a clear and of a likely pick; anything below is a toss-up. */
  readonly clear: number;
  readonly likely: number;
  /** What the repository's own record changes, if anything (0122): log-odds of every chance, at most 0. */
  readonly own?: { readonly offset: number; readonly noneClear: boolean };
}

/**
 * The default values. `alone`, `unfixed`, `ownTestOnly`, `unmetExamples` and `unconfirmedTests` were chosen by hand,
 * because there is too little data; the others were fitted on picks with known outcome and rounded
 * (docs/decisions/0026, 0094).
 */
export const CALIBRATION: Calibration = {
  signals: { tests: 10, behaviour: 1, agreement: 4.5 },
  independentVotes: 4,
  unconfirmedTests: 0.4,
  undecidedMargin: 0.45,
  chance: {
    start: 0.9,
    alone: 1.3,
    perRivals: -0.7,
    perBehaviour: 0.6,
    unfixed: -1.5,
    ownTestOnly: -0.6,
    unmetExamples: -2.5,
  },
  clear: 0.85,
  likely: 0.5,
};

/** What separated one candidate from the one above it. */
const SEPARATORS = [
  'gates',
  'regressions',
  'objections',
  'fixed',
  'independent',
  'tests',
  'behaviour',
  'agreement',
  'types',
  'judges',
  'vote',
  'score',
  'metrics',
  'weights',
  'alike',
  'tie',
] as const;
export type Separator = (typeof SEPARATORS)[number];

interface PatchMetrics {
  /** All ratios in [0, 1]; `total` in [0, 100]. Null without evidence: the others then share its weight. */
  readonly tests: number | null;
  readonly simplicity: number;
  readonly speed: number;
  readonly total: number;
}

export interface Ranked {
  readonly alias: Alias;
  /** 1-based. Tied candidates and those with the same change share a place. */
  readonly place: number;
  readonly survivor: boolean;
  readonly regressions: number;
  /** Base tests that fail on the base commit and pass here. */
  readonly fixed: number;
  readonly signals: Signals;
  /** The combined signals: log-odds, meaningful only within the pool. */
  readonly support: number;
  readonly metrics: PatchMetrics;
  /** Number of model families with the same change, including its own. */
  readonly votes: number;
  /** Weighted mean of the standardised scores of all strategies; absent if the settings have no weights. */
  readonly weighted?: number;
  /** What separated it from the next; absent for the last. */
  readonly separatedBy?: Separator;
  /** The reason for its place, in one or two sentences. */
  readonly because: string;
}

/** A candidate's evidence with the compared values; `reasons.ts` turns it into sentences. */
export interface RankedEvidence {
  readonly evidence: Evidence;
  readonly gatesPassed: number;
  readonly regressions: number;
  readonly fixed: number;
  readonly sameSet: SameSetTests;
  readonly signals: Signals;
  readonly support: number;
  readonly metrics: PatchMetrics;
  /** Bradley-Terry strength; null if judges did not compare it. */
  readonly judgeStrength: number | null;
  /** Number of model families with the same change, including its own. */
  readonly votes: number;
  /** Weighted mean of the standardised scores of all strategies; null if the settings have no weights. */
  readonly weighted: number | null;
}

/** Signals of a candidate from execution and agreement; null without such evidence. */
interface Signals {
  /** Share of the others' tests that it passes, in [0, 1]. */
  readonly tests: number | null;
  /** Log-odds by behaviour against the best of the pool: at most 0. */
  readonly behaviour: number | null;
  /** Similarity of its source changes to the others', in [0, 1]. */
  readonly agreement: number | null;
}
export type Signal = keyof Signals;
export const SIGNALS: readonly Signal[] = ['tests', 'behaviour', 'agreement'];

/** Smaller odds are not distinguished. */
const MIN_SIGNAL = -30;

/** How signals are computed: which are ignored, and the weight of each. */
export interface SignalOptions {
  /** Signals to ignore, for measuring what each contributes. */
  readonly without?: readonly Signal[];
  /** Default: `CALIBRATION`. */
  readonly calibration?: Calibration;
}

/** For a candidate that was not compared by the others' tests. */
const NO_SAME_SET: SameSetTests = {
  shares: [],
  confirmed: { passed: 0, total: 0 },
  unconfirmed: { passed: 0, total: 0 },
  unconfirmedShares: [],
  ownConfirmed: false,
  disputed: 0,
  passedOfOthers: 0,
};

/** Results of the survivors' tests by candidate; empty for candidates that did not survive. */
export function sameSetOf(...from: Parameters<typeof sameSetTests>): (alias: Alias) => SameSetTests {
  const all = sameSetTests(...from);
  return (alias) => all.get(alias) ?? NO_SAME_SET;
}

/**
 * A = (1/2 + sum w v) / (1 + sum w) over test authors: v is the share of an author's tests that pass; w is 1 for a
 * group of candidates with the same change, and larger for independent tests. Based on CodeT (arXiv 2207.10397), with
 * the same set of tests for all, one vote per author, and a Laplace prior of one half. Unconfirmed tests add a small
 * fixed amount, however many there are.
 */
function testShare({ independentTests }: Evidence, same: SameSetTests, calibration: Calibration): number {
  const votes = [
    ...same.shares.map((v) => ({ w: 1, v })),
    ...(independentTests && independentTests.total > 0
      ? [{ w: calibration.independentVotes, v: independentTests.passed / independentTests.total }]
      : []),
  ];
  const confirmed =
    (0.5 + sortedSum(votes.map(({ w, v }) => w * v))) / (1 + sortedSum(votes.map(({ w }) => w)));
  const { tests } = calibration.signals;
  return rounded(Math.min(1, confirmed + (tests === 0 ? 0 : unconfirmedLogOdds(same, calibration) / tests)));
}

/** What all unconfirmed tests together add to a candidate's support. */
export const unconfirmedLogOdds = ({ unconfirmedShares: shares }: SameSetTests, calibration: Calibration) =>
  shares.length === 0 ? 0 : (sortedSum(shares) / shares.length) * calibration.unconfirmedTests;

/** If the task asks for tests, the share of mutants that they catch. */
function testsSignal(evidence: Evidence, same: SameSetTests, calibration: Calibration): number | null {
  const { independentTests, mutants } = evidence;
  if (mutants) return rounded(mutants.caught / mutants.total);
  const total = same.confirmed.total + same.unconfirmed.total + (independentTests?.total ?? 0);
  return total > 0 ? testShare(evidence, same, calibration) : null;
}

export const signalsOf = (
  evidence: Evidence,
  same: SameSetTests,
  { without = [], calibration = CALIBRATION }: SignalOptions = {},
): Signals => ({
  tests: without.includes('tests') ? null : testsSignal(evidence, same, calibration),
  behaviour: without.includes('behaviour') ? null : (evidence.behaviour?.logOdds ?? null),
  agreement: without.includes('agreement') ? null : (evidence.agreement ?? null),
});

/** The combined signals: log-odds, meaningful only within the same pool. */
export const supportOf = (signals: Signals, calibration = CALIBRATION): number =>
  rounded(sortedSum(weightedSignals(signals, calibration).map(([, part]) => part)));

/** The signal with the largest lead of one candidate over another; null if there is none. */
export function strongestSignal(ahead: Signals, behind: Signals, calibration = CALIBRATION): Signal | null {
  const other = new Map(weightedSignals(behind, calibration));
  const leads = weightedSignals(ahead, calibration).map(([name, part]) => ({
    name,
    lead: rounded(part - (other.get(name) ?? 0)),
  }));
  const best = leads.reduce((one, each) => (each.lead > one.lead ? each : one));
  return best.lead > 0 ? best.name : null;
}

/** Missing signals are neutral. */
const MISSING_SIGNALS: Readonly<Record<Signal, number>> = { tests: 0.5, behaviour: 0, agreement: 0.5 };
const weightedSignals = (
  signals: Signals,
  calibration: Calibration,
): readonly (readonly [Signal, number])[] =>
  SIGNALS.map((name) => [
    name,
    calibration.signals[name] * Math.max(signals[name] ?? MISSING_SIGNALS[name], MIN_SIGNAL),
  ]);

/**
 * Three ratios, each 1 for the best survivor. Without executed tests the weight of `tests` is distributed to the
 * other two. Weights need not sum to 1.
 */
export function metricsOf(
  evidence: Evidence,
  same: SameSetTests,
  { survivors, weights }: { readonly survivors: readonly Evidence[]; readonly weights: Weights },
): PatchMetrics {
  const tests = shareOfAllTests(evidence, same);
  const simplicity = ratioToLeast(survivors, evidence, (one) => one.productionLines);
  const speed = ratioToLeast(survivors, evidence, (one) => one.coderMs);
  const weighed = [
    ...(tests === null ? [] : [{ weight: weights.tests, value: tests }]),
    { weight: weights.simplicity, value: simplicity },
    { weight: weights.speed, value: speed },
  ];
  const whole = sortedSum(weighed.map(({ weight }) => weight));
  const total =
    whole === 0 ? 0 : (100 * sortedSum(weighed.map(({ weight, value }) => weight * value))) / whole;
  return { tests, simplicity, speed, total: Math.min(100, rounded(total)) };
}

/** Share of all executed tests that count for every survivor, the type check, and no unconfirmed ones of candidates. */
function shareOfAllTests(
  { baseTests, independentTests, types }: Evidence,
  same: SameSetTests,
): number | null {
  const all = [
    ...(types ? [{ passed: types.addedCount === 0 ? 1 : 0, total: 1 }] : []),
    ...(baseTests ? [baseTests] : []),
    ...(independentTests ? [independentTests] : []),
    same.confirmed,
  ];
  const total = sortedSum(all.map((one) => one.total));
  return total === 0 ? null : rounded(sortedSum(all.map((one) => one.passed)) / total);
}

/**
 * The survivors' minimum divided by this candidate's value. A candidate that did not survive may be below the minimum
 * and counts as 1.
 */
function ratioToLeast(
  survivors: readonly Evidence[],
  own: Evidence,
  measure: (one: Evidence) => number,
): number {
  const least = Math.min(...survivors.map((one) => Math.max(1, measure(one))));
  return Number.isFinite(least) ? rounded(Math.min(1, least / Math.max(1, measure(own)))) : 1;
}

/** Sums in order of size, so that the order of arrival has no effect. */
export const sortedSum = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b).reduce((total, n) => total + n, 0);

/** Rounds so that mathematically equal sums compare as equal. */
export const rounded = (n: number): number => Math.round(n * 1e9) / 1e9;

/** By the hash of the patch, so that neither order of arrival nor name has an effect. */
export const byPatchHash = (a: Evidence, b: Evidence): number =>
  byCodeUnits(a.patchSha256, b.patchSha256) || byCodeUnits(a.alias, b.alias);
