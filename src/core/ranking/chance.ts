import { type Evidence, withoutWritten } from '../evidence/index.ts';
import { clearDoubts, openDoubts, type WrittenTestsRole } from './doubts.ts';
import { type Calibration, type Ranked, sameSetOf, signalsOf, supportOf } from './odds.ts';
import { evidenceOf, fixShown, type LeadingCandidate, soundRivals } from './proof.ts';

/** An upper limit of the chance, with its reason. */
export interface ChanceCap {
  /** In [0, 1]. */
  readonly most: number;
  /** One sentence. */
  readonly because: string;
  /** Part of the short explanation; the others appear only in the detailed one. */
  readonly said: boolean;
}

interface Estimate {
  /** In [0, 1], rounded to three digits. */
  readonly chance: number;
  readonly caps: readonly ChanceCap[];
}

/** Just below the thresholds for `likely` and for `clear`. */
const belowLikely = ({ likely }: Calibration): number => likely - 0.01;
const belowClear = ({ clear }: Calibration): number => clear - 0.001;
/** The minimum chance when a verdict of blind judges decided, before the repository's own record moves it. Default. */
const LEAST_BY_JUDGES = { clear: 0.6, likely: 0.5 } as const;

/**
 * Estimates the chance that the best survivor is right from the combined odds of all rivals and its lead in behaviour
 * over candidates that behave differently, limited by the caps.
 */
export function chanceOf(standing: LeadingCandidate): Estimate {
  const caps = capsOf(standing);
  const { decidedBy, judgement, calibration } = standing;
  const judged =
    decidedBy === 'judges' && judgement && judgement.confidence !== 'toss-up'
      ? movedBy(calibration.own?.offset ?? 0, LEAST_BY_JUDGES[judgement.confidence])
      : 0;
  const chance = Math.min(Math.max(uncappedChance(standing), judged), ...caps.map(({ most }) => most));
  return { chance: Math.round(1000 * chance) / 1000, caps };
}

/** A chance between 0 and 1, moved in log-odds. */
const movedBy = (offset: number, chance: number): number =>
  offset === 0 ? chance : 1 / (1 + ((1 - chance) / chance) * Math.exp(-offset));

function uncappedChance(standing: LeadingCandidate): number {
  const { best, winning, calibration } = standing;
  const weights = calibration.chance;
  const sound = soundRivals(standing);
  const shown = fixShown(standing, sound.length === 0);
  const alone = shown === 'executed' ? weights.alone : 0;
  const compared =
    sound.length === 0
      ? alone
      : weights.perRivals * rivalsLogOdds(best, alternatives(standing, sound)) +
        weights.perBehaviour * behaviourLead(standing, sound);
  const score =
    weights.start +
    compared +
    (shown === 'executed' ? 0 : shown === 'own-test' ? weights.ownTestOnly : weights.unfixed) +
    ((winning.unmetExamples ?? []).length > 0 ? weights.unmetExamples : 0) +
    (calibration.own?.offset ?? 0);
  return 1 / (1 + Math.exp(-score));
}

/**
 * What the decision owes to tests that models wrote. They are one reading of the task, and a model may misread it as a
 * candidate did.
 */
function writtenTestsOf(standing: LeadingCandidate): WrittenTestsRole {
  const { winning } = standing;
  const own = new Set(winning.independentTests?.failing.map(({ id }) => id));
  // Also where the pick was tried on fewer tests, as happens if one gives no clear result on it.
  const setsApart = soundRivals(standing).some((rival) =>
    evidenceOf(standing, rival)?.independentTests?.failing.some(({ id }) => !own.has(id)),
  );
  if (!setsApart || (winning.independentTests?.written?.passed ?? 0) === 0) return 'none';
  const role = roleWithout(standingWithoutWritten(standing));
  if (role !== 'none') return role;
  // Nor may a test that a model of its own family wrote be what confirms its own tests.
  const sameSet = sameSetOf(standing.evidence, 'other-families');
  const byOthers = roleWithout(standingWithoutWritten({ ...standing, sameSet }));
  return byOthers === 'none' ? 'none' : 'decide';
}

/** `without`: the candidates as if no model had written tests. */
function roleWithout(without: LeadingCandidate): WrittenTestsRole {
  const { calibration } = without;
  const isLikely = (one: LeadingCandidate) => uncappedChance(one) >= calibration.likely;
  const [first] = soundRivals(without)
    .filter(({ support }) => support >= without.best.support)
    .toSorted((one, other) => other.support - one.support);
  if (first === undefined) return isLikely(without) ? 'none' : 'decide';
  // Without them it would be a tie.
  if (first.support === without.best.support) return 'decide';
  const preferred = evidenceOf(without, first) ?? without.winning;
  const rivals = [without.best, ...without.rivals].filter(
    ({ alias }) => alias !== first.alias && !(preferred.alike ?? []).includes(alias),
  );
  return isLikely({ ...without, best: first, winning: preferred, rivals })
    ? { against: first.alias }
    : 'decide';
}

