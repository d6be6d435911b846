import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { joinTests, NO_INDEPENDENT_TESTS, shownBy } from '../../../src/core/evidence/index.ts';
import {
  admitVotes,
  joinAdmissions,
  NO_ADMISSION,
  stillAdmissible,
  type TaskKind,
  type Trials,
} from '../../../src/core/independent-tests/index.ts';
import { independentTest, on, pools, runs } from './sample.ts';

const one = (trials: Trials, aim: TaskKind = 'change', fields = {}) =>
  admitVotes([independentTest('t', fields)], { t: trials }, aim);
const status = (trials: Trials, aim?: TaskKind, fields?: object) => one(trials, aim, fields).votes[0]?.status;
const GUARD = { onBase: 'passes' };

describe('a test of a requirement', () => {
  test('counts when it fails on the base and a survivor passes it', () => {
    const { votes, byAlias } = one(on('---', { A: '+++', B: '---' }));
    expect(votes).toMatchObject([{ id: 't', status: 'admitted', passedBy: ['A'], failedBy: ['B'] }]);
    expect(byAlias).toEqual({
      A: {
        passed: 1,
        total: 1,
        failing: [],
        passing: [{ id: 't', origin: 'writer' }],
        written: { passed: 1, total: 1, guards: 0 },
      },
      B: {
        passed: 0,
        total: 1,
        failing: [{ id: 't', origin: 'writer' }],
        passing: [],
        written: { passed: 0, total: 1, guards: 0 },
      },
    });
  });

  test('does not count when the base passes it already', () => {
    const { votes, byAlias } = one(on('+++', { A: '+++', B: '---' }));
    expect(votes[0]).toMatchObject({ status: 'refused', because: expect.stringContaining('already') });
    expect(byAlias).toEqual({});
  });

  test('is suspect, and never scored, when nobody passes it', () => {
    const { votes, byAlias } = one(on('-', { A: '-', B: '-' }));
    expect(votes).toMatchObject([{ status: 'suspect', failedBy: ['A', 'B'] }]);
    expect(byAlias).toEqual({});
  });

  test('may need names that the base lacks', () => {
    expect(status(on('...', { A: '+++', B: '...' }))).toBe('admitted');
    expect(one(on('...', { A: '+++', B: '...' })).byAlias.B).toMatchObject({ passed: 0, total: 1 });
  });

  test('says nothing with a case that only one candidate has', () => {
    const trials = (base: object, a: object, b: object, ...more: object[]): Trials => {
      const three = (cases: object) => [1, 2, 3].map(() => ({ kind: 'ran', cases: { ...cases } }) as const);
      const others = more.map((cases, i) => [`C${i}`, three(cases)]);
      return { base: three(base), survivors: { A: three(a), B: three(b), ...Object.fromEntries(others) } };
    };
    const [passed, failed] = ['passed', 'failed'];
    const right = { json: passed, yaml: passed };
    const offersMore = { ...right, yml: passed };
    const [onBase] = one(trials({ json: passed, yaml: failed }, right, offersMore)).votes;
    expect(onBase).toMatchObject({ status: 'admitted', passedBy: ['A', 'B'], failedBy: [] });
    const [two] = one(trials({ json: passed, yaml: failed }, right, offersMore, offersMore)).votes;
    expect(two).toMatchObject({ passedBy: ['A', 'B', 'C0'], failedBy: [] });
    // The base does not load the file, so that nothing shows whose case it is.
    const [unloaded] = one(trials({}, right, offersMore)).votes;
    expect(unloaded).toMatchObject({ passedBy: ['B'], failedBy: [] });
    // Where the file does not load, or ends early, a missing case is a failure.
    const [broken] = one(
      trials({ 'test/t.test.js': failed }, { 'test/t.test.js': failed }, offersMore),
    ).votes;
    expect(broken).toMatchObject({ passedBy: ['B'], failedBy: ['A'] });
    const [early] = one(trials({ json: failed, yaml: failed }, { json: passed }, right)).votes;
    expect(early).toMatchObject({ passedBy: ['B'], failedBy: ['A'] });
  });

  test('must have been run three times to count', () => {
    expect(status(on('--', { A: '+++' }))).toBe('refused');
    expect(status(on('---', { A: '++', B: '---' }))).toBe('refused');
  });

  test('is rejected when the base gives different results', () => {
    expect(status(on('-+-', { A: '+++' }))).toBe('refused');
  });

  test('does not count if nothing is known', () => {
    expect(status(on('---', { A: '???', B: '???' }))).toBe('refused');
    expect(status(on('ooo', { A: '+++' }))).toBe('refused');
    expect(one(on('---', { A: '???', B: '+++' })).byAlias).toEqual({ B: expect.anything() });
  });

  test('is rejected if it was never run or the runner does not name it', () => {
    expect(admitVotes([independentTest('t')], {}, 'change').votes).toMatchObject([
      { status: 'refused', because: 'It was not run.' },
    ]);
    expect(status(on('...', { A: '...' }))).toBe('refused');
  });
});

