import { joinTests } from '../evidence/index.ts';
import { type Alias, byCodeUnits, uniqueSorted } from '../model/index.ts';
import { testsByAlias } from './admitted-results.ts';
import type {
  IndependentTest,
  IndependentTestVote,
  TaskKind,
  TestAdmission,
  Trial,
  Trials,
} from './independent-test.ts';
import { type UnreportedCase, unreportedCase } from './unreported-cases.ts';

/** Runs of a test on each tree before it may count (notes on selection: three identical runs). */
export const TEST_REPEATS = 3;

/**
 * Decides which tests count, and their results. A case counts if it behaves on the base as its test claims, gives the
 * same result every time, and passes on at least one survivor. A case that passes on no survivor is `suspect` and
 * never scored: most failures of model-written tests on all candidates occur on correct patches (arXiv 2606.16062).
 * `trials` is by the test's id; a test without any is rejected. The result does not depend on the order of aliases.
 */
export function admitVotes(
  tests: readonly IndependentTest[],
  trials: Readonly<Record<string, Trials>>,
  taskKind: TaskKind,
  repeats = TEST_REPEATS,
): TestAdmission {
  const votes = tests.flatMap((test) => votesOf(test, trialsOf(trials, test.id), taskKind, repeats));
  const messageOf = (test: string, alias: Alias) =>
    lastMessage(trialsOf(trials, test).survivors[alias] ?? []);
  return { tests, votes, byAlias: testsByAlias({ tests, votes }, taskKind, messageOf) };
}

/** Tests that may still be admitted according to the results so far; the others need no further runs. */
export function stillAdmissible(
  tests: readonly IndependentTest[],
  trials: Readonly<Record<string, Trials>>,
  taskKind: TaskKind,
): readonly IndependentTest[] {
  return tests.filter((test) => {
    const known = trialsOf(trials, test.id);
    if (Object.values(known.survivors).some((runs) => runs.length > 0))
      return votesOf(test, known, taskKind, 1).some((one) => one.status === 'admitted');
    const cases = caseIds(test, known);
    // A file that does not load on the base reports no case there; it may load on a candidate that adds what it
    // needs.
    return cases.length === 0
      ? test.onBase === 'fails'
      : cases.some((id) => behavesAsClaimed(test, id, known));
  });
}

/** Merges admissions of different tests. */
export function joinAdmissions(a: TestAdmission, b: TestAdmission): TestAdmission {
  const aliases = uniqueSorted([...Object.keys(a.byAlias), ...Object.keys(b.byAlias)]);
  return {
    tests: [...a.tests, ...b.tests],
    votes: [...a.votes, ...b.votes],
    byAlias: Object.fromEntries(
      aliases.map((alias) => [alias, joinTests(a.byAlias[alias], b.byAlias[alias])]),
    ),
  };
}

export const NO_ADMISSION: TestAdmission = { tests: [], votes: [], byAlias: {} };

const NO_TRIALS: Trials = { base: [], survivors: {} };
const trialsOf = (trials: Readonly<Record<string, Trials>>, id: string): Trials =>
  (Object.hasOwn(trials, id) ? trials[id] : undefined) ?? NO_TRIALS;

function votesOf(
  test: IndependentTest,
  trials: Trials,
  taskKind: TaskKind,
  repeats: number,
): readonly IndependentTestVote[] {
  const cases = caseIds(test, trials);
  if (cases.length === 0) {
    const because =
      trials.base.length === 0 ? 'It was not run.' : 'The test runner reported no test of it on any tree.';
    return [voteFrom(test, test.id, { status: 'refused', because, passedBy: [], failedBy: [] })];
  }
  const found = cases.map((id) => ({ id, ...caseResult(test, id, trials, { taskKind, repeats }) }));
  return test.votes === 'case'
    ? found.map((one) => voteFrom(test, one.id, one))
    : [voteFrom(test, test.id, fileResult(found))];
}

function caseIds(test: IndependentTest, { base, survivors }: Trials): readonly string[] {
  if (test.cases) return uniqueSorted(test.cases);
  return uniqueSorted(
    [...base, ...Object.values(survivors).flat()].flatMap((trial) => Object.keys(trial.cases)),
  );
}

const voteFrom = (test: IndependentTest, id: string, found: CaseResult): IndependentTestVote => ({
  id,
  test: test.id,
  origin: test.origin,
  status: found.status,
  because: found.because,
  passedBy: found.passedBy,
  failedBy: found.failedBy,
});

/** A file as one vote: a candidate must pass all of its admitted cases. */
function fileResult(found: readonly CaseResult[]): CaseResult {
  const admitted = found.filter((one) => one.status === 'admitted');
  const [first] = found;
  const instead = found.find((one) => one.status === 'suspect') ?? first;
  if (admitted.length === 0) return instead as CaseResult;
  const failedBy = uniqueSorted(admitted.flatMap((one) => one.failedBy));
  const passedBy = uniqueSorted(admitted.flatMap((one) => one.passedBy)).filter(
    (alias) =>
      admitted.every((one) => one.passedBy.includes(alias) || one.exempt?.includes(alias)) &&
      !failedBy.includes(alias),
  );
  const counted =
    found.length > admitted.length ? ` ${admitted.length} of its ${found.length} cases count.` : '';
  if (passedBy.length === 0) {
    const because = `No candidate passes the whole test.${counted}`;
    return { status: 'suspect', because, passedBy: [], failedBy };
  }
  return {
    status: 'admitted',
    because: `${(admitted[0] as CaseResult).because}${counted}`,
    passedBy,
    failedBy,
  };
}

const lastMessage = (trials: readonly Trial[]): string | undefined =>
  trials.findLast((trial) => trial.message !== undefined)?.message;

