import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { furnish } from '../world/data-folder.ts';

const main = new URL('../../src/main.ts', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'prepare-'));
// Sandboxes of a root process run as another user.
chmodSync(folder, 0o755);
let repository: string;
let count = 0;

beforeAll(() => furnish(join(folder, 'data')));
beforeEach(() => {
  count += 1;
  repository = join(folder, `repository-${count}`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const git = (...args: readonly string[]) =>
  spawnSync('git', ['-c', 'user.name=R', '-c', 'user.email=r@example.org', ...args], { cwd: repository });

function commit(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(repository, path)), { recursive: true });
    writeFileSync(join(repository, path), text);
  }
  git('init', '--quiet');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'first');
}

const prepare = (...flags: readonly string[]) => runoff('prepare', '--repo', repository, ...flags);

const runoff = (...words: readonly string[]) => runoffWith({ NETWORK_ALLOW: 'none' }, words);

const runoffWith = (env: Readonly<Record<string, string>>, words: readonly string[]) =>
  spawnSync(process.execPath, [main, ...words], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      RUNOFF_DATA: join(folder, 'data'),
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      ...env,
    },
    encoding: 'utf8',
  });

const PASSES = "import { test } from 'node:test';\ntest('adds', () => {});\n";
const FAILS = "import { test } from 'node:test';\ntest('subtracts', () => { throw new Error('no'); });\n";
const node = (scripts: object) => JSON.stringify({ name: 'x', type: 'module', scripts });

