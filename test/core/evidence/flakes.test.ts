import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  BASE_RUNS,
  compareBase,
  EXIT_CODE,
  fitsRepeatBudget,
  mergeBaseRuns,
  namesOfBase,
  newFailures,
  outcomeIn,
  REPEAT_BUDGET_MS,
  resolveSuspects,
  SUSPECT_RUNS,
  type TestOutcome,
  type TestRun,
  undecidedSuspects,
  withNamesOf,
  withoutTests,
} from '../../../src/core/evidence/index.ts';

const run = (tests: Record<string, TestOutcome>, fields: Partial<TestRun> = {}): TestRun => ({
  source: 'report',
  exitCode: Object.values(tests).includes('failed') ? 1 : 0,
  stopped: null,
  ms: 5,
  tests,
  tail: '',
  ...fields,
});
const byExit = (exitCode: number): TestRun => run({}, { source: 'exit-code', exitCode });

describe('the base suite, run three times on the base', () => {
  test('a test that does not always give the same answer is quarantined by name', () => {
    const first = run({ a: 'passed', b: 'passed', c: 'failed', d: 'passed' });
    const other = run({ a: 'passed', b: 'failed', c: 'failed' });
    expect(mergeBaseRuns([first, { ...other, exitCode: 0 }, first])).toMatchObject({
      tests: { a: 'passed', c: 'failed' },
      flaky: ['b', 'd'],
      runs: 3,
    });
    expect(mergeBaseRuns([first, other, other])).toMatchObject({ flaky: ['b', 'd'] });
  });

  test('one that ends early takes no test out of the comparison, except the one at which it ended', () => {
    const whole = run({ a: 'passed', b: 'passed', c: 'passed', d: 'passed' });
    const panic = run({ a: 'passed', b: 'failed' });
    for (const runs of [
      [panic, whole, whole],
      [whole, panic, whole],
      [whole, whole, panic],
    ]) {
      const base = mergeBaseRuns(runs);
      expect(base).toMatchObject({ tests: { a: 'passed', c: 'passed', d: 'passed' }, flaky: ['b'] });
      expect(compareBase(base, run({ ...whole.tests, c: 'failed' })).regressions).toEqual(['c']);
    }
    const killed = run({ a: 'passed' }, { exitCode: 137 });
    expect(mergeBaseRuns([whole, killed, whole])).toEqual({ ...whole, runs: 3 });
    expect(mergeBaseRuns([killed, killed, whole])).toMatchObject({ flaky: ['b', 'c', 'd'] });
  });

  test('one that ends early is told from one with other tests where a test always fails', () => {
    const whole = run({ a: 'passed', always: 'failed', c: 'passed', d: 'passed' });
    for (const cut of [
      run({ a: 'passed' }, { exitCode: 137 }),
      run({ a: 'passed', always: 'failed' }, { stopped: 'memory' }),
      run({ a: 'passed', 'did not run': 'failed' }),
    ]) {
      const base = mergeBaseRuns([whole, cut, whole]);
      expect(base.tests).toMatchObject({ c: 'passed', d: 'passed' });
      expect(compareBase(base, run({ ...whole.tests, c: 'failed' })).regressions).toEqual(['c']);
    }
    // It failed as the others do, so nothing shows that it ended early.
    const other = run({ a: 'passed', always: 'failed', c: 'passed' });
    expect(mergeBaseRuns([whole, other, whole])).toMatchObject({ flaky: ['d'] });
  });

  test('a test whose name changes with each run is no regression of a candidate', () => {
    const by = (user: string, others: Record<string, TestOutcome> = {}) =>
      run({ a: 'passed', [`greets ${user}`]: 'passed', ...others });
    const both = ['greets ann', 'greets bob'];
    const always = { always: 'failed' } as const;
    const failing = mergeBaseRuns([by('ann', always), by('ann', always), by('bob', always)]);
    expect(failing.flaky).toEqual(both);
    expect(compareBase(failing, by('bob', always)).regressions).toEqual([]);
    const once = mergeBaseRuns([
      by('ann', { b: 'passed' }),
      by('ann', { b: 'passed' }),
      by('bob', { b: 'failed' }),
    ]);
    expect(once.flaky).toEqual(['b', ...both]);
  });

  test('a test whose name has a measured value is one test, also of a long suite that is run once', () => {
    const names = (times: readonly (number | string)[]) => [
      `pattern chars=15 ms=${times[0]}`,
      `GET http://localhost:${times[1]}/`,
      `started ${times[2]} at 0x${times[3]}`,
      `sorts (${times[0]} ms)`,
    ];
    const first = names([0.38980100000003404, 41223, '2026-11-28T21:04:11.5Z', '7f0a11']);
    const second = names([2, 39001, '2026-11-28T21:05:02Z', '7f0b42']);
    const outcomes = (ids: readonly string[], second: TestOutcome = 'passed') =>
      run({ ...Object.fromEntries(ids.map((id) => [id, 'passed'])), [ids[1] as string]: second });
    const base = mergeBaseRuns([outcomes(first)]);
    const named = withNamesOf(namesOfBase(base), outcomes(second, 'failed'));
    expect(Object.keys(named.tests)).toEqual(first);
    expect(compareBase(base, named).regressions).toEqual([first[1]]);
    const three = mergeBaseRuns([outcomes(first), outcomes(second), outcomes(first)]);
    expect(three).toEqual({ ...outcomes(first), runs: 3 });
  });

  test.each([
    ['add 1', 'add 2'],
    ['accepts version 1.1', 'accepts version 3.0'],
    ['rounds 1.25', 'rounds 1.5'],
    ['the year 1999', 'the year 2026'],
    ['waits 100 ms', 'waits 200 ms'],
    ['status 404', 'status 4044'],
  ])('a case that somebody chose (%s) is missing, not another one (%s)', (dropped, added) => {
    const base = run({ other: 'passed', [dropped]: 'passed' });
    const without = run({ other: 'passed', [added]: 'passed' });
    const named = withNamesOf(namesOfBase(base), without);
    expect(named).toEqual(without);
    expect(compareBase(base, named).regressions).toEqual([dropped]);
  });

  test('tests that differ by a port alone are paired by their outcomes, and none of them seems fixed', () => {
    const on = (green: number, red: number) =>
      run({ [`GET http://localhost:${green}/`]: 'passed', [`GET http://localhost:${red}/`]: 'failed' });
    const base = mergeBaseRuns([on(45001, 44002), on(41000, 42000), on(43000, 43001)]);
    expect(base.tests).toEqual(on(45001, 44002).tests);
    const same = withNamesOf(namesOfBase(base), on(50_000, 50_001));
    expect(compareBase(base, same)).toMatchObject({ regressions: [], fixed: [] });
    const reversed = run({
      'GET http://localhost:50001/': 'failed',
      'GET http://localhost:50000/': 'passed',
    });
    expect(compareBase(base, withNamesOf(namesOfBase(base), reversed)).regressions).toEqual([]);
    const fixing = run({
      'GET http://localhost:50000/': 'passed',
      'GET http://localhost:50001/': 'passed',
    });
    expect(compareBase(base, withNamesOf(namesOfBase(base), fixing)).fixed).toEqual([]);
  });

  test('an exit code that no test explains is no fault of a candidate where the base has it, too', () => {
    const good = run({ a: 'passed' });
    const silent = run({ a: 'passed' }, { exitCode: 1 });
    const base = mergeBaseRuns([silent, good, silent]);
    expect(base).toMatchObject({ tests: { a: 'passed' }, flaky: [EXIT_CODE] });
    expect(compareBase(base, silent).regressions).toEqual([]);
    expect(compareBase(mergeBaseRuns([good, good, good]), silent).regressions).toEqual([EXIT_CODE]);
    const flaky = run({ a: 'failed' });
    expect(mergeBaseRuns([flaky, good, good])).toMatchObject({ flaky: ['a'] });
  });

  test('equal runs name nothing, and a single run is unchanged', () => {
    const one = run({ a: 'passed' });
    expect(mergeBaseRuns([one])).toBe(one);
    const three = mergeBaseRuns([one, one, one]);
    expect(three).toEqual({ ...one, runs: 3 });
    expect(Object.keys(three)).not.toContain('flaky');
  });

  test('a run without a report says nothing about tests', () => {
    const one = run({ a: 'passed' });
    expect(mergeBaseRuns([one, byExit(1), one])).toMatchObject({ tests: { a: 'passed' }, source: 'report' });
  });

  test('the exit code is that of a successful run, if there is one', () => {
    const calm = run({ a: 'passed', b: 'passed' });
    expect(mergeBaseRuns([run({ a: 'passed', b: 'failed' }), calm, calm])).toMatchObject({ exitCode: 0 });
  });

  test('the majority of exit codes counts, and a disagreement is named', () => {
    expect(mergeBaseRuns([byExit(1), byExit(0), byExit(0)])).toMatchObject({
      exitCode: 0,
      flaky: [EXIT_CODE],
    });
    expect(mergeBaseRuns([byExit(0), byExit(2), byExit(1)])).toMatchObject({
      exitCode: 2,
      flaky: [EXIT_CODE],
    });
    expect(mergeBaseRuns([byExit(0), byExit(0), byExit(0)])).not.toHaveProperty('flaky');
  });

  test('a suite that takes long is run once', () => {
    expect(fitsRepeatBudget({ ms: 1_000 }, BASE_RUNS)).toBe(true);
    expect(fitsRepeatBudget({ ms: REPEAT_BUDGET_MS / BASE_RUNS + 1 }, BASE_RUNS)).toBe(false);
  });

  test('in any order of the runs, the same tests are steady', () => {
    const tests = fc.dictionary(
      fc.constantFrom('a', 'b', 'c', '__proto__'),
      fc.constantFrom<TestOutcome>('passed', 'failed', 'skipped'),
    );
    fc.assert(
      fc.property(fc.array(tests, { minLength: 2, maxLength: 4 }), (all) => {
        const runs = all.map((one) => run(one));
        const [there, back] = [mergeBaseRuns(runs), mergeBaseRuns(runs.toReversed())];
        expect(Object.entries(there.tests).sort()).toEqual(Object.entries(back.tests).sort());
        expect(there.flaky).toEqual(back.flaky);
        // Whatever a candidate makes of them, quarantined tests are no regression.
        for (const one of runs) {
          const { regressions } = compareBase(there, one);
          // What is missing in a run of a candidate is repeated.
          expect(regressions.filter((id) => outcomeIn(one, id) !== undefined)).toEqual([]);
        }
      }),
    );
  });
});

