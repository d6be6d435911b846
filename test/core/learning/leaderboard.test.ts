import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cumulative, draw, leaderboardOf, meanOf, quantile } from '../../../src/core/learning/index.ts';
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

  test.each([
    [2, 3],
    [2, 20],
    [3, 2],
    [3, 20],
    [5, 60],
  ])('of %i equals after %i runs, it claims an order in at most one board in twenty', (count, played) => {
    const random = mulberry32(fnv1a(`equals ${count} ${played}`));
    const field = Array.from({ length: count }, (_, i) => `maker/model-${i}`);
    const boards = Array.from({ length: 300 }, () =>
      leaderboardOf(
        Array.from({ length: played }, (_, i) =>
          run(i, field, field[Math.floor(random() * count)] ?? null),
        ).flat(),
      ),
    );
    const claims = boards.filter(({ standings }) => standings.some(({ isAheadOfNext }) => isAheadOfNext));
    expect(claims.length / boards.length).toBeLessThanOrEqual(0.05);
    const covered = boards.filter(({ standings: [top] }) => {
      const [low, high] = top?.interval ?? [1, 0];
      return low <= 1 / count && 1 / count <= high;
    });
    expect(covered.length / boards.length).toBeGreaterThan(0.85);
  });

  test('six runs won against each other one tell two apart, five do not', () => {
    const duels = (count: number) =>
      leaderboardOf(Array.from({ length: count }, (_, i) => run(i, FIELD.slice(0, 2), MODELS.gpt)).flat());
    expect(duels(5).standings[0]?.isAheadOfNext).toBe(false);
    expect(duels(6).standings[0]).toMatchObject({ model: MODELS.gpt, isAheadOfNext: true });
  });

  test('runs in which they did not meet, or had different numbers of places, tell nobody apart', () => {
    const apart = Array.from({ length: 60 }, (_, i) =>
      run(i, [i % 2 === 0 ? MODELS.gpt : MODELS.claude], i % 2 === 0 ? MODELS.gpt : null),
    ).flat();
    expect(leaderboardOf(apart).standings[0]?.isAheadOfNext).toBe(false);
    const twoPlaces = Array.from({ length: 60 }, (_, i) => {
      const [one, other] = run(i, FIELD.slice(0, 2), MODELS.gpt);
      return [one, other, { ...other, alias: 'C', change: 'C', pick: 'other' as const }] as ReturnType<
        typeof run
      >;
    }).flat();
    expect(leaderboardOf(twoPlaces).standings[0]).toMatchObject({
      model: MODELS.gpt,
      runs: 60,
      told: 60,
      wins: 30,
      isAheadOfNext: false,
    });
  });

  test('a contestant that runs without others adds to nobody', () => {
    expect(leaderboardOf(run(1, [MODELS.gpt], MODELS.gpt)).standings[0]).toMatchObject({ wins: 1, alone: 0 });
  });

  test('a repository that was renamed is one, with its latest name', () => {
    const renamed = [
      ...run(1, FIELD, MODELS.gpt),
      ...run(2, FIELD, MODELS.gpt, { repositoryName: 'acme/store' }),
    ];
    expect(leaderboardOf(renamed).repositories).toEqual(['acme/store']);
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

  test('where Runoff put nobody first, no pick is one against it', () => {
    const board = leaderboardOf(run(1, FIELD, MODELS.gpt, { first: null }));
    expect([board.pickedAgainst, ...board.standings.map((one) => one.pickedAgainst)]).toEqual([0, 0, 0, 0]);
    expect(leaderboardOf(run(1, FIELD, MODELS.gpt)).pickedAgainst).toBe(1);
  });

  test('equals are not told apart by however many runs', () => {
    const runs = (count: number, wins: number) =>
      Array.from({ length: count }, (_, i) =>
        run(i, [MODELS.claude, MODELS.gpt], i < wins ? MODELS.claude : MODELS.gpt),
      ).flat();
    const isAhead = (count: number, wins: number) =>
      leaderboardOf(runs(count, wins)).standings[0]?.isAheadOfNext;
    expect([isAhead(1_076, 539), isAhead(2_000, 1_001), isAhead(2_000, 1_100)]).toEqual([false, false, true]);
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
