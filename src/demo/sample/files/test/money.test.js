import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatCents, parseCents } from '../src/money.js';

test('reads amounts as cents', () => {
  assert.equal(parseCents('12'), 1200);
  assert.equal(parseCents('12.5'), 1250);
  assert.equal(parseCents('-3.99'), -399);
});

test('refuses what is no amount', () => {
  for (const text of ['', 'x', '1,50', '1.234', '1e3', '--1'])
    assert.throws(() => parseCents(text), /not an amount/);
});

test('writes cents with two decimals', () => {
  assert.equal(formatCents(123456), '1234.56');
  assert.equal(formatCents(5), '0.05');
  assert.equal(formatCents(-399), '-3.99');
});
