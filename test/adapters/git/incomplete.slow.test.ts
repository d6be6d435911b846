import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GitWorld, git, openGitWorld, writeFiles } from './world.ts';

let world: GitWorld;
beforeAll(() => {
  world = openGitWorld();
});
afterAll(() => world.close());

/** A repository with two commits, from which this object was deleted. */
function without(object: string) {
  const { path } = world.repository({ 'src/a.js': 'one\n' });
  writeFiles(path, { 'b.js': 'two\n' });
  git(path, 'add', '-A');
  git(path, 'commit', '-q', '-m', 'second');
  const sha = git(path, 'rev-parse', 'HEAD');
  const id = git(path, 'rev-parse', object);
  rmSync(join(path, '.git/objects', id.slice(0, 2), id.slice(2)));
  return { path, sha };
}

test.each(['HEAD:src/a.js', 'HEAD:src', 'HEAD~1'])(
  'a repository that lacks %s is incomplete, which is no defect of Runoff',
  async (object) => {
    const { path, sha } = without(object);
    await expect(world.workspaces.prepare({ kind: 'local', path }, sha)).rejects.toMatchObject({
      code: 'REPOSITORY_INCOMPLETE',
      message: expect.stringContaining(`${path} lacks objects of its own history`),
      advice: expect.stringContaining('git fsck'),
    });
  },
);
