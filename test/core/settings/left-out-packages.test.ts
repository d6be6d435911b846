import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { npmLockPackages } from '../../../src/core/patches/index.ts';
import { detectChecks, nextRecipe, removableInLock } from '../../../src/core/settings/index.ts';

const REFUSED = 'npm error code 128\nnpm error An unknown git error occurred';
const SUITE = { suite: 'git+https://git.invalid/x/suite.git' };
const OWN = { suite: 'git+https://git.invalid/x/suite.git#2b2e' };

interface Manifest {
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly workspaces?: readonly string[];
  readonly overrides?: object;
}

const manifest = (more: Manifest) => JSON.stringify({ scripts: { test: 'node test/run.js' }, ...more });
const lock = (packages: Readonly<Record<string, unknown>>) =>
  JSON.stringify({ lockfileVersion: 3, packages });

const inLockOf = (text: string, own: Manifest = {}) =>
  removableInLock(manifest(own), npmLockPackages(text) ?? {});

/** The set-up that is tried after `setup` was refused a host. */
function nextSetup(setup: string, own: Manifest, packages: Readonly<Record<string, unknown>>) {
  const read = { 'package.json': manifest(own), 'package-lock.json': lock(packages) };
  const detected = detectChecks({ files: Object.keys(read), read });
  const inLock = inLockOf(read['package-lock.json'], own);
  const removable = [...detected.removable, ...inLock];
  const recipe = {
    commands: { setup, test: 'npm test' },
    from: { setup: 'package.json', test: 'package.json' },
  };
  const failed = { recipe, step: 'set-up' as const, output: REFUSED, refusedHosts: ['git.invalid:443'] };
  return nextRecipe({ others: [], named: [], removable }, [failed])?.commands.setup ?? '';
}

describe('what a package for development gets from a code host', () => {
  const runner = { dev: true, dependencies: { ...SUITE, ranged: '^1.0.0' } };
  const usual = { 'node_modules/@x/runner': runner, 'node_modules/ranged': { dev: true } };
  const REPLACED = "npm pkg set --force 'overrides[@x/runner][suite]=file:.left-out' && ";

  test('is not installed, nor what the repository itself has from there for development', () => {
    const own = { devDependencies: { ...OWN, '@x/runner': '^0.5.0' } };
    const without = `npm pkg delete --force 'devDependencies[suite]' && ${REPLACED}npm install --no-audit`;
    expect(nextSetup('npm ci --no-audit', own, usual)).toBe(without);
    // It is tried once.
    expect(nextSetup(without, own, usual)).toBe('');
  });

  test.each<[string, Manifest, Readonly<Record<string, unknown>>]>([
    ['users of the repository get it, too', {}, { 'node_modules/a/node_modules/b': { dependencies: SUITE } }],
    [
      'another package wants it from a registry',
      {},
      { 'node_modules/b': { dev: true, dependencies: { suite: '^1.0.0' } } },
    ],
    ['the package expects it beside itself', {}, { 'node_modules/b': { peerDependencies: { suite: '*' } } }],
    ['the repository is a workspace', { workspaces: ['packages/*'] }, {}],
    ['package.json replaces the package already', { overrides: { '@x/runner': '1.0.0' } }, {}],
  ])('is left alone where %s', (_, own, packages) => {
    expect(nextSetup('npm ci', own, { ...usual, ...packages })).not.toContain('npm pkg set');
  });

  test.each([
    ['pnpm install --frozen-lockfile', usual],
    ['npm ci', { 'node_modules/x;id': runner }],
    ['npm ci', { 'node_modules/runner': { dev: true, dependencies: { 'a$(id)': SUITE.suite } } }],
    ['npm ci', { 'node_modules/runner': 3, 'node_modules/other': null }],
  ])(
    'is left alone where npm does not install, or where a name or the lock file is hostile: %s',
    (setup, packages) => {
      expect(nextSetup(setup, {}, packages)).not.toContain('npm pkg set');
    },
  );

  test('is unknown without a readable lock file', () => {
    expect(inLockOf(lock(usual))).toHaveLength(1);
    for (const text of ['', '[', '{}', '{"packages":3}', lock({ a: 3 })]) expect(inLockOf(text)).toEqual([]);
  });

  test('does not stop the packages of the repository itself from being left out where it is too much for a command', () => {
    const many = Object.fromEntries(
      Array.from({ length: 200 }, (_, at) => [
        `node_modules/runner-number-${at}`,
        { dev: true, dependencies: SUITE },
      ]),
    );
    expect(nextSetup('npm ci', { devDependencies: OWN }, many)).toBe(
      "npm pkg delete --force 'devDependencies[suite]' && npm install",
    );
  });

  describe('with npm itself', () => {
    let folder: string;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'runoff-npm-'));
    });
    afterEach(() => rmSync(folder, { recursive: true, force: true }));
    const write = (path: string, text: string) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    };

    test('is missing for the one that imports it, whose other code works', () => {
      const held = { name: 'runner', version: '1.0.0', main: 'index.js', dependencies: SUITE };
      write('runner/package.json', JSON.stringify(held));
      write('runner/index.js', "module.exports = 'works'; module.exports.load = () => 0;");
      write('runner/suite.js', "require('suite');");
      const pack = ['pack', './runner', '--pack-destination', folder];
      execFileSync('npm', pack, { cwd: folder, stdio: 'ignore' });
      const own = { devDependencies: { ...OWN, runner: 'file:runner-1.0.0.tgz' } };
      const packages = {
        '': own,
        'node_modules/runner': {
          version: '1.0.0',
          resolved: 'file:runner-1.0.0.tgz',
          dev: true,
          dependencies: SUITE,
        },
        'node_modules/suite': {
          version: '1.0.0',
          resolved: `git+ssh://git@git.invalid/x/suite.git#2b2e`,
          dev: true,
        },
      };
      write('package.json', manifest(own));
      write('package-lock.json', lock(packages));
      const setup = nextSetup('npm ci --offline --no-audit --no-fund', own, packages);
      const ended = spawnSync('sh', ['-c', setup], { cwd: folder, encoding: 'utf8' });
      expect(ended, ended.stderr).toMatchObject({ status: 0 });
      const run = (code: string) => spawnSync('node', ['-p', code], { cwd: folder, encoding: 'utf8' });
      expect(run("require('runner')").stdout).toBe('works\n');
      expect(run("require('runner/suite.js')").stderr).toContain("Cannot find module 'suite'");
    });
  });
});
