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
  const gate = ownTestsGate(run({ old: 'passed' }), run({ old: 'passed', 'new > comma': 'failed' }));
  expect(gate).toMatchObject({
    gate: 'tests-run',
    passed: false,
    because: expect.stringContaining('new > comma'),
  });
});

test('tests that fail on the base do not count against a patch', () => {
  expect(ownTestsGate(run({ old: 'failed' }), run({ old: 'failed', fresh: 'passed' }))).toBeNull();
});

test('a test named like a property of every object is a test like any other', () => {
  expect(ownTestsGate(run({}), run(Object.fromEntries([['constructor', 'failed' as const]])))).toMatchObject({
    passed: false,
  });
});

test('without a report the exit code decides, against that of the base', () => {
  const base = run({}, { source: 'exit-code', exitCode: 0 });
  expect(ownTestsGate(base, run({}, { source: 'exit-code', exitCode: 2 }))).toMatchObject({ passed: false });
  expect(ownTestsGate({ ...base, exitCode: 1 }, run({}, { source: 'exit-code', exitCode: 2 }))).toBeNull();
});

test('own tests that do not end fail the gate', () => {
  expect(ownTestsGate(run({}), run({}, { stopped: 'wall' }))).toMatchObject({
    because: expect.stringContaining('they exceeded `timeout.check`'),
  });
});
