import { describe, expect, test } from 'vitest';
import { seededRandom, wilson, wilsonByTask } from '../../../src/core/arena/chance.ts';

/** Results on tasks, each as a text of `+` and `-`. */
const results = (...tasks: readonly string[]) =>
  tasks.flatMap((marks, task) => [...marks].map((mark) => ({ task: `t${task}`, isRight: mark === '+' })));

describe('the interval of a pass rate', () => {
  test('is that of Wilson where each task was answered once', () => {
    const { low, high } = wilson(3, 7);
    const interval = wilsonByTask(results('+', '-', '-', '+', '-', '+', '-'));
    expect([interval.low, interval.high]).toEqual([expect.closeTo(low, 10), expect.closeTo(high, 10)]);
  });

  test('is no narrower for rounds that repeat what the first one showed', () => {
    expect(wilsonByTask(results('+++', '---', '+++', '---'))).toEqual(wilson(2, 4));
    expect(wilsonByTask(results('+++', '+++'))).toEqual(wilson(2, 2));
    expect(wilsonByTask(results('---'))).toEqual(wilson(0, 1));
    expect(wilsonByTask(results('++-'))).toEqual(wilson(2 / 3, 1));
  });

  test('is narrower for rounds in which tasks are solved by chance', () => {
    const rounds = ['+-+-', '-+-+', '++-', '-+-'].map((marks) => marks.repeat(2));
    const { low, high } = wilsonByTask(results(...rounds));
    expect(high - low).toBeLessThan(wilson(2, 4).high - wilson(2, 4).low);
    expect(high - low).toBeGreaterThanOrEqual(wilson(14, 28).high - wilson(14, 28).low);
  });

  test.each([
    ['each task nearly always or nearly never', (random: () => number) => (random() < 0.5 ? 0.9 : 0.1), 0.5],
    ['each task as often as any other', () => 0.7, 0.7],
    ['each task by a chance of its own', (random: () => number) => random(), 0.5],
  ])('holds the truth about as often as it says: %s', (_, chanceOf, truth) => {
    const random = seededRandom('coverage');
    let held = 0;
    for (let contest = 0; contest < 1_000; contest += 1) {
      const made = Array.from({ length: 20 }, (_, task) => {
        const chance = chanceOf(random);
        return Array.from({ length: 10 }, () => ({ task: `t${task}`, isRight: random() < chance }));
      });
      const { low, high } = wilsonByTask(made.flat());
      if (low <= truth && truth <= high) held += 1;
    }
    expect(held / 1_000).toBeGreaterThan(0.92);
    expect(held / 1_000).toBeLessThan(0.98);
  });
});
