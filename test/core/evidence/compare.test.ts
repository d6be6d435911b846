import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  belowCoverageOf,
  compareBase,
  EXIT_CODE,
  failedForCoverage,
  type TestOutcome,
  type TestRun,
  testsRunGate,
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
const byExit = (exitCode: number | null, fields: Partial<TestRun> = {}): TestRun =>
  run({}, { source: 'exit-code', exitCode, ...fields });

describe('base tests', () => {
  test('failed, skipped and missing tests are regressions if they pass on the base', () => {
    const base = run({
      a: 'passed',
      b: 'passed',
      c: 'passed',
      d: 'passed',
      e: 'failed',
      f: 'skipped',
      g: 'failed',
    });
    const own = run({ a: 'passed', b: 'failed', c: 'skipped', e: 'passed', f: 'skipped', g: 'failed' });
    expect(compareBase(base, own)).toEqual({
      passed: 2,
      failed: 4,
      total: 6,
      regressions: ['b', 'c', 'd'],
      fixed: ['e'],
      source: 'report',
      exitCode: 1,
      ms: 5,
    });
  });

  test('a command that fails although every test passes is a regression', () => {
    expect(compareBase(run({ a: 'passed' }), run({ a: 'passed' }, { exitCode: 1 })).regressions).toEqual([
      EXIT_CODE,
    ]);
    expect(
      compareBase(run({ a: 'passed' }, { exitCode: 1 }), run({ a: 'passed' }, { exitCode: 1 })).regressions,
    ).toEqual([]);
  });

  test('a command that fails for coverage alone is no regression: base tests cannot cover what is new', () => {
    const below = run({ a: 'passed' }, { exitCode: 1, belowCoverage: true });
    expect(compareBase(run({ a: 'passed' }), below)).toMatchObject({ regressions: [], exitCode: 1 });
    const printing = run(
      { a: 'passed' },
      { tail: 'ERROR: Coverage for lines (9%) does not meet threshold (90%)' },
    );
    expect(compareBase(printing, below).regressions).toEqual([EXIT_CODE]);
    const broken = run({}, { exitCode: 1, belowCoverage: true });
    expect(compareBase(run({ a: 'passed' }), broken).regressions).toEqual(['a']);
    expect(testsRunGate(run({ a: 'passed' }), below)).toMatchObject({
      passed: true,
      because: '1 test reported (exit code 1, because coverage is below the threshold of the repository).',
    });
  });

  test('of several commands, each that fails must do so for coverage alone', () => {
    const good = run({ a: 'passed' });
    const below = run({ b: 'passed' }, { exitCode: 1, belowCoverage: true });
    const crashed = run({ c: 'passed' }, { exitCode: 1 });
    expect(belowCoverageOf([good, below])).toEqual({ belowCoverage: true });
    expect(belowCoverageOf([below, crashed])).toEqual({});
    expect(belowCoverageOf([good, good])).toEqual({});
  });

  test('a failing command is a regression also if a new test fails', () => {
    const own = run({ a: 'passed', 'b.test.js did not load': 'failed' });
    expect(compareBase(run({ a: 'passed' }), own)).toMatchObject({ failed: 1, regressions: [EXIT_CODE] });
  });

  test('a test that is flaky on the base does not count, and is named', () => {
    const base = run({ a: 'passed' }, { flaky: ['b'], runs: 3 });
    expect(compareBase(base, run({ a: 'passed', b: 'failed' }))).toEqual({
      passed: 1,
      failed: 0,
      total: 1,
      regressions: [],
      fixed: [],
      flaky: ['b'],
      baseRuns: 3,
      source: 'report',
      exitCode: 1,
      ms: 5,
    });
    // The exit code of a command whose flaky tests pass is the candidate's own.
    expect(compareBase(base, run({ a: 'passed', b: 'passed' }, { exitCode: 1 })).regressions).toEqual([
      EXIT_CODE,
    ]);
    const unsteady = byExit(0, { flaky: [EXIT_CODE], runs: 3 });
    expect(compareBase(unsteady, byExit(1))).toMatchObject({ regressions: [], flaky: [EXIT_CODE] });
  });

  test('a test that passed in two of three runs is named, and its exit code excused', () => {
    const own = run({ a: 'passed', b: 'passed' }, { exitCode: 1, flaky: ['b'] });
    expect(compareBase(run({ a: 'passed', b: 'passed' }), own)).toMatchObject({
      passed: 2,
      regressions: [],
      flaky: ['b'],
    });
  });

  test('exit codes decide if there is nothing else', () => {
    expect(compareBase(byExit(0), byExit(0))).toMatchObject({
      passed: 1,
      total: 1,
      regressions: [],
      source: 'exit-code',
    });
    expect(compareBase(byExit(0), byExit(1))).toMatchObject({ failed: 1, regressions: [EXIT_CODE] });
    expect(compareBase(byExit(0), byExit(0, { stopped: 'wall' })).regressions).toEqual([EXIT_CODE]);
    expect(compareBase(byExit(1), byExit(0))).toMatchObject({ regressions: [], fixed: [EXIT_CODE] });
  });

  test('a lost report loses every test', () => {
    expect(compareBase(run({ a: 'passed', b: 'failed' }), byExit(0))).toMatchObject({
      passed: 0,
      failed: 2,
      regressions: ['a'],
    });
  });

  test('tests can have names of object properties', () => {
    const base = run(
      JSON.parse('{"constructor":"passed","__proto__":"passed"}') as Record<string, TestOutcome>,
    );
    expect(compareBase(base, run({})).regressions).toEqual(['__proto__', 'constructor']);
  });

  test('numbers always add up, and a run against itself has no regression', () => {
    const tests = fc.dictionary(
      fc.string({ maxLength: 3 }),
      fc.constantFrom<TestOutcome>('passed', 'failed', 'skipped'),
    );
    fc.assert(
      fc.property(tests, tests, (a, b) => {
        const compared = compareBase(run(a), run(b));
        expect(compared.passed + compared.failed).toBe(compared.total);
        expect(compared.regressions.every((id) => id === EXIT_CODE || a[id] === 'passed')).toBe(true);
        expect(compareBase(run(a), run(a)).regressions).toEqual([]);
      }),
    );
  });
});

