import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  alikeMatches,
  type ComparableSample,
  type Match,
  mostInformative,
  pairKey,
  pairsOf,
  type SamplePair,
  sidesOf,
} from '../../../src/core/arena/index.ts';

const sample = (
  contestant: string,
  task: string,
  answer: string,
  round: number | null = 1,
): ComparableSample => ({
  id: `${contestant}-${task}-${round}`,
  task,
  contestant,
  round,
  answer,
});
const field = (contestants: readonly string[], tasks: readonly string[], answerOf = (c: string) => c) =>
  pairsOf(tasks.flatMap((task) => contestants.map((one) => sample(one, task, answerOf(one)))));
const known = (over: Partial<Parameters<typeof mostInformative>[1]> = {}) => ({
  matches: [],
  asked: new Map<string, number>(),
  seed: 1,
  ...over,
});
const contestants = ({ a, b }: SamplePair) => [a.contestant, b.contestant].sort().join(' ');

describe('pairs', () => {
  test('join different contestants on one task in one round; an answer that was given once meets every round', () => {
    const pairs = pairsOf([
      sample('ada', 't', 'x', 1),
      sample('ada', 't', 'y', 2),
      sample('bob', 't', 'z', 1),
      sample('cyd', 't', 'w', null),
      sample('dan', 'other', 'v', 1),
    ]);
    expect(pairs.map(({ a, b }) => `${a.id} ${b.id}`).sort()).toEqual([
      'ada-t-1 bob-t-1',
      'ada-t-1 cyd-t-null',
      'ada-t-2 cyd-t-null',
      'bob-t-1 cyd-t-null',
    ]);
  });

  test('of the same text are alike; spaces at the ends of lines make no difference', () => {
    const [pair] = pairsOf([sample('ada', 't', 'one \r\ntwo\n\n'), sample('bob', 't', 'one\ntwo')]);
    expect(pair?.alike).toBe(true);
    expect(pairsOf([sample('ada', 't', ' one'), sample('bob', 't', 'one\n two')])[0]?.alike).toBe(false);
  });

  test('are the same whatever the order of the samples, and have sides that differ between pairs', () => {
    const samples = ['t1', 't2', 't3', 't4', 't5', 't6'].flatMap((task) =>
      ['ada', 'bob', 'cyd', 'dan'].map((one) => sample(one, task, one)),
    );
    const pairs = pairsOf(samples);
    fc.assert(
      fc.property(fc.shuffledSubarray(samples, { minLength: samples.length }), (order) => {
        expect(pairsOf(order)).toEqual(pairs);
      }),
      { numRuns: 20 },
    );
    const swapped = pairs.filter((pair) => sidesOf(pair, 1).left.id === pair.b.id).length;
    expect(swapped).toBeGreaterThan(pairs.length * 0.25);
    expect(swapped).toBeLessThan(pairs.length * 0.75);
    expect(
      pairs.filter((pair) => sidesOf(pair, 1).left.id !== sidesOf(pair, 2).left.id).length,
    ).toBeGreaterThan(pairs.length * 0.25);
  });
});

describe('the next pair', () => {
  test('is of contestants that never met, before those that did', () => {
    const pairs = field(['ada', 'bob', 'cyd'], ['t1', 't2', 't3']);
    const matches: Match[] = ['t1', 't2'].flatMap((task) => [
      { task, a: 'ada', b: 'bob', score: 1 },
      { task, a: 'ada', b: 'cyd', score: 0 },
    ]);
    expect(contestants(mostInformative(pairs, known({ matches })) as SamplePair)).toBe('bob cyd');
  });

  test('is of contestants that are close, rather than of those whose order is known', () => {
    const pairs = field(['ada', 'bob', 'cyd'], ['new']);
    const matches = Array.from({ length: 12 }, (_, i): Match[] => [
      { task: `t${i}`, a: 'ada', b: 'bob', score: i % 2 === 0 ? 1 : 0 },
      { task: `t${i}`, a: 'ada', b: 'cyd', score: 1 },
      { task: `t${i}`, a: 'bob', b: 'cyd', score: 1 },
    ]).flat();
    expect(contestants(mostInformative(pairs, known({ matches })) as SamplePair)).toBe('ada bob');
  });

  test('is on the task with the fewest comparisons, and was decided least often', () => {
    const pairs = field(['ada', 'bob'], ['t1', 't2', 't3']);
    const matches: Match[] = [{ task: 't2', a: 'ada', b: 'bob', score: 1 }];
    expect(mostInformative(pairs, known({ matches }))?.task).not.toBe('t2');
    const asked = new Map(pairs.filter(({ task }) => task !== 't3').map(({ key }) => [key, 1]));
    expect(mostInformative(pairs, known({ asked }))?.task).toBe('t3');
  });

  test('is never one of identical answers, and covers every pair in the end without a repetition', () => {
    const pairs = field(['ada', 'bob', 'cyd', 'dan'], ['t1', 't2', 't3'], (one) =>
      one === 'dan' ? 'cyd' : one,
    );
    const asked: SamplePair[] = [];
    for (let open = pairs; ; ) {
      const matches = asked.map(
        ({ task, a, b }): Match => ({ task, a: a.contestant, b: b.contestant, score: 1 }),
      );
      const next = mostInformative(open, known({ matches }));
      if (!next) break;
      asked.push(next);
      open = open.filter(({ key }) => key !== next.key);
    }
    expect(asked).toHaveLength(pairs.filter(({ alike }) => !alike).length);
    // No two contestants meet again before all have met.
    expect(new Set(asked.slice(0, 5).map(contestants)).size).toBe(5);
  });

  test('of a new contest lets every two contestants meet before any two meet again, on different tasks', () => {
    const names = ['ada', 'bob', 'cyd', 'dan', 'eve'];
    const pairs = field(names, ['t1', 't2', 't3', 't4']);
    const chosen: SamplePair[] = [];
    let open = pairs;
    while (chosen.length < 10) {
      const matches = chosen.map(
        ({ task, a, b }): Match => ({ task, a: a.contestant, b: b.contestant, score: 0.5 }),
      );
      const next = mostInformative(open, known({ matches })) as SamplePair;
      chosen.push(next);
      open = open.filter(({ key }) => key !== next.key);
    }
    expect(new Set(chosen.map(contestants)).size).toBe(10);
    expect(new Set(chosen.map(({ task }) => task)).size).toBe(4);
  });
});

describe('identical answers', () => {
  test('count as ties as far as the other pairs of the two were decided', () => {
    const pairs = pairsOf([
      ...['t1', 't2', 't3', 't4'].flatMap((task) => [sample('ada', task, 'x'), sample('bob', task, 'y')]),
      sample('ada', 't5', 'same'),
      sample('bob', 't5', 'same'),
    ]);
    expect(alikeMatches(pairs, new Set())).toEqual([
      { task: 't5', a: 'ada', b: 'bob', score: 0.5, alike: 0 },
    ]);
    const decided = new Set([pairKey('ada-t1-1', 'bob-t1-1')]);
    expect(alikeMatches(pairs, decided)).toMatchObject([{ alike: 0.25 }]);
    expect(alikeMatches(pairs, new Set([pairKey('ada-t5-1', 'bob-t5-1')]))).toEqual([]);
    const only = pairsOf([sample('ada', 't', 'same'), sample('bob', 't', 'same')]);
    expect(alikeMatches(only, new Set())).toMatchObject([{ alike: 1 }]);
  });
});
