import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openTrash } from '../../../src/adapters/git/areas.ts';
import { layoutOf, makeLayout } from '../../../src/adapters/git/layout.ts';
import { removeTree } from '../../../src/adapters/git/trees.ts';
import { silent } from '../../world/silent-log.ts';
import { tried } from '../../world/tried.ts';
import { type GitWorld, openGitWorld } from './world.ts';

let world: GitWorld;
beforeEach(() => {
  world = openGitWorld();
});
afterEach(() => world.close());

describe('a folder that takes long to remove', () => {
  test('releases its name at once, and is removed in the background, one tree at a time', async () => {
    const layout = layoutOf(world.dataDir);
    await makeLayout(layout, null);
    const begun: string[] = [];
    const gates: (() => void)[] = [];
    const bin = openTrash(layout, silent, async (path) => {
      begun.push(path);
      await new Promise<void>((resolve) => gates.push(resolve));
      await removeTree(path);
    });
    for (const id of ['a', 'b']) {
      mkdirSync(join(layout.area(id), 'x'), { recursive: true });
      await bin.discard(layout.area(id));
      expect(existsSync(layout.area(id))).toBe(false);
    }
    const trash = readdirSync(layout.areas).map((name) => join(layout.areas, name));
    expect(trash).toHaveLength(2);
    // A sweep meanwhile, of this process, does not begin them again.
    bin.clear(trash);
    expect(begun).toHaveLength(1);
    gates[0]?.();
    await expect.poll(() => begun).toHaveLength(2);
    gates[1]?.();
    await bin.idle();
    expect(readdirSync(layout.areas)).toEqual([]);
    expect(begun).toHaveLength(2);
  });

  test('does not block others if it cannot be removed', async () => {
    const layout = layoutOf(world.dataDir);
    await makeLayout(layout, null);
    const bin = openTrash(layout, silent, async (path) => {
      if (existsSync(join(path, 'stuck'))) throw new Error('stuck');
      await removeTree(path);
    });
    mkdirSync(join(layout.area('a'), 'stuck'), { recursive: true });
    mkdirSync(layout.area('b'));
    await bin.discard(layout.area('a'));
    await bin.discard(layout.area('b'));
    await bin.discard(layout.area('none'));
    await bin.idle();
    expect(readdirSync(layout.areas)).toHaveLength(1);
  });

  test('with thousands of nested levels, half removed by a killed process, is removed by the next start', async () => {
    tried({
      id: 'deep-folders-killed',
      part: 'The App is killed',
      what: 'A candidate nests folders thousands of levels deep, and Runoff is killed while it removes them.',
      held: 'The next start removes the rest in the background, follows no link out, and works meanwhile.',
    });
    const { path, sha } = world.repository({ 'a.txt': 'one\n' });
    const base = await world.workspaces.prepare({ kind: 'local', path }, sha);
    const area = await world.workspaces.open(base, 'r1-A');
    const nest =
      'my $n = 3000; mkdir "d" and chdir "d" or die while $n-- > 0; symlink "/", "out"; open F, ">f"';
    expect(await world.run(area, `perl -e '${nest}' && chmod 0 d`)).toMatchObject({ exitCode: 0 });
    // As the killed process left it: renamed and not removed.
    const outside = join(world.root, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'kept'), '');
    symlinkSync(outside, join(area.upper, 'link'));
    const layout = layoutOf(world.dataDir);
    const killed = openTrash(layout, silent, () => new Promise(() => undefined));
    await killed.discard(layout.area('r1-A'));
    expect(readdirSync(layout.areas)).toEqual([expect.stringMatching(/^\.trash-/)]);

    const next = world.another();
    expect(await next.sweep(() => true)).toEqual([]);
    const again = await next.open(base, 'r1-A');
    expect(await world.run(again, 'cat a.txt')).toMatchObject({ stdout: 'one\n' });
    await next.remove(again);
    await expect.poll(() => readdirSync(layout.areas), { timeout: 240_000 }).toEqual([]);
    expect(readdirSync(outside)).toEqual(['kept']);
  });
});