/** The result of one case. */
interface CaseResult extends Pick<IndependentTestVote, 'status' | 'because' | 'passedBy' | 'failedBy'> {
  /** It says nothing about these candidates, which may pass the file without it. */
  readonly exempt?: readonly Alias[];
}

/** The behaviour of a case on one tree, over all its runs there. */
type CaseBehaviour = 'passes' | 'fails' | 'flaky' | 'unknown';

/** Judges one case of a test by its results on all trees. One run is enough to reject or suspect it. */
function caseResult(
  test: IndependentTest,
  id: string,
  trials: Trials,
  { taskKind, repeats }: { readonly taskKind: TaskKind; readonly repeats: number },
): CaseResult {
  const onBase = caseBehaviour(trials.base, id);
  if (onBase !== test.onBase) return refusedResult(baseMismatchReason(onBase, trials.base.length));
  const unreported: UnreportedCase = unreportedCase(test, id, trials);
  if (unreported.onlyOn !== null)
    return refusedResult(`Only ${unreported.onlyOn} has it: it was not written for the task.`);
  const tried = Object.entries(trials.survivors)
    .filter(([alias]) => !unreported.unknownOn.includes(alias))
    .sort(([a], [b]) => byCodeUnits(a, b));
  const on = (wanted: CaseBehaviour) =>
    tried.filter(([, runs]) => caseBehaviour(runs, id) === wanted).map(([alias]) => alias);
  const [passedBy, failedBy, flaky] = [on('passes'), on('fails'), on('flaky')];
  // On a single survivor the cause may be that candidate, which must not be able to disable a test.
  if (flaky.length > 1 || (flaky.length === 1 && passedBy.length === 0))
    return refusedResult(`It gives different results on the same code (${flaky.join(', ')}).`);
  if (passedBy.length + failedBy.length === 0) return refusedResult('It could not be run on any candidate.');
  const found =
    test.onBase === 'fails'
      ? newBehaviourResult(passedBy, failedBy)
      : keptBehaviourResult(passedBy, failedBy, taskKind);
  const judged = [...passedBy, ...failedBy].map((alias) => trials.survivors[alias]?.length ?? 0);
  const runs = Math.min(trials.base.length, ...judged);
  if (found.status === 'admitted' && runs < repeats)
    return refusedResult(`It ran only ${runs} of ${repeats} times.`);
  return unreported.exempt.length > 0 ? { ...found, exempt: unreported.exempt } : found;
}

/** Whether it behaves on the base as claimed. A case not even reported there fails. */
const behavesAsClaimed = (test: IndependentTest, id: string, trials: Trials): boolean =>
  caseBehaviour(trials.base, id) === test.onBase;

/** A candidate passes a case only if it passes every time. A skipped case gives no information. */
function caseBehaviour(trials: readonly Trial[], id: string): CaseBehaviour {
  const outcomes = trials.map((trial) => (Object.hasOwn(trial.cases, id) ? trial.cases[id] : 'failed'));
  if (
    outcomes.length === 0 ||
    outcomes.includes('skipped') ||
    trials.some((trial) => trial.kind === 'unknown')
  )
    return 'unknown';
  const passes = outcomes.filter((outcome) => outcome === 'passed').length;
  if (passes === outcomes.length) return 'passes';
  return passes === 0 ? 'fails' : 'flaky';
}

function baseMismatchReason(onBase: CaseBehaviour, runs: number): string {
  switch (onBase) {
    case 'passes':
      return 'It already passes on the base, so it does not test what is asked for.';
    case 'fails':
      return 'It fails on the base, although it should show what works there.';
    case 'flaky':
      return 'It gives different results on the base.';
    case 'unknown':
      return runs === 0 ? 'It was not run.' : 'It is skipped on the base, or its result there is unknown.';
  }
}

/** A test of required behaviour. */
function newBehaviourResult(passedBy: readonly Alias[], failedBy: readonly Alias[]): CaseResult {
  return passedBy.length > 0
    ? {
        status: 'admitted',
        because: `It fails on the base and passes on ${aliasList(passedBy)}.`,
        passedBy,
        failedBy,
      }
    : suspectResult('It fails on the base and on every candidate.', passedBy, failedBy);
}

/**
 * A test of behaviour to preserve. When the task is a change, candidates that change nothing pass it, too, so most
 * survivors must confirm it; a test that all of them pass does not distinguish between them.
 */
function keptBehaviourResult(
  passedBy: readonly Alias[],
  failedBy: readonly Alias[],
  taskKind: TaskKind,
): CaseResult {
  if (passedBy.length === 0)
    return suspectResult('It passes on the base and on no candidate.', passedBy, failedBy);
  const because = `It passes on the base and on ${aliasList(passedBy)}.`;
  if (taskKind === 'refactoring') return { status: 'admitted', because, passedBy, failedBy };
  if (failedBy.length === 0)
    return {
      ...refusedResult('It passes on the base and on every candidate, so it distinguishes nothing.'),
      passedBy,
    };
  return passedBy.length > failedBy.length
    ? { status: 'admitted', because, passedBy, failedBy }
    : suspectResult(
        `It passes on the base, but not on ${aliasList(failedBy)}: this behaviour may be meant to change.`,
        passedBy,
        failedBy,
      );
}

const aliasList = (aliases: readonly Alias[]): string => aliases.join(', ');

const refusedResult = (because: string): CaseResult => ({
  status: 'refused',
  because,
  passedBy: [],
  failedBy: [],
});
const suspectResult = (
  because: string,
  passedBy: readonly Alias[],
  failedBy: readonly Alias[],
): CaseResult => ({ status: 'suspect', because, passedBy, failedBy });
