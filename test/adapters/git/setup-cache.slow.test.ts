import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withNodeHeaders } from '../../../src/core/settings/index.ts';
import type { BaseCheckout, Sandbox } from '../../../src/ports/index.ts';
import { type Files, type GitWorld, git, LIMITS, openGitWorld, writeFiles } from './world.ts';

const LOCK = JSON.stringify({
  name: 'shop',
  lockfileVersion: 3,
  requires: true,
  packages: {
    '': { name: 'shop', workspaces: ['packages/*'] },
    'node_modules/cart': { resolved: 'packages/cart', link: true },
    'packages/cart': { version: '1.0.0' },
  },
});
/** The same with one package more. */
const lockedAt = (resolved: string): string =>
  JSON.stringify({
    ...JSON.parse(LOCK),
    packages: { ...JSON.parse(LOCK).packages, 'node_modules/x': { version: '1.0.0', resolved } },
  });
const PNPM = 'pnpm install --frozen-lockfile';
const PNPM_LOCK =
  "lockfileVersion: '9.0'\npackages:\n  load-json-file@4.0.0:\n    dependencies:\n      json-file: 4.0.0\n      cart: link:packages/cart\n";
const SHOP: Files = {
  'package.json': JSON.stringify({ name: 'shop', private: true, workspaces: ['packages/*'] }),
  'package-lock.json': LOCK,
  'packages/cart/package.json': JSON.stringify({ name: 'cart', version: '1.0.0' }),
  '.gitignore': 'node_modules\ndist/\n',
  'a.txt': 'one\n',
};
const INSTALL = 'npm ci';
/** What the stand-in for npm does unless a test says otherwise. */
const PLAIN = `mkdir -p node_modules/left; echo '{"name":"left"}' > node_modules/left/package.json; date +%N > node_modules/stamp`;