describe('runoff prepare', () => {
  test('shows the detected commands and excludes failing tests', () => {
    commit({ 'package.json': node({ test: 'node --test' }), 'a.test.js': PASSES, 'b.test.js': FAILS });
    const { status, stdout, stderr } = prepare();
    expect([status, stderr]).toEqual([0, expect.stringContaining('Testing the base commit: npm test …')]);
    expect(stdout).toMatch(/^Tools {4}Node [\d.]+ \(/m);
    expect(stdout).toMatch(
      /^Set-up {3}none\nBuild {4}none\nTypes {4}none\nTests {4}npm test {2}\(detected from package\.json\)$/m,
    );
    expect(stdout).toContain('1 test passed, 1 failed');
    expect(stdout).toContain('excluded 1 of 2 existing tests');
    const { tests } = JSON.parse(prepare('--json').stdout);
    expect(tests).toMatchObject({ passed: 1, failing: [expect.stringContaining('subtracts')], flaky: [] });
  });

  test('writes the commands to a settings file once, and keeps what set-up installed', () => {
    commit({
      'package.json': node({ test: 'node --test' }),
      'a.test.js': PASSES,
      'README.md': '',
    });
    expect(prepare('--write').stdout).toContain('.github/auto-dev.yml. Commit it');
    const file = join(repository, '.github/auto-dev.yml');
    expect(readFileSync(file, 'utf8')).toBe('checks:\n  test: "npm test"\n');
    const again = prepare('--write');
    expect([again.status, again.stderr]).toEqual([
      1,
      expect.stringContaining(
        'auto-dev.yml was not written: it exists already and is not committed.\n→ Commit what is there or remove it, then repeat',
      ),
    ]);
    commit({
      '.github/auto-dev.yml': 'checks:\n  setup: echo once > installed.txt\n  test: cat installed.txt\n',
    });
    expect(prepare('--write').stdout).not.toContain('auto-dev.yml');
    const { commands, from, tests } = JSON.parse(prepare('--json').stdout);
    expect(commands).toEqual({ setup: 'echo once > installed.txt', test: 'cat installed.txt' });
    expect(from).toEqual({ setup: '.github/auto-dev.yml', test: '.github/auto-dev.yml' });
    expect(tests).toMatchObject({ source: 'exit-code', exitCode: 0 });
  });

  test.each([
    { link: '.github/auto-dev.yml', to: '../../home/.bash_aliases' },
    { link: '.github', to: '../home' },
  ])('never writes through a link that a repository ships as $link', ({ link, to }) => {
    const home = join(folder, 'home');
    mkdirSync(home, { recursive: true });
    mkdirSync(dirname(join(repository, link)), { recursive: true });
    symlinkSync(to, join(repository, link));
    commit({ 'package.json': node({ test: 'node --test' }), 'a.test.js': PASSES });
    const { status, stderr } = prepare('--write');
    expect([status, stderr]).toEqual([1, expect.stringContaining(`has ${link} already`)]);
    expect(readdirSync(home)).toEqual([]);
  });

  test('says what stopped the tests that were tried without a build that fails', () => {
    commit({
      'package.json': node({ build: 'echo no tool; exit 1', test: 'sleep 60' }),
      '.github/auto-dev.yml': 'timeout:\n  check: 10s\n',
    });
    const { status, stderr } = prepare();
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining(
        'failed on the base commit (exit code 1): `no tool`. Runoff also tried `npm test` (the tests failed: stopped at its time limit',
      ),
    ]);
  });

  test('names a missing tool first, with both ways to get it, and so does doctor', () => {
    const ci = `on: push
jobs:
  test:
    runs-on: ubuntu-latest
    services: { store: { image: mysql } }
    steps:
      - run: sh ./run-tests.sh
`;
    commit({ 'poetry.lock': '', 'run-tests.sh': 'exit 0\n', '.github/workflows/ci.yml': ci });
    const { status, stdout, stderr } = prepare();
    expect(status).toBe(0);
    // On a terminal, it would be there twice.
    expect(stderr).not.toContain('poetry');
    expect(stdout).toMatch(
      /^The repository needs poetry \(poetry\.lock\), and sandboxes here have none\. Install it on this machine, .* or set RUNOFF_SANDBOX=container/,
    );
    expect(stdout).toContain('Tests    sh ./run-tests.sh  (detected from .github/workflows/ci.yml)');
    expect(stdout).toContain(
      'CI runs the tests with store, which the sandbox lacks; tests that need it fail on the base commit and are excluded.',
    );
    const examined = runoff('doctor', '--repo', repository, '--json');
    expect(JSON.parse(examined.stdout).findings).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          name: 'repository',
          detail: expect.stringContaining(
            '`sh ./run-tests.sh` (.github/workflows/ci.yml). CI runs the tests with store',
          ),
        }),
        expect.objectContaining({
          name: 'tools',
          state: 'warning',
          detail: expect.stringMatching(/needs poetry/),
          remedy: expect.stringMatching(/^Install it on this machine/),
        }),
      ]),
    );
  });

  test('gives the tests the database that CI starts beside them', () => {
    const ci = `on: push
jobs:
  test:
    runs-on: ubuntu-latest
    env:
      DATABASE_URL: postgres://shop:secret@localhost:\${{ job.services.db.ports[5432] }}/orders
    services:
      db:
        image: postgres:15
        env: { POSTGRES_USER: shop, POSTGRES_PASSWORD: secret, POSTGRES_DB: orders }
        ports: ['5433:5432']
    steps:
      - run: npm test
`;
    const tests = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { query } from '../query.js';
const ask = (sql) => query(process.env.DATABASE_URL, sql);
test('counts', async () => assert.equal(await ask('select 6 * 7'), '42'));
test('has a database of its own', async () => assert.equal(await ask('select current_database()'), 'orders'));
test('fails', async () => assert.equal(await ask('select 1'), '2'));
`;
    commit({
      'package.json': node({ test: 'node --test' }),
      'query.js': QUERY,
      'test/orders.test.js': tests,
      '.github/workflows/ci.yml': ci,
    });
    const { status, stdout, stderr } = prepare();
    expect([status, stderr.includes('could not be started')], stdout + stderr).toEqual([0, false]);
    expect(stdout).toContain('2 tests passed, 1 failed');
    expect(stdout).toMatch(/because it fails on the base commit: (?:test\/orders\.test\.js > )?fails\./);
    expect(stdout).toMatch(/The tests ran with Postgres \d+\.\d+; CI asks for postgres:15\./);
    expect(stdout).not.toContain('which the sandbox lacks');
  });

  test('tests without a database that cannot have the port of the CI job, and says so', () => {
    const ci = `on: push
jobs:
  test:
    runs-on: ubuntu-latest
    services:
      db: { image: 'postgres:15', ports: ['80:5432'] }
    steps:
      - run: npm test
`;
    const tests = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { query } from '../query.js';
test('adds', () => assert.equal(1 + 1, 2));
test('counts', async () => assert.equal(await query('postgres://postgres:x@localhost:80/postgres', 'select 1'), '1'));
`;
    commit({
      'package.json': node({ test: 'node --test' }),
      'query.js': QUERY,
      'test/orders.test.js': tests,
      '.github/workflows/ci.yml': ci,
    });
    const { status, stdout, stderr } = prepare();
    expect(status, stdout + stderr).toBe(0);
    expect(stdout).toContain('1 test passed, 1 failed');
    expect(stdout).toMatch(/Postgres \(db\) does not start for the tests: .+ The tests ran without it\./);
    expect(stdout).not.toContain('The tests ran with Postgres');
  });

  test('uses the packages that the working tree has, and keeps the set-up command for other machines', () => {
    const dependent = `import 'dep';\n${PASSES}`;
    commit({
      'package.json': JSON.stringify({
        name: 'x',
        type: 'module',
        scripts: { test: 'node --test' },
        dependencies: { dep: 'file:./packages/dep' },
      }),
      'a.test.js': dependent,
      '.gitignore': 'node_modules\n',
    });
    const dep = join(repository, 'node_modules/dep');
    mkdirSync(dep, { recursive: true });
    writeFileSync(join(dep, 'package.json'), '{"name":"dep","main":"index.js"}');
    writeFileSync(join(dep, 'index.js'), '');
    const { status, stdout, stderr } = prepare();
    expect([status, stderr]).toEqual([0, expect.not.stringContaining('Installing packages')]);
    expect(stdout).toContain(
      'Base and candidates used a read-only copy of `node_modules` of the working tree, and `npm install` was not run.',
    );
    expect(stdout).toContain('  setup: "npm install"');

    // Packages that do not work are not used.
    rmSync(join(dep, 'index.js'));
    const broken = prepare();
    expect(broken.stderr).toContain('Installing packages: npm install');
    expect(broken.stdout).toContain('were not used: build or tests do not work with them');
  });

  test('finds another set-up where the lock file does not match, and uses it at once the next time', () => {
    const manifest = {
      name: 'x',
      type: 'module',
      scripts: {
        // How many tests there are tells one installation from another.
        postinstall: `node -e "fs.writeFileSync('node_modules/.tests', String(Math.ceil(Math.random() * 1000) + 1))"`,
        test: 'node --test',
      },
      dependencies: { dep: 'file:./dep' },
    };
    commit({
      'package.json': JSON.stringify(manifest),
      'package-lock.json': JSON.stringify({ name: 'x', lockfileVersion: 3, packages: { '': { name: 'x' } } }),
      'dep/package.json': JSON.stringify({ name: 'dep', version: '1.0.0', main: 'index.js' }),
      'dep/index.js': 'module.exports = 1;\n',
      'a.test.js': `import assert from 'node:assert';\nimport one from 'dep';\nimport { readFileSync } from 'node:fs';\nimport { test } from 'node:test';\nfor (let left = Number(readFileSync('node_modules/.tests')); left > 0; left--)\n  test('adds', () => assert.equal(one, 1));\n`,
      '.gitignore': 'node_modules\n',
    });
    const first = prepare();
    expect([first.status, first.stdout]).toEqual([
      0,
      expect.stringContaining(
        'Set-up   npm install --no-audit --no-fund  (detected from package.json; `npm ci --no-audit --no-fund` failed)',
      ),
    ]);
    expect(first.stderr).toMatch(
      /Set-up failed \(.*in sync.*\)\. Trying set-up `npm install --no-audit --no-fund`\./,
    );
    expect(first.stdout).toContain('  setup: "npm install --no-audit --no-fund"');
    const second = prepare('--json');
    expect(second.stderr).not.toContain('npm ci');
    const known = JSON.parse(second.stdout);
    expect(known).toMatchObject({ how: 'known', instead: { setup: 'npm ci --no-audit --no-fund' } });
    // What is installed is found: nothing of set-up is run for it.
    expect(known.tests.passed).toBe(Number(/(\d+) tests passed/.exec(first.stdout)?.[1]));
  });

  test('shows the line that allows the hosts which a script of set-up was refused', () => {
    const fetch = `import { request } from 'node:http';
const { hostname, port } = new URL(process.env.HTTPS_PROXY);
request({ hostname, port, method: 'CONNECT', path: 'cdn.example.org:443' }).on('connect', () => process.exit(1)).end();
`;
    commit({
      'package.json': JSON.stringify({
        name: 'x',
        type: 'module',
        scripts: { test: 'node --test', postinstall: 'node fetch.js' },
        dependencies: { dep: 'file:./dep' },
      }),
      'dep/package.json': JSON.stringify({ name: 'dep', version: '1.0.0' }),
      'fetch.js': fetch,
      'a.test.js': PASSES,
      '.github/auto-dev.yml': 'network:\n  allow: [one.example.org]\n',
    });
    const words = ['prepare', '--repo', repository, '--trust-checks'];
    const { status, stdout, stderr } = runoffWith({ NETWORK_ALLOW: 'one.example.org' }, words);
    expect([status, stderr]).toEqual([0, expect.stringContaining('--ignore-scripts')]);
    expect(stdout).toContain('  allow: [ one.example.org ]');
    // npm asks its registry for a newer npm, too.
    expect(stdout).toMatch(/^ {2}# network: \{ allow: \["one\.example\.org", .*"cdn\.example\.org".*\] \}$/m);
  });

  test('leaves out a build that fails where the tests pass without it, but none that the settings name', () => {
    commit({
      'package.json': node({ test: 'node --test', build: 'echo broken; exit 1' }),
      'a.test.js': PASSES,
    });
    const found = prepare('--write');
    expect([found.status, found.stdout]).toEqual([
      0,
      expect.stringMatching(/^Build {4}none {2}\(`npm run build` failed\)$/m),
    ]);
    const file = join(repository, '.github/auto-dev.yml');
    expect(readFileSync(file, 'utf8')).toBe('checks:\n  build: ""\n  test: "npm test"\n');
    commit({ '.github/auto-dev.yml': '# ours\nchecks:\n  build: npm run build # must pass\n' });
    const named = prepare();
    expect([named.status, named.stderr]).toEqual([
      1,
      expect.stringMatching(/The build `npm run build` failed/),
    ]);
  });

  test('adds to a settings file and keeps its comments', () => {
    commit({
      'package.json': node({ test: 'node --test' }),
      'a.test.js': PASSES,
      '.github/auto-dev.yml': '# ours\ncandidates: 2 # enough\n',
    });
    expect(prepare('--write').status).toBe(0);
    const file = join(repository, '.github/auto-dev.yml');
    expect(readFileSync(file, 'utf8')).toBe('# ours\ncandidates: 2 # enough\nchecks:\n  test: "npm test"\n');
  });

  test('says which step failed, with the lines that matter', () => {
    commit({
      'package.json': node({ test: 'node --test' }),
      '.github/auto-dev.yml': 'checks:\n  setup: "echo noise; echo error: no such package >&2; exit 4"\n',
    });
    const { status, stderr } = prepare();
    expect(status).toBe(1);
    expect(stderr).toContain('set-up');
    expect(stderr).toContain('error: no such package');
  });

  test('ends with 3 where the tests say nothing', () => {
    commit({ 'README.md': 'Words.\n' });
    const { status, stdout } = prepare();
    expect([status, stdout]).toEqual([3, expect.stringContaining('found no test command')]);
    const { tests } = JSON.parse(prepare('--json').stdout);
    expect(tests.problem).toMatch(/found no test command.*checks\.test/s);
  });
});

