import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLocalGitHub } from '../src/index.ts';
import { commitFiles, type GitHubWorld, git, openGitHubWorld } from './github-world.ts';

let world: GitHubWorld;
let scratch: string;
let remote: string;

beforeAll(async () => {
  world = await openGitHubWorld();
  scratch = await mkdtemp(join(tmpdir(), 'local-github-git-'));
  remote = `${world.github.url}/alice/demo.git`;
});
afterAll(async () => {
  await world.close();
  await rm(scratch, { recursive: true, force: true });
});

async function clone(name: string, token: string): Promise<string> {
  const folder = join(scratch, name);
  await git(scratch, ['clone', '--quiet', remote, folder], token);
  return folder;
}
const head = async (folder: string): Promise<string> => (await git(folder, ['rev-parse', 'HEAD'])).trim();
const commit = async (folder: string, message: string): Promise<string> => {
  await git(folder, ['add', '--all']);
  await git(folder, ['commit', '--quiet', '--allow-empty', '--message', message]);
  return head(folder);
};
const refSha = async (branch: string): Promise<string> => {
  const ref = await world.github.as('alice').request('GET', `/repos/alice/demo/git/ref/heads%2F${branch}`);
  return (ref as { object: { sha: string } }).object.sha;
};

describe('git over HTTP', () => {
  test('supports shallow fetches with protocol version 2', async () => {
    const folder = join(scratch, 'shallow');
    const args = ['-c', 'protocol.version=2', 'clone', '--quiet', '--depth', '1', remote, folder];
    await git(scratch, args, world.github.token('bob'));
    expect(existsSync(join(folder, 'package.json'))).toBe(true);
  });

  test('keeps the names of all objects that are pushed', async () => {
    const token = world.github.token('bob');
    const folder = await clone('objects', token);
    await git(folder, ['switch', '--quiet', '--create', 'side']);
    await writeFile(join(folder, 'é ü.txt'), 'ünïcode\n');
    await commit(folder, 'On the side\n\nwith a body\n\nand more');
    await git(folder, ['switch', '--quiet', '--create', 'objects', 'main']);
    await writeFile(join(folder, 'big.bin'), randomBytes(1 << 20));
    await writeFile(join(folder, 'empty'), '');
    await writeFile(join(folder, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 });
    await symlink('README.md', join(folder, 'link'));
    await commit(folder, 'Many kinds');
    await git(folder, ['merge', '--quiet', '--no-ff', '--message', 'Merge side', 'side']);
    await git(folder, ['push', '--quiet', 'origin', 'objects', 'side'], token);
    expect(await refSha('objects')).toBe(await head(folder));
    const at = '/repos/alice/demo/contents/%C3%A9%20%C3%BC.txt?ref=objects';
    expect(await world.github.as('bob').request('GET', at)).toMatchObject({ name: 'é ü.txt' });
  });

  test('moves, forces and deletes branches', async () => {
    const token = world.github.token('bob');
    const folder = await clone('moves', token);
    const first = await commit(folder, 'first');
    await git(folder, ['push', '--quiet', 'origin', 'HEAD:moves'], token);
    expect(await refSha('moves')).toBe(first);
    await git(folder, ['commit', '--quiet', '--allow-empty', '--amend', '--message', 'amended']);
    await expect(git(folder, ['push', '--quiet', 'origin', 'HEAD:moves'], token)).rejects.toThrow(/rejected/);
    await git(folder, ['push', '--quiet', '--force', 'origin', 'HEAD:moves'], token);
    expect(await refSha('moves')).toBe(await head(folder));
    await git(folder, ['push', '--quiet', 'origin', '--delete', 'moves'], token);
    await expect(refSha('moves')).rejects.toMatchObject({ status: 404 });
  });

  test('refuses an unknown token', async () => {
    await expect(git(scratch, ['ls-remote', remote], 'ghs_unknown')).rejects.toThrow(
      /Authentication|could not read/,
    );
  });

  test('lets everybody clone a public repository, but not push', async () => {
    const folder = join(scratch, 'stranger');
    await git(scratch, ['clone', '--quiet', remote, folder]);
    await commit(folder, 'evil');
    await expect(git(folder, ['push', '--quiet', 'origin', 'HEAD:evil'])).rejects.toThrow(
      /Authentication|could not read/,
    );
  });

  test('lets an outsider fetch a public repository, but not push', async () => {
    const token = world.github.token('mallory');
    const folder = await clone('outsider', token);
    await commit(folder, 'evil');
    await expect(git(folder, ['push', '--quiet', 'origin', 'HEAD:evil'], token)).rejects.toThrow(/403/);
    expect(await git(folder, ['ls-remote', 'origin', 'evil'], token)).toBe('');
  });

  test('accepts concurrent pushes', async () => {
    const names = ['p1', 'p2', 'p3', 'p4'];
    const shas = await Promise.all(
      names.map((name) => world.push(name, { [`${name}.txt`]: name }, world.github.token('bob'))),
    );
    expect(await Promise.all(names.map(refSha))).toEqual(shas);
  });
});