/** The same candidates, with the examples as the only independent tests. */
function standingWithoutWritten(standing: LeadingCandidate): LeadingCandidate {
  const { calibration, sameSet } = standing;
  const evidence = standing.evidence.map(({ independentTests, ...one }): Evidence => {
    const given = independentTests && withoutWritten(independentTests);
    return given && given.total > 0 ? { ...one, independentTests: given } : one;
  });
  const again = (one: Ranked): Ranked => {
    const own = evidenceOf({ evidence }, one);
    if (!own) return one;
    const signals = signalsOf(own, sameSet(one.alias), { calibration });
    return { ...one, signals, support: supportOf(signals, calibration) };
  };
  return {
    ...standing,
    evidence,
    best: again(standing.best),
    winning: evidenceOf({ evidence }, standing.winning) ?? standing.winning,
    rivals: standing.rivals.map(again),
  };
}

const MIN_RIVALS_LOG_ODDS = -2.5;
const MAX_RIVALS_LOG_ODDS = 1.5;
const BEHAVIOUR_LEAD = { least: -1, most: 3, unasked: 1 } as const;

/**
 * The rivals that would be another answer. One that changes the base's behaviour on the same inputs in the same way is
 * none: whichever is picked, the same behaviour is. Where execution separates the best from nobody, or from the base by
 * nothing, all rivals count, because probes may have missed what is different.
 */
function alternatives(standing: LeadingCandidate, rivals: readonly Ranked[]): readonly Ranked[] {
  const own = behaviourOf(standing, standing.best);
  const isKnown = differingRivals(standing, rivals).length > 0;
  const isAlike = (one: Ranked) => behaviourOf(standing, one)?.group === own?.group;
  return own && own.asBase < 1 && isKnown ? rivals.filter((one) => !isAlike(one)) : rivals;
}

/** Those whose behaviour was observed and differs from the best one's. */
const differingRivals = (standing: LeadingCandidate, rivals: readonly Ranked[]): readonly Ranked[] =>
  rivals.filter((one) => {
    const theirs = behaviourOf(standing, one);
    return theirs !== undefined && theirs.group !== behaviourOf(standing, standing.best)?.group;
  });

const behaviourOf = (standing: LeadingCandidate, one: Ranked): Evidence['behaviour'] =>
  evidenceOf(standing, one)?.behaviour;

/** Log-odds of all rivals together against the best, limited: a larger distance adds no information. */
function rivalsLogOdds(best: Ranked, rivals: readonly Ranked[]): number {
  const odds = rivals.reduce(
    (sum, one) => sum + Math.exp(one.support - best.support),
    Math.exp(MIN_RIVALS_LOG_ODDS),
  );
  return clamp(Math.log(odds), MIN_RIVALS_LOG_ODDS, MAX_RIVALS_LOG_ODDS);
}

/** Log-odds, by behaviour alone, against the best candidate that behaves differently. */
function behaviourLead(standing: LeadingCandidate, rivals: readonly Ranked[]): number {
  const { best } = standing;
  const others = differingRivals(standing, rivals);
  const own = best.signals.behaviour;
  if (own === null || others.length === 0) return BEHAVIOUR_LEAD.unasked;
  const lead = own - Math.max(...others.map(({ signals }) => signals.behaviour ?? 0));
  return clamp(lead, BEHAVIOUR_LEAD.least, BEHAVIOUR_LEAD.most);
}

const clamp = (value: number, least: number, most: number): number => Math.max(least, Math.min(most, value));

function capsOf(standing: LeadingCandidate): readonly ChanceCap[] {
  const { calibration } = standing;
  const written = writtenTestsOf(standing);
  const doubts = clearDoubts(standing, written).map((because) => ({
    most: belowClear(calibration),
    because,
    said: false,
  }));
  const most = belowLikely(calibration);
  const open = openDoubts(standing, written).map((because) => ({ most, because, said: true }));
  const [next] = standing.rivals;
  const tied =
    standing.decidedBy === 'tie' && next
      ? [{ most, because: `It is tied with ${next.alias}.`, said: false }]
      : [];
  return [...tied, ...open, ...doubts];
}
