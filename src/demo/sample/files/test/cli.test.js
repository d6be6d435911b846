import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { run } from '../src/cli.js';

async function tally(...argv) {
  const out = [];
  const errors = [];
  const code = await run(argv, {
    readFile: (path) => readFile(new URL(`../data/${path}`, import.meta.url), 'utf8'),
    out: (text) => out.push(text),
    error: (text) => errors.push(text),
  });
  return { code, out: out.join('\n'), errors: errors.join('\n') };
}

test('prints the example of the README', async () => {
  const { code, out } = await tally('march.csv');
  assert.equal(code, 0);
  assert.equal(
    out,
    [
      'Category      Count    Amount',
      'groceries         3     87.15',
      'transport         2     53.40',
      'household         1     12.99',
      'TOTAL             6    153.54',
    ].join('\n'),
  );
});

test('prints JSON', async () => {
  const { out } = await tally('march.csv', '--json', '--month', '2024-03');
  assert.equal(JSON.parse(out).total, '153.54');
});

test('explains bad usage', async () => {
  const { code, errors } = await tally();
  assert.equal(code, 2);
  assert.match(errors, /^usage: tally FILE/);
});

test('names what is wrong with a file', async () => {
  const { code, errors } = await tally('missing.csv');
  assert.equal(code, 1);
  assert.match(errors, /^tally: ENOENT/);
});
