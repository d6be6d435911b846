import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BaseCheckout } from '../../src/ports/index.ts';
import { type GitWorld, git, openGitWorld, writeFiles } from '../adapters/git/world.ts';

let world: GitWorld;
beforeAll(() => {
  world = openGitWorld();
});
afterAll(() => world.close());

const repository = async (files: Readonly<Record<string, string>>) => {
  const { path, sha } = world.repository(files);
  const base = await world.workspaces.prepare({ kind: 'local', path }, sha);
  return { path, sha, base };
};

const inArea = async (base: BaseCheckout, line: string) => {
  const area = await world.workspaces.open(base, `area-${Math.random().toString(36).slice(2)}`);
  try {
    const { stdout } = await world.run(area, line);
    return { stdout, collected: await world.workspaces.collect(base, area) };
  } finally {
    await world.workspaces.remove(area);
  }
};

const IGNORES = { '.gitignore': 'node_modules\n.venv\n' };

test('a link in place of installed packages gives sandboxes no other folder of the user', async () => {
  const { path, base } = await repository({ ...IGNORES, 'a.txt': 'a\n' });
  const home = world.folder();
  writeFiles(home, { '.ssh/id': 'secret' });
  symlinkSync(join(home, '.ssh'), join(path, 'node_modules'));
  symlinkSync(home, join(path, 'vendor'));
  expect(await world.workspaces.lend(base, { top: path })).toEqual({ kind: 'none', why: null });
});

test('a folder of the repository that became a link since the commit is not followed', async () => {
  const { path, base } = await repository({ ...IGNORES, 'packages/a/package.json': '{}' });
  const elsewhere = world.folder();
  writeFiles(elsewhere, { 'a/node_modules/id': 'secret', 'a/package.json': '{}' });
  git(path, 'mv', 'packages', 'other');
  symlinkSync(elsewhere, join(path, 'packages'));
  expect(await world.workspaces.lend(base, { top: path, anyVersion: true })).toEqual({
    kind: 'none',
    why: null,
  });
});

test('candidates can read installed packages, also those of another working tree, and change none of them', async () => {
  const { path, base } = await repository({ ...IGNORES, 'a.txt': 'a\n' });
  const other = world.folder();
  writeFiles(other, { 'node_modules/a.js': 'shared' });
  symlinkSync(join(other, 'node_modules'), join(path, 'node_modules'));
  writeFiles(path, { '.venv/pyvenv.cfg': 'home = /usr/bin\n' });
  const lent = await world.workspaces.lend(base, { top: path });
  if (lent.kind !== 'lent') throw new Error(lent.why ?? 'nothing was lent');
  expect(lent.folders).toEqual(['node_modules', '.venv']);
  const first = await inArea(lent.base, 'cat node_modules/a.js; echo x > node_modules/a.js; rm -rf .venv');
  expect(first).toMatchObject({ stdout: 'shared', collected: { kind: 'empty' } });
  const second = await inArea(lent.base, 'cat node_modules/a.js .venv/pyvenv.cfg');
  expect(second.stdout).toBe('sharedhome = /usr/bin\n');
  expect(existsSync(join(path, '.venv/pyvenv.cfg'))).toBe(true);
});

test('packages that the repository does not ignore are no change of a candidate', async () => {
  const { path, base } = await repository({ 'a.txt': 'a\n' });
  writeFiles(path, { 'vendor/lib.php': 'lib\n' });
  const lent = await world.workspaces.lend(base, { top: path });
  if (lent.kind !== 'lent') throw new Error('nothing was lent');
  expect((await inArea(lent.base, 'cat vendor/lib.php')).collected).toEqual({ kind: 'empty' });
});

test('packages for other manifests than those of the commit are not lent', async () => {
  const { path, base } = await repository({ ...IGNORES, 'package.json': '{}', 'requirements.txt': 'a==1\n' });
  writeFiles(path, { 'node_modules/a.js': '' });
  expect(await world.workspaces.lend(base, { top: path })).toMatchObject({ kind: 'lent' });
  writeFileSync(join(path, 'requirements.txt'), 'a==2\n');
  expect(await world.workspaces.lend(base, { top: path })).toEqual({
    kind: 'none',
    why: 'requirements.txt of the working tree is not that of the commit',
  });
  expect(await world.workspaces.lend(base, { top: path, anyVersion: true })).toMatchObject({ kind: 'lent' });
});

test('the copy that a run began with stays the same when packages are installed meanwhile', async () => {
  const { path, base } = await repository({ ...IGNORES, 'a.txt': 'a\n' });
  writeFiles(path, { 'node_modules/a.js': 'before' });
  const first = await world.workspaces.lend(base, { top: path });
  if (first.kind !== 'lent') throw new Error('nothing was lent');
  writeFiles(path, { 'node_modules/a.js': 'after it' });
  const again = await world.workspaces.lend(base, { top: path, known: first.id });
  expect(again).toMatchObject({ kind: 'lent', base: { layers: first.base.layers } });
  expect((await inArea(first.base, 'cat node_modules/a.js')).stdout).toBe('before');
  const next = await world.workspaces.lend(base, { top: path });
  expect(next.kind === 'lent' && next.id).not.toBe(first.id);
  const gone = await world.workspaces.lend(base, { top: path, known: '0'.repeat(24) });
  expect(gone).toEqual({ kind: 'none', why: 'they have changed since' });
});
