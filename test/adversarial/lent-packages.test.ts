import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSelecting, readOperator } from '../../src/compose/index.ts';
import type { Selecting } from '../../src/shell.ts';
import { furnish } from '../world/data-folder.ts';

let home: string;
let selecting: Selecting;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'runoff-lent-'));
  const data = join(home, 'data');
  await furnish(data);
  const env = { RUNOFF_DATA: data, LOG_LEVEL: 'silent' } as const;
  selecting = await openSelecting(await readOperator({ env, cwd: home, installation: home }), { atOnce: 1 });
  for (const folder of ['repository', 'base', '.ssh', 'other/node_modules']) {
    await mkdir(join(home, folder), { recursive: true });
  }
});
afterEach(async () => {
  await selecting.close();
  await rm(home, { recursive: true, force: true });
});

const lend = async () => {
  const base = { sha: 'a'.repeat(40), repositoryKey: 'k', lower: join(home, 'base'), layers: [] };
  return (await selecting.tools.lend(base, join(home, 'repository'))).layers;
};

test('a link in place of installed packages gives sandboxes no other folder of the user', async () => {
  await writeFile(join(home, '.ssh/id'), 'secret');
  await symlink(join(home, '.ssh'), join(home, 'repository/node_modules'));
  await symlink(home, join(home, 'repository/vendor'));
  expect(await lend()).toEqual([]);
});

test('sandboxes can read installed packages, also those of another work tree', async () => {
  await writeFile(join(home, 'other/node_modules/a.js'), 'shared');
  await symlink(join(home, 'other/node_modules'), join(home, 'repository/node_modules'));
  const [layer = ''] = await lend();
  expect(await readFile(join(layer, 'node_modules/a.js'), 'utf8')).toBe('shared');
});