describe('a failure for coverage alone', () => {
  test.each([
    'ERROR: Coverage for lines (98.5%) does not meet global threshold (100%)',
    'ERROR: Coverage for branches (50%) does not meet threshold (90%) for src/a.ts',
    'Jest: "global" coverage threshold for statements (100%) not met: 98.21%',
    'Jest: Uncovered count for lines (5) exceeds "global" threshold (0)',
    'FAIL Required test coverage of 100% not reached. Total coverage: 99.27%',
    'Coverage failure: total of 99 is less than fail-under=100',
    '# Error: 83.33% line coverage does not meet threshold of 100%.',
    'Line coverage (98.00%) is below the expected minimum coverage (100.00%).',
    'Execution default of goal jacoco: Coverage checks have not been met.',
  ])('is recognised by: %s', (message) => {
    expect(failedForCoverage(1, `ok 1\n\u001b[31m${message}\u001b[0m\n`)).toBe(true);
  });

  test.each(['All files | 98 | 100 |', 'coverage threshold', 'Coverage for lines', ''])(
    'is not recognised by “%s”',
    (line) => {
      expect(failedForCoverage(1, line)).toBe(false);
    },
  );

  test('is not what a crash or an error outside of tests is', () => {
    const message = 'ERROR: Coverage for lines (98.5%) does not meet global threshold (100%)';
    for (const exitCode of [0, 134, 139, null]) expect(failedForCoverage(exitCode, message)).toBe(false);
    expect(failedForCoverage(1, `${message}\nVitest caught 1 unhandled error.\nUnhandled Rejection`)).toBe(
      false,
    );
  });
});
