import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Behaviour,
  compareBehaviour,
  type ProbedCandidate,
  type ProbeRun,
} from '../../../src/core/evidence/index.ts';

type Likeness = Parameters<typeof compareBehaviour>[2];
type Seen = ProbeRun['observations'] extends ReadonlyMap<string, infer S> ? S : never;
type Shown = Readonly<Record<string, string | Partial<Seen>>>;

function run(shown: Shown): ProbeRun {
  const seen = Object.entries(shown).map(([id, one]): [string, Seen] => [
    id,
    {
      kind: 'value',
      text: '',
      input: id,
      variation: 'near',
      ...(typeof one === 'string' ? { text: one } : one),
    },
  ]);
  return { observations: new Map(seen), cases: new Map() };
}

const behaving = (id: string, shown: Shown | null, more: Partial<ProbedCandidate> = {}): ProbedCandidate => ({
  id,
  run: shown === null ? null : run(shown),
  passesTests: true,
  hasNoEffect: false,
  ...more,
});

const strangers = (): number => 0;

function compare(base: Shown, candidates: readonly ProbedCandidate[], likeness: Likeness = strangers) {
  const { behaviour: found } = compareBehaviour([run(base), run(base)], candidates, likeness);
  const of = (id: string): Behaviour => {
    const one = found.find((each) => each.id === id);
    if (!one) throw new Error(`Nothing is said of ${id}.`);
    return one;
  };
  const best = found.filter(({ support }) => support === 1).map(({ id }) => id);
  return { of, best, found };
}

/** Two inputs that the issue is about, and two that it is not. */
const BASE = { 'f(1)': 'old', 'f(2)': 'old', 'f(8)': 'x', 'f(9)': 'y' };
const RIGHT = { ...BASE, 'f(1)': 'new 1', 'f(2)': 'new 2' };

