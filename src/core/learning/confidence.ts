import { byCodeUnits } from '../model/index.ts';
import { CALIBRATION, type Calibration } from '../ranking/index.ts';
import { FIELD_RULES } from './field.ts';
import { type CandidateOutcome, creditOf, MOSTLY_RIGHT } from './outcome.ts';

/** How a repository's own outcomes change what Runoff says about its picks. */
interface ConfidenceShift {
  /** Log-odds added to the chance of each pick, at most 0: own outcomes never make Runoff surer. */
  readonly offset: number;
  /** Runs in which people's word tells whether Runoff's first was right. */
  readonly verdicts: number;
  /** The record of clear picks does not support the word: none is called clear. Absent: it does. */
  readonly noneClear?: true;
}

/**
 * Our defaults. `minVerdicts`: fewer change nothing. `spread`: how much repositories probably differ from the shipped
 * curve, as the standard deviation of a normal prior on the offset, in log-odds. `clearTrials`: what the shipped record
 * of clear picks (57 of 58, docs/selection.md) is worth here. A closed pull request counts half: not every one was
 * wrong. Older verdicts lose weight as in `FIELD_RULES`.
 */
export const CONFIDENCE_RULES = {
  minVerdicts: 20,
  spread: 0.5,
  maxOffset: 1.5,
  clearTrials: 20,
  clearRight: 57 / 58,
  closedWeight: 0.5,
} as const;

interface Verdict {
  /** By the shipped curve. */
  readonly chance: number;
  readonly right: number;
  readonly weight: number;
}

/** People's word about Runoff's first of a run; null without any. */
function verdictOn(outcomes: readonly CandidateOutcome[]): Verdict | null {
  const first = outcomes.find((one) => one.first !== null);
  if (!first || first.chance === null) return null;
  const { pull, pick, shown, chance } = first;
  if (pick === null && (pull === null || pull.state === 'open')) return null;
  // Whoever also picked none says that this one was wrong.
  if (pull?.state === 'closed' && shown && pick !== 'none') {
    return { chance, right: 0, weight: CONFIDENCE_RULES.closedWeight };
  }
  // A merge that kept less than half of it says that it was wrong.
  const credit = creditOf(first);
  return credit === null ? null : { chance, right: credit >= MOSTLY_RIGHT ? 1 : 0, weight: 1 };
}

const logit = (p: number): number => Math.log(p / (1 - p));
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
const STEPS = 50;

/**
 * What a repository's outcomes say about the shipped curve; null while there are too few. One offset in log-odds
 * (Platt's scaling with its slope fixed at 1: Platt, 1999), its most probable value under a normal prior around no
 * change, so that the shipped curve holds until the data speaks. Picks count as clear if the shipped curve calls them
 * so, whatever this repository's record made of the word: otherwise `noneClear` would never see another clear pick.
 */
export function confidenceShift(outcomes: readonly CandidateOutcome[]): ConfidenceShift | null {
  const spoken = verdictsIn(outcomes);
  if (sumOf(spoken, ({ weight }) => weight) < CONFIDENCE_RULES.minVerdicts) return null;
  const verdicts = spoken.map((one, age) => ({ ...one, weight: one.weight * FIELD_RULES.keptPerRun ** age }));
  const clear = verdicts.filter(({ chance }) => chance >= CALIBRATION.clear);
  const { clearTrials, clearRight } = CONFIDENCE_RULES;
  const trials = clearTrials + sumOf(clear, ({ weight }) => weight);
  const right = clearTrials * clearRight + sumOf(clear, (one) => one.weight * one.right);
  const offset = bestOffset(verdicts);
  return {
    offset: offset < 0 ? offset : 0,
    verdicts: verdicts.length,
    ...(right / trials < CALIBRATION.clear ? { noneClear: true } : {}),
  };
}

/** Newest first. */
function verdictsIn(outcomes: readonly CandidateOutcome[]): readonly Verdict[] {
  const newestFirst = outcomes.toSorted(
    (one, other) => other.at - one.at || byCodeUnits(other.runId, one.runId),
  );
  return [...Map.groupBy(newestFirst, ({ runId }) => runId).values()].flatMap((run) => verdictOn(run) ?? []);
}

const sumOf = (verdicts: readonly Verdict[], part: (one: Verdict) => number): number =>
  verdicts.reduce((sum, one) => sum + part(one), 0);

function bestOffset(verdicts: readonly Verdict[]): number {
  const { spread, maxOffset } = CONFIDENCE_RULES;
  const points = verdicts
    .map(({ chance, ...one }) => ({ ...one, x: logit(Math.min(0.999, Math.max(0.001, chance))) }))
    .toSorted((one, other) => one.x - other.x || one.right - other.right || one.weight - other.weight);
  // The slope of the penalised likelihood falls, so its zero is found by halving.
  let [low, high]: [number, number] = [-maxOffset, maxOffset];
  for (let i = 0; i < STEPS; i++) {
    const middle = (low + high) / 2;
    const slope = points.reduce(
      (sum, { x, right, weight }) => sum + weight * (right - sigmoid(x + middle)),
      -middle / spread ** 2,
    );
    if (slope > 0) low = middle;
    else high = middle;
  }
  return Math.round(500 * (low + high)) / 1000;
}

/** The calibration with the shift, which moves picks down, past the limits of the words, and never up. */
export const shiftedCalibration = (shift: ConfidenceShift | undefined): Calibration =>
  shift
    ? { ...CALIBRATION, own: { offset: shift.offset, noneClear: shift.noneClear ?? false } }
    : CALIBRATION;

/** What changed, for the comparison. */
export function confidenceNote({ offset, verdicts, noneClear }: ConfidenceShift): string {
  const how =
    offset > -SMALL_OFFSET
      ? 'they give no reason to lower the estimated chance'
      : 'picks were right less often than usual, so the estimated chance is lower';
  const none = noneClear ? ' Too many clear picks were wrong here, so none is called clear.' : '';
  return `Confidence takes ${verdicts} earlier runs of this repository into account: ${how}.${none}`;
}

const SMALL_OFFSET = 0.05;
