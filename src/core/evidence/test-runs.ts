import { uniqueSorted } from '../model/index.ts';
import { needOf, silenceOf } from './base-facts.ts';
import type { BaseTests, Evidence, TestOutcome, TestRun } from './evidence.ts';

/** The one id there is when a runner gives no report, and for a command that fails although no test does. */
export const EXIT_CODE = 'exit code';

/** Test ids come from outside: `constructor` is a name like any other. */
export const outcomeIn = (run: Pick<TestRun, 'tests'>, id: string): TestOutcome | undefined =>
  Object.hasOwn(run.tests, id) ? run.tests[id] : undefined;

/** The id of the exit code of one package of a workspace. */
export const exitCodeOf = (folder: string): string => `${EXIT_CODE}: ${folder}`;

/** Is it the exit code of a run, or of a package? It stands for many tests at once. */
export const isExitCode = (id: string): boolean => id === EXIT_CODE || id.startsWith(exitCodeOf(''));

/** Folder of the package that a test of it names. */
export const packageOfTest = (id: string): string =>
  isExitCode(id) ? id.slice(exitCodeOf('').length) : (id.split(' > ', 1)[0] ?? '');

export const succeeded = (run: Pick<TestRun, 'exitCode' | 'stopped'>): boolean =>
  run.exitCode === 0 && run.stopped === null;

/**
 * The base suite on a candidate's production code against the same suite on the base. A test that passes on the base
 * and is failed, skipped or missing here is a regression; so is a command that fails here and not there although
 * no such test does. `total` is `passed` plus `failed`; a test that is missing here counts as failed. What is flaky on
 * the base counts for nothing. Both were run.
 */
export function compareBase(base: TestRun, run: TestRun): BaseTests {
  const { exitCode, ms } = run;
  const silent = silenceOf(base) === null ? {} : ({ silent: true } as const);
  const about = { exitCode, ms, ...flakinessOf(base, run), ...silent };
  if (base.source !== 'report') return { ...countsByExitCode(base, run), ...about, source: 'exit-code' };
  const source = run.source === 'report' ? 'report' : 'exit-code';
  return { ...countsByReport(base, run), ...about, source };
}

type Counts = Pick<BaseTests, 'passed' | 'failed' | 'total' | 'regressions' | 'fixed'>;

function countsByExitCode(base: TestRun, run: TestRun): Counts {
  const ok = succeeded(run);
  const broken = brokenSteps(base, run);
  const total = 1 + Object.values(base.tests).filter((outcome) => outcome === 'passed').length;
  const failed = broken.length + (ok ? 0 : 1);
  const counts = { passed: total - failed, failed, total };
  const flaky = (base.flaky ?? []).includes(EXIT_CODE);
  return {
    ...counts,
    regressions: [...(succeeded(base) && !ok && !flaky ? [EXIT_CODE] : []), ...broken],
    fixed: !succeeded(base) && ok && !flaky ? [EXIT_CODE] : [],
  };
}

function countsByReport(base: TestRun, run: TestRun): Counts {
  const quarantined = new Set(base.flaky ?? []);
  const known = [...Object.keys(base.tests), ...Object.keys(run.tests)];
  const ids = uniqueSorted(known.filter((id) => !quarantined.has(id)));
  const here = (id: string) => outcomeIn(run, id);
  const passes = ids.filter((id) => here(id) === 'passed');
  const broken = ids.filter((id) => outcomeIn(base, id) === 'passed' && here(id) !== 'passed');
  const failing = ids.filter(
    (id) => here(id) === 'failed' || (here(id) === undefined && outcomeIn(base, id) !== 'skipped'),
  );
  const failed = new Set([...failing, ...broken]).size;
  // A test that gives no steady answer is a reason for a command to fail that is not the candidate's.
  const excused = run.flaky !== undefined || [...quarantined].some((id) => here(id) === 'failed');
  const silent = broken.length === 0 && !excused && succeeded(base) && !succeeded(run);
  return {
    passed: passes.length,
    failed,
    total: passes.length + failed,
    regressions: silent ? [EXIT_CODE] : broken,
    fixed: passes.filter((id) => outcomeIn(base, id) === 'failed' && asksForCode(base, id)),
  };
}

