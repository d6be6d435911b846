import { statSync } from 'node:fs';
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