describe('a candidate cannot eliminate a test', () => {
  test('by flaky results, because the others are still measured by it', () => {
    const { votes, byAlias } = one(on('---', { A: '+++', B: '---', C: '+-+' }));
    expect(votes).toMatchObject([{ status: 'admitted', passedBy: ['A'], failedBy: ['B'] }]);
    expect(byAlias).not.toHaveProperty('C');
  });

  test('unless it is flaky on several candidates, or never passes reliably', () => {
    expect(status(on('---', { A: '+++', B: '+-+', C: '-++' }))).toBe('refused');
    expect(status(on('---', { A: '---', B: '+-+' }))).toBe('refused');
  });
});

describe('a guard', () => {
  test('shows who broke it, when most survivors confirm it', () => {
    const { votes } = one(on('+++', { A: '+++', B: '---', C: '+++' }), 'change', GUARD);
    expect(votes).toMatchObject([{ status: 'admitted', passedBy: ['A', 'C'], failedBy: ['B'] }]);
  });

  test('shows nothing that is done, unless behaviour must stay', () => {
    const trials = on('+++', { A: '+++', B: '---', C: '+++' });
    const shown = (aim: TaskKind) => shownBy(one(trials, aim, GUARD).byAlias.A ?? NO_INDEPENDENT_TESTS);
    expect(shown('change')).toEqual({ issue: 0, written: 0 });
    expect(shown('refactoring')).toEqual({ issue: 0, written: 1 });
    const asked = one(on('---', { A: '+++', B: '---' })).byAlias.A;
    expect(shownBy(joinTests(asked, one(trials, 'change', GUARD).byAlias.A))).toEqual({
      issue: 0,
      written: 1,
    });
  });

  test('is suspect when only unchanged candidates pass it', () => {
    expect(status(on('+++', { A: '+++', B: '---' }), 'change', GUARD)).toBe('suspect');
    expect(status(on('+++', { A: '---', B: '---' }), 'change', GUARD)).toBe('suspect');
  });

  test('does not dilute the others when everybody passes it', () => {
    expect(status(on('+++', { A: '+++', B: '+++' }), 'change', GUARD)).toBe('refused');
  });

  test('counts like any other if behaviour must stay', () => {
    expect(status(on('+++', { A: '+++', B: '---' }), 'refactoring', GUARD)).toBe('admitted');
    expect(status(on('+++', { A: '+++', B: '+++' }), 'refactoring', GUARD)).toBe('admitted');
    expect(status(on('---', { A: '+++', B: '---' }), 'refactoring', GUARD)).toBe('refused');
  });
});

describe('a file with several cases', () => {
  const both = (a: string, b: string) =>
    runs(a, 'a').map((trial, i) => ({ ...trial, cases: { ...trial.cases, ...runs(b, 'b')[i]?.cases } }));

  test('is one vote, of those cases that count', () => {
    const trials = {
      base: both('---', '---'),
      survivors: { A: both('+++', '---'), B: both('---', '---') },
    };
    expect(one(trials).votes).toMatchObject([
      { status: 'admitted', because: expect.stringContaining('1 of its 2 cases'), passedBy: ['A'] },
    ]);
    expect(one(trials).byAlias.B).toMatchObject({ passed: 0, total: 1 });
  });

  test('is failed by a candidate that fails any of them', () => {
    const trials = {
      base: both('---', '---'),
      survivors: { A: both('+++', '+++'), B: both('+++', '---') },
    };
    expect(one(trials).votes).toMatchObject([{ passedBy: ['A'], failedBy: ['B'] }]);
  });

  test('is suspect when nobody passes all of it', () => {
    const trials = {
      base: both('---', '---'),
      survivors: { A: both('+++', '---'), B: both('---', '+++') },
    };
    expect(status(trials)).toBe('suspect');
  });

  test('has one vote per case if they are independent examples', () => {
    const trials = {
      base: both('---', '---'),
      survivors: { A: both('+++', '+++'), B: both('+++', '---') },
    };
    const { votes, byAlias } = one(trials, 'change', { votes: 'case', origin: 'issue', cases: ['a', 'b'] });
    expect(votes.map(({ id }) => id)).toEqual(['a', 'b']);
    expect(byAlias.B).toMatchObject({ passed: 1, total: 2, failing: [{ id: 'b', origin: 'issue' }] });
  });
});

test('a wrong expectation that one candidate shares is outvoted by the correct tests', () => {
  const right = on('---', { A: '+++', B: '---' });
  const wrong = on('---', { A: '---', B: '+++' });
  const tests = ['1', '2', '3'].map((id) => independentTest(id));
  const { byAlias } = admitVotes(tests, { 1: right, 2: right, 3: wrong }, 'change');
  expect(byAlias.A).toMatchObject({ passed: 2, total: 3 });
  expect(byAlias.B).toMatchObject({ passed: 1, total: 3 });
});

test('what the runner said about a failing test is kept', () => {
  const failing = runs('---').map((trial) => ({ ...trial, message: 'expected 1, got 2' }));
  const { byAlias } = one({ base: runs('---'), survivors: { A: runs('+++'), B: failing } });
  expect(byAlias.B?.failing).toEqual([{ id: 't', origin: 'writer', message: 'expected 1, got 2' }]);
});

