import { describe, expect, test } from 'vitest';
import {
  authorTests,
  joinPackages,
  ofModules,
  ofPackages,
  type PackageRun,
  packagesLeftOut,
  soundPackages,
  suiteFits,
  type TestRun,
  withoutSilentPackages,
} from '../../../src/core/evidence/index.ts';

const part = (folder: string | null, more: Partial<PackageRun> = {}): PackageRun => ({
  folder,
  exitCode: 0,
  stopped: null,
  source: 'report',
  ms: 1_000,
  steps: [],
  ...more,
});
const run = (
  packages: readonly PackageRun[],
  tests: TestRun['tests'],
  more: Partial<TestRun> = {},
): TestRun => ({
  source: 'report',
  exitCode: 0,
  stopped: null,
  ms: packages.reduce((sum, { ms }) => sum + ms, 0),
  tests,
  packages,
  tail: '',
  ...more,
});
const BASE = run(
  [part(null), part('a', { exitCode: 1 }), part('a/b', { steps: ['lint: a/b eslint .'] })],
  {
    'tool.test.js > works': 'passed',
    'a > x.js > fails': 'failed',
    'a/b > x.js > works': 'passed',
    'lint: a/b eslint .': 'passed',
  },
  {
    exitCode: 1,
    steps: ['lint: a/b eslint .'],
    flaky: ['a > y.js > moody'],
    messages: { 'a > x.js > fails': 'no' },
  },
);

describe('of a run of several packages', () => {
  test('some are taken with their tests, steps, messages and end', () => {
    expect(ofPackages(BASE, new Set(['a/b']))).toEqual(
      run(
        [part(null), part('a/b', { steps: ['lint: a/b eslint .'] })],
        {
          'tool.test.js > works': 'passed',
          'a/b > x.js > works': 'passed',
          'lint: a/b eslint .': 'passed',
        },
        { steps: ['lint: a/b eslint .'], messages: {} },
      ),
    );
    expect(ofPackages(BASE, new Set(['a']))).toMatchObject({
      exitCode: 1,
      tests: { 'tool.test.js > works': 'passed', 'a > x.js > fails': 'failed' },
    });
    expect(ofPackages(BASE, new Set(['a', 'a/b']))).toBe(BASE);
    expect(ofPackages(run([part('a')], { 'a > x': 'passed' }), new Set())).toMatchObject({
      source: 'none',
      exitCode: null,
      tests: {},
    });
  });

  test('one that exceeds a limit, or fails without a report, keeps the others from nothing', () => {
    const stopped = run(
      [part('a'), part('b', { exitCode: null, stopped: 'wall', source: 'exit-code' })],
      { 'a > x': 'passed' },
      { exitCode: null, stopped: 'wall' },
    );
    const sound = withoutSilentPackages(stopped);
    expect(sound).toMatchObject({ exitCode: 0, stopped: null, ms: 1_000, tests: { 'a > x': 'passed' } });
    expect(sound.packages).toEqual(stopped.packages);
    expect(soundPackages(sound)).toEqual(['a']);
    const red = { exitCode: 1, source: 'exit-code' } as const;
    const silent = run([part(null), part('a'), part('b', red)], {}, { exitCode: 1 });
    expect(withoutSilentPackages(silent)).toMatchObject({ exitCode: 0, ms: 2_000 });
    const only = run([part('b', { stopped: 'wall' })], {}, { stopped: 'wall' });
    expect(withoutSilentPackages(only)).toBe(only);
  });

  test('an exit code goes with its package, and is nobody’s added test', () => {
    const whole = run([part('a'), part('b', { source: 'exit-code' })], {
      'a > x': 'passed',
      'exit code: b': 'passed',
    });
    expect(ofPackages(whole, new Set(['a'])).tests).toEqual({ 'a > x': 'passed' });
    expect(ofPackages(whole, new Set(['b'])).tests).toEqual({ 'exit code: b': 'passed' });
    const author = { own: whole, onBase: { kind: 'unfit' }, before: null } as const;
    expect(authorTests(author)).toEqual({ proven: ['a > x'], guards: [] });
  });

  test('what belongs to no package counts beside them, also where it fails', () => {
    const red = { exitCode: 1, source: 'exit-code' } as const;
    const whole = run([part(null, red), part('a'), part('b')], {}, { exitCode: 1 });
    expect(ofPackages(whole, new Set(['a']))).toMatchObject({ exitCode: 1, source: 'report' });
  });

  test('packages of a later run are added', () => {
    const joined = joinPackages(
      run([part(null), part('a')], { 'a > x': 'passed' }),
      run([part('c', { exitCode: 2 })], { 'c > x': 'failed' }, { exitCode: 2 }),
    );
    expect(joined).toMatchObject({ exitCode: 2, ms: 3_000, tests: { 'a > x': 'passed', 'c > x': 'failed' } });
    expect(joined.packages?.map(({ folder }) => folder)).toEqual([null, 'a', 'c']);
    const stopped = part('c', { exitCode: null, stopped: 'wall', source: 'exit-code' });
    const sound = joinPackages(run([part('a')], {}), run([stopped], {}));
    expect(withoutSilentPackages(sound)).toMatchObject({ exitCode: 0, stopped: null });
  });
});

