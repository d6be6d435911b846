import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readExpenses } from '../src/expenses.js';

test('reads expenses with columns in any order', () => {
  assert.deepEqual(readExpenses('amount,date,category\n9.99,2024-03-01,books\n'), [
    { date: '2024-03-01', category: 'books', cents: 999, note: '' },
  ]);
});

test('keeps the note', () => {
  const [expense] = readExpenses('date,category,amount,note\n2024-03-01,books,9.99,a present\n');
  assert.equal(expense.note, 'a present');
});

test('puts an expense without a category under other', () => {
  assert.equal(readExpenses('date,category,amount\n2024-03-01,,1\n')[0].category, 'other');
});

test('says which column is missing', () => {
  assert.throws(() => readExpenses('date,amount\n2024-03-01,1\n'), /no column category/);
});

test('says in which row a date is wrong', () => {
  assert.throws(
    () => readExpenses('date,category,amount\n2024-03-01,a,1\n01.03.2024,a,1\n'),
    /row 3: not a date/,
  );
});