describe('pull requests', () => {
  const open = async (branch: string, body = ''): Promise<number> => {
    const pull = { title: branch, head: branch, base: 'main', body };
    const opened = await world.github.as('bob').request('POST', '/repos/alice/demo/pulls', pull);
    return (opened as { number: number }).number;
  };

  test('follow their branch, and say so', async () => {
    const token = world.github.token('bob');
    await world.push('follow', { 'a.txt': '1\n2\n' }, token);
    const number = await open('follow');
    const folder = await clone('follow', token);
    await git(folder, ['switch', '--quiet', 'follow']);
    await writeFile(join(folder, 'b.txt'), '3\n');
    const sha = await commit(folder, 'more');
    await git(folder, ['push', '--quiet', 'origin', 'follow'], token);
    const path = `/repos/alice/demo/pulls/${number}`;
    const bob = world.github.as('bob');
    expect(await bob.request('GET', path)).toMatchObject({
      head: { sha },
      commits: 2,
      changed_files: 2,
      additions: 3,
    });
    expect(await bob.request('GET', `${path}/files`)).toMatchObject([
      { filename: 'a.txt', status: 'added' },
      { filename: 'b.txt', status: 'added' },
    ]);
    await world.github.settled();
    expect(world.github.deliveries.at(-1)).toMatchObject({
      event: 'pull_request',
      action: 'synchronize',
      payload: { number, after: sha, pull_request: { head: { sha } } },
    });
  });

  test.each([
    ['missing', 'main', 'invalid'],
    ['main', 'missing', 'invalid'],
    ['main', 'main', 'No commits between main and main'],
  ])('from %s to %s are refused', async (from, to, why) => {
    const opening = world.github
      .as('bob')
      .request('POST', '/repos/alice/demo/pulls', { title: 'x', head: from, base: to });
    await expect(opening).rejects.toThrow(why);
  });

  test('are merged into git, and close the issue that they fix', async () => {
    const { github, repository } = world;
    const issue = await github.as('alice').openIssue(repository, { title: 'Broken' });
    const other = await github.as('alice').openIssue(repository, { title: 'Mentioned' });
    await world.push('fix', { 'src/add.js': 'export const add = (a, b) => a + b;\n' }, github.token('bob'));
    const number = await open('fix', `Fixes #${issue}, see #${other}.`);
    const bob = github.as('bob');
    await expect(github.as('mallory').mergePull(repository, number)).rejects.toMatchObject({ status: 403 });
    await bob.mergePull(repository, number);
    await github.settled();

    const main = await git(github.directory('alice', 'demo'), ['show', 'main:src/add.js']);
    expect(main).toContain('a + b');
    expect(await refSha('main')).toBe(
      (await git(github.directory('alice', 'demo'), ['rev-parse', 'main'])).trim(),
    );
    const closed = github.deliveries.find((d) => d.action === 'closed' && d.payload.number === number);
    expect(closed?.payload).toMatchObject({
      pull_request: {
        merged: true,
        state: 'closed',
        merged_by: { login: 'bob' },
        merge_commit_sha: await refSha('main'),
      },
    });
    const path = '/repos/alice/demo/issues';
    expect(await bob.request('GET', `${path}/${issue}`)).toMatchObject({ state: 'closed' });
    expect(await bob.request('GET', `${path}/${other}`)).toMatchObject({ state: 'open' });
  });

  test('that are drafts are not merged until they are ready', async () => {
    const { github, repository } = world;
    await world.push('draft', { 'draft.txt': '1' }, github.token('bob'));
    const bob = github.as('bob');
    const pull = { title: 'Draft', head: 'draft', base: 'main', draft: true };
    const { number } = (await bob.request('POST', '/repos/alice/demo/pulls', pull)) as { number: number };
    await expect(bob.mergePull(repository, number)).rejects.toThrow(/Draft/);
    await bob.readyForReview(repository, number);
    await bob.mergePull(repository, number);
  });

  test('whose branch has moved are merged as it is now', async () => {
    const { github, repository } = world;
    const bob = github.as('bob');
    await world.push('moving', { 'moving.txt': '1' }, github.token('bob'));
    const number = await open('moving');
    const clone = join(scratch, 'moving');
    const token = github.token('bob');
    await git(
      scratch,
      ['clone', '--quiet', '--branch', 'moving', `${github.url}/alice/demo.git`, clone],
      token,
    );
    await writeFile(join(clone, 'moving.txt'), '2');
    await git(clone, ['commit', '--quiet', '--all', '--message', 'Second']);
    await git(clone, ['push', '--quiet', 'origin', 'HEAD:moving'], token);
    const tip = (await git(clone, ['rev-parse', 'HEAD'])).trim();
    await bob.mergePull(repository, number);
    const bare = github.directory('alice', 'demo');
    expect(await git(bare, ['show', 'main:moving.txt'])).toBe('2');
    const merge = (await git(bare, ['rev-parse', 'main'])).trim();
    expect(await refSha('main')).toBe(merge);
    expect(await bob.request('GET', `/repos/alice/demo/pulls/${number}`)).toMatchObject({
      merged: true,
      merge_commit_sha: merge,
      head: { sha: tip },
    });
  });

  test('whose base has moved are not merged wrongly', async () => {
    const { github, repository } = world;
    await world.push('early', { 'early.txt': '1' }, github.token('bob'));
    await world.push('late', { 'late.txt': '1' }, github.token('bob'));
    const early = await open('early');
    const late = await open('late');
    await github.as('bob').mergePull(repository, early);
    await expect(github.as('bob').mergePull(repository, late)).rejects.toMatchObject({ status: 409 });
  });
});

