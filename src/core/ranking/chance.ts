import {
  type Evidence,
  findingText,
  lacksComparison,
  questionsOf,
  type SameSetTests,
  type TamperingFinding,
  unlockedOf,
} from '../evidence/index.ts';
import type { Alias } from '../model/index.ts';
import { type Calibration, type Ranked, type Separator, unconfirmedLogOdds } from './odds.ts';
import { unseenChange } from './reasons.ts';
import { isContradictedBy } from './strategies.ts';

/** The parts of a judgement that the decision uses. */
export interface JudgedOutcome {
  readonly kind: 'judged' | 'discarded' | 'unanswered';
  readonly confidence: 'clear' | 'likely' | 'toss-up';
  readonly because: string;
}

/** Judges without a confident verdict express no preference. */
export const hasVerdict = ({ kind, confidence }: JudgedOutcome): boolean =>
  kind === 'judged' && confidence !== 'toss-up';

interface LeadingCandidate {
  readonly best: Ranked;
  readonly winning: Evidence;
  /** Survivors with a different change, best first. */
  readonly rivals: readonly Ranked[];
  readonly evidence: readonly Evidence[];
  readonly sameSet: (alias: Alias) => SameSetTests;
  /** What separated it from the first rival. */
  readonly decidedBy: Separator;
  readonly judgement?: JudgedOutcome | undefined;
  readonly calibration: Calibration;
}

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
 * Whether an executed test shows that something is fixed: a test of the task, of the base, or a new one that another
 * candidate confirms. A candidate's own unconfirmed test is weak evidence, and none at all if a rival is left that
 * breaks nothing: otherwise writing a test would be enough to be right.
 */
function fixShown(
  { winning, sameSet }: Pick<LeadingCandidate, 'winning' | 'sameSet'>,
  alone: boolean,
): 'executed' | 'own-test' | 'nothing' {
  const same = sameSet(winning.alias);
  if (hasIndependentProof(winning) || same.ownConfirmed || same.confirmed.passed > 0) return 'executed';
  return alone && (winning.provenTests ?? 0) > 0 ? 'own-test' : 'nothing';
}

/** Tests that a task asks for are proven by what they catch. */
const hasIndependentProof = ({ independentTests, baseTests, mutants }: Evidence): boolean =>
  (independentTests?.passed ?? 0) > 0 || (baseTests?.fixed.length ?? 0) > 0 || (mutants?.caught ?? 0) > 0;

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
  const others = rivals.filter((one) => behaviourOf(standing, one)?.group !== own?.group);
  return own && own.asBase < 1 && others.length > 0 ? others : rivals;
}

const behaviourOf = ({ evidence }: LeadingCandidate, { alias }: Ranked): Evidence['behaviour'] =>
  evidence.find((one) => one.alias === alias)?.behaviour;

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
  const group = behaviourOf(standing, best)?.group;
  const others = rivals.filter((one) => behaviourOf(standing, one)?.group !== group);
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

/** Reasons why a person must choose, whatever the odds. */
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
    ...unexecuted(winning).map(
      (finding) =>
        `${best.alias} changes what tests check, and the original was not executed (${findingText(finding)}), so a person must look at it.`,
    ),
    ...((winning.baseTests?.superseded ?? []).length > 0
      ? [
          `${best.alias} breaks existing tests that the brief says must change, so a person must look at its versions of them.`,
        ]
      : []),
    ...(unlockedOf(winning) === 'differs'
      ? [
          `The tests of the base commit give other results on the code of ${best.alias} where assertion libraries are locked, and it left no records of the lock, so a person must look at it.`,
        ]
      : []),
    ...(leadsByUnconfirmedTests(standing)
      ? [`${best.alias} would not lead without tests that only its own model family confirms.`]
      : []),
    ...(failsConfirmedTests(standing)
      ? [`What put ${best.alias} first was not executed, and it fails tests that other candidates confirm.`]
      : []),
  ];
}

/** The first question about tests whose original version was not executed; empty for none. */
const unexecuted = (winning: Evidence): readonly TamperingFinding[] =>
  questionsOf(winning)
    .filter(({ original }) => original === 'not-run')
    .slice(0, 1);

/** Whether tests put the first candidate there, and without unconfirmed ones it would be within the undecided margin. */
function leadsByUnconfirmedTests(standing: LeadingCandidate): boolean {
  const { best, decidedBy, sameSet, calibration } = standing;
  const [next] = soundRivals(standing);
  if (!next || decidedBy !== 'tests') return false;
  const gained =
    unconfirmedLogOdds(sameSet(best.alias), calibration) -
    unconfirmedLogOdds(sameSet(next.alias), calibration);
  return gained > 0 && best.support - next.support - gained <= calibration.undecidedMargin;
}

function failsConfirmedTests({ best, decidedBy, sameSet }: LeadingCandidate): boolean {
  const { confirmed } = sameSet(best.alias);
  return NOT_EXECUTED.has(decidedBy) && confirmed.passed < confirmed.total;
}

/**
 * Reasons why the pick cannot be `clear`: tests are inconclusive, candidates were not compared, a person is asked, a
 * defect was reported, the supporting evidence was not executed or comes from a single model family, or clear picks were
 * wrong too often here.
 */
function clearDoubts(standing: LeadingCandidate): readonly string[] {
  const { winning, decidedBy, sameSet, rivals, evidence, calibration } = standing;
  const { baseTests } = winning;
  const tested = baseTests?.source === 'report' && baseTests.passed > 0 && !baseTests.silent;
  const proof = hasIndependentProof(winning);
  const doubts: readonly (readonly [boolean, string])[] = [
    [!tested, 'The existing tests leave no report in which a test passes.'],
    [
      fixShown(standing, false) !== 'executed',
      `No test that somebody else wrote or confirms shows that the task is done${unseenChange(winning)}.`,
    ],
    [winning.doubt !== undefined, 'A reviewer named a defect that execution did not refute.'],
    [
      winning.mixedKinds === true,
      'Candidates change files of different kinds, so what the task asks for is uncertain.',
    ],
    [lacksComparison(winning.cut), 'Candidates were not compared for lack of time.'],
    [
      (baseTests?.contested ?? []).length > 0,
      'A person is asked whether existing tests that it breaks should change.',
    ],
    [
      unlockedOf(winning) === 'unrecorded',
      'Nothing shows that assertion libraries were locked when its tests ran in other surroundings, unlike on the base commit.',
    ],
    [
      questionsOf(winning).length > 0,
      'It changes tests, or contains code that may detect them: a person should look at these lines.',
    ],
    [sameSet(winning.alias).disputed > 0, 'It fails tests of another candidate.'],
    [decidedBy === 'gates' && !proof, 'Nobody else was left to question it.'],
    [NOT_EXECUTED.has(decidedBy), 'What put it first was not executed.'],
    [
      !proof && rivals.length > 0 && families(evidence) < 2,
      'All that speaks for it comes from one model family.',
    ],
    [calibration.own?.noneClear === true, 'Too many clear picks were wrong in this repository.'],
  ];
  return doubts.flatMap(([holds, because]) => (holds ? [because] : []));
}

/** Known model families among the survivors. */
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
