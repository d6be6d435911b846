import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GitWorld, git, openGitWorld, writeFiles } from './world.ts';

// A power failure can leave a file of a layer empty.

let world: GitWorld;
beforeAll(() => {
  world = openGitWorld();
});
afterAll(() => world.close());

test('a damaged layer of submodules is made again, and reported', async () => {
  const inner = world.repository({ 'x.txt': 'x\n' });
  const { path } = world.repository({ 'a.txt': 'a\n' });
  git(path, 'submodule', '--quiet', 'add', inner.path, 'sub');
  git(path, 'commit', '-q', '-m', 'With a submodule');
  const source = { kind: 'local', path } as const;
  const access = { wanted: true, ownHost: true, hosts: [] };
  let reports = 0;
  const start = async () => {
    const workspaces = world.another({ onDamage: () => (reports += 1) });
    const checkout = await workspaces.prepare(source, git(path, 'rev-parse', 'HEAD'));
    const base = await workspaces.fetchSubmodules(checkout, { source, access });
    return { file: join(base.submodules?.files ?? '', 'sub/x.txt'), whole: await workspaces.isWhole(base) };
  };
  const { file } = await start();
  writeFileSync(file, '');
  expect(await start()).toEqual({ file, whole: true });
  expect(readFileSync(file, 'utf8')).toBe('x\n');
  expect(reports).toBe(1);
});

test('so is a damaged layer of lent packages', async () => {
  const { path, sha } = world.repository({ 'a.txt': 'a\n', '.gitignore': 'node_modules\n' });
  writeFiles(path, { 'node_modules/dep/index.js': 'exports.x = 1\n' });
  let reports = 0;
  const start = async () => {
    const workspaces = world.another({ onDamage: () => (reports += 1) });
    const checkout = await workspaces.prepare({ kind: 'local', path }, sha);
    const lent = await workspaces.lend(checkout, { top: path });
    if (lent.kind !== 'lent') throw new Error(lent.why ?? 'nothing was lent');
    const file = join(lent.base.layers?.[0] ?? '', 'node_modules/dep/index.js');
    return { file, whole: await workspaces.isWhole(lent.base) };
  };
  const { file } = await start();
  writeFileSync(file, '');
  expect(await start()).toEqual({ file, whole: true });
  expect(readFileSync(file, 'utf8')).toBe('exports.x = 1\n');
  expect(reports).toBe(1);
});
