import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Settings, type WantedTools } from '../../src/core/settings/index.ts';
import type { Toolchains } from '../../src/ports/index.ts';
import { prepareBase } from '../../src/runs/base/index.ts';
import { openRegistryWorld, type RegistryWorld } from '../adapters/git/registry-world.ts';
import { type Files, git, LIMITS, writeFiles } from '../adapters/git/world.ts';

let world: RegistryWorld;
beforeAll(async () => {
  world = await openRegistryWorld((_request, response) => response.end('a package'));
});
afterAll(() => world.close());

const baseOf = async (files: Files) => {
  const { path, sha } = world.repository(files);
  return world.workspaces.prepare({ kind: 'local', path }, sha);
};

describe('a set-up command', () => {
  test('that never ends is stopped at its time limit, although it prints all the time', async () => {
    const base = await baseOf({ 'a.txt': '1' });
    const command = 'while :; do echo still here; sleep 0.1; done';
    const limits = { ...LIMITS, wallMs: 2_000 };
    expect(await world.workspaces.install(base, { command, egress: [], limits })).toMatchObject({
      kind: 'failed',
      why: expect.stringContaining('stopped at its time limit'),
    });
  });

  test('that fills the disk is stopped, and leaves nothing for the next one', async () => {
    const base = await baseOf({ 'a.txt': '2' });
    const fill = 'if [ -e big ]; then echo found; exit 9; fi; yes | head -c 400M > big; sleep 20';
    const limits = { ...LIMITS, diskBytes: 20 * 2 ** 20 };
    const install = () => world.workspaces.install(base, { command: fill, egress: [], limits });
    for (const _ of [1, 2])
      expect(await install()).toMatchObject({
        kind: 'failed',
        why: expect.stringContaining('stopped at its disk limit'),
      });
  });

  test('that leaves a server running ends with it, and nobody outside reaches it', async () => {
    const base = await baseOf({ 'a.txt': '3' });
    const server =
      "require('net').createServer((s) => s.end('here')).listen(48123, '127.0.0.1', () => console.log('listening'))";
    const command = `/opt/toolchain/bin/node -e "${server}" > log 2>&1 & while ! grep -q listening log; do sleep 0.1; done`;
    const reached = new Promise<string>((resolve) => {
      const timer = setInterval(() => {
        const socket = connect(48_123, '127.0.0.1', () => resolve('reached'));
        socket.on('error', () => undefined);
      }, 50);
      void world.workspaces.install(base, { command, egress: [], limits: LIMITS }).then(({ kind }) => {
        clearInterval(timer);
        resolve(kind);
      });
    });
    expect(await reached).toBe('ready');
  });
});

const taskAt = (path: string, sha: string, setup: string) => ({
  base: { ref: 'main', sha },
  origin: { kind: 'local', path } as const,
  settings: Settings.parse({ checks: { setup } }),
});

test.skipIf(!existsSync('/usr/bin/npm'))(
  'a lock file that does not match its manifest is a sentence that says so',
  async () => {
    const lock = {
      name: 'x',
      version: '1.0.0',
      lockfileVersion: 3,
      packages: { '': { name: 'x', version: '1.0.0' } },
    };
    const { path, sha } = world.repository({
      'package.json': '{ "name": "x", "version": "1.0.0", "workspaces": ["a"] }',
      'a/package.json': '{ "name": "a", "version": "1.0.0" }',
      'package-lock.json': JSON.stringify(lock),
    });
    const task = taskAt(path, sha, 'npm ci --offline');
    const prepared = prepareBase({ workspaces: world.workspaces }, task, {
      signal: new AbortController().signal,
    });
    await expect(prepared).rejects.toMatchObject({
      code: 'BASE_BROKEN',
      message: expect.stringMatching(/`npm ci --offline` failed on the base commit.*Update the lock file/s),
    });
  },
);

test('a repository that changes its tools has those of the commit on which a run is based', async () => {
  const { path, sha: old } = world.repository({ '.nvmrc': '20\n', 'package.json': '{}' });
  writeFiles(path, { '.nvmrc': '22\n' });
  git(path, 'commit', '-q', '-a', '-m', 'Node 22');
  const head = git(path, 'rev-parse', 'HEAD');
  const asked: string[] = [];
  const toolchains: Toolchains = {
    provide: async (wanted: WantedTools) => {
      asked.push(JSON.stringify([...wanted.versions]));
      return { tools: { mounts: [], path: [] }, found: [], missing: [] };
    },
    prune: async () => ({ tools: 0, bytes: 0 }),
  };
  for (const sha of [old, head])
    await prepareBase({ workspaces: world.workspaces, toolchains }, taskAt(path, sha, ''), {
      signal: new AbortController().signal,
    });
  expect(asked).toEqual([expect.stringContaining('20'), expect.stringContaining('22')]);
});