describe('behaviour on the same inputs', () => {
  test("a change by one candidate only, unlike the others', counts as a regression", () => {
    const { best, of } = compare(BASE, [
      behaving('A', RIGHT),
      behaving('B', RIGHT),
      behaving('C', { ...RIGHT, 'f(9)': 'z' }),
    ]);
    expect(best).toEqual(['A', 'B']);
    expect(of('C').differences).toEqual([{ input: 'f(9)', got: 'z', others: 'y', base: 'y' }]);
    expect(of('C').group).not.toBe(of('A').group);
    expect(of('A').group).toBe(of('B').group);
  });

  test('what others return is said only if most that pass the given tests return it', () => {
    const returning = (id: string, text: string, passesTests = true) =>
      behaving(id, { ...RIGHT, 'f(9)': text }, { passesTests });
    const refuted = returning('B', 'a result that is known to be wrong', false);
    const saidOf = (...others: readonly ProbedCandidate[]) =>
      compare(BASE, [returning('A', 'own'), ...others])
        .of('A')
        .differences.map((one) => one.others);
    expect(saidOf(refuted, returning('C', 'z'))).toEqual(['z']);
    expect(saidOf(refuted)).toEqual([]);
    expect(saidOf(returning('C', 'z'), returning('D', 'another'))).toEqual([]);
    expect(saidOf(returning('C', 'z'), returning('D', 'another'), returning('E', 'z'))).toEqual(['z']);
  });

  test('a patch for the one example of the issue loses against two that agree on more', () => {
    const { best } = compare(BASE, [
      behaving('A', RIGHT),
      behaving('B', RIGHT),
      behaving('C', { ...BASE, 'f(1)': 'new 1' }),
    ]);
    expect(best).toEqual(['A', 'B']);
  });

  test('an equal change by two candidates outweighs two unchanged ones', () => {
    const { best } = compare(BASE, [
      behaving('A', RIGHT),
      behaving('B', RIGHT),
      behaving('C', BASE),
      behaving('D', BASE),
    ]);
    expect(best).toEqual(['A', 'B']);
  });

  test('equal candidates share one vote', () => {
    const copies = (one: number, other: number): number => (one < 3 && other < 3 ? 1 : 0);
    const wrong = { ...RIGHT, 'f(9)': 'z' };
    const pool = [
      behaving('A', wrong),
      behaving('B', wrong),
      behaving('C', wrong),
      behaving('D', RIGHT),
      behaving('E', RIGHT),
    ];
    expect(compare(BASE, pool, copies).best).toEqual(['D', 'E']);
  });

  test('copies of a change that fail a gate take nothing from it', () => {
    const sameChange = (one: number, other: number): number => (one > 1 && other > 1 ? 1 : 0);
    const pool = [
      behaving('wrong', { ...BASE, 'f(9)': 'z' }),
      behaving('breaks', { ...BASE, 'f(1)': 'no', 'f(2)': 'no' }, { passesTests: false }),
      behaving('right', RIGHT),
    ];
    const copies = ['deletes a test', 'skips a test'].map((id) =>
      behaving(id, RIGHT, { passesTests: false }),
    );
    const alone = compare(BASE, pool, sameChange);
    const together = compare(BASE, [...pool, ...copies], sameChange);
    for (const id of ['wrong', 'right']) {
      expect(together.of(id).logOdds).toBe(alone.of(id).logOdds);
      expect(together.of(id).agreement).toBe(alone.of(id).agreement);
    }
  });

  test('a candidate that changes nothing does not vote for unchanged behaviour', () => {
    const pool = (hasNoEffect: boolean) => [
      behaving('A', { ...BASE, 'f(1)': 'new', 'f(2)': 'new' }),
      behaving('B', { ...BASE, 'f(1)': 'other' }),
      ...['C', 'D', 'E'].map((id) => behaving(id, BASE, { hasNoEffect })),
    ];
    const odds = (hasNoEffect: boolean) => {
      const { of } = compare(BASE, pool(hasNoEffect));
      return of('A').logOdds - of('B').logOdds;
    };
    expect(odds(true)).toBeGreaterThan(odds(false));
  });

  test('a broad unshared change does not affect the others', () => {
    const many = (text: string) =>
      Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`g(${n})`, text]));
    const base = { ...BASE, ...many('g') };
    const { best } = compare(base, [
      behaving('A', { ...RIGHT, ...many('g') }),
      behaving('B', { ...RIGHT, ...many('g') }),
      behaving('C', { ...RIGHT, ...many('h') }),
    ]);
    expect(best).toEqual(['A', 'B']);
  });

  test('an implausible result counts against its candidate', () => {
    const pool = (text: string) => [
      behaving('A', { ...RIGHT, 'f(2)': text }),
      behaving('B', { ...RIGHT, 'f(2)': 'another' }),
    ];
    expect(compare(BASE, pool('"the undefined of it"')).best).toEqual(['B']);
    expect(compare(BASE, pool('[1, NaN]')).best).toEqual(['B']);
    expect(compare(BASE, pool('"the end of it"')).best).toEqual(['A', 'B']);
    expect(compare(BASE, pool('undefined')).best).toEqual(['A', 'B']);
  });

  test('the text of an error counts less than its presence', () => {
    const error = (text: string) => ({ kind: 'error' as const, text });
    const odds = (other: string | { kind: 'error'; text: string }) =>
      compare(BASE, [
        behaving('A', { ...RIGHT, 'f(9)': error('RangeError: no 9') }),
        behaving('B', { ...RIGHT, 'f(9)': error('RangeError: no 9') }),
        behaving('C', { ...RIGHT, 'f(9)': other }),
      ]).of('C').logOdds;
    expect(odds(error('RangeError: 9 is not allowed'))).toBeLessThan(0);
    expect(odds('z')).toBeLessThan(odds(error('RangeError: 9 is not allowed')));
  });

  test('inputs that are flaky on the base do not count', () => {
    const candidates = [
      behaving('A', { now: '1' }),
      behaving('B', { now: '2' }),
      behaving('C', { now: '2' }),
    ];
    const { behaviour: found } = compareBehaviour(
      [run({ now: '5' }), run({ now: '6' })],
      candidates,
      strangers,
    );
    expect(found.map(({ support, observed }) => [support, observed])).toEqual([
      [1, 0],
      [1, 0],
      [1, 0],
    ]);
  });

  test('many probes that split the pool alike are one difference', () => {
    const many = (text: string) =>
      Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`g(${n})`, text]));
    const odds = (more: Shown, changed: Shown) =>
      compare({ ...BASE, ...more }, [
        behaving('A', { ...RIGHT, ...more }),
        behaving('B', { ...RIGHT, ...more }),
        behaving('C', { ...RIGHT, ...more, ...changed }),
      ]).of('C').logOdds;
    const [one, hundreds] = [odds(many('g'), { 'g(1)': 'h' }), odds(many('g'), many('h'))];
    expect(hundreds).toBeLessThan(one);
    expect(hundreds).toBeGreaterThan(5 * one);
  });

  test('a candidate that could not be probed ranks last, and harms nobody', () => {
    const { of, best } = compare(BASE, [behaving('A', RIGHT), behaving('B', null), behaving('C', RIGHT)]);
    expect(best).toEqual(['A', 'C']);
    expect(of('B')).toMatchObject({ observed: 0, contested: 0, agreement: 1, differences: [] });
    expect(of('B').support).toBeLessThan(1e-9);
  });

  test('one whose inputs gave no result is as one that could not be probed', () => {
    const pool = (shown: Shown | null) => [
      behaving('A', { ...BASE, 'f(1)': 'new 1' }),
      behaving('B', shown),
      behaving('C', {
        ...RIGHT,
        ...Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`g(${n})`, 'h'])),
      }),
    ];
    const base = { ...BASE, ...Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`g(${n})`, 'g'])) };
    expect(compare(base, pool({})).found).toEqual(compare(base, pool(null)).found);
  });

  test('without any difference nobody is ahead', () => {
    const { found } = compare(BASE, [behaving('A', RIGHT), behaving('B', RIGHT)]);
    expect(found.map(({ support, agreement, contested }) => [support, agreement, contested])).toEqual([
      [1, 1, 0],
      [1, 1, 0],
    ]);
    expect(compareBehaviour([], [], strangers)).toEqual({ behaviour: [], inputs: [] });
  });
});

