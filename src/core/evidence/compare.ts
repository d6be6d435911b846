import type { BaseTests, TestOutcome, TestRun } from './evidence.ts';

/** The one id there is when a runner gives no report, and for a command that fails although no test does. */
export const EXIT_CODE = 'exit code';

/** Test ids come from outside: `constructor` is a name like any other. */
export const outcomeIn = (run: Pick<TestRun, 'tests'>, id: string): TestOutcome | undefined =>
  Object.hasOwn(run.tests, id) ? run.tests[id] : undefined;

export const succeeded = (run: Pick<TestRun, 'exitCode' | 'stopped'>): boolean =>
  run.exitCode === 0 && run.stopped === null;

/**
 * The base suite on a candidate's production code against the same suite on the base. A test that passes on the base
 * and is failed, skipped or missing here is a regression; so is a command that fails here and not there although
 * no such test does. `total` is `passed` plus `failed`; a test that is missing here counts as failed. What is flaky on
 * the base counts for nothing.
 */
export function compareBase(base: TestRun, run: TestRun): BaseTests {
  const { exitCode, ms } = run;
  const about = { exitCode, ms, ...unrest(base, run) };
  return base.source === 'exit-code'
    ? { ...byExitCode(base, run), ...about, source: 'exit-code' }
    : { ...byReport(base, run), ...about, source: run.source };
}

type Counts = Pick<BaseTests, 'passed' | 'failed' | 'total' | 'regressions' | 'fixed'>;

function byExitCode(base: TestRun, run: TestRun): Counts {
  const ok = succeeded(run);
  const counts = { passed: ok ? 1 : 0, failed: ok ? 0 : 1, total: 1 };
  if ((base.flaky ?? []).includes(EXIT_CODE)) return { ...counts, regressions: [], fixed: [] };
  return {
    ...counts,
    regressions: succeeded(base) && !ok ? [EXIT_CODE] : [],
    fixed: !succeeded(base) && ok ? [EXIT_CODE] : [],
  };
}

function byReport(base: TestRun, run: TestRun): Counts {
  const quarantined = new Set(base.flaky ?? []);
  const known = [...Object.keys(base.tests), ...Object.keys(run.tests)];
  const ids = sorted(known.filter((id) => !quarantined.has(id)));
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
    fixed: passes.filter((id) => outcomeIn(base, id) === 'failed'),
  };
}

const unrest = (base: TestRun, run: TestRun): Pick<BaseTests, 'flaky' | 'baseRuns'> => {
  const flaky = sorted([...(base.flaky ?? []), ...(run.flaky ?? [])]);
  return {
    ...(flaky.length > 0 ? { flaky } : {}),
    ...(base.runs === undefined ? {} : { baseRuns: base.runs }),
  };
};

/** Each once, by code units: the same everywhere. */
export const sorted = (ids: Iterable<string>): readonly string[] =>
  [...new Set(ids)].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