describe('for lack of time', () => {
  const onBase = run([part('a'), part('b', { ms: 9_000 }), part('c', { ms: 4_000 }), part('d')], {});
  const of = { packages: ['a', 'b', 'c', 'd', 'e'], affected: new Set(['b']), onBase, rounds: 1 };

  test('packages that no candidate can affect are left out, the slowest first', () => {
    expect(packagesLeftOut({ ...of, budgetMs: 300_000 })).toEqual(['e']);
    expect(packagesLeftOut({ ...of, budgetMs: 22_000 })).toEqual(['c', 'e']);
    expect(packagesLeftOut({ ...of, budgetMs: 22_000, rounds: 2 })).toEqual(['a', 'c', 'd', 'e']);
  });

  test('those that candidates can affect never are, unless they exceed a limit on the base', () => {
    expect(packagesLeftOut({ ...of, budgetMs: 0 })).toEqual(['a', 'c', 'd', 'e']);
    const stopped = run([part('a'), part('b', { stopped: 'wall' })], {});
    expect(packagesLeftOut({ ...of, packages: ['a', 'b'], onBase: stopped, budgetMs: 300_000 })).toEqual([
      'b',
    ]);
  });
});

describe('of a build that one command tests', () => {
  const tests = { 'a > T > works': 'passed', 'a > T > fails': 'failed', 'b > T > works': 'passed' } as const;
  const onBase = {
    ...run([], tests, { ms: 60_000, flaky: ['a > T > maybe', 'b > T > maybe'] }),
    packages: [],
  };
  const { 'b > T > works': _, ...ofA } = tests;
  const some = run([], { ...ofA, 'a > T > maybe': 'passed' }, { ms: 5_000 });

  test('some modules stand for themselves if their tests have the same results without the others', () => {
    expect(ofModules(onBase, some, ['a'])).toMatchObject({
      tests: ofA,
      ms: 5_000,
      modules: ['a'],
      flaky: ['a > T > maybe'],
    });
  });

  test.each([
    ['another result', { tests: { ...ofA, 'a > T > fails': 'passed' } }],
    ['a test less', { tests: { 'a > T > works': 'passed' } }],
    ['a test more', { tests: { ...ofA, 'a > T > new': 'passed' } }],
    ['no report', { source: 'exit-code', tests: {} }],
    ['a limit that was exceeded', { stopped: 'wall' }],
  ] as const)('%s means that they do not', (_, differs) => {
    expect(ofModules(onBase, { ...some, ...differs } as TestRun, ['a'])).toBeNull();
  });

  test('all are tested if two runs for each candidate fit into the time', () => {
    expect(suiteFits(onBase, { budgetMs: 240_000, rounds: 2 })).toBe(true);
    expect(suiteFits(onBase, { budgetMs: 239_999, rounds: 2 })).toBe(false);
  });
});
