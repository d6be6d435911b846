import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { credentialIn, credentialsInUsr, findHostTool } from '../../../src/adapters/sandbox/index.ts';

describe('toolchains of the operator', () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'runoff-home-'));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  const put = (path: string, text = ''): string => {
    const file = join(home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  const program = (path: string): string => {
    const file = put(path, '#!/bin/sh\n');
    chmodSync(file, 0o755);
    return file;
  };
  const find = (name: string, folders: readonly string[], more: Readonly<Record<string, string>> = {}) => {
    const PATH = [...folders.map((folder) => join(home, folder)), '/usr/bin', '/bin'].join(':');
    return findHostTool(name, { PATH, HOME: home, ...more });
  };

  test('of rustup are the default toolchain behind its proxies', () => {
    program('.cargo/bin/rustup');
    symlinkSync('rustup', join(home, '.cargo/bin/cargo'));
    put('.rustup/settings.toml', 'version = "12"\ndefault_toolchain = "stable-x86_64-unknown-linux-gnu"\n');
    program('.rustup/toolchains/nightly-x86_64-unknown-linux-gnu/bin/cargo');
    const cargo = program('.rustup/toolchains/stable-x86_64-unknown-linux-gnu/bin/cargo');
    const root = dirname(dirname(cargo));
    expect(find('cargo', ['.cargo/bin'])).toEqual({ program: cargo, root, bin: join(root, 'bin') });
  });

  test('of pyenv are the version that it was told to use, behind its shims', () => {
    program('.pyenv/shims/python3');
    put('.pyenv/version', '3.11.7\n');
    program('.pyenv/versions/3.12.1/bin/python3');
    const real = program('.pyenv/versions/3.11.7/bin/python3.11');
    symlinkSync('python3.11', join(dirname(real), 'python3'));
    const root = join(home, '.pyenv/versions/3.11.7');
    expect(find('python3', ['.pyenv/shims'])).toEqual({ program: real, root, bin: join(root, 'bin') });
    const told = find('python3', ['.pyenv/shims'], { PYENV_VERSION: '3.12.1' });
    expect(told).toMatchObject({ root: join(home, '.pyenv/versions/3.12.1') });
    const hostile = find('python3', ['.pyenv/shims'], { PYENV_VERSION: '../../../etc' });
    expect(hostile).toMatchObject({ root: join(home, '.pyenv/versions/3.12.1') });
  });

  test('of nvm and sdkman are the folder of their version', () => {
    const node = program('.nvm/versions/node/v22.1.0/bin/node');
    expect(find('node', ['.nvm/versions/node/v22.1.0/bin'])).toMatchObject({ root: dirname(dirname(node)) });
    const java = program('.sdkman/candidates/java/17.0.2-tem/bin/java');
    symlinkSync('17.0.2-tem', join(home, '.sdkman/candidates/java/current'));
    const found = find('java', ['.sdkman/candidates/java/current/bin']);
    expect(found).toMatchObject({ program: java, root: dirname(dirname(java)) });
  });

  test('are a single file where their folder holds other things: never a home, ~/.local or ~/.cargo', () => {
    for (const path of ['bin/uv', '.local/bin/uv', '.cargo/bin/uv', 'uv', '.bun/bin/uv']) {
      const uv = program(path);
      expect(find('uv', [dirname(path)])).toMatchObject({ program: uv, root: uv });
    }
  });

  test('that lie in /usr need no mount, and none at all where PATH of a sandbox leads', () => {
    expect(find('sh', [])).toBeNull();
    expect(find('no-such-program', [])).toBeNull();
    if (existsSync('/usr/sbin/ldconfig'))
      expect(findHostTool('ldconfig', { PATH: '/usr/sbin' })).toMatchObject({ root: null });
  });

  test.each([
    ['etc/npmrc', '//registry.example.org/:_authToken=x\n'],
    ['conf/settings.xml', '<settings><servers><server><password>x</password></server></servers></settings>'],
    ['.netrc', 'machine x login y password z\n'],
    ['credentials.toml', ''],
    ['lib/.ssh/id_ed25519', ''],
    ['.condarc', 'channels:\n  - https://conda.example.org/t/an-token/main\n'],
    [
      'conf/settings.xml',
      '<settings><servers><server><configuration><httpHeaders></httpHeaders></configuration></server></servers></settings>',
    ],
    ['init.d/corp.gradle', "allprojects { repositories { maven { credentials { password 'x' } } } }\n"],
    ['etc/gemrc', ':sources:\n- https://x:y@gems.example.org/\n'],
    ['go.env', 'GOPROXY=https://x:y@proxy.example.org\n'],
    ['etc/tool.toml', 'mirror = "https://x:y@mirror.example.org"\n'],
  ])('that hold %s are not shown, and the reason is said', (path, text) => {
    program('tool-1/bin/tool');
    const root = join(home, 'tool-1');
    put(`tool-1/${path}`, text);
    expect(find('tool', ['tool-1/bin'])).toEqual({
      refused: expect.stringContaining(`${root} is not shown`),
    });
  });

  test.each([
    ['etc/npmrc', 'prefix=/usr\n; _authToken=example\n'],
    ['conf/settings.xml', '<settings><!-- <password>example</password> --></settings>'],
    ['go.env', 'GOPROXY=https://proxy.golang.org,direct\nGOTOOLCHAIN=auto\n'],
    ['etc/gemrc', 'gem: --no-document\n'],
    ['etc/tool.toml', 'mirror = "https://mirror.example.org/a@b"\n'],
    ['lib/python3/site-packages/pip/conf/.netrc', ''],
  ])('that hold a harmless %s are shown', (path, text) => {
    put(`tool-1/${path}`, text);
    expect(credentialIn(join(home, 'tool-1'))).toBeNull();
  });

  test('in /usr are shown without the files that hold a credential', async () => {
    const hidden = [
      put('usr/etc/npmrc', '//registry.example.org/:_authToken=x\n'),
      put('usr/local/maven/conf/settings.xml', '<password>x</password>'),
      join(home, 'usr/local/tool/etc/.ssh'),
      put('usr/share/tool/npmrc', '_auth=x'),
    ];
    put('usr/local/tool/etc/.ssh/id_rsa');
    put('etc/npmrc', '_auth=x');
    put('usr/local/etc/gemrc', 'gem: --no-document\n');
    symlinkSync(join(home, 'etc/npmrc'), join(home, 'usr/local/.npmrc'));
    symlinkSync(join(home, 'usr/share/tool/npmrc'), join(home, 'usr/local/etc/npmrc'));
    symlinkSync(join(home, 'none'), join(home, 'usr/local/.netrc'));
    expect(new Set(await credentialsInUsr(null, join(home, 'usr')))).toEqual(new Set(hidden));
  });

  test('are shown if a settings file is no file, or its name leads to a folder', () => {
    execFileSync('mkfifo', [join(dirname(put('tool-1/etc/a')), 'pipe.conf')]);
    mkdirSync(join(home, 'tool-1/conf.d'));
    symlinkSync('../conf.d', join(home, 'tool-1/etc/tool.conf'));
    expect(credentialIn(join(home, 'tool-1'))).toBeNull();
  });

  test('are shown, however large a file in them is, and only its beginning is read', () => {
    const file = put('tool-1/etc/large.xml', `<a url="https://mirror.example.org"/>${' '.repeat(2 ** 20)}`);
    truncateSync(file, 2 ** 33);
    expect(credentialIn(join(home, 'tool-1'))).toBeNull();
    put('tool-1/etc/large.xml', `<a url="https://x:y@mirror.example.org"/>`);
    truncateSync(file, 2 ** 33);
    expect(credentialIn(join(home, 'tool-1'))).toBe('etc/large.xml in it may hold a credential.');
  });

  test.runIf(process.getuid?.() === 0)('in /usr that sandboxes cannot enter need no cover', async () => {
    chmodSync(home, 0o755);
    const open = put('usr/local/open/.env');
    chmodSync(dirname(put('usr/local/closed/.env')), 0o700);
    const owner = { uid: 64190, gid: 64190 };
    expect(await credentialsInUsr(owner, join(home, 'usr'))).toEqual([open]);
  });
});
