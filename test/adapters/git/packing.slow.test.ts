import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDamageMarks } from '../../../src/adapters/git/damage.ts';
import { openGit } from '../../../src/adapters/git/git.ts';
import { layoutOf } from '../../../src/adapters/git/layout.ts';
import { openLocks } from '../../../src/adapters/git/locks.ts';
import { type GitWorld, openGitWorld } from './world.ts';

let world: GitWorld;
beforeAll(() => {
  world = openGitWorld();
});
afterAll(() => world.close());

test('a mirror of many packs is packed while nobody fetches into it, and counts as whole afterwards', async () => {
  const { path, sha } = world.repository({ 'a.txt': 'a\n' });
  const base = await world.workspaces.prepare({ kind: 'local', path }, sha);
  const layout = layoutOf(world.dataDir);
  const mirror = layout.mirror(base.repositoryKey);
  const loop =
    'i=0; while [ $i -lt 60 ]; do i=$((i+1)); echo $i | git hash-object -w --stdin | git pack-objects -q objects/pack/pack; done';
  execFileSync('sh', ['-c', loop], { cwd: mirror, stdio: 'ignore' });
  const marks = openDamageMarks(openGit(layout.settingsFile));
  await marks.mark(mirror);
  const packs = () => readdirSync(join(mirror, 'objects/pack')).filter((name) => name.endsWith('.pack'));
  const before = packs().length;
  expect(before).toBeGreaterThan(50);

  const fetched = Promise.withResolvers<void>();
  const fetching = openLocks(layout.locks).fetching(base.repositoryKey, () => fetched.promise);
  let pruned = false;
  const pruning = world.workspaces
    .prune({ before: Date.now() - 86_400_000, keep: () => true, mirrorsKept: [path] })
    .finally(() => {
      pruned = true;
    });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect([pruned, packs().length]).toEqual([false, before]);
  fetched.resolve();
  await fetching;
  await pruning;
  expect(packs().length).toBeLessThan(10);
  expect(await marks.isAsMarked(mirror)).toBe(true);
});
