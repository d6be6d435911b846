import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inMonth, totals } from '../src/totals.js';

const expense = (date, category, cents) => ({ date, category, cents, note: '' });
const EXPENSES = [
  expense('2024-03-01', 'groceries', 3420),
  expense('2024-04-02', 'transport', 4900),
  expense('2024-03-07', 'groceries', 2845),
];

test('adds up by category, largest first', () => {
  assert.deepEqual(totals(EXPENSES), [
    { name: 'groceries', count: 2, cents: 6265 },
    { name: 'transport', count: 1, cents: 4900 },
  ]);
});

test('adds up by month, in order of time', () => {
  assert.deepEqual(
    totals(EXPENSES, 'month').map((total) => total.name),
    ['2024-03', '2024-04'],
  );
});

test('refuses an unknown grouping', () => {
  assert.throws(() => totals(EXPENSES, 'weekday'), /cannot group by weekday/);
});

test('picks one month', () => {
  assert.equal(inMonth(EXPENSES, '2024-04').length, 1);
});
