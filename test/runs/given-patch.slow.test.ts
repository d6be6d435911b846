import { afterAll, beforeAll, expect, test } from 'vitest';
import { collectText } from '../../src/runs/examine/index.ts';
import { openSharedFixture, type SharedFixture } from './examination-world.ts';

const GIT = [
  'diff --git a/lib/add.js b/lib/add.js',
  ...['--- a/lib/add.js', '+++ b/lib/add.js', '@@ -1 +1 @@'],
  ...['-export const add = (a, b) => a - b;', '+export const add = (a, b) => a + b;', ''],
].join('\n');

let shared: SharedFixture;
beforeAll(async () => {
  shared = await openSharedFixture();
});
afterAll(() => shared.close());

test('a patch is taken as people save it, and what cannot be taken is said in plain words', async () => {
  const { bench } = await shared.fixture({
    files: {
      'lib/add.js': 'export const add = (a, b) => a - b;\n',
      'logo.png': '\0\n',
    },
  });
  const usual = await collectText(bench, 'A', GIT);
  expect(usual).toMatchObject({ note: 'given' });
  const others = [GIT.trimEnd(), GIT.replaceAll('\n', '\r\n'), GIT.replaceAll(/ [ab]\//g, ' ')];
  for (const text of others) expect(await collectText(bench, 'A', text)).toEqual(usual);

  const binary = [
    ...['diff --git a/logo.png b/logo.png', 'index 1f2a4b5..2b3c4d6 100644'],
    ...['Binary files a/logo.png and b/logo.png differ', ''],
  ].join('\n');
  expect(await collectText(bench, 'A', binary)).toEqual({
    note: 'changes a binary file without its content, which `git diff --binary` adds',
  });
});
