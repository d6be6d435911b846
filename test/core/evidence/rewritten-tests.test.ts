import { describe, expect, test } from 'vitest';
import {
  findingsElsewhere,
  joinedRewrites,
  mergeBaseRuns,
  resolveSuspects,
  rewriteFindings,
  type TestRun,
} from '../../../src/core/evidence/index.ts';
import { patchBetween } from '../git.ts';

const PATCH = patchBetween({ 'src/a.js': '1\n' }, { 'src/a.js': '2\n' });
const run = (rewrites?: readonly string[] | null): TestRun => ({
  source: 'report',
  exitCode: 0,
  stopped: null,
  ms: 5,
  tests: { a: 'passed' },
  tail: '',
  ...(rewrites === undefined ? {} : { rewrites }),
});
const written = (path: string, same = false) => ({ path, same, text: null });
const found = (...given: Parameters<typeof rewriteFindings>) =>
  rewriteFindings(...given).map(({ path, severity }) => `${severity} ${path}`);

describe('test files of the base commit', () => {
  test.each([
    ['test/a.test.js', 'gate'],
    ['vitest.config.ts', 'gate'],
    ['tests/conftest.py', 'gate'],
    ['test/expected.json', 'question'],
    ['test/generated/schema.js', 'question'],
    ['test/fixtures/input.js', 'question'],
    ['test/__snapshots__/a.test.js.snap', 'question'],
    ['tests/integration/Cargo.lock', 'question'],
  ])('that a build or a run changes: %s is a %s', (path, severity) => {
    const by = { build: [written(path)], suite: run([]) };
    expect(found(by, run([]), PATCH)).toEqual([`${severity} ${path}`]);
    expect(found({ build: [], suite: run([path]) }, run([]), PATCH)).toEqual([`${severity} ${path}`]);
  });

  test('with code that tests run: a question if a build writes it, since it is restored; a gate while tests run', () => {
    const path = 'test/support/assert.js';
    expect(found({ build: [written(path)], suite: run([]) }, run([]), PATCH)).toEqual([`question ${path}`]);
    const by = { build: [], suite: run([path]) };
    const repeated = mergeBaseRuns([run([]), run([])]);
    expect(found(by, repeated, PATCH)).toEqual([`gate ${path}`]);
    // Its test may write by chance, or have failed on the base commit before it wrote.
    expect(found(by, run([]), PATCH)).toEqual([`question ${path}`]);
    expect(found(by, { ...repeated, exitCode: 1 }, PATCH)).toEqual([`question ${path}`]);
    expect(found(by, { ...repeated, tests: { a: 'failed' } }, PATCH)).toEqual([`question ${path}`]);
  });

  test('that are named as tests in a folder of data: a gate only where the base commit runs tests of them', () => {
    const path = 'test/fixtures/button.test.js';
    const by = { build: [written(path)], suite: undefined };
    expect(found(by, run([]), PATCH)).toEqual([`question ${path}`]);
    const tests = { [`${path} > shows a label`]: 'passed' } as const;
    expect(found(by, { ...run([]), tests }, PATCH)).toEqual([`gate ${path}`]);
  });

  test('may be written while tests run if the base commit does so, too', () => {
    const by = { build: [], suite: run(['test/a.test.js', 'test/b.test.js']) };
    expect(found(by, run(['test/a.test.js']), PATCH)).toEqual(['gate test/b.test.js']);
  });

  test('are a question if a build writes them again as they were, or if nobody can tell', () => {
    const by = { build: [written('test/a.test.js', true)], suite: run(null) };
    expect(found(by, run([]), PATCH)).toEqual(['question src/a.js', 'question test/a.test.js']);
    expect(found({ build: null, suite: undefined }, run([]), PATCH)).toEqual(['question src/a.js']);
  });

  test('accuse nobody if the run of the base commit does not say what it writes', () => {
    for (const base of [run(), run(null)])
      expect(found({ build: [], suite: run(['test/a.test.js']) }, base, PATCH)).toEqual([]);
  });

  test('are known from all runs, also from repetitions', () => {
    expect(mergeBaseRuns([run(['a']), run(['b']), run([])]).rewrites).toEqual(['a', 'b']);
    expect(resolveSuspects(run(['a']), ['a'], [run(['b'])]).rewrites).toEqual(['a', 'b']);
    expect(joinedRewrites([run(['a']), run(null)])).toEqual({ rewrites: null });
    expect(joinedRewrites([run(), run()])).toEqual({});
  });

  test('that are written in other surroundings only are found there, and named once', () => {
    const there = { changes: [], rewrites: ['test/a.test.js'] };
    const found = findingsElsewhere(there, run([]), { gates: [], patch: PATCH });
    expect(found).toMatchObject([{ path: 'test/a.test.js', severity: 'gate' }]);
    const gates = [{ gate: 'untampered', passed: true, because: '', findings: found } as const];
    expect(findingsElsewhere(there, run([]), { gates, patch: PATCH })).toEqual([]);
    expect(findingsElsewhere(there, run(there.rewrites), { gates: [], patch: PATCH })).toEqual([]);
  });
});
