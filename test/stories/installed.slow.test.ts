import { execFileSync, spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { RunDocument } from '../../src/core/reports/index.ts';
import { ISSUE } from '../../src/demo/sample/index.ts';
import { type NpmRegistry, openNpmRegistry } from '../world/npm-registry.ts';
import { atTerminal, type Terminal } from '../world/terminal.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** Half a gigabyte is unpacked, which takes minutes on a busy machine. */
const INSTALL_MS = 15 * 60_000;

/** A base, two coders and their examination, and a database that is made for them: seconds on an idle machine. */
const FIRST_STEPS_MS = 30 * 60_000;
const NOBODY = { uid: 65_534, gid: 65_534 };

let home = '';
let registry: NpmRegistry;
let tarball = '';
let commit = '';

/** Runs npm as somebody does who has only the package and a registry. */
const npm = (folder: string, ...words: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn('npm', [...words, '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        HOME: home,
        npm_config_cache: join(home, 'cache'),
        npm_config_registry: registry.url,
        npm_config_update_notifier: 'false',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (said += String(data)));
    child.on('close', (code) => (code === 0 ? resolve(said) : reject(new Error(`npm: ${code}\n${said}`))));
  });

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'runoff-installed-'));
  await chmod(home, 0o755);
  registry = await openNpmRegistry(ROOT);
  commit = execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim();
  // As `npm run pack` starts it, without a set-up that would see the tests at work in `node_modules`.
  tarball = execFileSync(process.execPath, [join(ROOT, 'scripts/pack.mjs'), home], {
    encoding: 'utf8',
  }).trim();
}, INSTALL_MS);
afterAll(async () => {
  await registry.close();
  await rm(home, { recursive: true, force: true, maxRetries: 5 });
}, INSTALL_MS);

const SETTINGS = stringify({
  candidates: 2,
  checks: { build: 'node scripts/build.mjs', test: 'node --test' },
  coders: ['anthropic/scripted-heron', 'openai/scripted-otter'].map((model) => ({ agent: 'builtin', model })),
});

/** What a newcomer does first: look at version and help, and check the machine. */
async function firstLook(me: Terminal): Promise<void> {
  const version = await me.runoff('--version');
  expect(version).toMatchObject({ code: 0, err: '' });
  const { version: own } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  expect(version.out).toContain(`runoff ${own} (commit ${commit}`);
  expect(version.out).toMatch(/, Node v24\..*\nagents: builtin, /);

  expect(await me.runoff('--help')).toMatchObject({ code: 0, out: expect.stringContaining('Usage: runoff') });

  const checked = await me.runoff('doctor', '--json');
  const { findings } = JSON.parse(checked.out) as { findings: { name: string; state: string }[] };
  expect(findings.filter(({ state }) => state === 'fault')).toEqual([]);
  expect(checked.code).toBe(0);
}

/** Then try the repository's commands, and start a run. */
async function firstSteps(me: Terminal): Promise<void> {
  await firstLook(me);
  const prepared = await me.runoff('prepare');
  expect(prepared).toMatchObject({ code: 0, out: expect.stringContaining('node --test') });

  const ended = await me.runoff('run', `${ISSUE.title}\n\n${ISSUE.body}`, '--json');
  expect(ended).toMatchObject({ code: 0 });
  const { run, branches } = JSON.parse(ended.out) as RunDocument;
  expect(run).toMatchObject({ state: 'published', decision: { kind: 'winner' } });
  const winner = run.decision?.alias ?? '';
  expect(Object.keys(branches ?? {}).toSorted()).toEqual(['A', 'B']);
  expect(await me.runoff('show', run.id, winner)).toMatchObject({
    code: 0,
    out: expect.stringContaining('diff --git'),
  });
}

describe('the package that `npm run pack` makes', () => {
  test('has sources, documents and the GitHub of the demo, and neither tests nor measurements', () => {
    const files = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n');
    const tops = files.map((path) => path.split('/')[1] ?? '');
    expect([...new Set(tops)].sort()).toEqual(
      '.env.example LICENSE README.md app.yml bin build-info.json docs node_modules package.json scripts src'
        .split(' ')
        .sort(),
    );
    expect(files.filter((path) => /\.test\.ts$|package\/docs\/decisions|\/contract\//.test(path))).toEqual(
      [],
    );
    expect(files).toContain('package/node_modules/@runoff/local-github/src/index.ts');
    // Files whose names npm treats in a special way would be missing here.
    const sources = execFileSync('git', ['ls-files', 'src', 'bin', 'docs/*.md'], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    const expected = sources
      .trim()
      .split('\n')
      .filter((path) => !/^docs\/(?:decisions|images)\//.test(path));
    expect(expected.filter((path) => !files.includes(`package/${path}`))).toEqual([]);
  });

  describe('installed in an empty folder', () => {
    const folder = () => join(home, 'empty');
    beforeAll(async () => {
      await mkdir(folder());
      await npm(folder(), 'install', tarball);
    }, INSTALL_MS);

    test('is found by npx, and finds nothing amiss', { timeout: FIRST_STEPS_MS }, async () => {
      expect(await npm(folder(), 'exec', '--offline', '--', 'runoff', '--help')).toContain('Usage: runoff');
      const program = [join(folder(), 'node_modules', '.bin', 'runoff')];
      await atTerminal({ firstTime: true, settings: SETTINGS, program }, firstLook);
    });
  });

  describe('installed globally', () => {
    const prefix = () => join(home, 'prefix');
    beforeAll(() => npm(home, 'install', '--global', '--prefix', prefix(), tarball), INSTALL_MS);

    test('takes somebody who cannot write there from the help to a winner', {
      timeout: FIRST_STEPS_MS,
    }, async () => {
      const before = await readdir(prefix(), { recursive: true });
      const isRoot = process.getuid?.() === 0;
      if (!isRoot) execFileSync('chmod', ['-R', 'a-w', prefix()]);
      try {
        const program = [join(prefix(), 'bin', 'runoff')];
        const user = isRoot ? { user: NOBODY } : {};
        await atTerminal({ firstTime: true, settings: SETTINGS, program, ...user }, firstSteps);
      } finally {
        if (!isRoot) execFileSync('chmod', ['-R', 'u+w', prefix()]);
      }
      expect(await readdir(prefix(), { recursive: true })).toEqual(before);
    });
  });
});
