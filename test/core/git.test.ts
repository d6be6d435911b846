import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Git, plainDiff } from './git.ts';

const TEXT = fc
  .array(fc.constantFrom('a', 'b', 'c', '', '  x', '+', '-', '@@', '\\ No newline'), { maxLength: 14 })
  .chain((lines) => fc.constantFrom(lines.join('\n'), lines.map((line) => `${line}\n`).join('')));
const TREE = fc.dictionary(fc.constantFrom('a.js', 'b/c.test.ts', 'b/d', 'b.js'), TEXT, { maxKeys: 4 });

test('patches of tests that start no git are as good as those of git', () => {
  fc.assert(
    fc.property(TREE, TREE, (before, after) => {
      using git = new Git();
      const real = git.diff(before, after);
      const plain = plainDiff(before, after);
      expect(plain?.raw).toBe(real.raw);
      // Of several shortest differences either may show another one.
      expect(git.apply(plain?.text ?? '')).toBe(git.tree('b'));
    }),
    { numRuns: 10 },
  );
});

test('only plain texts with plain names are compared without git', () => {
  for (const entry of [{ executable: 'x' }, { link: 'x' }, Buffer.from('x'), 'a\0b'])
    expect(plainDiff({}, { a: entry })).toBeNull();
  expect(plainDiff({}, { 'ä "b".js': 'x' })).toBeNull();
});
