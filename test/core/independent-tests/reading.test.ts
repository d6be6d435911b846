import { describe, expect, test } from 'vitest';
import type { TestOutcome, TestRun } from '../../../src/core/evidence/index.ts';
import {
  type RunContextOfTests,
  trialFromOwnRun,
  trialsFromSharedRun,
} from '../../../src/core/independent-tests/index.ts';
import { independentTest } from './sample.ts';

const run = (tests: Record<string, TestOutcome>, fields: Partial<TestRun> = {}): TestRun => ({
  source: 'report',
  exitCode: 0,
  stopped: null,
  ms: 5,
  tests,
  tail: 'the end',
  ...fields,
});
const byExit = (exitCode: number, fields: Partial<TestRun> = {}) =>
  run({}, { source: 'exit-code', exitCode, ...fields });
const reading = (onBase: TestRun, fields: Partial<RunContextOfTests> = {}): RunContextOfTests => ({
  onBase,
  focused: false,
  passesWithout: true,
  ...fields,
});

const N = independentTest('n', { path: 'test/n.test.js' });
const M = independentTest('m', { path: 'test/m.test.js' });
const named = reading(run({ 'test/a.test.js > adds': 'passed' }));
const nameless = reading(run({ adds: 'passed' }));

describe('several files together', () => {
  test('each has the cases that name it', () => {
    const tests = {
      'test/a.test.js > adds': 'passed',
      'test/n.test.js > one': 'passed',
      'test/m.test.js > s > two': 'failed',
    } as const;
    expect(trialsFromSharedRun([N, M], run(tests), named)).toEqual([
      { kind: 'ran', cases: { 'test/n.test.js > one': 'passed' } },
      { kind: 'ran', cases: { 'test/m.test.js > s > two': 'failed' } },
    ]);
  });

  test('cannot be distinguished if one is not reported', () => {
    const tests = { 'test/n.test.js > one': 'passed' } as const;
    expect(trialsFromSharedRun([N, M], run(tests), named)).toBeNull();
    expect(trialsFromSharedRun([N], run(tests, { stopped: 'wall' }), named)).toBeNull();
    expect(trialsFromSharedRun([N], byExit(1), named)).toBeNull();
    expect(trialsFromSharedRun([N], run({ one: 'passed' }), named)).toBeNull();
  });

  test('have no case for a file of which only the process is reported', () => {
    for (const whole of [
      'test/n.test.js',
      'test/n.test.js > test/n.test.js',
      'test/n.test.js > did not load',
    ])
      expect(trialsFromSharedRun([N], run({ [whole]: 'passed' }), named)).toEqual([
        { kind: 'ran', cases: {} },
      ]);
  });

  test('have one case per file if all tests are plain scripts', () => {
    const scripts = reading(run({ 'test/a.js > test/a.js': 'passed', 'test/b.js': 'passed' }));
    const id = 'test/n.test.js > test/n.test.js';
    expect(trialsFromSharedRun([N], run({ [id]: 'failed' }), scripts)).toEqual([
      { kind: 'ran', cases: { [id]: 'failed' } },
    ]);
  });
});

describe('a file alone', () => {
  test('has the cases that name it', () => {
    const tests = { 'test/n.test.js > one': 'passed', 'test/x.test.js > forged': 'passed' } as const;
    expect(trialFromOwnRun(N, run(tests), named).cases).toEqual({ 'test/n.test.js > one': 'passed' });
  });

  test('has the new cases if the runner names no files', () => {
    const tests = { adds: 'passed', 'adds #2': 'failed', one: 'failed', 'test/n.test.js': 'failed' } as const;
    expect(trialFromOwnRun(N, run(tests), nameless).cases).toEqual({ one: 'failed' });
    const shaky = reading(run({ adds: 'passed' }, { flaky: ['one'] }));
    expect(trialFromOwnRun(N, run(tests), shaky).cases).toEqual({});
  });

  test('has the new cases if tests are compiled to files of other names', () => {
    const compiled = reading(run({ 'out/a.test.js > adds': 'passed' }));
    const tests = {
      'out/a.test.js > adds': 'passed',
      'out/n.test.js > one': 'failed',
      'out/n.test.js > n.test.js': 'failed',
    } as const;
    expect(trialFromOwnRun(N, run(tests), compiled).cases).toEqual({ 'out/n.test.js > one': 'failed' });
  });

  test('that could not be imported by pytest has no case', () => {
    const test_n = independentTest('n', { path: 'tests/test_n.py' });
    const python = reading(run({ 'tests/test_a.py > test_adds': 'passed' }));
    expect(trialFromOwnRun(test_n, run({ 'tests.test_n': 'failed' }), python).cases).toEqual({});
  });

  test('is broken if it was stopped, or left no report', () => {
    expect(trialFromOwnRun(N, byExit(0), named)).toEqual({ kind: 'broke', cases: {} });
    expect(trialFromOwnRun(N, run({}, { stopped: 'wall' }), named)).toEqual({ kind: 'broke', cases: {} });
  });

  test('is judged by the exit code if there is no report, unless other tests fail there', () => {
    const plain = reading(byExit(0));
    expect(trialFromOwnRun(N, byExit(1), plain)).toMatchObject({
      kind: 'ran',
      cases: { 'test/n.test.js': 'failed' },
    });
    expect(trialFromOwnRun(N, byExit(0), plain)).toMatchObject({ cases: { 'test/n.test.js': 'passed' } });
    expect(trialFromOwnRun(N, byExit(1), { ...plain, passesWithout: false })).toEqual({
      kind: 'unknown',
      cases: {},
    });
    expect(trialFromOwnRun(N, byExit(1), { ...plain, passesWithout: false, focused: true }).kind).toBe('ran');
  });

  test('keeps the runner’s output only if it concerns the file', () => {
    const long = { tail: `${'x'.repeat(3_000)}end` };
    expect(trialFromOwnRun(N, run({}, long), named)).not.toHaveProperty('said');
    const { message } = trialFromOwnRun(N, run({}, long), { ...named, focused: true });
    expect([message?.length, message?.endsWith('end')]).toEqual([1_500, true]);
  });

  test('keeps what the runner said about its failing cases', () => {
    const tests = { 'test/n.test.js > one': 'failed', 'test/m.test.js > two': 'failed' } as const;
    const told = { messages: { 'test/n.test.js > one': 'expected 1', 'test/m.test.js > two': 'expected 2' } };
    expect(trialsFromSharedRun([N, M], run(tests, told), named)).toMatchObject([
      { message: 'expected 1' },
      { message: 'expected 2' },
    ]);
    expect(trialFromOwnRun(N, run(tests, told), { ...named, focused: true })).toMatchObject({
      message: 'expected 1',
    });
  });
});