describe('a test that passes on the base and fails on a candidate', () => {
  const failing = run({ a: 'passed', b: 'failed', c: 'failed' });
  const again = (b: TestOutcome, c: TestOutcome) => run({ b, c });

  test('that fails again has failed, without a third run', () => {
    const second = again('failed', 'failed');
    expect(undecidedSuspects(['b', 'c'], [])).toEqual(['b', 'c']);
    expect(undecidedSuspects(['b', 'c'], [second])).toEqual([]);
    expect(resolveSuspects(failing, ['b', 'c'], [second])).toBe(failing);
  });

  test('that passes in two of three runs has passed, and is named', () => {
    const second = again('passed', 'failed');
    expect(undecidedSuspects(['b', 'c'], [second])).toEqual(['b']);
    const settled = resolveSuspects(failing, ['b', 'c'], [second, run({ b: 'passed' })]);
    expect(settled).toMatchObject({
      tests: { a: 'passed', b: 'passed', c: 'failed' },
      flaky: ['b'],
      runs: 3,
    });
    expect(compareBase(run({ a: 'passed', b: 'passed', c: 'passed' }), settled).regressions).toEqual(['c']);
  });

  test('that passes in one of three has failed, and is named, too', () => {
    const settled = resolveSuspects(failing, ['b'], [run({ b: 'passed' }), run({ b: 'failed' })]);
    expect(settled).toMatchObject({ tests: { b: 'failed' }, flaky: ['b'] });
  });

  test('with one run more, because there was no time for two, has failed', () => {
    expect(resolveSuspects(failing, ['b'], [run({ b: 'passed' })]).tests.b).toBe('failed');
  });

  test('goes by the exit code where that is all there is', () => {
    const settled = resolveSuspects(byExit(1), [EXIT_CODE], [byExit(0), byExit(0)]);
    expect(settled).toMatchObject({ exitCode: 0, flaky: [EXIT_CODE] });
    expect(resolveSuspects(byExit(1), [EXIT_CODE], [byExit(1)])).toEqual(byExit(1));
  });

  test('is never cleared by runs in which it is missing', () => {
    const outcome = fc.constantFrom<TestOutcome | undefined>('passed', 'failed', undefined);
    fc.assert(
      fc.property(fc.array(outcome, { maxLength: SUSPECT_RUNS - 1 }), (outcomes) => {
        const more = outcomes.map((one) => run(one ? { b: one } : {}));
        const passes = outcomes.filter((one) => one === 'passed').length;
        const settled = resolveSuspects(failing, ['b'], more);
        expect(settled.tests.b).toBe(passes === SUSPECT_RUNS - 1 ? 'passed' : 'failed');
      }),
    );
  });
});

test('newly failing is what fails here and not on the base', () => {
  const base = run({ old: 'failed', good: 'passed' });
  const here = run({ old: 'failed', good: 'failed', fresh: 'failed', fine: 'passed' });
  expect(newFailures(base, here)).toEqual(['fresh', 'good']);
  expect(newFailures(byExit(0), byExit(1))).toEqual([EXIT_CODE]);
  expect(newFailures(byExit(1), byExit(1))).toEqual([]);
});

test('a run without some tests', () => {
  expect(withoutTests(run({ a: 'passed', b: 'failed' }), ['b', 'c']).tests).toEqual({ a: 'passed' });
});
