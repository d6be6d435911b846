import { expect, test } from 'vitest';
import { chosenOf, leftToPerson, pickable } from '../../../src/core/ranking/index.ts';
import { judged, TOSS_UP } from '../reports/sample.ts';

test('the last pick overrides the evidence, and `none` is a pick', () => {
  const view = judged();
  expect(chosenOf(view)).toBe('B');
  expect(chosenOf({ ...view, picks: [{ alias: 'C' }] })).toBe('C');
  expect(chosenOf({ ...view, picks: [{ alias: 'C' }, { alias: null }] })).toBeNull();
  expect(chosenOf({})).toBeNull();
});

test('candidates that failed a gate or left no patch cannot be picked; the best is first', () => {
  const { ranking, candidates } = judged();
  expect(pickable({ ranking: ranking.toReversed(), candidates })).toEqual(['B', 'C', 'A']);
  expect(pickable({ ranking, candidates: candidates.slice(0, 1) })).toEqual(['A']);
});

test('a toss-up by the settings is distinguished from one by the evidence', () => {
  expect(leftToPerson(TOSS_UP)).toBe(false);
  expect(leftToPerson({ ...TOSS_UP, chance: 0.9 })).toBe(true);
  expect(leftToPerson(judged().decision)).toBe(false);
});