const QUERY = `import { connect } from 'node:net';

/** First value of the answer to a query, by the protocol of Postgres. */
export function query(url, sql) {
  const { hostname, port, username, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  const body = Buffer.from(\`user\\0\${username}\\0database\\0\${pathname.slice(1)}\\0\\0\`);
  const head = Buffer.alloc(8);
  head.writeInt32BE(body.length + 8, 0);
  head.writeInt32BE(196608, 4);
  socket.write(Buffer.concat([head, body]));
  return new Promise((resolve, reject) => {
    let data = Buffer.alloc(0);
    let asked = false;
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      data = Buffer.concat([data, chunk]);
      while (data.length > 4 && data.length > data.readInt32BE(1)) {
        const [type, length] = [String.fromCharCode(data[0]), data.readInt32BE(1)];
        const message = data.subarray(5, length + 1);
        data = data.subarray(length + 1);
        if (type === 'E') return reject(new Error(message.toString()));
        if (type === 'D') {
          socket.end();
          return resolve(message.subarray(6, 6 + message.readInt32BE(2)).toString());
        }
        if (type === 'Z' && !asked) {
          asked = true;
          const text = Buffer.from(\`\${sql}\\0\`);
          const start = Buffer.from('Q\\0\\0\\0\\0');
          start.writeInt32BE(text.length + 4, 1);
          socket.write(Buffer.concat([start, text]));
        }
      }
    });
  });
};
`;
