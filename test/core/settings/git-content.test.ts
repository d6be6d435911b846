import { describe, expect, test } from 'vitest';
import {
  absentContent,
  gitEnvironment,
  lfsPaths,
  sourceRepositoriesNote,
  withArchiveHosts,
} from '../../../src/core/settings/index.ts';

describe('what stands in a commit only as a reference', () => {
  const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12\n`;

  test('are submodules that were not fetched, by cause', () => {
    const why = '.gitmodules does not name it';
    const four = [1, 2, 3, 4].map((n) => ({ path: `vendor/m${n}`, why }));
    expect(absentContent([...four, { path: 'data', why: 'its URL is not one of https or ssh' }], {})).toEqual(
      [
        'The submodules vendor/m1, vendor/m2, vendor/m3 and 1 more are missing, so their folders are empty, and what needs them fails: .gitmodules does not name it.',
        'The submodule data is missing, so its folder is empty, and what needs it fails: its URL is not one of https or ssh.',
      ],
    );
  });

  test('are submodules that a person can fetch on this machine, unless they are switched off', () => {
    const [one = ''] = absentContent([{ path: 'data', why: 'it is private' }], {}, true);
    expect(one).toMatch(/it is private\. To fetch it yourself: `git submodule update --init --recursive`\.$/);
    const [off = ''] = absentContent([{ path: 'data', why: '`checks.submodules` is false' }], {}, true);
    expect(off).toMatch(/is false\.$/);
  });

  test('are files in Git LFS, if they are pointers in fact', () => {
    const attributes = '*.png filter=lfs diff=lfs merge=lfs -text\nassets/** filter=lfs\n*.ts text\n';
    const paths = ['logo.png', 'assets/a.bin', 'src/a.ts', 'c.png', 'd.png'];
    expect(lfsPaths(attributes, paths)).toEqual(['logo.png', 'c.png', 'assets/a.bin']);
    expect(absentContent([], { 'logo.png': POINTER, 'assets/a.bin': 'bytes' })).toEqual([
      'The content of logo.png is in Git LFS, which Runoff does not fetch: the files are pointers to it, and what reads them fails. Commit what build and tests need without LFS, or leave out the tests that need it (`checks.test`).',
    ]);
  });

  test('is nothing in most repositories', () => {
    expect(absentContent([], { '.gitattributes': '* text=auto\n' })).toEqual([]);
  });
});

test('git fetches by https what is named by ssh, and nothing that is no host', () => {
  const { GIT_CONFIG_COUNT, ...env } = gitEnvironment([
    '"a": "git@git.test:x/a.git", "b": "git@Git.test:y/b.git"',
    'git@evil";sh:x git@localhost:x git@10.0.0.1:x git@a.test:22/x',
  ]);
  expect(GIT_CONFIG_COUNT).toBe('3');
  expect(env).toMatchObject({
    GIT_CONFIG_KEY_0: 'url.https://.insteadOf',
    GIT_CONFIG_VALUE_0: 'ssh://git@',
    GIT_CONFIG_VALUE_1: 'git://',
    GIT_CONFIG_KEY_2: 'url.https://git.test/.insteadOf',
    GIT_CONFIG_VALUE_2: 'git@git.test:',
  });
});

describe('the source repositories that set-up needs', () => {
  test.each([
    ['npm', 'npm error command git --no-replace-objects ls-remote ssh://git@git.test/x/a.git', '`x/a`'],
    ['npm, as an archive', 'npm error 403 GET https://git.test/x/a/tar.gz/0123abc', '`x/a`'],
    ['pip', 'Running command git clone --quiet https://git.test/x/a /tmp/build', '`x/a`'],
    ['Cargo', 'Unable to update https://git.test/x/a.git?branch=b#0123', '`x/a`'],
    ['Composer', 'from dist: The "https://git.test/repos/x/a/zipball/0123abc" file could not be', '`x/a`'],
    ['several times', 'git fetch git://git.test/x/a\ngit fetch https://git.test/x/a.git', '`x/a`'],
  ])('are named from the output of %s', (_, output, names) => {
    expect(sourceRepositoriesNote(output, ['git.test'])).toBe(
      `A dependency comes from sources there, not from a package registry: ${names}.`,
    );
  });

  test.each([
    ['another host', 'git ls-remote https://other.test/x/a.git'],
    ['a download', 'gyp http GET https://git.test/release/v20/headers.tar'],
    ['no name', 'git ls-remote https://git.test/`x`/$(id).git'],
    ['a line without end', `git https://git.test/x/a ${'x'.repeat(3_000)}`],
  ])('are none for %s', (_, output) => {
    expect(sourceRepositoriesNote(output, ['git.test'])).toBeNull();
  });

  test('are allowed together with the hosts of their archives, which package managers ask afterwards', () => {
    const both = ['github.com', 'codeload.github.com'];
    expect(withArchiveHosts(['git.test', 'github.com'])).toEqual(['git.test', ...both]);
    const composer = ['api.github.com', 'codeload.github.com', 'github.com'];
    expect(withArchiveHosts(['api.github.com'])).toEqual(composer);
    expect(withArchiveHosts([...both].reverse())).toEqual([...both].reverse());
  });
});
