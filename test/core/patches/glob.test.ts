import { matchesGlob } from 'node:path/posix';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchesAny } from '../../../src/core/patches/index.ts';

test.each([
  ['.github/**', '.github/workflows/ci.yml', true],
  ['.github/**', '.github', false],
  ['.github/**', 'x/.github/a', false],
  ['**/*.lock', 'yarn.lock', true],
  ['**/*.lock', 'a/b/Cargo.lock', true],
  ['**/*.lock', 'a.lock/b', false],
  ['*.lock', 'a/b.lock', false],
  ['src/*/x.ts', 'src/a/x.ts', true],
  ['src/*/x.ts', 'src/a/b/x.ts', false],
  ['src/**/x.ts', 'src/x.ts', true],
  ['src/**/**/x.ts', 'src/a/b/c/x.ts', true],
  ['**', 'anything/at/all', true],
  ['vendor/', 'vendor/a/b', true],
  ['vendor/', 'vendor', false],
  ['/src/a', 'src/a', true],
  ['./src/a', 'src/a', true],
  ['?.ts', 'a.ts', true],
  ['?.ts', 'ab.ts', false],
  ['*', '.env', true],
  ['SRC/*', 'src/a', false],
  ['(a+)+$', '(a+)+$', true],
  ['[ab]', 'a', false],
])('%s and %s: %s', (glob, path, expected) => {
  expect(matchesAny([glob], path)).toBe(expected);
});

test('one of several globs is enough, an empty list matches nothing', () => {
  expect(matchesAny(['a', 'b/**'], 'b/c')).toBe(true);
  expect(matchesAny([], 'b/c')).toBe(false);
});

test('on names without a leading dot it agrees with the matcher of Node', () => {
  const part = fc
    .array(fc.constantFrom('a', 'b', '*', '?'), { minLength: 1, maxLength: 4 })
    .map((chars) => chars.join(''));
  const glob = fc
    .array(
      fc.oneof(
        part.filter((one) => !one.includes('**')),
        fc.constant('**'),
      ),
      { minLength: 1, maxLength: 5 },
    )
    // Node lets a last `**` stand for nothing; ours means what is below a folder.
    .filter((parts) => parts.at(-1) !== '**' || parts.length === 1)
    .map((parts) => parts.join('/'));
  const name = fc
    .array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 4 })
    .map((chars) => chars.join(''));
  const path = fc.array(name, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('/'));
  fc.assert(
    fc.property(glob, path, (pattern, file) => {
      expect(matchesAny([pattern], file)).toBe(matchesGlob(file, pattern));
    }),
    { numRuns: 2_000 },
  );
});

test('hostile globs finish in time', () => {
  const glob = `${'**/a*a*a*a*a*a*a*b/'.repeat(10)}${'*a'.repeat(10)}`;
  expect(
    matchesAny(
      Array.from({ length: 100 }, () => glob),
      `${'a'.repeat(200)}/`.repeat(20),
    ),
  ).toBe(false);
});
