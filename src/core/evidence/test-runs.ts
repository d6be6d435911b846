import { uniqueSorted } from '../model/index.ts';
import { needOf, saysBelowCoverage, silenceOf } from './base-facts.ts';
import type { BaseTests, Evidence, TestedCommand, TestOutcome, TestRun } from './evidence.ts';

/** The only id when a runner writes no report, or when a command fails although no test does. */
export const EXIT_CODE = 'exit code';

/** Test ids are untrusted: `constructor` is a name like any other. */
export const outcomeIn = (run: Pick<TestRun, 'tests'>, id: string): TestOutcome | undefined =>
  Object.hasOwn(run.tests, id) ? run.tests[id] : undefined;

/** The id of the exit code of one workspace package. */
export const exitCodeOf = (folder: string): string => `${EXIT_CODE}: ${folder}`;

/** Whether an id is the exit code of a run or a package, which represents many tests at once. */
export const isExitCode = (id: string): boolean => id === EXIT_CODE || id.startsWith(exitCodeOf(''));

/** Folder of the package in a test's id. */
export const packageOfTest = (id: string): string =>
  isExitCode(id) ? id.slice(exitCodeOf('').length) : (id.split(' > ', 1)[0] ?? '');

/** Whether a test belongs to a file, given by its path in the repository. */
export const isTestOf = (id: string, path: string): boolean => {
  const [first = '', second = ''] = id.split(' > ', 2);
  return first === path || `${first}/${second}` === path;
};

export const succeeded = (run: Pick<TestRun, 'exitCode' | 'stopped'>): boolean =>
  run.exitCode === 0 && run.stopped === null;

/** Stopped at its time limit, or because it did nothing any more. It would do so again. */
export const hangs = ({ stopped }: Pick<TestRun, 'stopped'>): boolean =>
  stopped === 'wall' || stopped === 'silence';

/** Its results are unknown. A report without any test is one where the command succeeds: there may be none. */
export const isUnread = (one: TestedCommand): boolean => !one.passes && !(one.hasReport && succeeded(one));

/** For several runs as one: whether each of them that failed did so for its coverage alone. */
export function belowCoverageOf(runs: readonly TestRun[]): Pick<TestRun, 'belowCoverage'> {
  const failed = runs.filter((run) => !succeeded(run));
  return failed.length > 0 && failed.every((run) => run.belowCoverage) ? { belowCoverage: true } : {};
}

/**
 * Compares the base suite on a candidate's production code with the same suite on the base. A test that passes on the
 * base and is failed, skipped or missing here is a regression; so is a command that fails only here although no such
 * test does. `total` is `passed` plus `failed`; a missing test counts as failed. Tests that are flaky on the base are
 * ignored. Both suites must have been run.
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
  // A flaky test, or a command that also fails on the base at times, may fail without any fault of the candidate.
  const excused =
    run.flaky !== undefined || [...quarantined].some((id) => id === EXIT_CODE || here(id) === 'failed');
  // So does a threshold of coverage: the base's tests cannot cover what a candidate adds.
  // Where tests print such messages themselves, as on the base, the message says nothing.
  const isExcusedByCoverage = run.belowCoverage && !saysBelowCoverage(base.tail);
  const fails = !succeeded(run) && !isExcusedByCoverage;
  const silent = broken.length === 0 && !excused && succeeded(base) && fails;
  return {
    passed: passes.length,
    failed,
    total: passes.length + failed,
    regressions: silent ? [EXIT_CODE] : broken,
    fixed: passes.filter((id) => outcomeIn(base, id) === 'failed' && asksForCode(base, id)),
  };
}

/** Fixing a linter, or a test that lacks the network or a database on the base, is not progress on the task. */
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
 * Runs of the base suite on the base. A test with different results in three runs is quarantined; one that fails with
 * probability f still gets through with (1 - f)^3 + f^3 (notes on selection, S2).
 */
export const BASE_RUNS = 3;

/** Total runs of a test that passes on the base and fails on a candidate; the majority counts. */
export const SUSPECT_RUNS = 3;

/**
 * Wall time in milliseconds for all base runs, and for repeating the whole suite because of a suspect. A longer suite
 * is run once. Default: an undetected flake costs less than an hour on every run.
 */
export const REPEAT_BUDGET_MS = 120_000;

