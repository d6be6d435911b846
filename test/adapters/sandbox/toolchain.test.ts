import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openBubblewrap, prepareToolchain } from '../../../src/adapters/sandbox/index.ts';
import { openWorkbench, shell } from './workbench.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'runoff-toolchain-'));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

test("a toolchain contains Runoff's Node, and npm if the host has it", async () => {
  const bench = await openWorkbench();
  try {
    const made = await prepareToolchain({ dir: join(bench.root, 'tools'), owner: bench.owner });
    const sandbox = openBubblewrap({ ...bench.options, toolchain: made.dir });
    const line =
      '/opt/toolchain/bin/node --version; test ! -x /opt/toolchain/bin/npm || /opt/toolchain/bin/npm --version';
    const result = await sandbox.exec(shell(bench.area(), line));
    const expected = [`v${made.nodeVersion}`, ...(made.npm === null ? [] : [made.npm]), ''].join('\n');
    expect([made.nodeVersion, result.stdout, result.stderr]).toEqual([process.versions.node, expected, '']);
  } finally {
    bench.close();
  }
});

test('a toolchain is created once, also by several processes at once', async () => {
  const make = () => prepareToolchain({ dir: root, owner: null, environment: {} });
  const [first, second] = await Promise.all([make(), make()]);
  const before = statSync(join(first.dir, 'bin/node'));
  expect(second).toEqual(first);
  expect(await make()).toEqual(first);
  expect(statSync(join(first.dir, 'bin/node')).ino).toBe(before.ino);
  expect(readdirSync(root)).toHaveLength(1);
});

test('another package manager in npm_execpath is not used as npm', async () => {
  const pnpm = join(root, 'node_modules/pnpm');
  mkdirSync(join(pnpm, 'bin'), { recursive: true });
  mkdirSync(join(pnpm, 'node_modules'));
  writeFileSync(join(pnpm, 'package.json'), '{ "name": "pnpm", "version": "10.0.0" }');
  writeFileSync(join(pnpm, 'bin/pnpm.cjs'), '');
  const environment = { npm_execpath: join(pnpm, 'bin/pnpm.cjs'), PATH: '' };
  const made = await prepareToolchain({ dir: join(root, 'tools'), owner: null, environment });
  expect([made.npm, existsSync(join(made.dir, 'bin/npm'))]).toEqual([null, false]);
});