/** A linter, or a test that lacks the network or a database on the base, says nothing of the task when it passes. */
function asksForCode({ steps = [], messages = {} }: TestRun, id: string): boolean {
  if (steps.includes(id)) return false;
  return !Object.hasOwn(messages, id) || needOf(messages[id] ?? '') === null;
}

const flakinessOf = (base: TestRun, run: TestRun): Pick<BaseTests, 'flaky' | 'baseRuns' | 'notes'> => {
  const flaky = uniqueSorted([...(base.flaky ?? []), ...(run.flaky ?? [])]);
  return {
    ...(flaky.length > 0 ? { flaky } : {}),
    ...(base.runs === undefined ? {} : { baseRuns: base.runs }),
    ...(base.notes === undefined ? {} : { notes: base.notes }),
  };
};

/**
 * Runs of the base suite on the base. A test that differs between three of them is quarantined; one that fails with
 * chance f still gets through with (1 - f)^3 + f^3 (notes on selection, S2).
 */
export const BASE_RUNS = 3;

/** Runs that decide about a test which passes on the base and fails on a candidate; the majority counts. */
export const SUSPECT_RUNS = 3;

/**
 * Wall time for the base runs together, milliseconds, and for running the whole suite again because of a suspect. A suite
 * that takes longer is run once. Our default: a flake that stays unknown costs less than an hour on every run.
 */
export const REPEAT_BUDGET_MS = 120_000;

/** Is there time to run this suite so many times, all in all? */
export const fitsRepeatBudget = (run: Pick<TestRun, 'ms'>, times: number): boolean =>
  run.ms * times <= REPEAT_BUDGET_MS;

/**
 * Several runs of one suite on one tree as one: tests that do not agree in all of them, one that is missing in some
 * included, are taken out and named as flaky. A run without a report, among others with one, says nothing of tests
 * and is left out. With exit codes only, the majority's is the answer, and a disagreement is named `exit code`. Needs at
 * least one run.
 */
export function mergeBaseRuns(runs: readonly TestRun[]): TestRun {
  const first = runs[0];
  if (!first) throw new RangeError('steady needs at least one run.');
  if (runs.length === 1) return first;
  const reported = runs.filter((run) => run.source === 'report');
  if (reported.length === 0) return mergeExitCodes(first, runs);
  const ids = uniqueSorted(reported.flatMap((run) => Object.keys(run.tests)));
  const flaky = ids.filter((id) => new Set(reported.map((run) => outcomeIn(run, id))).size > 1);
  const unsteady = new Set(flaky);
  const calm = reported.find(succeeded) ?? (reported[0] as TestRun);
  const tests = Object.entries(calm.tests).filter(([id]) => !unsteady.has(id));
  return {
    ...calm,
    tests: Object.fromEntries(tests),
    runs: runs.length,
    ...(flaky.length > 0 ? { flaky } : {}),
  };
}

function mergeExitCodes(first: TestRun, runs: readonly TestRun[]): TestRun {
  const good = runs.filter(succeeded);
  const most =
    good.length * 2 > runs.length ? (good[0] as TestRun) : (runs.find((run) => !succeeded(run)) ?? first);
  const agree = good.length === 0 || good.length === runs.length;
  const steps = uniqueSorted(runs.flatMap((run) => Object.keys(run.tests)));
  const unsteady = steps.filter((id) => new Set(runs.map((run) => outcomeIn(run, id))).size > 1);
  const flaky = [...(agree ? [] : [EXIT_CODE]), ...unsteady];
  return { ...withoutTests(most, unsteady), runs: runs.length, ...(flaky.length > 0 ? { flaky } : {}) };
}

/**
 * A run in which some tests failed that should pass, and the runs that were made again because of them, as one run: a
 * suspect passes where it passes in most of `SUSPECT_RUNS`, runs that were not needed any more included. Those that
 * passed at least once are named as flaky.
 */
