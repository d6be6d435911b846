import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const main = new URL('../../src/main.ts', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'screen-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const runoff = (argv: readonly string[], input: string) =>
  spawnSync(process.execPath, [main, ...argv], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, RUNOFF_DATA: join(folder, 'data') },
    input,
    encoding: 'utf8',
  });

const OBEYED = /(?!\n)[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u;
const HOSTILE = 'a\u202eb\u200bc\u009b2Jd\u001b[2Je';

test('an answer of `select` shows invisible characters of a request, and has the same values', () => {
  const { stdout } = runoff(['select'], `${JSON.stringify({ id: HOSTILE })}\n`);
  expect(stdout).not.toMatch(OBEYED);
  expect(JSON.parse(stdout)).toMatchObject({ id: HOSTILE, line: 1 });
});

test('an argument that an error repeats cannot control the terminal', () => {
  const { stderr, status } = runoff([HOSTILE], '');
  expect(status).toBe(2);
  expect(stderr).toContain('a<U+202E>b<U+200B>c<U+009B>2Jd<U+001B>[2Je');
  expect(stderr).not.toMatch(OBEYED);
});
