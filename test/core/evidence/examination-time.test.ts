import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  examinationBudget,
  lacksComparison,
  type TestRun,
  withTestsOfFiles,
} from '../../../src/core/evidence/index.ts';

const MINUTE = 60_000;
const of = { suiteMs: 2_000, candidates: 4, parallel: 2 };

describe('an examination may take', () => {
  test('five minutes where tests are fast', () => {
    expect(examinationBudget(of)).toBe(5 * MINUTE);
    expect(examinationBudget({ ...of, suiteMs: 0, candidates: 0 })).toBe(5 * MINUTE);
  });

  test('two and a half runs of the suite for each candidate where they are slow, in parallel', () => {
    expect(examinationBudget({ ...of, suiteMs: 2 * MINUTE })).toBe(10 * MINUTE);
    expect(examinationBudget({ ...of, suiteMs: 2 * MINUTE, parallel: 8 })).toBe(5 * MINUTE);
  });

  test('what the settings say', () => {
    expect(examinationBudget({ ...of, settingMs: MINUTE })).toBe(MINUTE);
    expect(examinationBudget({ ...of, settingMs: 90 * MINUTE })).toBe(90 * MINUTE);
  });

  test('never all that the run may still work', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 1e8 }),
        fc.nat({ max: 20 }),
        fc.integer({ min: -1, max: 64 }),
        fc.option(fc.nat({ max: 1e9 }), { nil: undefined }),
        fc.nat({ max: 1e8 }),
        (suiteMs, candidates, parallel, settingMs, leftMs) => {
          const budget = examinationBudget({ suiteMs, candidates, parallel, settingMs, leftMs });
          expect(budget).toBeGreaterThanOrEqual(0);
          expect(budget).toBeLessThanOrEqual(leftMs);
        },
      ),
    );
  });
});

test('candidates were not fully compared where probes or tests of others were left out', () => {
  const cut = (what: 'repeats' | 'probes' | 'peer-tests' | 'written-tests') => ({
    budgetMs: MINUTE,
    leftOut: [{ what, count: 1, of: 2 }],
  });
  expect((['probes', 'peer-tests'] as const).map((what) => lacksComparison(cut(what)))).toEqual([true, true]);
  expect((['repeats', 'written-tests'] as const).map((what) => lacksComparison(cut(what)))).toEqual([
    false,
    false,
  ]);
  expect(lacksComparison(undefined)).toBe(false);
});

test('the results of changed test files replace those of the same files, and of steps, in a run of the whole suite', () => {
  const run = (tests: TestRun['tests'], more: Partial<TestRun> = {}): TestRun => ({
    ...{ source: 'report', exitCode: 0, stopped: null, ms: 10, tail: '', tests },
    ...more,
  });
  const whole = run(
    { 'a.js > one': 'passed', 'b.js > two': 'failed', 'b.js > gone': 'passed', lint: 'passed' },
    { steps: ['lint'], flaky: ['a.js > one', 'b.js > two'] },
  );
  const part = run({ 'b.js > two': 'passed', lint: 'failed' }, { steps: ['lint'] });
  expect(withTestsOfFiles(whole, part, ['b.js'])).toEqual({
    ...part,
    tests: { 'a.js > one': 'passed', 'b.js > two': 'passed', lint: 'failed' },
    flaky: ['a.js > one'],
  });
});
