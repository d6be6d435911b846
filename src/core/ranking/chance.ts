import { type Evidence, lacksComparison, type SameSetTests } from '../evidence/index.ts';
import type { Alias } from '../model/index.ts';
import type { Ranked, Separator } from './odds.ts';
import { isContradictedBy } from './strategies.ts';
import type { Calibration } from './weights.ts';

/** What the decision takes of a judgement. */
export interface JudgedOutcome {
  readonly kind: 'judged' | 'discarded' | 'unanswered';
  readonly confidence: 'clear' | 'likely' | 'toss-up';
  readonly because: string;
}

/** Judges who are not sure themselves prefer nobody. */
export const hasVerdict = ({ kind, confidence }: JudgedOutcome): boolean =>
  kind === 'judged' && confidence !== 'toss-up';

export interface LeadingCandidate {
  readonly best: Ranked;
  readonly winning: Evidence;
  /** Survivors that made another change, best first. */
  readonly rivals: readonly Ranked[];
  readonly evidence: readonly Evidence[];
  readonly sameSet: (alias: Alias) => SameSetTests;
  /** What put it before the first rival. */
  readonly decidedBy: Separator;
  readonly judgement?: JudgedOutcome | undefined;
  readonly calibration: Calibration;
}

/** A reason for which the chance cannot be higher. */
export interface ChanceCap {
  /** In [0, 1]. */
  readonly most: number;
  /** One sentence. */
  readonly because: string;
  /** Part of the sentence that people read first; the others are for who asks for an explanation. */
  readonly said: boolean;
}

interface Estimate {
  /** In [0, 1], three digits. */
  readonly chance: number;
  readonly caps: readonly ChanceCap[];
}

/** Below what is called likely, and below what is called clear. */
const belowLikely = ({ likely }: Calibration): number => likely - 0.01;
const belowClear = ({ clear }: Calibration): number => clear - 0.001;
/** What a verdict of blind judges is worth at least, where it decided. Our default. */
const LEAST_BY_JUDGES = { clear: 0.6, likely: 0.5 } as const;

/**
 * Estimated chance that the best survivor is right: by the odds of all its rivals together, and by how far its behaviour is
 * ahead of those who behave otherwise; at most what the caps allow.
 */
export function chanceOf(standing: LeadingCandidate): Estimate {
  const caps = capsOf(standing);
  const { decidedBy, judgement } = standing;
  const judged =
    decidedBy === 'judges' && judgement && judgement.confidence !== 'toss-up'
      ? LEAST_BY_JUDGES[judgement.confidence]
      : 0;
  const chance = Math.min(Math.max(uncappedChance(standing), judged), ...caps.map(({ most }) => most));
  return { chance: Math.round(1000 * chance) / 1000, caps };
}

/** Rivals that break nothing and fix as many base tests. */
const soundRivals = ({ best, rivals }: LeadingCandidate): readonly Ranked[] =>
  rivals.filter((one) => one.regressions === 0 && one.fixed >= best.fixed);

function uncappedChance(standing: LeadingCandidate): number {
  const { best, winning, calibration } = standing;
  const weights = calibration.chance;
  const sound = soundRivals(standing);
  const shown = fixShown(standing, sound.length === 0);
  const alone = shown === 'executed' ? weights.alone : 0;
  const compared =
    sound.length === 0
      ? alone
      : weights.perRivals * rivalsLogOdds(best, sound) +
        weights.perBehaviour * behaviourLead(standing, sound);
  const score =
    weights.start +
    compared +
    (shown === 'executed' ? 0 : shown === 'own-test' ? weights.ownTestOnly : weights.unfixed) +
    ((winning.unmetExamples ?? []).length > 0 ? weights.unmetExamples : 0);
  return 1 / (1 + Math.exp(-score));
}

/**
 * Does any executed test show that something is fixed: the task's own, the base's, or a new one that somebody else confirms?
 * A candidate's own test that nobody confirms shows little, and with a rival left that breaks nothing it shows nothing:
 * whoever writes the test would be right.
 */
function fixShown(
  { winning, sameSet }: Pick<LeadingCandidate, 'winning' | 'sameSet'>,
  alone: boolean,
): 'executed' | 'own-test' | 'nothing' {
  const same = sameSet(winning.alias);
  if (hasIndependentProof(winning) || same.ownConfirmed || same.confirmed.passed > 0) return 'executed';
  return alone && (winning.provenTests ?? 0) > 0 ? 'own-test' : 'nothing';
}

