import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const LAUNCHER = join(ROOT, 'bin', 'runoff.mjs');

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'runoff-launcher-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Runs `bin/runoff.mjs` as a shell does: by its first line, with the Node that PATH finds. */
function runoff(cwd: string, ...argv: readonly string[]) {
  const env = { PATH: process.env.PATH, HOME: home };
  const { status, stderr } = spawnSync(LAUNCHER, argv, { cwd, env, encoding: 'utf8' });
  return { status, stderr };
}

/** What starts the App. */
const STARTS = ['package.json', 'Dockerfile', 'deploy/runoff.service'];

describe('--env-file belongs to Runoff: Node has an option of the same name and must not take it', () => {
  test.each([
    ['before the command', ['--env-file', 'gone.env', 'runs']],
    ['after it', ['runs', '--env-file=gone.env']],
  ])("%s names a missing file in Runoff's own message", (_, argv) => {
    const { status, stderr } = runoff(home, ...argv);
    expect(stderr).toContain(`There is no settings file ${join(home, 'gone.env')}.`);
    expect(stderr).not.toContain('node: ');
    expect(status).toBe(2);
  });

  test("a folder in its place is rejected in Runoff's own message", () => {
    const { status, stderr } = runoff(home, '--env-file', home, 'runs');
    expect(stderr).toContain(`${home} cannot be read (EISDIR).`);
    expect(stderr).not.toContain('node: ');
    expect(status).toBe(2);
  });

  test.each([
    ['before the command', ['--env-file', 'my.env', 'doctor', '--help']],
    ['after it', ['doctor', '--help', '--env-file=my.env']],
  ])('%s does not run NODE_OPTIONS of the file', (_, argv) => {
    const trace = join(home, 'ran');
    writeFileSync(
      join(home, 'payload.cjs'),
      `require('node:fs').writeFileSync(${JSON.stringify(trace)}, '')`,
    );
    writeFileSync(join(home, 'my.env'), `NODE_OPTIONS=--require ${join(home, 'payload.cjs')}\n`);
    expect(runoff(home, ...argv).status).toBe(0);
    expect(existsSync(trace)).toBe(false);
  });

  test.each(STARTS)('%s starts Runoff with `--`', (path) => {
    const starts = readFileSync(join(ROOT, path), 'utf8')
      .split('\n')
      .filter((line) => /\bnode\b.*src\/main\.ts/.test(line));
    expect(starts.length).toBeGreaterThan(0);
    expect(starts.filter((line) => !/"--", |-- \S*src\/main\.ts/.test(line))).toEqual([]);
  });
});

test.each(STARTS)('%s starts the App with little idle memory', (path) => {
  const text = readFileSync(join(ROOT, path), 'utf8');
  expect(text).toContain('MALLOC_ARENA_MAX=2');
  expect(text).toContain('--max-semi-space-size=2');
  expect(text).toContain('--heap-growing-percent=50');
  expect(text).toMatch(/--import=\S*\/bin\/strip-types\.mjs/);
});

test('the start folder is left before any package loads', () => {
  const preload = `import { createRequire } from 'node:module';
    const { cache } = createRequire('/');
    const leave = process.chdir;
    process.chdir = (folder) => {
      const loaded = Object.keys(cache).filter((path) => cache[path].loaded && path.includes('/node_modules/'));
      process.stderr.write(JSON.stringify({ folder, loaded }));
      leave(folder);
    };`;
  const { stderr } = spawnSync(
    process.execPath,
    [
      '--import',
      `data:text/javascript,${encodeURIComponent(preload)}`,
      '--',
      join(ROOT, 'src', 'main.ts'),
      '--version',
    ],
    { cwd: home, env: { PATH: process.env.PATH, HOME: home }, encoding: 'utf8' },
  );
  expect(JSON.parse(stderr)).toEqual({ folder: '/', loaded: [] });
});
