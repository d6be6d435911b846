import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toRecords } from '../src/table.js';

test('names cells by the first row, in lower case', () => {
  assert.deepEqual(
    toRecords([
      ['Date', 'Amount'],
      ['2024-03-01', '5'],
    ]),
    [{ date: '2024-03-01', amount: '5' }],
  );
});

test('refuses a row with too many cells', () => {
  assert.throws(
    () =>
      toRecords([
        ['a', 'b'],
        ['1', '2', '3'],
      ]),
    /row 2 has 3 cells, expected 2/,
  );
});

test('refuses a row with too few cells', () => {
  assert.throws(() => toRecords([['a', 'b'], ['1', '2'], ['3']]), /row 3 has 1 cells, expected 2/);
});

test('gives nothing for no rows', () => {
  assert.deepEqual(toRecords([]), []);
});