describe('a local GitHub', () => {
  test('with several owners has an installation on each', async () => {
    const source = join(scratch, 'several');
    await git(scratch, ['init', '--quiet', '--initial-branch', 'trunk', source]);
    await commitFiles(source, { 'a.txt': 'a' });
    const github = await startLocalGitHub({
      users: ['ann', 'ben'],
      repositories: [
        { owner: 'ann', name: 'one', from: source },
        { owner: 'ben', name: 'two', from: source, private: true },
      ],
      webhookUrl: () => undefined,
    });
    try {
      expect(github.handle('ann', 'one').installationId).not.toBe(github.handle('ben', 'two').installationId);
      expect(await github.as('ann').request('GET', '/repos/ann/one')).toMatchObject({
        default_branch: 'trunk',
      });
      await expect(github.as('ann').request('GET', '/repos/ben/two')).rejects.toMatchObject({ status: 403 });
      const url = `${github.url}/ben/two.git`;
      await expect(git(scratch, ['ls-remote', url], github.token('ann'))).rejects.toThrow(/not found/);
      expect(await git(scratch, ['ls-remote', url], github.token('ben'))).toContain('refs/heads/trunk');
      expect((await fetch(`${github.url}/ben/two`)).status).toBe(404);
    } finally {
      await github.close();
    }
  });

  test('leaves nothing behind, even when closed during activity', async () => {
    const busy = await openGitHubWorld();
    const directory = busy.github.directory('alice', 'demo');
    const alice = busy.github.as('alice');
    // A webhook receiver that accepts and never answers.
    const { createServer } = await import('node:net');
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const address = silent.address();
    busy.deliverTo(`http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/`);
    await alice.openIssue(busy.repository, { title: 'Under way' });
    const pushing = busy.push('late', { 'late.txt': '1' }, busy.github.token('alice')).catch(() => 'cut off');
    await busy.github.close();
    await pushing;
    await busy.close();
    await new Promise((resolve) => silent.close(resolve));
    expect(existsSync(directory)).toBe(false);
    await expect(fetch(busy.github.url)).rejects.toThrow();
  });

  test('requires an existing repository', async () => {
    const starting = startLocalGitHub({
      users: ['ann'],
      repositories: [{ owner: 'ann', name: 'one', from: join(scratch, 'missing') }],
      webhookUrl: () => undefined,
    });
    await expect(starting).rejects.toThrow(/missing/);
  });
});

test("all requests, answers and webhooks match GitHub's own descriptions", async () => {
  await world.github.settled();
  expect(world.contract.violations).toEqual([]);
});
