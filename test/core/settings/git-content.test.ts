import { describe, expect, test } from 'vitest';
import { absentContent, gitEnvironment, lfsPaths } from '../../../src/core/settings/index.ts';

describe('what stands in a commit only as a reference', () => {
  const GITMODULES = [1, 2, 3, 4]
    .map((n) => `[submodule "m${n}"]\n\tpath = vendor/m${n}\n\turl = https://git.test/m${n}.git\n`)
    .join('');
  const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12\n`;

  test('are submodules, named', () => {
    expect(absentContent({ '.gitmodules': GITMODULES })).toEqual([
      'The submodules vendor/m1, vendor/m2, vendor/m3 and 1 more are not fetched, so their folders are empty: what needs them fails.',
    ]);
  });

  test('are files in Git LFS, if they are pointers in fact', () => {
    const attributes = '*.png filter=lfs diff=lfs merge=lfs -text\nassets/** filter=lfs\n*.ts text\n';
    const paths = ['logo.png', 'assets/a.bin', 'src/a.ts', 'c.png', 'd.png'];
    expect(lfsPaths(attributes, paths)).toEqual(['logo.png', 'c.png', 'assets/a.bin']);
    expect(absentContent({ 'logo.png': POINTER, 'assets/a.bin': 'bytes' })).toEqual([
      'The content of logo.png is in Git LFS and not fetched: these files hold a pointer to it, and what reads them fails.',
    ]);
  });

  test('is nothing in most repositories', () => {
    expect(absentContent({ '.gitattributes': '* text=auto\n' })).toEqual([]);
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
