import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { appliedForm } from '../../../src/core/patches/index.ts';

const patchOf = (from: string, to: string, git = `diff --git ${from} ${to}\n`): string =>
  `${git}--- ${from}\n+++ ${to}\n@@ -1,2 +1,2 @@\n one\n-two\n+Two\n`;
const PATCH = patchOf('a/lib/x.txt', 'b/lib/x.txt');

describe('a patch that people give is read as they mean it', () => {
  test.each([
    ['of git', PATCH, { text: PATCH, strip: 1 }],
    ['without an end of its last line', PATCH.trimEnd(), { text: PATCH, strip: 1 }],
    ['with the line ends of Windows', PATCH.replaceAll('\n', '\r\n'), { text: PATCH, strip: 1 }],
    ['without prefixes', patchOf('lib/x.txt', 'lib/x.txt'), { strip: 0 }],
    ['without prefixes, of `diff -u`', patchOf('x.txt\t2026-01-01', 'x.txt\t2026-01-02', ''), { strip: 0 }],
    ['of two folders', patchOf('old/x.txt', 'new/x.txt', ''), { strip: 1 }],
    [
      'of a new file without prefixes',
      'diff --git lib/y lib/y\nnew file mode 100644\n--- /dev/null\n+++ lib/y\n@@ -0,0 +1 @@\n+y\n',
      { strip: 0 },
    ],
    ['of a new file of `diff -u`', '--- /dev/null\n+++ b/lib/y\n@@ -0,0 +1 @@\n+y\n', { strip: 1 }],
    [
      'whose lines look like names',
      `${PATCH}@@ -9 +9 @@\n--- x\n+++ x\n@@ -20 +20 @@\n-u\n+v\n`,
      { strip: 1 },
    ],
    ['that is prose', 'I would use lastIndexOf.', { text: 'I would use lastIndexOf.\n', strip: 1 }],
  ])('%s', (_, given, form) => {
    expect(appliedForm(given)).toMatchObject(form);
  });

  test('content with Windows line ends is kept', () => {
    const given = PATCH.replace(' one\n', ' one\r\n').replace('Two\n', 'Two\r\n');
    expect(appliedForm(given).text).toBe(given);
  });

  test('any text is taken', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(appliedForm(text).text.endsWith('\n')).toBe(true);
      }),
    );
  });
});
