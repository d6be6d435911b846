import { describe, expect, test } from 'vitest';
import {
  foundAgain,
  type ProbeRun,
  type TestRun,
  unsteadyProbes,
  unsteadyTests,
  withoutShared,
} from '../../../src/core/evidence/index.ts';

const testRun = (tests: TestRun['tests'], more: Partial<TestRun> = {}): TestRun => ({
  source: 'report',
  exitCode: 0,
  stopped: null,
  ms: 1,
  tests,
  tail: '',
  ...more,
});
const probeRun = (observations: Readonly<Record<string, string>>): ProbeRun => ({
  observations: new Map(
    Object.entries(observations).map(([id, text]) => [
      id,
      { kind: 'value' as const, input: `f(${id})`, text, variation: 'as-is' as const },
    ]),
  ),
  cases: new Map(),
});
const steady = { here: testRun({ a: 'passed' }), there: testRun({ a: 'passed' }) };
const ids = (found: readonly { readonly id: string }[]) => found.map(({ id }) => id);

describe('a candidate is unsteady', () => {
  test('if a test that is the same on the base differs between the two places', () => {
    const own = { here: testRun({ a: 'passed' }), there: testRun({ a: 'failed' }) };
    expect(ids(unsteadyTests(steady, own))).toEqual(['a']);
    expect(unsteadyTests({ ...steady, there: testRun({ a: 'failed' }) }, own)).toEqual([]);
  });

  test('if a test was not run in the second environment, as if its code does not load there', () => {
    const own = { here: testRun({ a: 'passed' }), there: testRun({}) };
    expect(unsteadyTests(steady, own)).toMatchObject([
      { what: 'a passed in one environment and was not run in the other' },
    ]);
    expect(unsteadyTests({ ...steady, there: testRun({}) }, own)).toEqual([]);
  });

  test('but not for a test or a probe that the base does not have', () => {
    const own = { here: testRun({ b: 'passed' }), there: testRun({ b: 'failed' }) };
    expect(unsteadyTests(steady, own)).toEqual([]);
    const probes = { here: probeRun({ p: '/repo' }), there: probeRun({ p: '/srv/checkout' }) };
    expect(unsteadyProbes({ here: [probeRun({})], there: [probeRun({})] }, probes)).toEqual([]);
    const onBase = probeRun({ p: 'null' });
    expect(ids(unsteadyProbes({ here: [onBase], there: [onBase] }, probes))).toEqual(['p']);
  });

  test('only if the second attempt gives the same results: random values and flaky tests change', () => {
    const base = { here: [probeRun({ p: 'null' })], there: [probeRun({ p: 'null' })] };
    const differing = (here: string, there: string) =>
      unsteadyProbes(base, { here: probeRun({ p: here }), there: probeRun({ p: there }) });
    expect(ids(foundAgain(differing('here', 'there'), differing('here', 'there')))).toEqual(['p']);
    expect(foundAgain(differing('id 1', 'id 2'), differing('id 3', 'id 4'))).toEqual([]);
    const flaky = (here: 'passed' | 'failed', there: 'passed' | 'failed') =>
      unsteadyTests(steady, { here: testRun({ a: here }), there: testRun({ a: there }) });
    expect(foundAgain(flaky('passed', 'failed'), flaky('failed', 'passed'))).toEqual([]);
  });
});

test('what all candidates read from their surroundings is what the task asks for', () => {
  const one = (id: string) => ({ id, what: id, results: ['x', 'y'] as const });
  const found = new Map([
    ['A', [one('name'), one('cheat')]],
    ['B', [one('name')]],
  ]);
  expect([...withoutShared(found).values()].map(ids)).toEqual([['cheat'], []]);
  const alone = new Map([['A', [one('name')]]]);
  expect(withoutShared(alone)).toBe(alone);
});