describe('who votes', () => {
  const KEPT = { ...RIGHT, 'f(9)': 'y' };
  const CHANGED = { ...RIGHT, 'f(9)': 'z' };

  test('candidates of one model family have one vote together', () => {
    const pool = (...families: readonly string[]) =>
      ['A', 'B', 'C', 'D', 'E'].map((id, at) =>
        behaving(id, at < 3 ? CHANGED : KEPT, { family: families[at] ?? '' }),
      );
    const majority = compare(BASE, pool('gpt', 'gemini', 'grok', 'claude', 'claude'));
    const repeated = compare(BASE, pool('gpt', 'gpt', 'gpt', 'claude', 'gemini'));
    expect(repeated.of('A').agreement).toBeLessThan(majority.of('A').agreement);
    expect(repeated.best).toEqual(['D', 'E']);
    // Where there is no other family, everybody votes.
    expect(compare(BASE, pool('gpt', 'gpt', 'gpt', 'gpt', 'gpt')).of('A').agreement).toBe(
      compare(
        BASE,
        ['A', 'B', 'C', 'D', 'E'].map((id, at) => behaving(id, at < 3 ? CHANGED : KEPT)),
      ).of('A').agreement,
    );
  });

  test('inputs from tests of one author count only if somebody else passes these tests', () => {
    const file = { file: 'a1', path: 'by-a.test.js', text: '', by: ['A'] };
    const cases = [{ id: '0', title: 'exact message', source: '', origin: 'candidate' as const }];
    const shown = (id: string, text: string, passes: boolean): ProbedCandidate => {
      const one = run({ ...RIGHT, 'a1.0#0': text });
      return {
        ...behaving(id, {}),
        run: { ...one, cases: new Map([['a1.0', passes ? 'passed' : 'failed']]) },
      };
    };
    const base = [run({ ...BASE, 'a1.0#0': 'old' }), run({ ...BASE, 'a1.0#0': 'old' })];
    const contested = (...pool: readonly ProbedCandidate[]) =>
      compareBehaviour(base, pool, strangers, [{ ...file, cases }]).behaviour.map((one) => one.contested);
    expect(contested(shown('A', 'mine', true), shown('B', 'other', false))).toEqual([0, 0]);
    expect(contested(shown('A', 'mine', true), shown('B', 'other', false), shown('C', 'mine', true))).toEqual(
      [1, 1, 1],
    );
  });
});

