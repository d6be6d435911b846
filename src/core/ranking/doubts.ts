import {
  type Evidence,
  findingText,
  lacksComparison,
  questionsOf,
  type TamperingFinding,
  unlockedOf,
} from '../evidence/index.ts';
import type { Alias } from '../model/index.ts';
import { type Separator, unconfirmedLogOdds } from './odds.ts';
import {
  disputes,
  evidenceOf,
  fixShown,
  hasIndependentProof,
  hasOnlyFlakyProof,
  isShownByOthers,
  type LeadingCandidate,
  rivalTriedOnMore,
  soundRivals,
  unprobed,
} from './proof.ts';
import { unseenChange } from './reasons.ts';
import { isContradictedBy } from './strategies.ts';

/**
 * What tests that models wrote have to do with the pick: `none`, as far as it would be likely without them, too; `decide`:
 * it would not lead, or not be likely, or it would be so only because tests by models of its own family confirm its own
 * ones; `against`: another candidate would be likely.
 */
export type WrittenTestsRole = 'none' | 'decide' | { readonly against: Alias };

/** Reasons why a person must choose, whatever the odds. */
export function openDoubts(standing: LeadingCandidate, written: WrittenTestsRole): readonly string[] {
  const { best, winning, rivals } = standing;
  const contradicting = rivals.find((one) => {
    const other = evidenceOf(standing, one);
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
    ...(written !== 'none' && !BY_OPINION.has(standing.decidedBy) && fixShown(standing, false) !== 'executed'
      ? [
          `${best.alias} leads only by tests that a model wrote, and they do not show that the task is done, so a person must choose.`,
        ]
      : []),
    ...(typeof written === 'object'
      ? [
          `Without tests that a model wrote, ${written.against} would be likely right: the model or ${best.alias} may have misread the task, so a person must choose.`,
        ]
      : []),
    ...(failsConfirmedTests(standing)
      ? [`What put ${best.alias} first was not executed, and it fails tests that other candidates confirm.`]
      : []),
  ];
}

/** Strategies that are asked because executed evidence does not decide. */
const BY_OPINION: ReadonlySet<Separator> = new Set(['judges', 'vote', 'score', 'metrics', 'weights']);

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
export function clearDoubts(standing: LeadingCandidate, written: WrittenTestsRole): readonly string[] {
  const { winning, decidedBy, calibration } = standing;
  const { baseTests } = winning;
  const isContested = (baseTests?.contested ?? []).length > 0;
  const proof = hasIndependentProof(standing);
  const doubts: readonly Doubt[] = [
    ...baseTestDoubts(winning),
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
    [isContested, 'A person is asked whether existing tests that it breaks should change.'],
    [
      unlockedOf(winning) === 'unrecorded',
      'Nothing shows that assertion libraries were locked when its tests ran in a second environment, unlike on the base commit.',
    ],
    [
      unlockedOf(winning) === 'stopped',
      'Its tests reached a limit in a second environment, unlike those of the base commit, so a dependence on where they run was not ruled out.',
    ],
    [
      hasOnlyFlakyProof(standing),
      'The tests ran only once on the base commit, so one that it makes pass may be a flaky one.',
    ],
    [
      questionsOf(winning).length > 0,
      'It changes tests, or contains code that may detect them: a person should look at these lines.',
    ],
    ...comparedDoubts(standing),
    [
      written !== 'none',
      'Without tests that a model wrote it would not be likely, and a model may have misread the task.',
    ],
    [decidedBy === 'gates' && !proof, 'No other candidate was left to compare it with.'],
    [NOT_EXECUTED.has(decidedBy), 'What put it first was not executed.'],
    ...ownFamilyDoubts(standing, proof),
    [calibration.own?.noneClear === true, 'Too many clear picks were wrong in this repository.'],
  ];
  return doubts.flatMap(([holds, because]) => (holds ? [because] : []));
}

/** Share of the existing tests that may be flaky in a `clear` pick. Our default. */
const MAX_FLAKY_SHARE = 0.1;
/** A few tests are no share. */
const MIN_FLAKY = 3;

function baseTestDoubts(winning: Evidence): readonly Doubt[] {
  const { baseTests } = winning;
  const tested = baseTests?.source === 'report' && baseTests.passed > 0 && !baseTests.silent;
  return [
    [!tested, 'The existing tests leave no report in which a test passes.'],
    [
      hasManyFlaky(winning),
      'Many of the existing tests gave different results in repeated runs, and do not count.',
    ],
  ];
}

function hasManyFlaky({ baseTests }: Evidence): boolean {
  const flaky = baseTests?.flaky?.length ?? 0;
  return flaky >= MIN_FLAKY && flaky > MAX_FLAKY_SHARE * (flaky + (baseTests?.total ?? 0));
}

type Doubt = readonly [holds: boolean, because: string];

/** Reasons to doubt what was compared with other candidates. */
function comparedDoubts(standing: LeadingCandidate): readonly Doubt[] {
  const { winning, sameSet } = standing;
  const [dispute] = disputes(standing);
  const triedOnMore = rivalTriedOnMore(standing);
  const unseen = unprobed(standing);
  return [
    [unseen !== undefined, `Inputs that were tried on other candidates gave no result on ${unseen}.`],
    [sameSet(winning.alias).disputed > 0, 'It fails tests of another candidate.'],
    [dispute !== undefined, `It fails an independent test that ${dispute?.alias} passes.`],
    [
      triedOnMore !== undefined,
      `Independent tests that gave a result on ${triedOnMore?.alias} gave none on it.`,
    ],
  ];
}

/** Reasons to doubt what only one model family says. */
function ownFamilyDoubts(standing: LeadingCandidate, proof: boolean): readonly Doubt[] {
  return [
    [
      !proof && standing.rivals.length > 0 && families(standing.evidence) < 2,
      'All evidence for it comes from one model family.',
    ],
    [
      fixShown(standing, false) === 'executed' && !isShownByOthers(standing),
      'No test that another model family is known to have written or confirmed shows that the task is done.',
    ],
  ];
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
