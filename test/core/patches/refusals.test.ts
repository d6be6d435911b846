import { describe, expect, test } from 'vitest';
import { type ParseOptions, parsePatch } from '../../../src/core/patches/index.ts';
import { Git, type Tree } from '../git.ts';

const NONE = '0'.repeat(40);
const SHA = 'a'.repeat(40);

/** Git itself will not make most of these trees, so the list is written by hand. */
const listed = (path: string, mode = '100644') => `:000000 ${mode} ${NONE} ${SHA} A\0${path}\0`;
const reasons = (raw: string, text = '', options?: ParseOptions): string => {
  const parsed = parsePatch(raw, text, options);
  return parsed.kind === 'refused' ? parsed.reasons.join('\n') : 'accepted';
};

/** A link made by real git. */
const link = (path: string, target: string): string => {
  using git = new Git();
  const { raw, text } = git.diff({}, { [path]: { link: target } });
  return reasons(raw, text);
};

describe('paths that no candidate may write', () => {
  test.each([
    ['.git/config', 'reaches into `.git`'],
    ['sub/.GIT/hooks/pre-commit', 'reaches into `.git`'],
    ['git~1/config', 'reaches into `.git`'],
    ['.git. ./config', 'reaches into `.git`'],
    ['.git::$INDEX_ALLOCATION/config', 'reaches into `.git`'],
    ['.g\u200cit/config', 'reaches into `.git`'],
    ['.gitmodules', 'submodules are not accepted'],
    ['sub/.GitModules', 'submodules are not accepted'],
    ['../outside', 'a `.` or `..` component'],
    ['a/../../b', 'a `.` or `..` component'],
    ['/etc/passwd', 'is not a relative path'],
    ['', 'is not a relative path'],
    ['a//b', 'an empty component'],
    ['a\\b', 'a backslash'],
    ['a\nb', 'a control, invisible or direction-changing character'],
    ['a\u202eb', 'a control, invisible or direction-changing character'],
    ['a\u{e0041}b', 'a control, invisible or direction-changing character'],
    ['a\ufffdb', 'is not valid UTF-8'],
    ['.github/workflows/ci.yml', 'is a GitHub Actions workflow'],
    ['.GitHub/Workflows/x/ci.yml', 'is a GitHub Actions workflow'],
    ['é'.repeat(128), 'a component of more than 255 bytes'],
    ['ab/'.repeat(400), 'is longer than 1024 bytes'],
  ])('%j is refused: %s', (path, why) => {
    expect(reasons(listed(path))).toContain(why);
  });

  test.each([
    '.gitignore',
    '.gitattributes',
    'git/x',
    'a.git/x',
    '.github/ISSUE_TEMPLATE.md',
    '…',
    'a..b',
    'é'.repeat(127),
  ])('%j is accepted', (path) => {
    expect(reasons(listed(path))).toMatch(/has no section in the patch text/);
  });

  test('are displayed without hidden characters', () => {
    expect(reasons(listed('a\u202e\n"b'))).toContain('"a\\u{202e}\\n\\"b"');
  });
});

describe('kinds of files', () => {
  test.each([
    ['160000', 'is a submodule'],
    ['040000', 'mode 040000'],
    ['100600', 'mode 100600'],
    ['100664', 'mode 100664'],
  ])('mode %s is refused', (mode, why) => {
    expect(reasons(listed('x', mode))).toContain(why);
  });

  test('a submodule cannot be removed', () => {
    expect(reasons(`:160000 000000 ${SHA} ${NONE} D\0lib\0`)).toContain('is a submodule');
  });
});

describe('symbolic links', () => {
  test.each([
    ['a', '/etc/passwd', 'to an absolute path'],
    ['a', 'C:/windows', 'to an absolute path'],
    ['a', '..', 'to a path outside the repository'],
    ['sub/a', '../../x', 'to a path outside the repository'],
    ['sub/a', 'b/../../../x', 'to a path outside the repository'],
    // `d` may be a link to `.`, and then this is the folder above the repository.
    ['a', 'd/../x', 'to a path outside the repository'],
    ['a', '.git/hooks', 'into `.git`'],
    ['sub/a', '../.GIT', 'into `.git`'],
    ['a', 'x\ny', 'an unreadable target'],
    ['a', 'x\\y', 'an unreadable target'],
  ])('%s -> %j is refused: %s', (path, target, why) => {
    expect(link(path, target)).toContain(why);
  });

  test.each([
    ['a', 'b'],
    ['a', './b/c'],
    ['sub/deep/a', '../../x'],
    ['sub/a', '..'],
    ['a', '.'],
  ])('%s -> %s stays inside', (path, target) => {
    expect(link(path, target)).toBe('accepted');
  });

  test('a file that becomes a link is checked, too', () => {
    using git = new Git();
    const { raw, text } = git.diff({ a: 'x\n' }, { a: { link: '/etc/shadow' } });
    expect(reasons(raw, text)).toContain('to an absolute path');
  });
});

