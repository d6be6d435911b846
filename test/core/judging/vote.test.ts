import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Voter, vote } from '../../../src/core/judging/index.ts';

const voter = (alias: string, classKey: string, family: string | null): Voter => ({
  alias,
  classKey,
  family,
});

test('three runs of one model are one vote', () => {
  const told = vote([
    voter('A', 'x', 'gpt'),
    voter('B', 'x', 'gpt'),
    voter('C', 'x', 'gpt'),
    voter('D', 'y', 'claude'),
    voter('E', 'y', 'gemini'),
  ]);
  expect(told.winner).toMatchObject({ classKey: 'y', votes: 2, families: ['claude', 'gemini'] });
  expect(told.because).toBe('D, E: 2 votes, one for each model family; the next class has 1 vote.');
});

test('a family whose candidates differ splits its vote', () => {
  const told = vote([voter('A', 'x', 'gpt'), voter('B', 'y', 'gpt'), voter('C', 'y', 'claude')]);
  expect(told.classes.map(({ classKey, votes }) => [classKey, votes])).toEqual([
    ['y', 1.5],
    ['x', 0.5],
  ]);
});

test('equal votes have no winner, and neither has an empty pool', () => {
  expect(vote([voter('A', 'x', 'gpt'), voter('B', 'y', 'claude')]).winner).toBeNull();
  expect(vote([]).winner).toBeNull();
});

test('agreement of all is not called proof, and unknown families vote each for themselves', () => {
  const told = vote([voter('A', 'x', null), voter('B', 'x', null)]);
  expect(told.winner).toMatchObject({ votes: 2, families: [] });
  expect(told.because).toMatch(/does not show that they are right/);
});

test('the order of the candidates plays no part, and there are as many votes as families', () => {
  const pool = fc.uniqueArray(
    fc.record({
      alias: fc.constantFrom(...'ABCDEFGH'),
      classKey: fc.constantFrom('x', 'y', 'z'),
      family: fc.constantFrom('gpt', 'claude', 'gemini'),
    }),
    { selector: ({ alias }) => alias },
  );
  fc.assert(
    fc.property(pool, (voters) => {
      expect(vote(voters.toReversed())).toEqual(vote(voters));
      const votes = vote(voters).classes.reduce((sum, one) => sum + one.votes, 0);
      expect(votes).toBeCloseTo(new Set(voters.map(({ family }) => family)).size, 6);
    }),
  );
});