describe('dependencies are installed', () => {
  let world: GitWorld;
  beforeAll(() => {
    world = openGitWorld({ overlay: true });
  });
  afterAll(() => world.close());

  /** Workspaces in which the installer is `script`, run in the real sandbox; `installs` counts. */
  function shop(script = PLAIN, options: { command?: string; versions?: string } = {}) {
    const { command = INSTALL, versions = 'v1' } = options;
    const seen = { installs: 0 };
    const sandbox: Sandbox = {
      probe: world.sandbox.probe,
      async exec(spec) {
        const line = spec.argv[2] ?? '';
        if (/(?:npm|yarn) --version/.test(line)) {
          return { exitCode: 0, stopped: null, stdout: `${versions}\n`, stderr: '', truncated: false, ms: 1 };
        }
        if (line !== withNodeHeaders(command)) return world.sandbox.exec(spec);
        seen.installs += 1;
        return world.sandbox.exec({ ...spec, argv: ['sh', '-c', script] });
      },
    };
    const workspaces = world.another({ sandbox });
    const install = async (source: { path: string; sha: string }) => {
      const base = await workspaces.prepare({ kind: 'local', path: source.path }, source.sha);
      const done = await workspaces.install(base, { command, egress: [], limits: LIMITS });
      if (done.kind !== 'ready') throw new Error(`${done.why} ${done.tail}`);
      return done.base;
    };
    return { seen, workspaces, install };
  }

  function next(path: string, files: Files): { path: string; sha: string } {
    writeFiles(path, files);
    git(path, 'add', '-A', '-f');
    git(path, 'commit', '-q', '-m', 'Next');
    return { path, sha: git(path, 'rev-parse', 'HEAD') };
  }
  let areas = 0;
  async function collectedOver(workspaces: GitWorld['workspaces'], base: BaseCheckout, line: string) {
    const area = await workspaces.open(base, `cache-${++areas}`);
    const { stdout } = await world.run(area, line);
    const collected = await workspaces.collect(base, area);
    await workspaces.remove(area);
    return { stdout, collected };
  }

  test.skipIf(!existsSync('/usr/bin/npm'))(
    'by the real npm, for two commits with the same lock file',
    async () => {
      const first = world.repository(SHOP);
      const second = next(first.path, { 'a.txt': 'two\n' });
      const install = async (source: typeof first) => {
        const base = await world.workspaces.prepare({ kind: 'local', path: source.path }, source.sha);
        return world.workspaces.install(base, { command: INSTALL, egress: [], limits: LIMITS });
      };
      const [one, two] = [await install(first), await install(second)];
      if (one.kind !== 'ready' || two.kind !== 'ready') throw new Error(JSON.stringify([one, two]));
      expect(two.base.layers).toEqual(one.base.layers);
      const { stdout, collected } = await collectedOver(
        world.workspaces,
        two.base,
        'cat a.txt; readlink node_modules/cart',
      );
      expect(stdout).toBe('two\n../packages/cart\n');
      expect(collected).toEqual({ kind: 'empty' });
    },
  );

  test('once for commits with the same lock file, in sequence and in parallel', async () => {
    const { seen, install, workspaces } = shop();
    const first = world.repository(SHOP);
    const commits = [first, next(first.path, { 'a.txt': 'two\n' }), next(first.path, { 'b.txt': 'b\n' })];
    const bases = await Promise.all(commits.map(install));
    expect(seen.installs).toBe(1);
    for (const base of bases) expect(base.layers).toEqual(bases[0]?.layers);
    await install(next(first.path, { 'c.txt': 'c\n' }));
    expect(seen.installs).toBe(1);
    const last = bases[2] as BaseCheckout;
    const { stdout, collected } = await collectedOver(workspaces, last, 'cat a.txt b.txt; ls node_modules');
    expect(stdout).toBe('two\nb\nleft\nstamp\n');
    expect(collected).toEqual({ kind: 'empty' });
  });

  test("so that a candidate's changes to them stay with that candidate", async () => {
    const { install, workspaces } = shop();
    const first = world.repository(SHOP);
    const base = await install(first);
    await collectedOver(
      workspaces,
      base,
      'echo evil > node_modules/left/package.json; rm node_modules/stamp',
    );
    const second = await install(next(first.path, { 'a.txt': 'two\n' }));
    const { stdout } = await collectedOver(
      workspaces,
      second,
      'cat node_modules/left/package.json; ls node_modules',
    );
    expect(stdout).toBe('{"name":"left"}\nleft\nstamp\n');
  });

  const changed: readonly [string, Files][] = [
    ['lock file', { 'package-lock.json': LOCK.replace('1.0.0', '1.0.1') }],
    ['manifest', { 'packages/cart/package.json': JSON.stringify({ name: 'cart', version: '1.0.1' }) }],
    ['.gitignore', { '.gitignore': 'node_modules\n' }],
    ['.npmrc', { '.npmrc': 'omit=dev\n' }],
  ];
  test.each(changed)('again when the %s changed', async (_, files) => {
    const { seen, install } = shop();
    const first = world.repository(SHOP);
    const one = await install(first);
    const two = await install(next(first.path, files));
    expect(seen.installs).toBe(2);
    expect(two.layers).not.toEqual(one.layers);
  });

  test('again for other versions of the tools, and for another repository', async () => {
    const first = world.repository(SHOP);
    const older = shop();
    await older.install(first);
    const newer = shop(PLAIN, { versions: 'v2' });
    await newer.install(next(first.path, { 'a.txt': 'two\n' }));
    expect(newer.seen.installs).toBe(1);
    const other = await older.install(world.repository(SHOP));
    expect(older.seen.installs).toBe(2);
    expect(other.layers[0]).toContain(other.repositoryKey);
  });

  const commitOnly: readonly [string, { files?: Files; script?: string; command?: string }][] = [
    ['the command is no known install', { command: 'make deps' }],
    ['the command does more than install', { command: 'npm ci && npm run build' }],
    ['the install may change the lock file', { command: 'npm install' }],
    ['there is no lock file', { files: { 'package-lock.json': '', 'x/package-lock.json': LOCK } }],
    ...['postinstall', 'prepare', 'install'].map(
      (name) =>
        [
          `the repository has a script ${name}`,
          { files: { 'package.json': JSON.stringify({ scripts: { [name]: 'true' } }) } },
        ] as [string, { files: Files }],
    ),
    [
      'a package of the repository has a script',
      { files: { 'packages/cart/package.json': JSON.stringify({ scripts: { prepare: 'true' } }) } },
    ],
    ['a manifest is no JSON', { files: { 'packages/cart/package.json': '{' } }],
    [
      'a dependency is a folder',
      { files: { 'package.json': JSON.stringify({ dependencies: { x: '../x' } }) } },
    ],
    [
      'a dependency is an archive of the repository',
      { files: { 'package.json': JSON.stringify({ dependencies: { x: 'file:x.tgz' } }) } },
    ],
    [
      'the lock file takes a package from an archive of the repository, which no manifest says',
      { files: { 'package-lock.json': lockedAt('file:x.tgz'), 'x.tgz': 'one' } },
    ],
    ['the lock file takes a package from a path', { files: { 'package-lock.json': lockedAt('x.tgz') } }],
    [
      'the lock file spells that with escapes',
      { files: { 'package-lock.json': lockedAt('file:x.tgz').replace('resolved', '\\u0072esolved') } },
    ],
    [
      'the lock file takes a package from git',
      { files: { 'package-lock.json': lockedAt(`git+ssh://git@example.com/a/b.git#${'1'.repeat(40)}`) } },
    ],
    [
      'a copy of a package of the repository is installed',
      { command: PNPM, files: { 'pnpm-lock.yaml': `${PNPM_LOCK}  cart@file:packages/cart:\n` } },
    ],
    [
      'a manifest is in a format that is not read',
      { command: PNPM, files: { 'pnpm-lock.yaml': PNPM_LOCK, 'package.yaml': 'name: shop\n' } },
    ],
    [
      'programs of a package are a folder of the repository',
      { files: { 'packages/cart/package.json': JSON.stringify({ directories: { bin: 'bin' } }) } },
    ],
    ['settings name a program for git', { files: { '.npmrc': 'git=./x.sh\n' } }],
    ['settings name a folder of packages', { files: { '.npmrc': 'audit=false\ncache = ./packages\n' } }],
    ['settings name a program', { files: { '.npmrc': 'node-options=--require ./x.js\n' } }],
    ['something is compiled from the repository', { files: { 'binding.gyp': '{}' } }],
    [
      'a package that it installs runs a script, which may read the repository',
      { script: `${PLAIN}; echo '{"scripts":{"postinstall":"x"}}' > node_modules/left/package.json` },
    ],
    [
      'a package spells its script with escapes',
      { script: `${PLAIN}; echo '{"scripts":{"post\\u0069nstall":"x"}}' > node_modules/left/package.json` },
    ],
    ['it changed a file of the repository', { script: `${PLAIN}; echo more >> a.txt` }],
    ['it rewrote a file of the repository as it was', { script: `${PLAIN}; echo one > a.txt` }],
    ['it removed a file of the repository', { script: `${PLAIN}; rm a.txt` }],
    ['it made a file that is not ignored', { script: `${PLAIN}; echo x > made.txt` }],
  ];
  test.each(commitOnly)('for one commit only if %s', async (_, { files = {}, script, command }) => {
    const { seen, install } = shop(script, command ? { command } : {});
    const first = world.repository({ ...SHOP, ...files });
    if (files['package-lock.json'] === '') git(first.path, 'rm', '-q', 'package-lock.json');
    const start = next(first.path, { 'b.txt': 'b\n' });
    const one = await install(start);
    expect((await install(start)).layers).toEqual(one.layers);
    expect(seen.installs).toBe(1);
    const two = await install(next(first.path, { 'c.txt': 'c\n' }));
    expect(two.layers).not.toEqual(one.layers);
    expect(seen.installs).toBe(2);
  });

  test.each([
    ['npm, from a registry', INSTALL, { 'package-lock.json': lockedAt('https://example.com/x.tgz') }],
    ['pnpm', PNPM, { 'pnpm-lock.yaml': PNPM_LOCK }],
    [
      'yarn, with a patch of its own',
      'yarn install --immutable',
      {
        'yarn.lock':
          '"typescript@patch:typescript@npm%3A^5#optional!builtin<compat/typescript>":\n  version: 5.9.0\n',
      },
    ],
    [
      'the older yarn',
      'yarn --frozen-lockfile',
      { 'yarn.lock': 'x@^1.0.0:\n  version "1.0.0"\n  resolved "https://example.com/x.tgz#abc"\n' },
    ],
  ])('once for all commits by %s', async (_, command, files) => {
    const { seen, install } = shop(PLAIN, { command });
    const first = world.repository({ ...SHOP, ...files });
    await install(first);
    await install(next(first.path, { 'a.txt': 'two\n' }));
    expect(seen.installs).toBe(1);
  });

  const harmless = `${PLAIN}; mkdir node_modules/esbuild; echo '{"scripts":{"postinstall":"x"}}' > node_modules/esbuild/package.json`;
  test.each([
    ['that is known to read nothing', harmless, 'npm ci'],
    [
      'that the command forbids',
      `${PLAIN}; echo '{"scripts":{"postinstall":"x"}}' > node_modules/left/package.json`,
      'npm ci --ignore-scripts',
    ],
  ])('once for all commits in spite of a script %s', async (_, script, command) => {
    const { seen, install } = shop(script, { command });
    const first = world.repository(SHOP);
    await install(first);
    await install(next(first.path, { 'a.txt': 'two\n' }));
    expect(seen.installs).toBe(1);
  });

  test('without covering a file that a commit has in their place', async () => {
    const { seen, install, workspaces } = shop();
    const first = world.repository(SHOP);
    await install(first);
    const second = next(first.path, { 'node_modules/kept.txt': 'tracked\n' });
    const base = await install(second);
    expect(seen.installs).toBe(2);
    const { stdout } = await collectedOver(workspaces, base, 'cat node_modules/kept.txt');
    expect(stdout).toBe('tracked\n');
  });

  test('without a layer after a failed install', async () => {
    const { install } = shop('echo half > node_modules; exit 1');
    const first = world.repository(SHOP);
    await expect(install(first)).rejects.toThrow('exit code 1');
    const { install: again, seen } = shop();
    const base = await again(first);
    expect(seen.installs).toBe(1);
    expect(readdirSync(join(world.dataDir, 'layers', base.repositoryKey))).toHaveLength(1);
  });
});
