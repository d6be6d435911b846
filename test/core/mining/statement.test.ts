import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { statementOf } from '../../../src/core/mining/index.ts';
import { cpuMsSince } from '../../world/cpu-time.ts';

describe('the task that a commit message describes', () => {
  test.each([
    ['a title', 'Parse durations without a unit', 'Parse durations without a unit'],
    [
      'the number of a squashed pull request',
      'Parse durations without a unit (#123)',
      'Parse durations without a unit',
    ],
    [
      'a merge: the title of its pull request',
      'Merge pull request #12 from somebody/branch\n\nParse durations without a unit',
      'Parse durations without a unit',
    ],
    [
      'trailers and references',
      'Parse durations without a unit\n\nThey are seconds.\n\nFixes #3\nCloses: owner/name#4\nSigned-off-by: A <a@b.c>\nCo-authored-by: B <b@b.c>\nChange-Id: I1\n(cherry picked from commit 0123456789012345678901234567890123456789)',
      'Parse durations without a unit\n\nThey are seconds.',
    ],
    [
      'diffs, fenced and plain',
      'Parse durations without a unit\n\n```diff\n-a\n+b\n```\nLike so:\n```js\nparse("3")\n```\ndiff --git a/x b/x\nindex 1234567..89abcde 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nThe end.',
      'Parse durations without a unit\n\nLike so:\n```js\nparse("3")\n```\nThe end.',
    ],
    [
      'links to the solution, and names of commits',
      'Parse durations without a unit\n\nSee https://github.com/o/r/pull/12 and https://github.com/o/r/issues/3, since 0123456789abcdef.',
      'Parse durations without a unit\n\nSee  and https://github.com/o/r/issues/3, since .',
    ],
    [
      'letters that count for more',
      'パーサーを修正して単位なしの時間を読む',
      'パーサーを修正して単位なしの時間を読む',
    ],
  ])('%s', (_, message, expected) => {
    expect(statementOf(message)).toBe(expected);
  });

  test.each([
    '',
    'fix',
    'Fix tests',
    'wip',
    'fix: typo',
    'fix(parser): lint',
    'Update code',
    'Merge branch "main" into develop',
    'address review comments',
    '#12',
    'Fixes #12',
    'Signed-off-by: A <a@b.c>',
    '...',
  ])('says nothing: %j', (message) => {
    expect(statementOf(message)).toBeNull();
  });

  test('characters that reach a terminal or hide text are gone or spelled out', () => {
    expect(statementOf('Parse durations\u001b[2J without\u202e a unit\r\nreally')).toBe(
      'Parse durations without<U+202E> a unit\nreally',
    );
  });

  const part = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      '\n',
      ' ',
      '```',
      '```diff',
      'diff --git a/x b/x',
      '@@ -1 +1 @@',
      '+++ b/x',
      '--- a/x',
      'Fixes #1',
      'fix fix fix ',
      'Co-authored-by: A <a@b.c>',
      'https://github.com/o/r/commit/',
      '0123456789012345678901234567890123456789',
      'Merge pull request #1 from a/b',
      'words that say something about the parser',
    ),
  );
  const message = fc.array(part, { maxLength: 60 }).map((parts) => parts.join('\n'));

  test('no message leaves a diff, a trailer, a name of a commit or a control character', () => {
    fc.assert(
      fc.property(message, (text) => {
        const statement = statementOf(text);
        if (statement === null) return;
        expect(statement).not.toMatch(/^(?:diff --git |@@ -\d|\+\+\+ b\/)/m);
        expect(statement).not.toMatch(/^\s*Co-authored-by:/im);
        expect(statement).not.toMatch(/\b[0-9a-f]{40}\b/);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
        expect(statement).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
        expect(statement.trim()).not.toBe('');
      }),
    );
  });

  test('long hostile messages are read in a moment', () => {
    for (const piece of [
      'fix ',
      'https://a/',
      '#',
      '(',
      ' ',
      'a-by:',
      '```\n',
      '- ',
      'Merge branch ',
      '\n\n',
      'a/b#',
    ]) {
      const began = process.cpuUsage();
      statementOf(piece.repeat(200_000));
      expect(cpuMsSince(began)).toBeLessThan(5_000);
    }
  });
});
