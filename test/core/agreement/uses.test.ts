import { expect, test } from 'vitest';
import { useOf } from '../../../src/core/agreement/index.ts';

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
  expect(useOf(path, false)).toBe(use);
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
])('%s is scratch where a patch creates it, and no scratch where it was there', (path) => {
  expect(useOf(path, true)).toBe('scratch');
  expect(useOf(path, false)).not.toBe('scratch');
});

test('a new test or module in its place is no scratch', () => {
  expect(useOf('test_parse.py', true)).toBe('test');
  expect(useOf('src/parse/trim.ts', true)).toBe('source');
});
