import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GitWorld, git, openGitWorld, writeFiles } from './world.ts';

const AT_MS = 1_700_000_000_000;

let world: GitWorld;
beforeAll(() => {
  world = openGitWorld();
});
afterAll(() => world.close());

/** What a checkout of the kept commit holds, read without the person's repository. */
async function kept(path: string) {
  const source = { kind: 'local', path } as const;
  const { sha, changes } = await world.workspaces.keepChanges(path, AT_MS);
  const { lower } = await world.workspaces.prepare(source, sha);
  return {
    lower,
    read: (name: string) => readFileSync(join(lower, name), 'utf8'),
    files: await world.workspaces.listFiles(source, sha),
    changes: changes.map(({ path: changed, change }) => `${change} ${changed}`),
  };
}

test('changes that are all staged are in the commit, though git has their contents already', async () => {
  const { path } = world.repository({ 'a.txt': 'a\n', 'deep/b.txt': 'b\n' });
  writeFiles(path, { 'a.txt': 'staged\n', 'deep/new/c.txt': 'new\n' });
  git(path, 'add', '--all');
  const { read, changes } = await kept(path);
  expect([read('a.txt'), read('deep/b.txt'), read('deep/new/c.txt')]).toEqual(['staged\n', 'b\n', 'new\n']);
  expect(changes).toEqual(['modified a.txt', 'added deep/new/c.txt']);
});

test('so are those of a commit that was taken back, which git has as a tree', async () => {
  const { path } = world.repository({ 'a.txt': 'a\n' });
  writeFiles(path, { 'a.txt': 'later\n', 'deep/new.txt': 'new\n' });
  git(path, 'add', '--all');
  git(path, 'commit', '-q', '-m', 'Later');
  git(path, 'reset', '-q', '--soft', 'HEAD~1');
  const { read } = await kept(path);
  expect([read('a.txt'), read('deep/new.txt')]).toEqual(['later\n', 'new\n']);
  // The state at the same time is the same commit, and keeping it again is no fault.
  expect((await kept(path)).read('a.txt')).toBe('later\n');
});

test('so is one of the same size, made in the second of the commit', async () => {
  const { path } = world.repository({ 'b.txt': 'b\n' });
  const second = Math.floor(Date.now() / 1000) - 100;
  const write = (text: string) => {
    writeFiles(path, { 'a.txt': text });
    utimesSync(join(path, 'a.txt'), second, second);
  };
  // The time of a change of state cannot be set.
  git(path, 'config', 'core.trustCtime', 'false');
  write('retries = 1\n');
  git(path, 'add', '--all');
  git(path, 'commit', '-q', '-m', 'Retries');
  write('retries = 9\n');
  utimesSync(join(path, '.git/index'), second, second);
  const { read, changes } = await kept(path);
  expect(read('a.txt')).toBe('retries = 9\n');
  expect(changes).toEqual(['modified a.txt']);
});

test('so are those of a stash', async () => {
  const { path } = world.repository({ 'a.txt': 'a\n' });
  writeFiles(path, { 'a.txt': 'stashed\n', 'new.txt': 'new\n' });
  git(path, 'stash', 'push', '-q', '--include-untracked');
  git(path, 'stash', 'pop', '-q');
  const { read } = await kept(path);
  expect([read('a.txt'), read('new.txt')]).toEqual(['stashed\n', 'new\n']);
});

test('a program that the settings of a submodule name is not started', async () => {
  const inner = world.repository({ 'x.txt': 'x\n', '.gitattributes': '*.txt filter=inner\n' });
  const { path } = world.repository({ 'a.txt': 'a\n', '.gitattributes': '*.txt filter=outer\n' });
  git(path, 'submodule', '--quiet', 'add', inner.path, 'sub');
  git(path, 'commit', '-q', '-m', 'With a submodule');
  const marks = world.folder();
  const trap = (name: string) => `sh -c 'touch ${join(marks, name)}; cat'`;
  // Settings for one call reach a git in the submodule, too, so only a filter that the outer repository lacks runs.
  git(path, 'config', 'filter.outer.clean', trap('outer'));
  git(join(path, 'sub'), 'config', 'filter.inner.clean', trap('inner'));
  for (const at of [path, join(path, 'sub')]) git(at, 'config', 'core.fsmonitor', trap('monitor'));
  writeFiles(path, { 'a.txt': 'edited\n', 'new.txt': 'new\n' });
  // Git reads the file again, through its filter, because its date is not the one in the index.
  utimesSync(join(path, 'sub/x.txt'), 1, 1);
  await world.workspaces.describe(path);
  const { sha } = await world.workspaces.keepChanges(path, AT_MS);
  expect(await world.workspaces.readFile({ kind: 'local', path }, sha, 'a.txt')).toBe('edited\n');
  expect(readdirSync(marks)).toEqual([]);
  // The trap is real.
  git(path, 'add', '--all');
  expect(readdirSync(marks)).toContain('inner');
});

