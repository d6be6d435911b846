import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { pagerOf, showInPager } from '../../../src/adapters/system/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'pager-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('RUNOFF_PAGER is preferred to PAGER, and an empty one or `cat` switches the pager off', () => {
  expect(pagerOf({})).toBe('less');
  expect(pagerOf({ PAGER: 'more' })).toBe('more');
  expect(pagerOf({ PAGER: 'more', RUNOFF_PAGER: 'less -S' })).toBe('less -S');
  expect(pagerOf({ PAGER: 'more', RUNOFF_PAGER: '' })).toBeNull();
  expect(pagerOf({ PAGER: 'cat' })).toBeNull();
});

test('the pager gets the whole text, and options for `less` unless they are set', async () => {
  const file = join(folder, 'shown');
  const env = { PATH: process.env.PATH };
  expect(await showInPager(`cat > '${file}'; echo "$LESS" >> '${file}'`, 'a diff\n', env)).toBe(true);
  expect(readFileSync(file, 'utf8')).toBe('a diff\nFRX\n');
  expect(await showInPager(`echo "$LESS" > '${file}'`, 'x', { ...env, LESS: 'S' })).toBe(true);
  expect(readFileSync(file, 'utf8')).toBe('S\n');
});

test('a pager that reads nothing is no failure; one that is not there shows nothing', async () => {
  const env = { PATH: process.env.PATH };
  expect(await showInPager('true', 'x'.repeat(1_000_000), env)).toBe(true);
  expect(await showInPager('no-such-pager-at-all 2>&-', 'x', env)).toBe(false);
});
