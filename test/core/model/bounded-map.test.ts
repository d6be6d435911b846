import { expect, test } from 'vitest';
import { openBoundedMap, openRateLimit } from '../../../src/core/model/index.ts';

test('a bounded map drops what was set longest ago', () => {
  const map = openBoundedMap<number>(2);
  map.set('a', 1);
  map.set('b', 2);
  map.set('a', 3);
  map.set('c', 4);
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([3, undefined, 4]);
  expect([map.delete('a'), map.delete('a'), map.get('a')]).toEqual([true, false, undefined]);
});

test('a rate limit counts for each name from its first use to a minute later, and not what it refused', () => {
  let now = 5;
  const isWithinLimit = openRateLimit(() => now, 10);
  expect([1, 2, 3].map(() => isWithinLimit('mona', 2))).toEqual([true, true, false]);
  expect([isWithinLimit('mona', 3), isWithinLimit('mona', 3), isWithinLimit('hubot', 1)]).toEqual([
    true,
    false,
    true,
  ]);
  now += 59_999;
  expect(isWithinLimit('mona', 3)).toBe(false);
  now += 1;
  expect([isWithinLimit('mona', 2), isWithinLimit('mona', 2), isWithinLimit('mona', 2)]).toEqual([
    true,
    true,
    false,
  ]);
});
