import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const load = createRequire(import.meta.url);
const inside = '../../../src/adapters/probes/inside';
interface Like {
  readonly value: unknown;
  readonly how: string;
  readonly light: boolean;
}
const { similarValues } = load(`${inside}/mutate.cjs`) as {
  similarValues(value: unknown, pool: readonly unknown[], seed: string): readonly Like[];
};
const { varied } = load(`${inside}/vary.cjs`) as {
  varied(value: unknown, others: readonly unknown[], pool: readonly unknown[], seed: string): unknown;
};
const { changedTogether } = load(`${inside}/together.cjs`) as {
  changedTogether(args: readonly unknown[]): readonly (readonly unknown[])[];
};
const { observedValue } = load(`${inside}/serialise.cjs`) as {
  observedValue(value: unknown): { readonly kind: string; readonly text: string };
};

const scalars = fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constant(null), fc.bigInt());
const values = fc.oneof(fc.jsonValue({ maxDepth: 3 }), scalars, fc.array(fc.array(fc.constantFrom(0, 1))));
const pools = fc.array(fc.oneof(fc.string(), fc.integer()), { maxLength: 12 });

describe('values like a value', () => {
  const of = (value: unknown, pool: readonly unknown[] = []) =>
    similarValues(value, pool, 'seed').map((each) => each.value);

  test('keep to its kind: neighbours, parts, edges', () => {
    expect(of(64)).toEqual(expect.arrayContaining([65, 63, 66, 0, -64]));
    expect(of(3)).toEqual(expect.arrayContaining([1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12]));
    expect(of('Two Words')).toEqual(
      expect.arrayContaining(['', 'two words', 'TWO WORDS', 'Words Two', 'Two']),
    );
    expect(of([1, 2])).toEqual(expect.arrayContaining([[], [1], [2], [2, 1], [1, 2, 1]]));
    expect(of(true)).toEqual([false]);
    expect(of({ a: 1 })).toEqual(expect.arrayContaining([{}, { a: 2 }]));
    expect(of(/x/)).toEqual([]);
  });

  test('take the likest of what was seen elsewhere first', () => {
    expect(of('1.2.3', ['hello', '4.5.6', ''])[0]).toBe('4.5.6');
  });

  test('put parts of other values into a text with a grammar of its own', () => {
    const found = similarValues('1.2.3-beta', ['2.0.0-rc.1'], 'seed');
    expect(found.filter(({ how }) => /part/.test(how)).length).toBeGreaterThan(2);
  });

  test('of a board are boards: rectangles of the same symbols', () => {
    const boards = similarValues(['*  ', ' * ', '  *'], ['x'], 'seed').filter(({ light }) => light);
    expect(boards.length).toBeGreaterThan(6);
    for (const { value } of boards) {
      const rows = value as readonly string[];
      expect(new Set(rows.map((row) => row.length)).size).toBe(1);
      expect(rows.join('')).toMatch(/^[ *]+$/);
    }
  });

  test('are never the value itself or each other, the same for the same seed, and leave it as it was', () => {
    fc.assert(
      fc.property(values, pools, fc.string(), (value, pool, seed) => {
        const before = observedValue(value).text;
        const found = similarValues(value, pool, seed);
        expect(similarValues(value, [...pool], seed)).toEqual(found);
        expect(observedValue(value).text).toBe(before);
        const firstWild = found.findIndex(({ light }) => !light);
        expect(firstWild < 0 || found.slice(firstWild).every(({ light }) => !light)).toBe(true);
        const texts = found.map((each) =>
          JSON.stringify(each.value, (_, one) => (typeof one === 'bigint' ? `${one}n` : one)),
        );
        expect(new Set(texts).size).toBe(texts.length);
      }),
    );
  });

  test('some steps away are the same for the same seed', () => {
    fc.assert(
      fc.property(
        values,
        fc.array(values, { maxLength: 3 }),
        pools,
        fc.string(),
        (value, others, pool, seed) => {
          const text = () => observedValue(varied(value, others, pool, seed)).text;
          expect(text()).toBe(text());
        },
      ),
    );
  });
});

describe('a value as text', () => {
  test('is equal for equal values only, as far as it is shown', () => {
    const texts = [
      0,
      -0,
      '0',
      NaN,
      null,
      undefined,
      [],
      {},
      [undefined],
      [null],
      new Map(),
      new Set(),
      new Date(0),
    ].map((value) => observedValue(value).text);
    expect(new Set(texts).size).toBe(texts.length);
    expect(observedValue({ b: 1, a: [2n] })).toEqual(observedValue({ a: [2n], b: 1 }));
    expect(observedValue(Object.assign(Object.create({ toString: () => 'me' }), { x: 1 })).text).toContain(
      'me',
    );
  });

  test('is bounded, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.anything({ withMap: true, withSet: true, withTypedArray: true, withSparseArray: true }),
        (value) => {
          expect(observedValue(value).text.length).toBeLessThan(450);
        },
      ),
    );
    expect(observedValue('x'.repeat(1e6)).text).not.toBe(observedValue(`${'x'.repeat(999_999)}y`).text);
  });
});

describe('texts that begin with the same numbers', () => {
  test('are changed together, number by number', () => {
    expect(changedTogether(['1.20.0-rc.1', '1.20.0'])).toEqual([
      ['2.20.0-rc.1', '2.20.0'],
      ['0.20.0-rc.1', '0.20.0'],
      ['1.21.0-rc.1', '1.21.0'],
      ['1.0.0-rc.1', '1.0.0'],
      ['1.20.1-rc.1', '1.20.1'],
    ]);
    expect(changedTogether(['2024-05-01', true, '2024-06-01'])).toEqual([
      ['2025-05-01', true, '2025-06-01'],
      ['0-05-01', true, '0-06-01'],
    ]);
  });

  test('one text alone, other numbers and no numbers are left to the rest', () => {
    expect(changedTogether(['1.2', 7])).toEqual([]);
    expect(changedTogether(['1.2', '2.2'])).toEqual([]);
    expect(changedTogether(['a', 'b'])).toEqual([]);
  });
});
