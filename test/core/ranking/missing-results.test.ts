import { describe, expect, test } from 'vitest';
import {
  admitExamples,
  type DerivedTests,
  type Evidence,
  type IndependentTests,
  type ProbeRun,
  separatedByProbes,
} from '../../../src/core/evidence/index.ts';
import { type Decision, decide, type RankingOptions, rank } from '../../../src/core/ranking/index.ts';
import { behaving, candidate, fixing, independentTests, peerTestsOf } from './sample.ts';

const BY_EVIDENCE: RankingOptions = {
  weights: { tests: 50, simplicity: 30, speed: 20 },
  strategies: ['evidence'],
};
const decided = (...evidence: readonly Evidence[]): Decision => decide(rank(evidence, BY_EVIDENCE), evidence);
const orderOf = (...evidence: readonly Evidence[]) =>
  rank(evidence, BY_EVIDENCE).map(({ alias, place }) => `${place} ${alias}`);

/** What probes said of a candidate that they prefer, and of one that they do not. */
const FIRST = behaving(1);
const OTHER = { ...behaving(0.02), group: 1 };

const raise = (): never => {
  throw new Error('A candidate of the sample has base tests.');
};

/** By ids, of the issue. */
const results = (passing: readonly string[], failing: readonly string[]): IndependentTests => ({
  passed: passing.length,
  total: passing.length + failing.length,
  passing: passing.map((id) => ({ id, origin: 'issue' })),
  failing: failing.map((id) => ({ id, origin: 'issue' })),
});

describe('an independent test without a result on a candidate', () => {
  test('is no test that it passes', () => {
    const a = candidate('A', { independentTests: results(['both'], ['only on A']) });
    const b = candidate('B', { independentTests: results(['both', 'only on B'], []) });
    expect(rank([a, b], BY_EVIDENCE)[0]?.separatedBy).not.toBe('independent');
    expect(decided(a, b)).not.toMatchObject({ confidence: 'clear' });
  });

  test('keeps a pick that was not tried on it from being clear', () => {
    const shown = results(['one', 'two'], []);
    const evidence = (more: IndependentTests) => [
      fixing(candidate('A', { independentTests: shown, behaviour: FIRST }), 1),
      fixing(candidate('B', { independentTests: more, behaviour: OTHER }), 1),
    ];
    expect(decided(...evidence(shown))).toMatchObject({ kind: 'winner', alias: 'A', confidence: 'clear' });
    const tried = decided(...evidence(results(['one', 'two', 'three'], [])));
    expect(tried).not.toMatchObject({ kind: 'winner', confidence: 'clear' });
  });
});

describe('a pick that makes a red base test pass', () => {
  const unrelated = fixing(candidate('A', { independentTests: independentTests(0, 5) }), 1);

  test('is left to a person if it fails examples of the issue that a rival passes', () => {
    const right = candidate('B', { independentTests: independentTests(5, 0) });
    expect(decided(unrelated, right)).toMatchObject({
      kind: 'toss-up',
      because: expect.stringContaining('passes executed tests that A fails'),
    });
  });

  test('is not clear by that alone if the tests ran only once on the base', () => {
    const fixes = (runs: { readonly baseRuns?: number; readonly fixedAgain?: true }) => {
      const [one, other] = [
        fixing(candidate('A', { behaviour: FIRST }), 1),
        candidate('B', { behaviour: OTHER }),
      ];
      const { baseRuns: _, ...tests } = one.baseTests ?? raise();
      return decided({ ...one, baseTests: { ...tests, ...runs } }, other);
    };
    expect(fixes({ baseRuns: 3 })).toMatchObject({ alias: 'A', confidence: 'clear' });
    expect(fixes({})).toMatchObject({ alias: 'A', confidence: 'likely' });
    expect(fixes({ fixedAgain: true })).toMatchObject({ alias: 'A', confidence: 'clear' });
  });

  test('is not clear if many of the existing tests are flaky and so do not count', () => {
    const fixes = (flaky: readonly string[]) => {
      const [one, other] = [
        fixing(candidate('A', { behaviour: FIRST }), 1),
        candidate('B', { behaviour: OTHER }),
      ];
      return decided({ ...one, baseTests: { ...(one.baseTests ?? raise()), flaky } }, other);
    };
    expect(fixes(['a', 'b'])).toMatchObject({ alias: 'A', confidence: 'clear' });
    expect(fixes(['a', 'b', 'c'])).toMatchObject({ alias: 'A', confidence: 'likely' });
  });

  test('is a winner if its rival breaks something', () => {
    const breaking = candidate('B', { independentTests: independentTests(5, 0), breaks: ['t'] });
    expect(decided(unrelated, breaking)).toMatchObject({ kind: 'winner', alias: 'A' });
  });
});

