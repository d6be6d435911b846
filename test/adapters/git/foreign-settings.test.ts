import { appendFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { foreignSettings } from '../../../src/adapters/git/foreign-settings.ts';
import { openGit } from '../../../src/adapters/git/git.ts';
import { type GitWorld, git, openGitWorld } from './world.ts';

let world: GitWorld;
beforeAll(() => {
  world = openGitWorld();
});
afterAll(() => world.close());

const overridden = (cwd: string) => foreignSettings(openGit(join(world.root, 'settings')), { cwd });

test('settings that start programs or name addresses are set to nothing, whether this git knows them or not', async () => {
  const { path } = world.repository({ 'a.txt': 'a\n' });
  const hostile = {
    'hook.mine.command': 'evil',
    'hook.mine.event': 'reference-transaction',
    'fetch.bundleURI': 'https://evil.example/bundle',
    'filter.a.b.process': 'evil',
    'filter.x=y "z.clean': 'evil',
    'core.fsmonitor': 'evil',
    'core.sshCommand': 'evil',
    'remote.origin.uploadpack': 'evil',
    'submodule.x.update': '!evil',
    'diff.external': 'evil',
    'setting.of.another-year': 'evil',
  };
  for (const [key, value] of Object.entries(hostile)) git(path, 'config', key, value);
  const keys = Object.keys(hostile).map((key) => key.replace(/[^.]+$/, (name) => name.toLowerCase()));
  const found = await overridden(path);
  expect(found).toMatchObject(Object.fromEntries(keys.map((key) => [key, ''])));
  expect(Object.keys(found).toSorted()).toEqual(keys.toSorted());
});

test('settings that say how git reads the repository are kept, and so are those of Runoff', async () => {
  const { path } = world.repository({ 'a.txt': 'a\n' });
  writeFileSync(join(path, '.git/more'), '[core]\n\tautocrlf = input\n[alias]\n\tx = !evil\n');
  for (const [key, value] of [
    ['core.ignoreCase', 'true'],
    ['branch.main.remote', 'origin'],
    ['remote.origin.url', 'https://github.com/acme/app'],
    ['index.version', '4'],
    ['user.name', 'Ada'],
    ['include.path', 'more'],
    // A condition on the addresses of remotes must not come true by what we override.
    ['includeIf.hasconfig:remote.*.url:.path', 'more'],
  ] as const)
    git(path, 'config', key, value);
  expect(await overridden(path)).toEqual({ 'alias.x': '' });
});

test('a filter whose name is not UTF-8 is refused before git could run it', async () => {
  const { path } = world.repository({ 'a.txt': 'a\n' });
  const odd = (before: string, after: string) =>
    Buffer.concat([Buffer.from(before), Buffer.from([0xff]), Buffer.from(after)]);
  writeFileSync(join(path, '.git/info/attributes'), odd('*.txt filter=', '\n'));
  const mark = join(world.folder(), 'sang');
  appendFileSync(join(path, '.git/config'), odd('[filter "', `"]\n\tclean = touch ${mark}; cat\n`));
  // Git reads the file again, through its filter, because its date is not the one in the index.
  utimesSync(join(path, 'a.txt'), 1, 1);
  const refused = { code: 'NOT_A_REPOSITORY', message: expect.stringContaining('filter.\uFFFD.clean') };
  await expect(world.workspaces.describe(path)).rejects.toMatchObject(refused);
  await expect(world.workspaces.keepChanges(path, 1)).rejects.toMatchObject(refused);
});

test('a branch whose name is not UTF-8 has settings that are kept', async () => {
  const { path } = world.repository({ 'a.txt': 'a\n' });
  const section = [Buffer.from('[branch "'), Buffer.from([0xff]), Buffer.from('"]\n\tremote = origin\n')];
  appendFileSync(join(path, '.git/config'), Buffer.concat(section));
  expect(await world.workspaces.describe(path)).toMatchObject({ dirty: false });
});
