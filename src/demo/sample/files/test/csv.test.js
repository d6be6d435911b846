import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCsv } from '../src/csv.js';

test('splits lines into cells', () => {
  assert.deepEqual(parseCsv('a,b,c\n1,2,3\n'), [
    ['a', 'b', 'c'],
    ['1', '2', '3'],
  ]);
});

test('takes CRLF line ends and a byte order mark', () => {
  assert.deepEqual(parseCsv('\uFEFFa,b\r\n1,2\r\n'), [
    ['a', 'b'],
    ['1', '2'],
  ]);
});

test('skips blank lines', () => {
  assert.deepEqual(parseCsv('a,b\n\n1,2\n   \n'), [
    ['a', 'b'],
    ['1', '2'],
  ]);
});

test('keeps empty cells', () => {
  assert.deepEqual(parseCsv('a,,c\n,,\n'), [
    ['a', '', 'c'],
    ['', '', ''],
  ]);
});

test('takes the quotes off a quoted cell', () => {
  assert.deepEqual(parseCsv('"a","b"\n"1",2\n'), [
    ['a', 'b'],
    ['1', '2'],
  ]);
});

test('trims spaces around unquoted cells', () => {
  assert.deepEqual(parseCsv('a , b\n 1,2 \n'), [
    ['a', 'b'],
    ['1', '2'],
  ]);
});

test('gives no rows for an empty text', () => {
  assert.deepEqual(parseCsv(''), []);
});
