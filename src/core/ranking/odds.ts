import type { Evidence } from '../evidence/index.ts';
import { type Alias, byCodeUnits } from '../model/index.ts';
import type { Weights } from '../settings/index.ts';

/** What put one candidate behind the one above it. */
const SEPARATORS = [
  'gates',
  'regressions',
  'objections',
  'tests',
  'behaviour',
  'agreement',
  'judges',
  'vote',
  'score',
  'metrics',
  'hash',
] as const;
export type Separator = (typeof SEPARATORS)[number];

interface Metrics {
  /** All ratios in [0, 1]; `total` in [0, 100]. Null where there is no evidence: the weights are then shared out anew. */
  readonly tests: number | null;
  readonly simplicity: number;
  readonly speed: number;
  readonly total: number;
}

export interface Ranked {
  readonly alias: Alias;
  /** 1-based. */
  readonly place: number;
  readonly survivor: boolean;
  readonly regressions: number;
  readonly signals: Signals;
  /** The signals as one number: natural logarithm of odds, of use only within the pool. */
  readonly support: number;
  readonly metrics: Metrics;
  /** What decided between this one and the next; absent on the last. */
  readonly separatedBy?: Separator;
  /** One sentence: why it stands here. */
  readonly because: string;
}

/** A candidate's evidence with what is compared; `reasons.ts` puts it into words. */
export interface RankedEvidence {
  readonly evidence: Evidence;
  readonly gatesPassed: number;
  readonly regressions: number;
  readonly signals: Signals;
  readonly support: number;
  readonly metrics: Metrics;
  /** Bradley-Terry strength; null where judges said nothing of it. */
  readonly judgeStrength: number | null;
  /** Model families whose candidates changed the same, itself included. */
  readonly votes: number;
}

/** What executed evidence and agreement say for a candidate; null where there is no such evidence. */
interface Signals {
  /** Share of the tests of others that it passes, in [0, 1]. */
  readonly tests: number | null;
  /** Natural logarithm of the odds, by its behaviour, against the best of the pool: at most 0. */
  readonly behaviour: number | null;
  /** Likeness of its source changes to the others', in [0, 1]. */
  readonly agreement: number | null;
}
export type Signal = keyof Signals;
export const SIGNALS: readonly Signal[] = ['tests', 'behaviour', 'agreement'];

/**
 * What each signal is worth, in natural logarithms of odds. Our defaults, from dev data (docs/selection.md has what each
 * adds): tests of others are the strongest; behaviour is one already; the text of a patch is for what execution does not
 * tell apart.
 */
const SIGNAL_WEIGHTS: Readonly<Record<Signal, number>> = { tests: 10, behaviour: 1, agreement: 4.5 };
/** Odds below are not worth telling apart. */
const MIN_SIGNAL = -30;

/** Whoever wrote no candidate is believed more than a rival. Our default. */
const INDEPENDENT_WEIGHT = 4;

/**
 * A = (1/2 + sum w v) / (1 + sum w) over authors of tests: v is the share of an author's tests that pass, w is 1 for
 * another candidate and more for independent tests. CodeT's idea (arXiv 2207.10397) with own tests left out, one vote for each
 * author, and a Laplace prior of one half. 1/2 without tests.
 */
function testShare({ peerTests, independentTests }: Evidence): number {
  const votes = [
    ...peerTests.filter(({ total }) => total > 0).map(({ passed, total }) => ({ w: 1, v: passed / total })),
    ...(independentTests && independentTests.total > 0
      ? [{ w: INDEPENDENT_WEIGHT, v: independentTests.passed / independentTests.total }]
      : []),
  ];
  return rounded(
    (0.5 + sortedSum(votes.map(({ w, v }) => w * v))) / (1 + sortedSum(votes.map(({ w }) => w))),
  );
}

const hasTests = ({ peerTests, independentTests }: Evidence): boolean =>
  peerTests.some(({ total }) => total > 0) || (independentTests?.total ?? 0) > 0;

/** `without`: signals that shall not count. */
export const signalsOf = (evidence: Evidence, without: readonly Signal[] = []): Signals => ({
  tests: hasTests(evidence) && !without.includes('tests') ? testShare(evidence) : null,
  behaviour: without.includes('behaviour') ? null : (evidence.behaviour?.logOdds ?? null),
  agreement: without.includes('agreement') ? null : (evidence.agreement ?? null),
});

/** The signals as one number: natural logarithm of odds, of use only against others of the same pool. */
export const supportOf = (signals: Signals): number =>
  rounded(sortedSum(weightedSignals(signals).map(([, part]) => part)));

/** The signal that puts one ahead of another the most; null where none does. */
export function strongestSignal(ahead: Signals, behind: Signals): Signal | null {
  const other = new Map(weightedSignals(behind));
  const leads = weightedSignals(ahead).map(([name, part]) => ({
    name,
    lead: rounded(part - (other.get(name) ?? 0)),
  }));
  const best = leads.reduce((one, each) => (each.lead > one.lead ? each : one));
  return best.lead > 0 ? best.name : null;
}

/** What is missing says neither yes nor no. */
const MISSING_SIGNALS: Readonly<Record<Signal, number>> = { tests: 0.5, behaviour: 0, agreement: 0.5 };
const weightedSignals = (signals: Signals): readonly (readonly [Signal, number])[] =>
  SIGNALS.map((name) => [
    name,
    SIGNAL_WEIGHTS[name] * Math.max(signals[name] ?? MISSING_SIGNALS[name], MIN_SIGNAL),
  ]);

