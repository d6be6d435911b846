import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bradleyTerry, type Game } from '../../../src/core/judging/index.ts';

const NAMES = ['A', 'B', 'C', 'D', 'E'] as const;
const games = fc.array(
  fc.record({
    a: fc.constantFrom(...NAMES),
    b: fc.constantFrom(...NAMES),
    y: fc.constantFrom(0, 0.5, 1),
    weight: fc.constantFrom(0.5, 1, 3, 40),
  }),
  { maxLength: 30 },
);
const strengths = (played: readonly Game[], names: readonly string[] = NAMES) =>
  Object.fromEntries(bradleyTerry(names, played).strengths.map(({ alias, theta }) => [alias, theta]));

const won = (a: string, b: string): Game => ({ a, b, y: 1, weight: 1 });
const tied = (a: string, b: string): Game => ({ a, b, y: 0.5, weight: 1 });

describe('strengths', () => {
  test('solve the equation: three wins of three give 1.295', () => {
    // The maximum for two is where 3 (1 - σ(d)) = d / 2.
    const { A = 0, B = 0 } = strengths([won('A', 'B'), won('A', 'B'), won('A', 'B')], ['A', 'B']);
    const d = A - B;
    expect(3 * (1 - 1 / (1 + Math.exp(-d)))).toBeCloseTo(d / 2, 8);
    expect(A).toBeCloseTo(-B, 8);
    expect(d).toBeCloseTo(1.295, 2);
  });

  test('are where the gradient is zero, for any games', () => {
    fc.assert(
      fc.property(games, (played) => {
        const theta = strengths(played);
        for (const name of NAMES) {
          const slope = played
            .filter(({ a, b }) => a !== b && (a === name || b === name))
            .reduce(
              (sum, { a, b, y, weight }) => {
                const [other, points] = a === name ? [b, y] : [a, 1 - y];
                const won = 1 / (1 + Math.exp((theta[other] as number) - (theta[name] as number)));
                return sum + weight * (points - won);
              },
              -(theta[name] as number),
            );
          expect(slope).toBeCloseTo(0, 5);
        }
      }),
    );
  });

  test('are finite with finite errors, for any results', () => {
    fc.assert(
      fc.property(games, (played) => {
        const fit = bradleyTerry(NAMES, played);
        for (const { theta, error } of fit.strengths) {
          expect(Number.isFinite(theta)).toBe(true);
          expect(error > 0 && error <= 1).toBe(true);
        }
        expect(Number.isFinite(fit.margin('A', 'B'))).toBe(true);
      }),
    );
    expect(strengths([won('A', 'B'), won('A', 'B')])).toMatchObject({ C: 0, D: 0, E: 0 });
    expect(bradleyTerry([], []).strengths).toEqual([]);
  });

  test('do not depend on the order of games or on names', () => {
    fc.assert(
      fc.property(games, fc.shuffledSubarray([...NAMES], { minLength: 5 }), (played, names) => {
        const once = strengths(played);
        expect(strengths(played.toReversed(), names)).toEqual(once);
        const renamed = new Map(NAMES.map((name, i) => [name, names[i] as string]));
        const of = (name: string) => renamed.get(name as (typeof NAMES)[number]) as string;
        const other = strengths(played.map((game) => ({ ...game, a: of(game.a), b: of(game.b) })));
        for (const name of NAMES) expect(other[of(name)]).toBeCloseTo(once[name] as number, 6);
      }),
    );
  });

  test('are reversed when every game is, and a tie is half a win each', () => {
    fc.assert(
      fc.property(games, (played) => {
        const once = strengths(played);
        const turned = strengths(played.map((game) => ({ ...game, y: 1 - game.y })));
        const swapped = strengths(played.map((game) => ({ ...game, a: game.b, b: game.a, y: 1 - game.y })));
        for (const name of NAMES) expect(turned[name]).toBeCloseTo(-(once[name] as number), 6);
        expect(swapped).toEqual(once);
      }),
    );
    expect(strengths([tied('A', 'B')], ['A', 'B'])).toEqual({ A: 0, B: 0 });
    expect(strengths([won('A', 'B'), won('B', 'A')], ['A', 'B'])).toEqual({ A: 0, B: 0 });
  });

  test('never decrease with one more win', () => {
    fc.assert(
      fc.property(games, fc.constantFrom(...NAMES), (played, loser) => {
        fc.pre(loser !== 'A');
        const before = strengths(played);
        const after = strengths([...played, won('A', loser)]);
        expect(after.A).toBeGreaterThanOrEqual((before.A as number) - 1e-6);
        for (const name of NAMES.slice(1)) {
          const rose = (after[name] as number) - (before[name] as number);
          expect((after.A as number) - (before.A as number)).toBeGreaterThanOrEqual(rose - 1e-6);
        }
      }),
    );
  });

  test('do not change with games that mean nothing', () => {
    const nonsense: Game[] = [
      { a: 'A', b: 'A', y: 1, weight: 5 },
      { a: 'A', b: 'X', y: 1, weight: 5 },
      { a: 'A', b: 'B', y: Number.NaN, weight: 1 },
      { a: 'A', b: 'B', y: 2, weight: 1 },
      { a: 'A', b: 'B', y: 1, weight: Number.POSITIVE_INFINITY },
      { a: 'A', b: 'B', y: 1, weight: -1 },
    ];
    expect(strengths(nonsense)).toEqual(strengths([]));
  });
});

describe('the margin', () => {
  const ahead = (...played: readonly Game[]) => bradleyTerry(['A', 'B'], played).margin('A', 'B');

  test('grows with agreement, and a tie or a loss takes from it', () => {
    const [one, two, three] = [1, 2, 3].map((n) => ahead(...Array.from({ length: n }, () => won('A', 'B'))));
    expect(one).toBeLessThan(two as number);
    expect(two).toBeLessThan(three as number);
    expect(ahead(won('A', 'B'), won('A', 'B'), tied('A', 'B'))).toBeLessThan(two as number);
    expect(ahead(won('A', 'B'), won('A', 'B'), won('B', 'A'))).toBeLessThan(one as number);
    expect(ahead(tied('A', 'B'))).toBe(0);
  });

  test('is the same from the other side, with the other sign', () => {
    fc.assert(
      fc.property(games, (played) => {
        const fit = bradleyTerry(NAMES, played);
        expect(fit.margin('A', 'B')).toBe(-fit.margin('B', 'A') + 0);
      }),
    );
  });
});
