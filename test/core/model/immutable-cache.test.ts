import { expect, test } from 'vitest';
import { openImmutableCache } from '../../../src/core/model/index.ts';

function counted() {
  const read: string[] = [];
  const cache = openImmutableCache<string | null>(10, (text) => text?.length ?? 1);
  const get = (key: string, text: string | null) =>
    cache(key, async () => {
      read.push(key);
      return text;
    });
  return { cache, get, read };
}

test('what was read is read once, also that there is nothing', async () => {
  const { get, read } = counted();
  expect(await get('a', 'text')).toBe('text');
  expect(await get('a', 'other')).toBe('text');
  expect([await get('none', null), await get('none', 'other')]).toEqual([null, null]);
  expect(read).toEqual(['a', 'none']);
});

test('beyond its limit, what was not used for longest is forgotten', async () => {
  const { get, read } = counted();
  for (const key of ['a', 'b', 'a', 'c']) await get(key, '1234');
  await get('a', '1234');
  await get('b', '1234');
  expect(read).toEqual(['a', 'b', 'c', 'b']);
});

test('neither what is too large nor a failure is kept, and others stay', async () => {
  const { cache, get, read } = counted();
  await get('a', '1234');
  await get('large', '12345678901');
  await get('large', '12345678901');
  await expect(cache('failed', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await get('failed', 'now')).toBe('now');
  await get('a', '1234');
  expect(read).toEqual(['a', 'large', 'large', 'failed']);
});