/** What several runs of the same tests have written; null if one of them cannot tell, undefined if none was asked. */
export function joinedRewrites(runs: readonly Pick<TestRun, 'rewrites'>[]): Pick<TestRun, 'rewrites'> {
  const lists = runs.flatMap(({ rewrites }) => (rewrites === undefined ? [] : [rewrites]));
  if (lists.length === 0) return {};
  if (lists.includes(null)) return { rewrites: null };
  return { rewrites: [...new Set(lists.flatMap((list) => list ?? []))].sort() };
}

/** Whether there is time to run this suite so many times in total. */
export const fitsRepeatBudget = (run: Pick<TestRun, 'ms'>, times: number): boolean =>
  run.ms * times <= REPEAT_BUDGET_MS;

/**
 * Merges a run with unexpected failures and the repetitions made for them: a suspect passes if it passes in most of
 * `SUSPECT_RUNS`, counting skipped repetitions. Suspects that passed at least once are listed as flaky.
 */
export function resolveSuspects(
  run: TestRun,
  suspects: readonly string[],
  again: readonly TestRun[],
): TestRun {
  const passes = (id: string) => again.filter((one) => passesIn(one, id)).length;
  const flaky = suspects.filter((id) => passes(id) > 0);
  const rewrites = joinedRewrites([run, ...again]);
  if (flaky.length === 0) return rewrites.rewrites === run.rewrites ? run : { ...run, ...rewrites };
  const cleared = flaky.filter((id) => passes(id) * 2 > SUSPECT_RUNS);
  const tests = new Map<string, TestOutcome>(Object.entries(run.tests));
  for (const id of cleared) if (id !== EXIT_CODE) tests.set(id, 'passed');
  const exit = cleared.includes(EXIT_CODE) ? { exitCode: 0, stopped: null } : {};
  return {
    ...run,
    ...exit,
    ...rewrites,
    tests: Object.fromEntries(tests),
    flaky: uniqueSorted([...(run.flaky ?? []), ...flaky]),
    runs: 1 + again.length,
  };
}

/** Suspects that need another run. The first run failed, so a second failure is decisive. */
export const undecidedSuspects = (
  suspects: readonly string[],
  again: readonly TestRun[],
): readonly string[] => suspects.filter((id) => again.every((one) => passesIn(one, id)));

const passesIn = (run: TestRun, id: string): boolean =>
  id === EXIT_CODE ? succeeded(run) : outcomeIn(run, id) === 'passed';

/** A run without its non-test steps. */
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

/**
 * A run of the whole suite in which the tests of some files are those of a later run of these files, on the same code.
 * Both must have a report.
 */
export function withTestsOfFiles(whole: TestRun, part: TestRun, paths: readonly string[]): TestRun {
  const replaced = new Set([
    ...(whole.steps ?? []),
    ...Object.keys(whole.tests).filter((id) => paths.some((path) => isTestOf(id, path))),
  ]);
  const others = withoutTests(whole, [...replaced]);
  const flaky = uniqueSorted([
    ...(whole.flaky ?? []).filter((id) => !replaced.has(id)),
    ...(part.flaky ?? []),
  ]);
  const { flaky: _ofPart, ...rest } = part;
  return {
    ...rest,
    tests: { ...others.tests, ...part.tests },
    ...(flaky.length > 0 ? { flaky } : {}),
  };
}

/** Ids that fail in a run and not on the base; with exit codes only, the exit code and steps. Sorted. */
export function newFailures(base: TestRun, run: TestRun): readonly string[] {
  if (base.source === 'exit-code')
    return [...(succeeded(base) && !succeeded(run) ? [EXIT_CODE] : []), ...brokenSteps(base, run)];
  return uniqueSorted(
    Object.keys(run.tests).filter(
      (id) => outcomeIn(run, id) === 'failed' && outcomeIn(base, id) !== 'failed',
    ),
  );
}

/** Without a test report: non-test steps that pass on the base and fail here. Sorted. */
export const brokenSteps = (base: TestRun, run: TestRun): readonly string[] =>
  uniqueSorted(
    Object.keys(base.tests).filter(
      (id) => outcomeIn(base, id) === 'passed' && outcomeIn(run, id) !== 'passed',
    ),
  );

/** A test is contested if at least two of three survivors break it, from at least two families. */
const CONTESTED_SHARE = { of: 3, breaking: 2 } as const;
const MIN_CONTESTING_FAMILIES = 2;

/**
 * Removes contested tests from the survivors' regressions. If two thirds or more of the survivors, from two or more
 * model families, break a stable test that passes on the base, the test probably conflicts with the task, and a
 * person is asked (notes on selection, S2). An unknown family does not count. A single survivor contests nothing, and
 * the exit code is never contested, because it represents all tests.
 * The result does not depend on the order of the evidence.
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