const hasIndependentProof = ({ independentTests, baseTests }: Evidence): boolean =>
  (independentTests?.passed ?? 0) > 0 || (baseTests?.fixed.length ?? 0) > 0;

const MIN_RIVALS_LOG_ODDS = -2.5;
const MAX_RIVALS_LOG_ODDS = 1.5;
const BEHAVIOUR_LEAD = { least: -1, most: 3, unasked: 1 } as const;

/** Logarithm of the odds of all rivals together against the best; rivals all together further behind say no more. */
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

function capsOf(standing: LeadingCandidate): readonly ChanceCap[] {
  const { calibration } = standing;
  const doubts = clearDoubts(standing).map((because) => ({
    most: belowClear(calibration),
    because,
    said: false,
  }));
  const most = belowLikely(calibration);
  const open = openDoubts(standing).map((because) => ({ most, because, said: true }));
  const [next] = standing.rivals;
  const tied =
    standing.decidedBy === 'tie' && next
      ? [{ most, because: `It is tied with ${next.alias}.`, said: false }]
      : [];
  return [...tied, ...open, ...doubts];
}

/** Why a person must choose, whatever the odds. */
function openDoubts(standing: LeadingCandidate): readonly string[] {
  const { best, winning, evidence, rivals } = standing;
  const contradicting = rivals.find((one) => {
    const other = evidence.find(({ alias }) => alias === one.alias);
    return (
      one.regressions === 0 &&
      other &&
      isContradictedBy({ evidence: winning, fixed: best.fixed }, { evidence: other, fixed: one.fixed })
    );
  });
  return [
    ...(contradicting
      ? [`${contradicting.alias} passes executed tests that ${best.alias} fails, so a person must choose.`]
      : []),
    ...(onlyOwnTestsSeparate(standing)
      ? [`Only tests that nobody but their own author's model family confirms speak for ${best.alias}.`]
      : []),
  ];
}

/** Would the first be no longer ahead without the tests that nobody confirms? */
function onlyOwnTestsSeparate(standing: LeadingCandidate): boolean {
  const { best, decidedBy, sameSet, calibration } = standing;
  const [next] = soundRivals(standing);
  if (decidedBy !== 'tests' || !next) return false;
  const without = (one: Ranked) => {
    const { unconfirmedShares } = sameSet(one.alias);
    const mean = unconfirmedShares.reduce((sum, share) => sum + share, 0) / unconfirmedShares.length;
    return one.support - (unconfirmedShares.length === 0 ? 0 : mean * calibration.unconfirmedTests);
  };
  return without(best) - without(next) <= 1e-6;
}

/**
 * Why nobody is right beyond doubt: the tests say little, candidates were not compared, a person is asked or a defect is
 * named, or what speaks for it was not executed, or comes from one model family alone.
 */
function clearDoubts(standing: LeadingCandidate): readonly string[] {
  const { winning, decidedBy, sameSet, rivals, evidence } = standing;
  const { baseTests } = winning;
  const tested = baseTests?.source === 'report' && baseTests.passed > 0 && !baseTests.silent;
  const proof = hasIndependentProof(winning);
  const doubts: readonly (readonly [boolean, string])[] = [
    [!tested, 'The base tests leave no report in which a test passes.'],
    [
      fixShown(standing, false) !== 'executed',
      'No test that somebody else wrote or confirms shows that the task is done.',
    ],
    [winning.doubt !== undefined, 'A reviewer named a defect that execution did not refute.'],
    [lacksComparison(winning.cut), 'Candidates were not compared for lack of time.'],
    [
      (baseTests?.contested ?? []).length > 0,
      'A person is asked whether base tests that it breaks should change.',
    ],
    [sameSet(winning.alias).disputed > 0, 'It fails tests of another candidate.'],
    [decidedBy === 'gates' && !proof, 'Nobody else was left to question it.'],
    [NOT_EXECUTED.has(decidedBy), 'What put it first was not executed.'],
    [
      !proof && rivals.length > 0 && families(evidence) < 2,
      'All that speaks for it comes from one model family.',
    ],
  ];
  return doubts.flatMap(([holds, because]) => (holds ? [because] : []));
}

/** Model families that are known among survivors. */
const families = (evidence: readonly Evidence[]): number =>
  new Set(evidence.flatMap(({ survivor, family }) => (survivor && family !== undefined ? [family] : [])))
    .size;

const NOT_EXECUTED: ReadonlySet<Separator> = new Set([
  'agreement',
  'vote',
  'score',
  'metrics',
  'weights',
  'alike',
  'tie',
]);
