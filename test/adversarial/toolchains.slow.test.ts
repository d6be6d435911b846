import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openToolchains } from '../../src/adapters/sandbox/index.ts';
import { wantedTools } from '../../src/core/settings/index.ts';
import type { Tools, WorkArea } from '../../src/ports/index.ts';
import { openWorkbench, shell, type Workbench } from '../adapters/sandbox/workbench.ts';

const SECRET = 'cio-a-token-of-the-operator';

/** I1: toolchains lie beside credentials in a home. A sandbox sees the first, and none of the second. */
describe.each([
  ['closed to the sandboxes, so that tools are copied', 0o700],
  ['open to everybody, so that tools are mounted where they are', 0o755],
])('a home that is %s', (_, mode) => {
  let bench: Workbench;
  let home: string;
  let tools: Tools;
  beforeAll(async () => {
    bench = await openWorkbench();
    // Not in /tmp, which is a sandbox's own.
    home = mkdtempSync(join(bench.owner === null ? homedir() : '/var/lib', 'runoff-operator-'));
    const put = (path: string, text: string, bits = 0o644): void => {
      mkdirSync(dirname(join(home, path)), { recursive: true });
      writeFileSync(join(home, path), text);
      chmodSync(join(home, path), bits);
    };
    put('.cargo/bin/rustup', '#!/bin/sh\nexit 1\n', 0o755);
    symlinkSync('rustup', join(home, '.cargo/bin/cargo'));
    put('.rustup/settings.toml', 'default_toolchain = "stable"\n');
    put('.rustup/toolchains/stable/bin/cargo', '#!/bin/sh\necho cargo 1.95.0\n', 0o755);
    for (const path of [
      '.cargo/credentials.toml',
      '.cargo/credentials',
      '.npmrc',
      '.netrc',
      '.ssh/id_ed25519',
    ]) {
      put(path, `token = "${SECRET}"\n`);
    }
    for (const path of ['.m2/settings.xml', '.config/gh/hosts.yml', '.rustup/credentials.toml'])
      put(path, SECRET);
    chmodSync(home, mode);
    const toolchains = openToolchains({
      dir: join(bench.root, `lent-${mode}`),
      owner: bench.owner,
      host: true,
      environment: { PATH: `${home}/.cargo/bin:/usr/bin:/bin`, HOME: home },
      nodeVersion: '24.0.0',
      ask: async () => null,
      install: async () => undefined,
    });
    ({ tools } = await toolchains.provide(wantedTools(['Cargo.toml'], new Map())));
  });
  afterAll(() => {
    bench.close();
    rmSync(home, { recursive: true, force: true });
  });

  const area = (): WorkArea => ({ ...bench.area(), tools });
  const run = async (line: string): Promise<string> => {
    const { stdout, stderr } = await bench.sandbox.exec(shell(area(), line));
    return stdout + stderr;
  };

  test('lends its toolchain: the program runs, at its own path', async () => {
    expect(await run('command -v cargo; cargo')).toBe(
      `${home}/.rustup/toolchains/stable/bin/cargo\ncargo 1.95.0\n`,
    );
  });

  test('lends nothing else: no credential can be read by path, by listing, or through the mounts', async () => {
    const said = await run(
      `cat ${home}/.cargo/credentials* ${home}/.npmrc ${home}/.netrc ${home}/.m2/settings.xml ${home}/.rustup/*.toml;` +
        ` cd ${home}/.rustup/toolchains/stable && cat ../../credentials.toml ../../../.npmrc;` +
        ` grep -rs "${SECRET}" ${home} /opt / --include=credentials* --include=.npmrc --include=.netrc --include=hosts.yml;` +
        ` find ${home} -type f`,
    );
    expect(said).not.toContain(SECRET);
    expect(
      said
        .trim()
        .split('\n')
        .filter((line) => line.startsWith(home)),
    ).toEqual([`${home}/.rustup/toolchains/stable/bin/cargo`]);
  });

  test('cannot be written to, nor can what is lent of it', async () => {
    const program = `${home}/.rustup/toolchains/stable/bin/cargo`;
    const said = await run(
      `echo evil > ${program}; echo evil > ${home}/.npmrc; mkdir ${home}/x; rm ${program}; chmod 777 ${program}; true`,
    );
    expect(said.match(/Read-only file system|Permission denied/g)?.length).toBeGreaterThanOrEqual(4);
    const there = spawnSync(program, [], { encoding: 'utf8' });
    expect(there.stdout).toBe('cargo 1.95.0\n');
  });

  test('shows no path of our data folder where it is copied', async () => {
    expect(await run('cat /proc/self/mountinfo')).not.toContain('lent-');
  });
});

describe('a mount of a tool', () => {
  let bench: Workbench;
  beforeAll(async () => {
    bench = await openWorkbench();
  });
  afterAll(() => bench.close());

  test.each([
    '/',
    '/repo/x',
    '/home/agent/.cargo',
    '/home',
    '/usr/local',
    '/etc/x',
    '/proc/x',
    '/tmp/x',
    '/opt',
    '/opt/toolchain/x',
    '/a',
    '/srv/../etc',
    'x/y',
  ])('is refused at %s', async (to) => {
    const tools = { mounts: [{ from: bench.root, to }], path: [] };
    await expect(bench.sandbox.exec(shell({ ...bench.area(), tools }, 'true'))).rejects.toThrow(
      'is no place for a tool',
    );
  });
});