/**
 * Three ratios, each 1 for the best survivor. Without peer tests there is no evidence for `tests`: its weight goes to
 * the other two. Weights need not add up to anything.
 */
export function metricsOf(evidence: Evidence, survivors: readonly Evidence[], weights: Weights): Metrics {
  const tests = shareOfPeerTests(evidence);
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

/** Mean over authors, so that nobody gains by writing many tests. */
function shareOfPeerTests({ peerTests }: Evidence): number | null {
  const shares = peerTests.filter((one) => one.total > 0).map((one) => one.passed / one.total);
  return shares.length === 0 ? null : rounded(sortedSum(shares) / shares.length);
}

/** The survivors' least, divided by this one's; a candidate that is no survivor can be below it and counts as 1. */
function ratioToLeast(
  survivors: readonly Evidence[],
  own: Evidence,
  measure: (one: Evidence) => number,
): number {
  const least = Math.min(...survivors.map((one) => Math.max(1, measure(one))));
  return Number.isFinite(least) ? rounded(Math.min(1, least / Math.max(1, measure(own)))) : 1;
}

/** In order of size, so that the sum does not depend on the order of arrival. */
export const sortedSum = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b).reduce((total, n) => total + n, 0);

/** Sums of different fractions that mean the same must compare as equal. */
export const rounded = (n: number): number => Math.round(n * 1e9) / 1e9;

interface LeadingCandidate {
  readonly best: Ranked;
  readonly winning: Evidence;
  /** Survivors that made another change, best first. */
  readonly rivals: readonly Ranked[];
  readonly evidence: readonly Evidence[];
}

/**
 * A straight line in log-odds, fitted on picks whose outcome is known, and rounded; docs/selection.md says how well it
 * ranks right picks before wrong ones and how often each word was right. `alone` (no rival is left that breaks
 * nothing), `unfixed` (nothing that was executed shows that the task is done) and `unmetExamples` (nobody meets an example of the
 * issue) are our own: of these there is too little data.
 */
const LOG_ODDS = {
  start: 0.9,
  alone: 1.3,
  perRivals: -0.7,
  perBehaviour: 0.6,
  unfixed: -1.5,
  unmetExamples: -2.5,
} as const;
/** Rivals all together as far behind as this, or further, say no more. */
const MIN_RIVALS_LOG_ODDS = -2.5;
const MAX_RIVALS_LOG_ODDS = 1.5;
const BEHAVIOUR_LEAD = { least: -1, most: 3, unasked: 1 } as const;

/**
 * Estimated chance that the best survivor is right, in [0, 1]: by the odds of all its rivals together, and by how far its
 * behaviour is ahead of those who behave otherwise.
 */
export function chanceOf(standing: LeadingCandidate): number {
  const { best, winning, rivals } = standing;
  const sound = rivals.filter((one) => one.regressions === 0);
  const fixed = showsFix(winning);
  const alone = fixed ? LOG_ODDS.alone : 0;
  const compared =
    sound.length === 0
      ? alone
      : LOG_ODDS.perRivals * rivalsLogOdds(best, sound) +
        LOG_ODDS.perBehaviour * behaviourLead(standing, sound);
  const score =
    LOG_ODDS.start +
    compared +
    (fixed ? 0 : LOG_ODDS.unfixed) +
    ((winning.unmetExamples ?? []).length > 0 ? LOG_ODDS.unmetExamples : 0);
  return Math.round(1000 / (1 + Math.exp(-score))) / 1000;
}

/** Does any executed test show that something is fixed: the task's own, the base's, or a new one? */
export const showsFix = ({ independentTests, baseTests, peerTests, provenTests }: Evidence): boolean =>
  (independentTests?.passed ?? 0) > 0 ||
  (baseTests?.fixed.length ?? 0) > 0 ||
  (provenTests ?? 0) > 0 ||
  peerTests.some(({ passed }) => passed > 0);

/** Logarithm of the odds of all rivals together against the best. */
function rivalsLogOdds(best: Ranked, rivals: readonly Ranked[]): number {
  const odds = rivals.reduce(
    (sum, one) => sum + Math.exp(one.support - best.support),
    Math.exp(MIN_RIVALS_LOG_ODDS),
  );
  return clamp(Math.log(odds), MIN_RIVALS_LOG_ODDS, MAX_RIVALS_LOG_ODDS);
}

/** Logarithm of the odds, by behaviour alone, against the best of those who behave otherwise. */
function behaviourLead({ best, evidence }: LeadingCandidate, rivals: readonly Ranked[]): number {
  const groupOf = ({ alias }: Ranked) => evidence.find((one) => one.alias === alias)?.behaviour?.group;
  const others = rivals.filter((one) => groupOf(one) !== groupOf(best));
  const own = best.signals.behaviour;
  if (own === null || others.length === 0) return BEHAVIOUR_LEAD.unasked;
  const lead = own - Math.max(...others.map(({ signals }) => signals.behaviour ?? 0));
  return clamp(lead, BEHAVIOUR_LEAD.least, BEHAVIOUR_LEAD.most);
}

const clamp = (value: number, least: number, most: number): number => Math.max(least, Math.min(most, value));

/** By the hash of the patch, so that neither order of arrival nor name has an effect. */
export const byPatchHash = (a: Evidence, b: Evidence): number =>
  byCodeUnits(a.patchSha256, b.patchSha256) || byCodeUnits(a.alias, b.alias);
