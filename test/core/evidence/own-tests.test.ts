import { expect, test } from 'vitest';
import { ownTestsGate, type TestRun } from '../../../src/core/evidence/index.ts';

const run = (tests: TestRun['tests'], over: Partial<TestRun> = {}): TestRun => ({
  source: 'report',
  exitCode: Object.values(tests).includes('failed') ? 1 : 0,
  stopped: null,
  ms: 1,
  tests,
  tail: '',
  ...over,
});

test('a patch whose new tests fail on its own code fails the gate, which names them', () => {
  const base = run({ old: 'passed' });
  const gate = ownTestsGate(base, run({ old: 'passed', 'new > comma': 'failed' }), base);
  expect(gate).toMatchObject({
    gate: 'tests-run',
    passed: false,
    because: "With the patch's own test files, 1 test fails: new > comma.",
    ownTestsFail: true,
  });
});

test('existing tests that the patch breaks are named as such, before its own', () => {
  const base = run({ old: 'passed', other: 'passed' });
  const before = run({ old: 'failed', other: 'passed' });
  const because = (own: TestRun) => ownTestsGate(base, own, before)?.because;
  expect(because(run({ old: 'failed', other: 'passed', fresh: 'passed' }))).toBe(
    "With the patch's own test files, 1 existing test fails: old.",
  );
  expect(because(run({ old: 'failed', other: 'failed', fresh: 'failed' }))).toBe(
    "With the patch's own test files, 1 existing test and 2 other tests fail: old, fresh, other.",
  );
});

test('tests that fail on the base do not count against a patch', () => {
  const base = run({ old: 'failed' });
  expect(ownTestsGate(base, run({ old: 'failed', fresh: 'passed' }), base)).toBeNull();
});

test('a test named like a property of every object is a test like any other', () => {
  const own = run(Object.fromEntries([['constructor', 'failed' as const]]));
  expect(ownTestsGate(run({}), own, run({}))).toMatchObject({
    because: "With the patch's own test files, 1 test fails: constructor.",
  });
});

test('without a report the exit code decides, against that of the base', () => {
  const base = run({}, { source: 'exit-code', exitCode: 0 });
  const own = run({}, { source: 'exit-code', exitCode: 2 });
  expect(ownTestsGate(base, own, base)).toMatchObject({ passed: false, ownTestsFail: true });
  expect(ownTestsGate({ ...base, exitCode: 1 }, own, base)).toBeNull();
});

test('own tests that do not end fail the gate', () => {
  const gate = ownTestsGate(run({}), run({}, { stopped: 'wall' }), run({}));
  expect(gate?.because).toContain('they exceeded both `timeout.check` and three times');
  expect(gate).not.toHaveProperty('ownTestsFail');
});
