import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { eloOf, type Match, type RatingTable, rate } from '../../../src/core/arena/index.ts';

const NAMES = ['ada', 'bob', 'cyd', 'dan'];
const match = fc.record({
  task: fc.constantFrom('t1', 't2', 't3', 't4'),
  a: fc.constantFrom(...NAMES),
  b: fc.constantFrom(...NAMES),
  score: fc.constantFrom(0, 0.5, 1),
}) as fc.Arbitrary<Match>;
const matches = fc.array(match, { maxLength: 40 });

const rated = (played: readonly Match[], names = NAMES) => rate(names, played, { seed: 7, replicates: 200 });
const ratingOf = (table: RatingTable, name: string) => {
  const found = table.groups.flat().find(({ contestant }) => contestant === name);
  if (!found) throw new Error(`${name} is not rated`);
  return found;
};
/** The same result on as many tasks. */
const won = (a: string, b: string, times: number, score: Match['score'] = 1): Match[] =>
  Array.from({ length: times }, (_, i) => ({ task: `t${i}`, a, b, score }));
const turned = (one: Match): Match => ({
  ...one,
  a: one.b,
  b: one.a,
  score: (1 - one.score) as Match['score'],
});

describe('ratings', () => {
  test('do not depend on the order of comparisons or contestants, or on who is called `a`', () => {
    const shuffled = matches.chain((played) =>
      fc.record({
        played: fc.constant(played),
        order: fc.shuffledSubarray(played, { minLength: played.length }),
        names: fc.shuffledSubarray(NAMES, { minLength: NAMES.length }),
        turn: fc.array(fc.boolean(), { minLength: played.length, maxLength: played.length }),
      }),
    );
    fc.assert(
      fc.property(shuffled, ({ played, order, names, turn }) => {
        const other = order.map((one, i) => (turn[i] ? turned(one) : one));
        expect(rated(other, names)).toEqual(rated(played));
      }),
      { numRuns: 30 },
    );
  });

  test('of any comparisons are finite and inside their intervals, places are possible, and mutual', () => {
    fc.assert(
      fc.property(matches, (played) => {
        const table = rated(played);
        expect([...table.groups.flat().map(({ contestant }) => contestant), ...table.unrated].sort()).toEqual(
          NAMES,
        );
        for (const group of table.groups) {
          const sum = group.reduce((all, { strength }) => all + strength, 0);
          expect(sum).toBeCloseTo(0, 5);
          for (const one of group) {
            expect(Number.isFinite(one.elo)).toBe(true);
            expect(one.strengthInterval.low).toBeLessThanOrEqual(one.strength);
            expect(one.strengthInterval.high).toBeGreaterThanOrEqual(one.strength);
            expect(one.places.best).toBeGreaterThanOrEqual(1);
            expect(one.places.worst).toBeLessThanOrEqual(group.length);
            expect(one.places.best).toBeLessThanOrEqual(one.places.worst);
            for (const other of one.notToldApart)
              expect(ratingOf(table, other).notToldApart).toContain(one.contestant);
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  test('put the winner first, and on the scale of Elo', () => {
    const table = rate(NAMES, [...won('ada', 'bob', 30), ...won('bob', 'ada', 10)], { seed: 1 });
    const [ada, bob] = [ratingOf(table, 'ada'), ratingOf(table, 'bob')];
    expect(table.groups[0]?.map(({ contestant }) => contestant)).toEqual(['ada', 'bob']);
    // 30 of 40 are odds of 3 to 1: 191 points, a little less by the prior.
    expect(ada.elo - bob.elo).toBeGreaterThan(170);
    expect(ada.elo - bob.elo).toBeLessThan(191);
    expect(eloOf(Math.log(10)) - eloOf(0)).toBeCloseTo(400);
    expect([ada.wins, ada.ties, ada.losses]).toEqual([30, 0, 10]);
    expect(ada.places).toEqual({ best: 1, worst: 1 });
    expect(ada.notToldApart).toEqual([]);
  });

  test('count ties as half a win: only ties leave contestants equal, and not told apart', () => {
    const table = rated(won('ada', 'bob', 12, 0.5));
    expect(ratingOf(table, 'ada').strength).toBe(0);
    expect(ratingOf(table, 'ada').notToldApart).toEqual(['bob']);
    const ahead = rated([...won('ada', 'bob', 12, 0.5), ...won('ada', 'bob', 1)]);
    expect(ratingOf(ahead, 'ada').strength).toBeGreaterThan(0);
  });

  test('name who never lost, with a finite rating; a few wins are not enough to tell them apart', () => {
    for (const wins of [1, 2, 3]) {
      const table = rate(NAMES, won('ada', 'bob', wins), { seed: 3 });
      expect([table.unbeaten, table.winless]).toEqual([['ada'], ['bob']]);
      expect(ratingOf(table, 'ada').notToldApart).toEqual(['bob']);
    }
    expect(ratingOf(rate(NAMES, won('ada', 'bob', 8), { seed: 3 }), 'ada').notToldApart).toEqual([]);
  });

  test('trust many votes on one task less than as many on different tasks', () => {
    const onOneTask = won('ada', 'bob', 12).map((one) => ({ ...one, task: 'only' }));
    const width = (played: readonly Match[]) => {
      const { low, high } = ratingOf(rate(NAMES, played, { seed: 5 }), 'ada').strengthInterval;
      return high - low;
    };
    expect(width(onOneTask)).toBeGreaterThan(1.2 * width(won('ada', 'bob', 12)));
    expect(ratingOf(rate(NAMES, onOneTask, { seed: 5 }), 'ada').notToldApart).toEqual(['bob']);
  });

  test('of contestants that no comparisons connect are not compared, and those without any are named', () => {
    const table = rated([...won('ada', 'bob', 9), ...won('cyd', 'dan', 9)]);
    expect(table.groups.map((group) => group.map(({ contestant }) => contestant))).toEqual([
      ['ada', 'bob'],
      ['cyd', 'dan'],
    ]);
    expect(ratingOf(table, 'ada').notToldApart).toEqual([]);
    const lonely = rated(won('ada', 'bob', 2));
    expect(lonely.unrated).toEqual(['cyd', 'dan']);
    expect(rated([])).toMatchObject({ groups: [], unrated: NAMES, matches: 0, tasks: 0 });
    expect(rate(['ada'], [], { seed: 1 })).toMatchObject({ groups: [], unrated: ['ada'] });
  });

  test('get ties for identical answers, which are no votes', () => {
    const alike: Match[] = won('ada', 'bob', 6, 0.5).map((one) => ({ ...one, alike: 1 }));
    const table = rated([...won('ada', 'bob', 2), ...alike]);
    expect(table.matches).toBe(2);
    expect(ratingOf(table, 'ada')).toMatchObject({ wins: 2, ties: 0, losses: 0 });
    expect(ratingOf(table, 'ada').strength).toBeLessThan(
      ratingOf(rated(won('ada', 'bob', 2)), 'ada').strength,
    );
    expect(rated(alike.map((one) => ({ ...one, alike: 0 }))).groups).toEqual([]);
  });

  test('ignore comparisons of unknown contestants and of one with itself', () => {
    const table = rated([...won('ada', 'bob', 3), ...won('ada', 'eve', 3), ...won('cyd', 'cyd', 3)]);
    expect(table).toEqual(rated(won('ada', 'bob', 3)));
  });

  test('have intervals that hold the truth about as often as they say', () => {
    // Two contestants with odds of 2 to 1 on 40 tasks: 160 contests, each with votes of its own.
    const truth = Math.log(2) / 2;
    let state = 12_345;
    const random = () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return state / 2 ** 32;
    };
    const held = Array.from({ length: 160 }, (_, seed) => {
      const votes = Array.from(
        { length: 40 },
        (_, i): Match => ({
          task: `t${i}`,
          a: 'ada',
          b: 'bob',
          score: random() < 2 / 3 ? 1 : 0,
        }),
      );
      const { low, high } = ratingOf(
        rate(['ada', 'bob'], votes, { seed, replicates: 200 }),
        'ada',
      ).strengthInterval;
      return low <= truth && truth <= high;
    }).filter(Boolean).length;
    expect(held / 160).toBeGreaterThan(0.9);
    expect(held / 160).toBeLessThan(0.995);
  });
});