describe('a candidate that could not be probed', () => {
  const derived: DerivedTests = {
    files: [
      {
        path: 'test/a.test.js',
        text: '',
        file: 'b0',
        by: [],
        cases: ['one', 'two'].map((id) => ({ id, title: id, source: `expect(f("${id}"))`, origin: 'issue' })),
      },
    ],
    unused: [],
    values: [],
  };
  const run = (cases: Readonly<Record<string, 'passed' | 'failed'>>, late = false): ProbeRun => ({
    observations: new Map(),
    cases: new Map(Object.entries(cases)),
    ...(late ? { late: true } : {}),
  });
  const base = [1, 2].map(() => run({ 'b0.one': 'failed', 'b0.two': 'failed' }));
  const admitted = (b: ProbeRun | null) =>
    admitExamples(derived, base, [
      { alias: 'A', run: run({ 'b0.one': 'passed', 'b0.two': 'passed' }) },
      { alias: 'B', run: b },
    ]).byAlias.get('B');

  test('fails no example of the issue, nor one for which the time ran out', () => {
    expect(admitted(null)).toBeUndefined();
    expect(admitted(run({ 'b0.one': 'passed' }, true))).toMatchObject({ passed: 1, total: 1, failing: [] });
    // A process that ended before it got there is the candidate's own.
    expect(admitted(run({ 'b0.one': 'passed' }))).toMatchObject({ passed: 1, total: 2 });
  });

  test('is neither worse nor better, and leaves nobody clear', () => {
    const of = (alias: string, behaviour?: typeof FIRST) =>
      fixing(
        candidate(alias, { independentTests: results(['a'], []), ...(behaviour ? { behaviour } : {}) }),
        1,
      );
    expect(orderOf(of('A', FIRST), of('C'))).toEqual(['1 A', '1 C']);
    expect(decided(of('A', FIRST), of('B', OTHER))).toMatchObject({ alias: 'A', confidence: 'clear' });
    const three = [of('A', FIRST), of('B', OTHER), of('C')];
    expect(decided(...three)).not.toMatchObject({ confidence: 'clear' });
    const silent = of('C', { ...OTHER, observed: 0, contested: 0 });
    expect(decided(of('A', FIRST), of('B', OTHER), silent)).not.toMatchObject({ confidence: 'clear' });
  });
});

test('a tie says what derived inputs show, although it does not decide', () => {
  const tied = (a: Partial<Evidence>, b: Partial<Evidence>) =>
    decided(candidate('A', a), candidate('B', b)).because.split('tied with B: ')[1];
  const [one, other] = [
    { ...FIRST, logOdds: 0 },
    { ...FIRST, logOdds: 0, group: 1 },
  ];
  expect(tied({ behaviour: one }, { behaviour: other })).toBe(
    'all executed tests have equal results, and their behaviour on derived inputs differs, which favours neither.',
  );
  expect(tied({ behaviour: one }, {})).toBe(
    'all executed tests have equal results, and derived inputs gave results on only one of them.',
  );
  expect(tied({ behaviour: one }, { behaviour: one })).toBe('all executed measurements are equal.');
});

describe('candidates with the same changes', () => {
  const alike = ['A', 'B', 'C'];
  const likeness = new Map(alike.map((alias) => [alias, { alike }]));
  const classes = (
    groups: Readonly<Record<string, number>>,
    examples: Readonly<Record<string, IndependentTests>> = {},
  ) => {
    const behaviour = new Map(Object.entries(groups).map(([alias, group]) => [alias, { group }]));
    const probed = { behaviour, examples: { byAlias: new Map(Object.entries(examples)) } };
    return [...separatedByProbes(likeness, probed).values()].map((one) => one.alike.join(''));
  };

  test('are not the same where probes tell them apart', () => {
    expect(classes({ A: 0, B: 0, C: 0 })).toEqual(['ABC', 'ABC', 'ABC']);
    expect(classes({ A: 0, B: 1, C: 0 })).toEqual(['AC', 'B', 'AC']);
    const passes = results(['one', 'two'], []);
    const fails = results(['one'], ['two']);
    expect(classes({ A: 0, B: 0, C: 0 }, { A: passes, B: passes, C: fails })).toEqual(['AB', 'AB', 'C']);
  });

  test('stay the same without a result, but belong to none of several parts', () => {
    expect(classes({})).toEqual(['ABC', 'ABC', 'ABC']);
    expect(classes({ B: 0, C: 0 })).toEqual(['ABC', 'ABC', 'ABC']);
    expect(classes({ B: 0, C: 1 })).toEqual(['A', 'B', 'C']);
    const passes = results(['one', 'two'], []);
    expect(
      classes({ A: 0, B: 0, C: 0 }, { A: passes, B: results(['one'], []), C: results(['one'], ['two']) }),
    ).toEqual(['A', 'B', 'C']);
  });
});