test('cases can have names of object properties', () => {
  const named = (letters: string) => runs(letters, 'constructor');
  expect(status({ base: runs('...'), survivors: { A: named('+++'), B: runs('...') } })).toBe('admitted');
  expect(admitVotes([independentTest('constructor')], {}, 'change').votes[0]?.status).toBe('refused');
});

describe('for any outcomes', () => {
  const aims = fc.constantFrom<TaskKind>('change', 'refactoring');

  test('neither the order of aliases nor that of tests changes what is admitted', () => {
    fc.assert(
      fc.property(pools, aims, ({ tests, trials }, aim) => {
        const turned = Object.fromEntries(
          Object.entries(trials)
            .toReversed()
            .map(([id, { base, survivors }]) => [
              id,
              { base, survivors: Object.fromEntries(Object.entries(survivors).toReversed()) },
            ]),
        );
        const straight = admitVotes(tests, trials, aim);
        expect(admitVotes(tests, turned, aim)).toEqual(straight);
        const backwards = admitVotes(tests.toReversed(), trials, aim);
        const plain = ({ byAlias }: typeof straight) =>
          Object.entries(byAlias).map(([alias, { passed, total }]) => [alias, passed, total]);
        expect(plain(backwards)).toEqual(plain(straight));
      }),
    );
  });

  test('renamed aliases get the same figures', () => {
    fc.assert(
      fc.property(pools, aims, ({ tests, trials }, aim) => {
        const to: Record<string, string> = { A: 'D', B: 'C', C: 'B', D: 'A' };
        const renamed = Object.fromEntries(
          Object.entries(trials).map(([id, { base, survivors }]) => [
            id,
            {
              base,
              survivors: Object.fromEntries(Object.entries(survivors).map(([a, runs]) => [to[a], runs])),
            },
          ]),
        );
        const before = admitVotes(tests, trials, aim).byAlias;
        const after = admitVotes(tests, renamed as typeof trials, aim).byAlias;
        for (const alias of 'ABCD') expect(after[to[alias] as string]).toEqual(before[alias]);
      }),
    );
  });

  test('every counted test is passed by somebody, and the counts add up', () => {
    fc.assert(
      fc.property(pools, aims, ({ tests, trials }, aim) => {
        const { votes, byAlias } = admitVotes(tests, trials, aim);
        const admitted = votes.filter((vote) => vote.status === 'admitted');
        for (const vote of admitted) expect(vote.passedBy.length).toBeGreaterThan(0);
        for (const vote of votes)
          expect(vote.passedBy.filter((alias) => vote.failedBy.includes(alias))).toEqual([]);
        for (const { passed, total, failing } of Object.values(byAlias)) {
          expect(passed + failing.length).toBe(total);
          expect(total).toBeLessThanOrEqual(admitted.length);
        }
      }),
    );
  });

  test('a rejected test is not admitted by more equal runs', () => {
    fc.assert(
      fc.property(pools, aims, ({ tests, trials }, aim) => {
        const first = Object.fromEntries(
          Object.entries(trials).map(([id, { base, survivors }]) => [
            id,
            {
              base: base.slice(0, 1),
              survivors: Object.fromEntries(
                Object.entries(survivors).map(([alias, each]) => [alias, each.slice(0, 1)]),
              ),
            },
          ]),
        );
        const still = new Set(stillAdmissible(tests, first, aim).map(({ id }) => id));
        const steady = Object.fromEntries(
          Object.entries(first).map(([id, { base, survivors }]) => [
            id,
            {
              base: [...base, ...base, ...base],
              survivors: Object.fromEntries(
                Object.entries(survivors).map(([alias, each]) => [alias, [...each, ...each, ...each]]),
              ),
            },
          ]),
        );
        for (const vote of admitVotes(tests, steady, aim).votes)
          if (vote.status === 'admitted') expect(still).toContain(vote.test);
      }),
    );
  });

  test('two admissions together equal one of all tests', () => {
    fc.assert(
      fc.property(pools, aims, fc.nat(4), ({ tests, trials }, aim, at) => {
        const parts = [tests.slice(0, at), tests.slice(at)].map((each) => admitVotes(each, trials, aim));
        const [a = NO_ADMISSION, b = NO_ADMISSION] = parts;
        expect(joinAdmissions(a, b)).toEqual(admitVotes(tests, trials, aim));
      }),
    );
  });
});

test('before any survivor is tested, only tests that the base contradicts are rejected', () => {
  const base = (letters: string) => ({ base: runs(letters), survivors: {} });
  const still = (letters: string, fields = {}) =>
    stillAdmissible([independentTest('t', fields)], { t: base(letters) }, 'change').length === 1;
  expect(still('-')).toBe(true);
  expect(still('.')).toBe(true);
  expect(still('+')).toBe(false);
  expect(still('+', GUARD)).toBe(true);
  expect(still('-', GUARD)).toBe(false);
  expect(still('.', GUARD)).toBe(false);
});
