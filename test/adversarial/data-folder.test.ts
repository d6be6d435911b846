import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openGitWorld } from '../adapters/git/world.ts';

const OTHERS = 0o007;

test('no other user of the host can enter the folders of areas, checkouts, layers and mirrors', async () => {
  const world = openGitWorld();
  try {
    const { path, sha } = world.repository({ 'secret.ts': 'private\n' });
    const source = { kind: 'local', path } as const;
    await world.workspaces.resolve(source, 'main');
    const area = await world.workspaces.open(await world.workspaces.prepare(source, sha), 'r1-A');
    // The sandboxes' own user can, which is what makes this more than a closed door.
    expect((await world.run(area, 'cat secret.ts')).stdout).toBe('private\n');
    for (const name of ['areas', 'bases', 'layers', 'mirrors', 'objects']) {
      expect(statSync(join(world.dataDir, name)).mode & OTHERS, name).toBe(0);
    }
  } finally {
    world.close();
  }
});

test.skipIf(process.getuid?.() !== 0)(
  "the sandboxes' user cannot put something else in the place of an area's folders, which root works on by name",
  async () => {
    const world = openGitWorld();
    try {
      const { path, sha } = world.repository({ 'a.txt': 'one\n' });
      const base = await world.workspaces.prepare({ kind: 'local', path }, sha);
      const { upper } = await world.workspaces.open(base, 'r1-A');
      const { uid, gid } = statSync(upper);
      const asOwner = (line: string) => spawnSync('sh', ['-c', line, 'sh', upper], { uid, gid }).status;
      expect(uid).not.toBe(0);
      expect(asOwner('touch "$1/mine"')).toBe(0);
      expect(asOwner('mv "$1" "$1.gone"; ln -s /etc "$1/../home"; ln -s /etc "$1/../in"')).not.toBe(0);
      for (const name of ['u.gone', 'home/passwd', 'in'])
        expect(existsSync(join(upper, '..', name))).toBe(false);
    } finally {
      world.close();
    }
  },
);
