import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  chanceAbove,
  cumulative,
  draw,
  leaderboardOf,
  meanOf,
  quantile,
} from '../../../src/core/learning/index.ts';
import { fnv1a, mulberry32 } from '../../../src/core/settings/index.ts';
import { MODELS, merged, run } from './sample.ts';

const FIELD = [MODELS.claude, MODELS.gpt, MODELS.gemini];
const runs = (count: number, winner: (i: number) => string | null) =>
  Array.from({ length: count }, (_, i) => run(i, FIELD, winner(i))).flat();

describe('the beta distribution', () => {
  test.each([
    // Tables of R: pbeta and qbeta.
    [0.5, { a: 1, b: 1 }, 0.5],
    [0.3, { a: 2, b: 5 }, 0.579825],
    [0.9, { a: 8, b: 2 }, 0.774841],
    [0.1, { a: 0.5, b: 0.5 }, 0.204833],
  ])('cumulative at %s of %o', (x, beta, expected) => {
    expect(cumulative(x, beta)).toBeCloseTo(expected, 5);
    expect(quantile(expected, beta)).toBeCloseTo(x, 4);
  });

  test('a comparison of equals is even, and one of the far apart is certain', () => {
    expect(chanceAbove({ a: 3, b: 4 }, { a: 3, b: 4 })).toBeCloseTo(0.5, 2);
    expect(chanceAbove({ a: 90, b: 10 }, { a: 10, b: 90 })).toBeGreaterThan(0.999);
  });

  test('draws have its mean and its spread', () => {
    const random = mulberry32(fnv1a('draws'));
    const beta = { a: 0.7, b: 2.1 };
    const drawn = Array.from({ length: 20_000 }, () => draw(beta, random));
    const mean = drawn.reduce((sum, x) => sum + x, 0) / drawn.length;
    expect(mean).toBeCloseTo(meanOf(beta), 2);
    const below = drawn.filter((x) => x < quantile(0.1, beta)).length / drawn.length;
    expect(below).toBeCloseTo(0.1, 1);
  });
});

describe('the leaderboard', () => {
  test('three wins of three are no 100%, and nobody is told apart yet', () => {
    const { standings } = leaderboardOf(runs(3, () => MODELS.gpt));
    expect(standings[0]).toMatchObject({ model: MODELS.gpt, wins: 3, runs: 3 });
    expect(standings[0]?.estimate).toBeLessThan(0.9);
    const [low, high] = standings[0]?.interval ?? [0, 0];
    expect(high - low).toBeGreaterThan(0.2);
  });

  test('with many runs the estimate is the share, and the best is told apart', () => {
    const { standings } = leaderboardOf(runs(60, (i) => (i % 3 === 2 ? MODELS.gemini : MODELS.gpt)));
    expect(standings.map(({ model }) => model)).toEqual([MODELS.gpt, MODELS.gemini, MODELS.claude]);
    expect(standings[0]?.estimate).toBeCloseTo(2 / 3, 1);
    expect(standings.map(({ isAheadOfNext }) => isAheadOfNext)).toEqual([true, true, false]);
  });

  test('says what a contestant adds: runs that nobody else solved', () => {
    const alone = run(1, FIELD, MODELS.gpt).map((one) => ({ ...one, survived: one.model === MODELS.gpt }));
    const { standings } = leaderboardOf([...alone, ...run(2, FIELD, MODELS.gpt)]);
    expect(standings.find(({ model }) => model === MODELS.gpt)).toMatchObject({ wins: 2, alone: 1 });
  });

  test('counts merges, edits, reverts, picks against our first, and the cost of each win', () => {
    const shown = (one: ReturnType<typeof run>[number], over: Parameters<typeof merged>[0]) => ({
      ...one,
      ...merged(over),
      shown: one.model === MODELS.gpt,
    });
    const { standings } = leaderboardOf([
      ...run(1, FIELD, MODELS.gpt).map((one) => shown(one, { edited: 0.5 })),
      ...run(2, FIELD, MODELS.gpt).map((one) => shown(one, { revertedAt: 9 })),
    ]);
    expect(standings.find(({ model }) => model === MODELS.gpt)).toMatchObject({
      merged: 2,
      edited: 1,
      reverted: 1,
      pickedAgainst: 2,
      wins: 0.5,
      usdPerWin: 0.8,
    });
  });

  test('repairs and merged patches count for nobody', () => {
    const repair = run(1, FIELD, MODELS.gpt).map((one) => ({ ...one, round: 'repair' as const }));
    expect(leaderboardOf(repair).standings).toEqual([]);
  });

  test('does not depend on the order of outcomes; estimates stay between the extremes', () => {
    const result = fc.array(fc.constantFrom(...FIELD, null), { minLength: 1, maxLength: 25 });
    fc.assert(
      fc.property(result, fc.infiniteStream(fc.nat()), (winners, order) => {
        const outcomes = runs(winners.length, (i) => winners[i] ?? null);
        const shuffled = outcomes
          .map((one) => ({ one, at: order.next().value as number }))
          .toSorted((a, b) => a.at - b.at)
          .map(({ one }) => one);
        const board = leaderboardOf(outcomes);
        expect(leaderboardOf(shuffled)).toEqual(board);
        for (const { estimate, interval, wins, told } of board.standings) {
          const [low, high] = interval;
          expect(low).toBeLessThan(estimate);
          expect(high).toBeGreaterThan(estimate);
          const pooled = winners.filter((one) => one !== null).length / (3 * winners.length);
          const own = wins / told;
          expect(estimate).toBeGreaterThan(Math.min(own, pooled) - 0.1);
          expect(estimate).toBeLessThan(Math.max(own, pooled, 1 / 3) + 0.1);
        }
      }),
      { numRuns: 60, seed: 19 },
    );
  });
});