describe('for any observations', () => {
  const texts = fc.constantFrom('a', 'b', 'c', 'NaN', '[1, undefined]', '__proto__');
  const seen = fc.record({
    kind: fc.constantFrom('value' as const, 'error' as const, 'fault' as const, 'stuck' as const),
    text: texts,
    variation: fc.constantFrom('as-is' as const, 'near' as const, 'far' as const, 'further' as const),
  });
  const shown = fc.dictionary(fc.constantFrom('p', 'q', 'r', 'constructor', '__proto__'), seen);
  const pool = fc.array(
    fc.record({ shown: fc.option(shown), passesTests: fc.boolean(), hasNoEffect: fc.boolean() }),
    {
      maxLength: 6,
    },
  );
  const bases = fc.array(shown, { maxLength: 2 });
  /** Depends on who is compared, not on where they stand. */
  const kin = fc.array(fc.constantFrom(0, 0.4, 0.9, 1), { minLength: 36, maxLength: 36 });

  const likenessOf = (order: readonly number[], table: readonly number[]) => (one: number, other: number) => {
    const [low, high] = [order[one] ?? 0, order[other] ?? 0].sort((a, b) => a - b);
    return table[(low ?? 0) * 6 + (high ?? 0)] ?? 0;
  };

  test('the order of candidates has no effect, and all figures are within their bounds', () => {
    fc.assert(
      fc.property(
        bases,
        pool,
        kin,
        fc.array(fc.nat(), { minLength: 6, maxLength: 6 }),
        (base, members, table, keys) => {
          const candidates = members.map(({ shown: one, ...more }, at) => behaving(`c${at}`, one, more));
          const order = candidates.map((_, at) => at);
          const other = order.toSorted((a, b) => (keys[a] ?? 0) - (keys[b] ?? 0));
          const runs = base.map((one) => run(one));
          const { behaviour: found } = compareBehaviour(runs, candidates, likenessOf(order, table));
          const { behaviour: shuffled } = compareBehaviour(
            runs,
            other.map((at) => candidates[at] as ProbedCandidate),
            likenessOf(other, table),
          );
          expect(shuffled.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual(found);
          for (const { support, agreement, asBase, logOdds, differences } of found) {
            for (const share of [support, agreement, asBase]) {
              expect(share).toBeGreaterThanOrEqual(0);
              expect(share).toBeLessThanOrEqual(1);
            }
            expect(logOdds).toBeLessThanOrEqual(0);
            expect(logOdds).toBeGreaterThanOrEqual(-100);
            expect(differences.length).toBeLessThanOrEqual(3);
          }
        },
      ),
    );
  });
});

describe('inputs on which candidates differ', () => {
  test('are listed with what each gave, one of each kind of difference first', () => {
    const base = [run(BASE), run(BASE)];
    const { inputs: found } = compareBehaviour(
      base,
      [
        behaving('A', RIGHT),
        behaving('B', { ...RIGHT, 'f(9)': 'z' }),
        behaving('C', BASE),
        behaving('D', null),
      ],
      strangers,
    );
    expect(found.map(({ input }) => input)).toEqual(expect.arrayContaining(['f(1)', 'f(2)', 'f(9)']));
    expect(found).toHaveLength(3);
    expect(new Set(found.slice(0, 2).map(({ input }) => input === 'f(9)'))).toEqual(new Set([true, false]));
    const nine = found.find(({ input }) => input === 'f(9)');
    expect([nine?.base, [...(nine?.byAlias ?? [])]]).toEqual([
      'y',
      [
        ['A', 'y'],
        ['B', 'z'],
        ['C', 'y'],
      ],
    ]);
  });

  test('are bounded', () => {
    const many = (text: (at: number) => string) =>
      Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`f(${at})`, text(at)]));
    const base = many(() => 'old');
    const kinds = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'].map((id, nth) =>
      behaving(
        id,
        many((at) => (at & (1 << nth) ? 'new' : 'old')),
      ),
    );
    expect(compareBehaviour([run(base), run(base)], kinds, strangers).inputs).toHaveLength(200);
    const [one, other] = [
      behaving(
        'A',
        many(() => 'new'),
      ),
      behaving('B', base),
    ];
    expect(compareBehaviour([run(base), run(base)], [one, other], strangers).inputs).toHaveLength(20);
  });
});