test('a split index in the settings leaves nothing in the repository', async () => {
  const { path } = world.repository({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  git(path, 'config', 'core.splitIndex', 'true');
  writeFiles(path, { 'a.txt': 'edited\n' });
  const shared = () => readdirSync(join(path, '.git')).filter((name) => name.startsWith('sharedindex.'));
  expect((await kept(path)).read('a.txt')).toBe('edited\n');
  expect(shared()).toEqual([]);
  // One that is split already can be read.
  git(path, 'update-index', '--split-index');
  const before = shared();
  writeFiles(path, { 'b.txt': 'edited\n' });
  expect((await kept(path)).read('b.txt')).toBe('edited\n');
  expect(shared()).toEqual(before);
});

test('files that became folders or links, and the reverse, are taken as they are', async () => {
  const { path } = world.repository({ file: 'x', 'folder/in.txt': 'x', 'linked/in.txt': 'x', other: 'x' });
  rmSync(join(path, 'file'));
  rmSync(join(path, 'folder'), { recursive: true });
  rmSync(join(path, 'linked'), { recursive: true });
  writeFiles(path, { 'file/in.txt': 'y', folder: 'y', 'elsewhere/in.txt': 'y', 'odd "näme"\n.txt': 'y' });
  symlinkSync('elsewhere', join(path, 'linked'));
  // Removed from the index alone, so it is there and new.
  git(path, 'rm', '-q', '--cached', 'other');
  const { files, changes } = await kept(path);
  expect(files).toEqual(['elsewhere/in.txt', 'file/in.txt', 'folder', 'linked', 'odd "näme"\n.txt', 'other']);
  expect(changes).not.toContain('deleted other');
  expect(changes).toEqual(
    expect.arrayContaining(['deleted file', 'added file/in.txt', 'deleted folder/in.txt', 'added linked']),
  );
});

test('a file outside of a sparse checkout stays', async () => {
  const { path } = world.repository({ 'in/a.txt': 'a\n', 'out/b.txt': 'b\n' });
  git(path, 'sparse-checkout', 'set', '--cone', 'in');
  expect(existsSync(join(path, 'out'))).toBe(false);
  writeFiles(path, { 'in/a.txt': 'edited\n' });
  const { files, changes } = await kept(path);
  expect(files).toEqual(['in/a.txt', 'out/b.txt']);
  expect(changes).toEqual(['modified in/a.txt']);
});

test('repositories in the working tree that are no submodules are neither taken nor counted', async () => {
  const { path } = world.repository({ 'a.txt': 'a\n' });
  for (const name of ['new', 'staged', 'empty']) {
    mkdirSync(join(path, name));
    git(join(path, name), 'init', '-q');
    if (name !== 'empty') git(join(path, name), 'commit', '-q', '--allow-empty', '-m', 'Theirs');
  }
  git(path, 'add', 'staged');
  expect(await kept(path)).toMatchObject({ files: ['a.txt'], changes: [] });
});

test('a name that is not UTF-8 is refused, since it could not be given back to git', async () => {
  const { path } = world.repository({ 'a.txt': 'a\n' });
  const name = Buffer.concat([Buffer.from(`${path}/`), Buffer.from([0x66, 0xff])]);
  symlinkSync('a.txt', name);
  await expect(world.workspaces.keepChanges(path, AT_MS)).rejects.toMatchObject({
    code: 'CHANGES_REFUSED',
    message: expect.stringMatching(/has a changed file whose name is not UTF-8/),
  });
});

test('sweeps of other processes meanwhile take nothing away', async () => {
  const files = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`f${n}`, `${n}\n`]));
  const { path } = world.repository(files);
  const other = world.another();
  writeFiles(path, { f1: 'edited\n' });
  let over = false;
  const sweeping = (async () => {
    while (!over) await other.sweep(() => true);
  })();
  const { changes } = await world.workspaces.keepChanges(path, AT_MS).finally(() => {
    over = true;
  });
  await sweeping;
  expect(changes).toEqual([{ path: 'f1', change: 'modified' }]);
});
