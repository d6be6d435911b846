import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  declaredSubmodules,
  hostObstacle,
  isPlainPath,
  submoduleAddress,
} from '../../../src/core/settings/index.ts';

const PARENT = 'https://git.test/team/app.git';
const addressOf = (url: string, parent: string | null = PARENT) => {
  const found = submoduleAddress(url, parent);
  return found.kind === 'address' ? `${found.host} ${found.url}` : found.why;
};

describe('.gitmodules', () => {
  test('is read as git writes it', () => {
    const text = [
      '# vendored',
      '[submodule "vendor/a"]',
      '\tpath = vendor/a',
      '\turl = https://git.test/a.git',
      '\tbranch = main',
      '\tupdate = !touch /tmp/owned',
      '[submodule "with \\"quotes\\""]',
      '  url=../b.git\r',
      '  path = "vendor/b c"',
      '[submodule "no path"]',
      '\turl = https://git.test/x.git',
      '[core]',
      '\tpath = nowhere',
    ].join('\n');
    expect(declaredSubmodules(text)).toEqual([
      { name: 'vendor/a', path: 'vendor/a', url: 'https://git.test/a.git' },
      { name: 'with "quotes"', path: 'vendor/b c', url: '../b.git' },
    ]);
  });

  test('is data, whatever it contains', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
        for (const { path, url } of declaredSubmodules(`[submodule "a"]\npath=x\nurl=${text}`)) {
          expect(path).not.toBe('');
          expect(url).not.toContain('\n');
        }
      }),
    );
  });
});

describe('the address of a submodule', () => {
  test.each([
    ['../lib.git', 'git.test:443 https://git.test/team/lib.git'],
    ['./../../other/lib', 'git.test:443 https://git.test/other/lib'],
    ['https://Other.test/x/y.git', 'other.test:443 https://other.test/x/y.git'],
    ['https://other.test:8443/x/y/', 'other.test:8443 https://other.test:8443/x/y'],
    ['http://other.test/x.git', 'other.test:443 https://other.test/x.git'],
    ['git@other.test:x/y.git', 'other.test:443 https://other.test/x/y.git'],
    ['ssh://git@other.test:22/x/y.git', 'other.test:443 https://other.test/x/y.git'],
    ['git://other.test/x/y.git', 'other.test:443 https://other.test/x/y.git'],
  ])('%s', (url, expected) => {
    expect(addressOf(url)).toBe(expected);
  });

  test('may be http on the own server of its repository only', () => {
    expect(addressOf('../lib.git', 'http://127.0.0.1:8080/app.git')).toBe(
      '127.0.0.1:8080 http://127.0.0.1:8080/lib.git',
    );
  });

  test.each([
    '/etc/passwd',
    '../../../above.git',
    'file:///home/ada/secret.git',
    'ext::sh -c "touch owned"',
    '--upload-pack=touch owned',
    'https://user:secret@git.test/x.git',
    'https://git.test/x/../../y.git',
    'https://git.test/x?y',
    'https://git.test/',
    'https://[::1]/x.git',
    'ftp://git.test/x.git',
    'transport::https://git.test/x.git',
    '',
  ])('is none for %s', (url) => {
    expect(submoduleAddress(url, PARENT).kind).toBe('none');
  });

  test('is a plain URL of https, if there is one', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 60 }),
        fc.constantFrom('', '../', 'https://', 'git@a.b:'),
        (text, start) => {
          const found = submoduleAddress(start + text, PARENT);
          if (found.kind === 'address')
            expect(found.url).toMatch(/^https:\/\/[a-z\d.-]+(?::\d{1,5})?(?:\/[\w.~+%@-]+)+$/);
        },
      ),
    );
  });
});

test('a submodule may come from the own host and from hosts that are named', () => {
  const access = { wanted: true, ownHost: true, hosts: ['other.test:443'] };
  expect(hostObstacle('git.test:443', 'git.test:443', access)).toBeNull();
  expect(hostObstacle('other.test:443', 'git.test:443', access)).toBeNull();
  expect(hostObstacle('third.test:443', 'git.test:443', access)).toContain(
    'NETWORK_ALLOW=registries,third.test',
  );
  expect(hostObstacle('git.test:443', 'git.test:443', { ...access, ownHost: false })).toContain('git.test');
  expect(hostObstacle('git.test:443', null, access)).toContain('git.test');
});

test('paths of submodules stay inside of the repository', () => {
  expect(['lib', 'a/b c/ü'].every(isPlainPath)).toBe(true);
  for (const path of ['', '/a', 'a/../b', './a', 'a//b', '.git', 'a/.GIT/x', 'a\\b', 'a\nb'])
    expect(isPlainPath(path), path).toBe(false);
});
