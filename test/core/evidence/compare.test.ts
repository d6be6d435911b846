import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addedTests,
  compareBase,
  EXIT_CODE,
  peerTests,
  type TestOutcome,
  type TestRun,
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

  test('with exit codes only, they decide', () => {
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

  test('tests may be called like properties of every object', () => {
    const base = run(
      JSON.parse('{"constructor":"passed","__proto__":"passed"}') as Record<string, TestOutcome>,
    );
    expect(compareBase(base, run({})).regressions).toEqual(['__proto__', 'constructor']);
    expect(addedTests(run({}), base)).toEqual(['__proto__', 'constructor']);
    expect(peerTests('A', ['constructor'], run({}))).toMatchObject({ passed: 0, failing: ['constructor'] });
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

describe("the others' tests", () => {
  const base = run({ old: 'passed', broken: 'failed' });

  test('added are those that the base does not have and that pass at home', () => {
    expect(
      addedTests(
        base,
        run({ old: 'passed', broken: 'passed', 'new 2': 'passed', 'new 1': 'passed', red: 'failed' }),
      ),
    ).toEqual(['new 1', 'new 2']);
    expect(addedTests(base, byExit(0))).toEqual([]);
  });

  test('what does not pass on the peer fails there, also what is missing', () => {
    expect(peerTests('B', ['x', 'y', 'z'], run({ x: 'passed', y: 'skipped' }))).toEqual({
      author: 'B',
      passed: 1,
      total: 3,
      failing: ['y', 'z'],
    });
    expect(peerTests('B', ['x'], run({}, { exitCode: 1 }))).toMatchObject({ passed: 0, total: 1 });
    expect(peerTests('B', ['x'], null)).toMatchObject({ passed: 0, total: 1 });
    expect(peerTests('B', [], run({}))).toEqual({ author: 'B', passed: 0, total: 0, failing: [] });
  });

  test('all are counted, some are named', () => {
    const many = Array.from({ length: 200 }, (_, i) => `t${i}`);
    const result = peerTests('B', many, null);
    expect([result.total, result.failing.length]).toEqual([200, 50]);
  });
});
