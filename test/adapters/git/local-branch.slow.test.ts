import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GitWorld, git, openGitWorld, writeFiles } from './world.ts';

const AUTHOR = { name: 'R', email: 'r@example.org' };
let world: GitWorld;
beforeAll(() => {
  world = openGitWorld();
});
afterAll(() => world.close());

/** A commit on top of the repository's, and a way to make a branch of it there. */
async function candidate(path: string, sha: string) {
  const base = await world.workspaces.prepare({ kind: 'local', path }, sha);
  const tree = git(path, 'rev-parse', `${sha}^{tree}`);
  const spec = { base: sha, tree, message: 'Candidate', author: AUTHOR, at: 1 };
  const commit = await world.workspaces.commit(base, spec);
  return { commit, branch: () => world.workspaces.branch(base, path, 'auto-dev/r1/A', commit) };
}

test('a lock of a branch that a power failure left does not stop the next try', async () => {
  const { path, sha } = world.repository({ 'a.txt': 'a\n' });
  const { commit, branch } = await candidate(path, sha);
  mkdirSync(join(path, '.git/refs/heads/auto-dev/r1'), { recursive: true });
  writeFileSync(join(path, '.git/refs/heads/auto-dev/r1/A.lock'), '');
  await branch();
  expect(git(path, 'rev-parse', 'auto-dev/r1/A')).toBe(commit);
});

test.each([
  ['the commit that a run started from', 1],
  ['that commit and its parent', 2],
])('a branch is complete where the person has since removed %s', async (_, count) => {
  const { path } = world.repository({ 'a.txt': 'a\n' });
  const loose = () => Number(git(path, 'count-objects').split(' ')[0]);
  for (const text of ['b\n', 'c\n']) {
    writeFiles(path, { 'a.txt': text });
    git(path, 'commit', '-q', '-a', '-m', text);
  }
  const { commit, branch } = await candidate(path, git(path, 'rev-parse', 'HEAD'));
  git(path, 'reset', '-q', '--hard', `HEAD~${count}`);
  git(path, 'reflog', 'expire', '--expire=now', '--all');
  git(path, 'prune', '--expire=now');
  const before = loose();
  await branch();
  // Without the parent, the whole history arrives: as a pack, not as a file for each of its objects.
  expect(loose() - before > 0).toBe(count === 1);
  expect(git(path, 'rev-parse', 'auto-dev/r1/A')).toBe(commit);
  expect(git(path, 'log', '--format=%s', 'auto-dev/r1/A').split('\n').filter(Boolean)).toEqual([
    ...['Candidate', 'c', 'b', 'Start'],
  ]);
  expect(git(path, 'fsck', '--full', '--strict')).not.toMatch(/missing|broken/);
});

test.each([
  ['checks out', [['checkout', '-q', 'auto-dev/r1/A']]],
  [
    'rebases',
    [
      ['checkout', '-q', 'auto-dev/r1/A'],
      ['rebase', '-q', 'other'],
    ],
  ],
  [
    'bisects',
    [
      ['checkout', '-q', 'auto-dev/r1/A'],
      ['bisect', 'start'],
      ['checkout', '-q', 'other'],
    ],
  ],
])('a branch that the person %s is left as it is', async (_, steps) => {
  const { path, sha } = world.repository({ 'a.txt': 'a\n' });
  const { branch } = await candidate(path, sha);
  git(path, 'checkout', '-q', '-b', 'other');
  writeFiles(path, { 'a.txt': 'b\n' });
  git(path, 'commit', '-q', '-a', '-m', 'b');
  git(path, 'checkout', '-q', '-b', 'auto-dev/r1/A', sha);
  writeFiles(path, { 'a.txt': 'c\n' });
  git(path, 'commit', '-q', '-a', '-m', 'c');
  const theirs = git(path, 'rev-parse', 'auto-dev/r1/A');
  // A rebase stops at the conflict.
  for (const step of steps) {
    try {
      git(path, ...step);
    } catch {}
  }
  await expect(branch()).rejects.toThrow(`Branch auto-dev/r1/A is in use in ${path}`);
  expect(git(path, 'rev-parse', 'auto-dev/r1/A')).toBe(theirs);
});