describe('tests of other candidates', () => {
  const of = (author: string, guards: readonly string[]) => ({
    ...peerTestsOf(author, ''),
    guards: { passed: 3 - guards.length, total: 3, failing: guards },
  });

  test('that pass on the base and on a third candidate keep a pick that fails them from being clear', () => {
    const shown = { independentTests: results(['one', 'two'], []) };
    const pool = (failing: readonly string[], third: readonly string[]) => [
      fixing(candidate('A', { ...shown, behaviour: FIRST, peerTests: [of('B', failing)] }), 1),
      fixing(candidate('B', { ...shown, behaviour: OTHER }), 1),
      fixing(candidate('C', { ...shown, behaviour: OTHER, peerTests: [of('B', third)] }), 1),
    ];
    expect(decided(...pool([], []))).toMatchObject({ alias: 'A', confidence: 'clear' });
    expect(decided(...pool(['stays'], []))).toMatchObject({ alias: 'A', confidence: 'likely' });
    // Nobody but its author passes it.
    expect(decided(...pool(['stays'], ['stays']))).toMatchObject({ alias: 'A', confidence: 'clear' });
  });

  test('show that the task is done even if everybody passes them', () => {
    const pool = [
      candidate('A', { family: 'claude', agreement: 1, peerTests: [peerTestsOf('B', 'pp')] }),
      candidate('B', { family: 'gpt', agreement: 0.2, provenTests: 2, addedTests: 2 }),
    ];
    expect(JSON.stringify(decided(...pool))).not.toContain('somebody else wrote or confirms');
    const without = pool.map((one) => ({ ...one, peerTests: [] }));
    expect(JSON.stringify(decided(...without))).toContain('somebody else wrote or confirms');
  });
});

describe('what is said of a place', () => {
  const becauseOf = (evidence: readonly Evidence[], alias: string) =>
    rank(evidence, BY_EVIDENCE).find((one) => one.alias === alias)?.because;

  test('names no test as passed by a candidate that fails it, too', () => {
    const pool = [
      candidate('A', { independentTests: results(['a'], ['r', 't']), agreement: 1 }),
      candidate('X', { independentTests: results(['a', 'r', 't'], []), agreement: 0 }),
      candidate('C', { independentTests: results(['a'], ['r', 't']), agreement: 0.1 }),
    ];
    expect(rank(pool, BY_EVIDENCE).map(({ alias }) => alias)[0]).toBe('X');
    expect(becauseOf(pool, 'C')).not.toMatch(/A passes every independent test/);
  });

  test('says that equally many tests pass where they are not the same ones', () => {
    const pool = [
      candidate('A', { independentTests: results(['t1'], ['t2']), agreement: 1 }),
      candidate('B', { independentTests: results(['t2'], ['t1']), agreement: 0.1 }),
    ];
    expect(becauseOf(pool, 'B')).toContain('equally many independent tests, but not the same ones');
  });

  test('claims no preference of judges over a candidate that they did not see', () => {
    const pool = ['A', 'B', 'C'].map((alias) => candidate(alias));
    const order = rank(pool, {
      ...BY_EVIDENCE,
      strategies: ['judges'],
      strengths: new Map([
        ['A', 2],
        ['B', 1],
      ]),
    });
    expect(order.map(({ because }) => because)).toEqual([
      expect.stringContaining('was preferred to B by blind judges'),
      expect.stringContaining('was preferred to this one by blind judges'),
      expect.stringContaining('was compared by blind judges, and this one was not'),
    ]);
  });

  test('does not say that nothing is broken without the tests that a person is asked about', () => {
    const one = candidate('A');
    const baseTests = { ...(one.baseTests ?? raise()), passed: 10, failed: 2, contested: ['t1', 't2'] };
    const pool = [{ ...one, baseTests }, candidate('B', { breaks: ['x'] })];
    expect(JSON.stringify(decided(...pool))).toContain(
      'breaks no existing test except 2 that a person is asked about',
    );
  });
});

test('tests that only their own family confirms count in no metric', () => {
  const metricsOf = (marks: string) =>
    rank(
      [
        candidate('A', { family: 'claude', addedTests: 50, provenTests: 50 }),
        candidate('B', { family: 'gpt', peerTests: [peerTestsOf('A', marks)] }),
      ],
      BY_EVIDENCE,
    ).map(({ alias, metrics }) => `${alias} ${metrics.tests}`);
  expect(metricsOf('f'.repeat(50))).toEqual(metricsOf(''));
});