describe('names with invisible characters', () => {
  const fate = (path: string): string => reasons(listed(path), '');
  test.each([
    'fe0f',
    '34f',
    'e0100',
    '180b',
    '17b4',
    '2800',
    'ad',
    '61c',
    '115f',
    '3164',
    'ffa0',
    '200b',
    '2060',
    '2064',
    '206f',
    'feff',
    'e0041',
    '1d173',
    '2028',
    '202e',
    'fff9',
    '85',
  ])('U+%s is refused, in files and in folders', (point) => {
    const char = String.fromCodePoint(Number.parseInt(point, 16));
    const why = 'has a control, invisible or direction-changing character';
    expect(fate(`src/a${char}.ts`)).toContain(why);
    expect(fate(`s${char}rc/a.ts`)).toContain(`\\u{${point}}`);
  });
  test('an emoji variation selector is accepted only after an emoji', () => {
    const why = /invisible/;
    expect(fate('docs/\u2764\ufe0f.md')).not.toMatch(why);
    expect(fate('docs/1\ufe0f\u20e3.md')).not.toMatch(why);
    expect(fate('docs/1\ufe0f.md')).toMatch(why);
    expect(fate('docs/\u2764\ufe0f\ufe0f.md')).toMatch(why);
  });
});

describe('names that are equal on some file systems', () => {
  const between = (before: Tree, after: Tree, options?: ParseOptions): string => {
    using git = new Git();
    const { raw, text } = git.diff(before, after);
    return reasons(raw, text, options);
  };

  test('two new files that differ in case', () => {
    expect(between({}, { 'src/A.ts': 'x', 'src/a.ts': 'y' })).toContain('is the same file as');
  });
  test('two new files that differ in a letter that folds to another', () => {
    expect(between({}, { 'stra\u00dfe.ts': 'x', 'strasse.ts': 'y' })).toContain('is the same file as');
    expect(between({}, { '\u212a.ts': 'x', 'k.ts': 'y' })).toContain('is the same file as');
  });
  test('two new files that differ in how an emoji is drawn', () => {
    expect(between({}, { '\u2764.md': 'x', '\u2764\ufe0f.md': 'y' })).toContain('is the same file as');
  });
  test('two new files that differ in Unicode form', () => {
    expect(between({}, { '\u00e9.ts': 'x', 'e\u0301.ts': 'y' })).toContain('is the same file as');
  });
  test('a new file and a folder', () => {
    expect(between({}, { 'Src/a.ts': 'x', src: 'y' })).toContain('is the same file as');
  });
  test('a new file and one that the base has', () => {
    const options = { baseFiles: ['README.md', 'src/index.ts'] };
    expect(between({}, { 'readme.md': 'x' }, options)).toContain('is the same file as "README.md"');
    expect(between({}, { 'src/other.ts': 'x' }, options)).toBe('accepted');
  });
  test('a third file beside two of the base, of which one may be edited', () => {
    const before = { 'net/xt_DSCP.c': 'target\n', 'net/xt_dscp.c': 'match\n' };
    const options = { baseFiles: Object.keys(before) };
    const edited = { ...before, 'net/xt_dscp.c': 'match\nmore\n' };
    expect(between(before, edited, options)).toBe('accepted');
    expect(between(before, { 'net/xt_DSCP.c': 'all\n' }, options)).toBe('accepted');
    expect(between(before, { ...edited, 'net/XT_dscp.c': 'x' }, options)).toContain(
      '"net/XT_dscp.c" is the same',
    );
    expect(between(before, { ...before, NET: 'x' }, options)).toContain('"NET" is the same file as');
    const linked = { ...before, 'net/xt_dscp.c': { link: 'other.c' } };
    expect(between(before, linked, options)).toContain('"net/xt_dscp.c" is the same file as');
  });
  test('a file whose name changes in case only may be renamed', () => {
    expect(between({ 'README.md': 'x\n' }, { 'readme.md': 'x\n' }, { baseFiles: ['README.md'] })).toBe(
      'accepted',
    );
  });
  test('a file may become a folder', () => {
    expect(between({ a: 'x' }, { 'a/b': 'x' }, { baseFiles: ['a'] })).toBe('accepted');
  });
});

describe('sizes', () => {
  test('too many files, and too much text', () => {
    const raw = listed('a') + listed('b') + listed('c');
    expect(reasons(raw, '', { limits: { files: 2 } })).toBe(
      'The patch changes 3 files; at most 2 are accepted.',
    );
    expect(reasons(raw, 'x'.repeat(11), { limits: { textLength: 10 } })).toBe(
      'The patch is longer than 10 characters.',
    );
  });
  test('reasons are counted, and some shown', () => {
    const raw = Array.from({ length: 30 }, (_, i) => listed(`../${i}`)).join('');
    const parsed = parsePatch(raw, '');
    expect(parsed.kind === 'refused' && parsed.reasons.length).toBe(21);
    expect(parsed.kind === 'refused' && parsed.reasons.at(-1)).toBe('There are 10 more reasons.');
  });
});

test('a list that is truncated or repeats a file is rejected', () => {
  expect(reasons(listed('a').slice(0, -1))).toContain('ends within an entry');
  expect(reasons(`${listed('a')}x\0`)).toContain('without a path');
  expect(reasons('junk\0a\0')).toContain('is unreadable');
  expect(reasons(listed('a') + listed('a'))).toContain('listed twice');
});
