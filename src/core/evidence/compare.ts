import type { Alias } from '../model/index.ts';
import type { BaseTests, PeerTests, TestOutcome, TestRun } from './evidence.ts';

/** The one id there is when a runner gives no report, and for a command that fails although no test does. */
export const EXIT_CODE = 'exit code';

/** Test ids come from outside: `constructor` is a name like any other. */
const outcome = (run: Pick<TestRun, 'tests'>, id: string): TestOutcome | undefined =>
  Object.hasOwn(run.tests, id) ? run.tests[id] : undefined;

const succeeded = (run: TestRun): boolean => run.exitCode === 0 && run.stopped === null;

/**
 * The base suite on a candidate's production code against the same suite on the base. A test that passes on the base
 * and is failed, skipped or missing here is a regression; so is a command that fails here and not there although
 * every test passes. `total` is `passed` plus `failed`; a test that is missing here counts as failed.
 */
export function compareBase(base: TestRun, run: TestRun): BaseTests {
  const { source, exitCode, ms } = run;
  if (base.source === 'exit-code') {
    const ok = succeeded(run);
    return {
      passed: ok ? 1 : 0,
      failed: ok ? 0 : 1,
      total: 1,
      regressions: succeeded(base) && !ok ? [EXIT_CODE] : [],
      fixed: !succeeded(base) && ok ? [EXIT_CODE] : [],
      source: 'exit-code',
      exitCode,
      ms,
    };
  }
  const ids = sorted(new Set([...Object.keys(base.tests), ...Object.keys(run.tests)]));
  const here = (id: string) => outcome(run, id);
  const passes = ids.filter((id) => here(id) === 'passed');
  const broken = ids.filter((id) => outcome(base, id) === 'passed' && here(id) !== 'passed');
  const failing = ids.filter(
    (id) => here(id) === 'failed' || (here(id) === undefined && outcome(base, id) !== 'skipped'),
  );
  const failed = new Set([...failing, ...broken]);
  const silent = failed.size === 0 && succeeded(base) && !succeeded(run);
  return {
    passed: passes.length,
    failed: failed.size,
    total: passes.length + failed.size,
    regressions: silent ? [EXIT_CODE] : broken,
    fixed: passes.filter((id) => outcome(base, id) === 'failed'),
    source,
    exitCode,
    ms,
  };
}

/** Ids of tests that the base does not have and that pass on their author's own code. */
export const addedTests = (base: TestRun, own: TestRun): readonly string[] =>
  own.source === 'exit-code'
    ? []
    : sorted(Object.keys(own.tests)).filter(
        (id) => !Object.hasOwn(base.tests, id) && outcome(own, id) === 'passed',
      );

/** Failing ids that are kept by name; all are counted. */
const MOST_NAMED = 50;

/**
 * An author's added tests on another candidate's production code. What does not pass there is failing, a test that
 * was not reported too; `run` is null where the author's tests could not be put onto that code at all.
 */
export function peerTests(author: Alias, added: readonly string[], run: TestRun | null): PeerTests {
  const failing = added.filter((id) => run === null || outcome(run, id) !== 'passed');
  return {
    author,
    passed: added.length - failing.length,
    total: added.length,
    failing: failing.slice(0, MOST_NAMED),
  };
}

/** By code units: the same everywhere. */
const sorted = (ids: Iterable<string>): readonly string[] =>
  [...ids].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
