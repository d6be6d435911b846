import { expect, test } from 'vitest';
import { fileKindOf } from '../../../src/core/likeness/index.ts';

test.each([
  ['src/parse.ts', 'source'],
  ['index.js', 'source'],
  ['docs/example.py', 'source'],
  ['src/debug.ts', 'source'],
  ['packages/core/src/commands/test.ts', 'source'],
  ['test/parse.test.ts', 'test'],
  ['spec/fixtures/in.json', 'test'],
  ['crates/core/ui_tests/a.rs', 'test'],
  ['src/__snapshots__/a.snap', 'test'],
  ['README.md', 'docs'],
  ['docs/images/flow.svg', 'docs'],
  ['.changeset/blue-cat.md', 'docs'],
  ['package.json', 'config'],
  ['.github/workflows/ci.yml', 'config'],
  ['vitest.config.ts', 'config'],
  ['Dockerfile', 'config'],
])('%s is %s', (path, use) => {
  expect(fileKindOf(path, false)).toBe(use);
});

test.each([
  'reproduce.py',
  'debug_parse.js',
  'scripts/verify_fix.sh',
  'solution.py',
  'src/parse.ts.orig',
  'src/parse.rs.bk~',
  'dist/index.js',
  'node_modules/x/index.js',
])('%s is scratch only if a patch creates it', (path) => {
  expect(fileKindOf(path, true)).toBe('scratch');
  expect(fileKindOf(path, false)).not.toBe('scratch');
});

test('a new test or module at a usual place is not scratch', () => {
  expect(fileKindOf('test_parse.py', true)).toBe('test');
  expect(fileKindOf('src/parse/trim.ts', true)).toBe('source');
});