export function resolveSuspects(
  run: TestRun,
  suspects: readonly string[],
  again: readonly TestRun[],
): TestRun {
  const passes = (id: string) => again.filter((one) => passesIn(one, id)).length;
  const flaky = suspects.filter((id) => passes(id) > 0);
  if (flaky.length === 0) return run;
  const cleared = flaky.filter((id) => passes(id) * 2 > SUSPECT_RUNS);
  const tests = new Map<string, TestOutcome>(Object.entries(run.tests));
  for (const id of cleared) if (id !== EXIT_CODE) tests.set(id, 'passed');
  const exit = cleared.includes(EXIT_CODE) ? { exitCode: 0, stopped: null } : {};
  return {
    ...run,
    ...exit,
    tests: Object.fromEntries(tests),
    flaky: uniqueSorted([...(run.flaky ?? []), ...flaky]),
    runs: 1 + again.length,
  };
}

/** Suspects about which the runs so far leave a doubt: the first run failed, so a second failure settles it. */
export const undecidedSuspects = (
  suspects: readonly string[],
  again: readonly TestRun[],
): readonly string[] => suspects.filter((id) => again.every((one) => passesIn(one, id)));

const passesIn = (run: TestRun, id: string): boolean =>
  id === EXIT_CODE ? succeeded(run) : outcomeIn(run, id) === 'passed';

/** A run without the steps beside the tests. */
export function testsAlone(run: TestRun): TestRun {
  const { steps, ...rest } = run;
  return steps ? withoutTests(rest, steps) : run;
}

/** A run without some tests. */
export function withoutTests(run: TestRun, ids: readonly string[]): TestRun {
  if (ids.length === 0) return run;
  const left = new Set(ids);
  return { ...run, tests: Object.fromEntries(Object.entries(run.tests).filter(([id]) => !left.has(id))) };
}

/** What fails in a run and does not on the base, by id; with exit codes only, the exit code and steps. Sorted. */
export function newFailures(base: TestRun, run: TestRun): readonly string[] {
  if (base.source === 'exit-code')
    return [...(succeeded(base) && !succeeded(run) ? [EXIT_CODE] : []), ...brokenSteps(base, run)];
  return uniqueSorted(
    Object.keys(run.tests).filter(
      (id) => outcomeIn(run, id) === 'failed' && outcomeIn(base, id) !== 'failed',
    ),
  );
}

/** Where tests leave no report: the steps beside them that pass on the base and not here. Sorted. */
export const brokenSteps = (base: TestRun, run: TestRun): readonly string[] =>
  uniqueSorted(
    Object.keys(base.tests).filter(
      (id) => outcomeIn(base, id) === 'passed' && outcomeIn(run, id) !== 'passed',
    ),
  );

/** Two of three survivors must break a test, and these come from two families, before the test is in question. */
const CONTESTED_SHARE = { of: 3, breaking: 2 } as const;
const MIN_CONTESTING_FAMILIES = 2;

/**
 * Takes contested tests out of the survivors' regressions: a steady test that passes on the base and is broken by two
 * thirds of the survivors or more, these being of two model families or more, is rather in the way of the task than
 * broken by mistake, and a person is asked (notes on selection, S2). Whose family nobody knows counts as no family. With
 * one survivor there is no contest, and the exit code alone is never contested: it stands for all tests at once.
 *
 * Same evidence in any order, same contest.
 */
export function withoutContestedTests(evidence: readonly Evidence[]): readonly Evidence[] {
  const survivors = evidence.filter((one) => one.survivor && one.baseTests);
  const contested = new Set(contestedTests(survivors));
  if (contested.size === 0) return evidence;
  return evidence.map((one) => {
    const tests = one.baseTests;
    const own = tests?.regressions.filter((id) => contested.has(id)) ?? [];
    if (!one.survivor || !tests || own.length === 0) return one;
    const regressions = tests.regressions.filter((id) => !contested.has(id));
    return { ...one, baseTests: { ...tests, regressions, contested: own } };
  });
}

/** The ids of contested tests, sorted. */
export function contestedTests(survivors: readonly Evidence[]): readonly string[] {
  if (survivors.length < 2) return [];
  const ids = uniqueSorted(survivors.flatMap((one) => one.baseTests?.regressions ?? []));
  return ids.filter((id) => {
    const breaking = survivors.filter((one) => one.baseTests?.regressions.includes(id));
    const families = new Set(breaking.flatMap(({ family }) => family ?? []));
    const many = breaking.length * CONTESTED_SHARE.of >= survivors.length * CONTESTED_SHARE.breaking;
    return !isExitCode(id) && many && families.size >= MIN_CONTESTING_FAMILIES;
  });
}
