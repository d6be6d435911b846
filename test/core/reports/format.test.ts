import { expect, test } from 'vitest';
import { counted, dollars, elapsed, money, tokens } from '../../../src/core/reports/index.ts';

test.each([
  [0, '–'],
  [Number.NaN, '–'],
  [1, '0.1 s'],
  [400, '0.4 s'],
  [9_949, '9.9 s'],
  [9_950, '10 s'],
  [59_499, '59 s'],
  [59_500, '1m 00s'],
  [192_000, '3m 12s'],
  [3_599_600, '1h 00m'],
  [3_840_000, '1h 04m'],
])('%d ms read %s', (ms, text) => {
  expect(elapsed(ms)).toBe(text);
});

test.each([
  [0, '0.00'],
  [-1, '0.00'],
  [0.42, '0.42'],
  [0.0042, '0.0042'],
  [0.000001, '0.0001'],
  [12.345, '12.35'],
])('%d dollars read %s', (usd, text) => {
  expect(dollars(usd)).toBe(text);
  expect(money(usd)).toBe(`$${text}`);
});

test.each([
  [0, '0'],
  [812, '812'],
  [12_345, '12.3k'],
  [999_949, '999.9k'],
  [999_950, '1.0M'],
])('%d tokens read %s', (count, text) => {
  expect(tokens(count)).toBe(text);
});

test('one file, two files', () => {
  expect([0, 1, 2].map((n) => counted(n, 'file'))).toEqual(['0 files', '1 file', '2 files']);
});
