import { expect, test } from 'vitest';
import { nextInQueue, priorityOf, queueOrder, type WaitingRun } from '../../../src/core/model/index.ts';

const waits = (id: string, over: Partial<WaitingRun> = {}): WaitingRun => ({
  id,
  share: 'shop',
  priority: priorityOf('label'),
  since: Number(id.slice(1)),
  returning: false,
  ...over,
});
const ids = (line: readonly WaitingRun[]) => line.map(({ id }) => id).join(' ');

test('an empty queue has no next run', () => {
  expect(nextInQueue([], [{ share: 'shop' }])).toBeNull();
  expect(queueOrder([], [])).toEqual([]);
});

test('two repositories take turns, whichever labelled first and more', () => {
  const line = [
    waits('r1'),
    waits('r2'),
    waits('r3'),
    waits('r8', { share: 'bank' }),
    waits('r9', { share: 'bank' }),
  ];
  expect(ids(queueOrder(line, []))).toBe('r1 r8 r2 r9 r3');
  expect(ids(queueOrder(line, [{ share: 'shop' }, { share: 'shop' }]))).toBe('r8 r9 r1 r2 r3');
});

test("a person's run precedes a storm of labels, and a run that had a slot precedes both", () => {
  const line = [
    waits('r1'),
    waits('r2', { share: 'bank' }),
    waits('r7', { priority: priorityOf('command') }),
    waits('r9', { returning: true }),
  ];
  expect(ids(queueOrder(line, []))).toBe('r9 r7 r2 r1');
});

test('runs of the same time have the same order in every process', () => {
  const line = ['r3', 'r1', 'r2'].map((id) => waits(id, { since: 5 }));
  expect(ids(queueOrder(line, []))).toBe('r1 r2 r3');
});

test('the displayed queue is the order in which slots are given', () => {
  const line = Array.from({ length: 60 }, (_, i) =>
    waits(`r${i}`, {
      share: `s${(i * 7) % 5}`,
      priority: i % 3,
      since: (i * 31) % 11,
      returning: i % 13 === 0,
    }),
  );
  const left = new Set(line);
  const placed: WaitingRun[] = [];
  for (let next = nextInQueue(left, placed); next !== null; next = nextInQueue(left, placed)) {
    left.delete(next);
    placed.push(next);
  }
  expect(ids(queueOrder(line, []))).toBe(ids(placed));
});
