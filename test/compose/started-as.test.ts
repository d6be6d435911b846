import { execFile, spawnSync } from 'node:child_process';
import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

// Node takes an `--env-file` that stands behind the program for its own: it runs what NODE_OPTIONS in that file names.

const ROOT = join(import.meta.dirname, '../..');
const BIN = join(ROOT, 'bin/runoff.mjs');
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runoff-started-'));
  await writeFile(join(folder, 'payload.cjs'), `require('node:fs').writeFileSync('${folder}/ran', '')`);
  await writeFile(join(folder, 'my.env'), `NODE_OPTIONS=--require ${folder}/payload.cjs\n`);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const ran = () =>
  access(join(folder, 'ran')).then(
    () => true,
    () => false,
  );

test.each([[['--env-file', 'my.env', 'doctor', '--help']], [['doctor', '--help', '--env-file=my.env']]])(
  'a settings file that is named runs no code: runoff %j',
  async (argv) => {
    const { stdout } = await promisify(execFile)(BIN, argv, { cwd: folder });
    expect(stdout).toContain('Usage: runoff doctor');
    expect(await ran()).toBe(false);
  },
);

test('a settings file that is not there is answered by Runoff, which names it from where the person stands', () => {
  const { stderr, status } = spawnSync(BIN, ['--env-file', 'none.env', 'arena', 'models'], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: folder, RUNOFF_DATA: join(folder, 'data') },
  });
  expect(stderr).toContain(join(folder, 'none.env'));
  expect(status).toBe(1);
});

test.each(['package.json', 'Dockerfile', 'deploy/runoff.service', 'bin/runoff.mjs'])(
  '%s starts Runoff with -- before the program',
  async (file) => {
    const lines = (await readFile(join(ROOT, file), 'utf8')).split('\n');
    const starts = lines.filter((line) => /main\.ts/.test(line) && !/agents install/.test(line));
    expect(starts).not.toEqual([]);
    for (const line of starts) expect(line).toMatch(/--["']?,? .*src.*main\.ts/);
  },
);
