import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ApiError } from '../src/index.ts';
import { type GitHubWorld, git, openGitHubWorld } from './github-world.ts';

let world: GitHubWorld;
let folder: string;
beforeEach(async () => {
  world = await openGitHubWorld();
  folder = await mkdtemp(join(tmpdir(), 'bad-days-'));
});
afterEach(async () => {
  await world.github.settled();
  const { violations } = world.contract;
  await world.close();
  await rm(folder, { recursive: true, force: true });
  expect(violations).toEqual([]);
});

const remote = (name = 'demo'): string => `${world.github.url}/alice/${name}.git`;
const head = async (branch: string): Promise<string> =>
  (await git(folder, ['ls-remote', remote(), `refs/heads/${branch}`])).split('\t')[0] ?? '';

describe('a call that is set to fail', () => {
  const COMMENTS = /^\/repos\/alice\/demo\/issues\/\d+\/comments$/;

  test('fails as often as requested, without an effect', async () => {
    const alice = world.github.as('alice');
    const issue = await alice.openIssue(world.repository, { title: 'Broken' });
    world.github.faults.add({
      method: 'POST',
      path: COMMENTS,
      times: 2,
      status: 403,
      headers: { 'retry-after': '60' },
      body: { message: 'You have exceeded a secondary rate limit.' },
    });
    for (let i = 0; i < 2; i++) {
      const write = alice.comment(world.repository, issue, 'x');
      await expect(write).rejects.toMatchObject({ status: 403, data: { message: /secondary/ } });
    }
    expect(world.github.faults.left()).toBe(0);
    expect(await alice.comments(world.repository, issue)).toEqual([]);
    await alice.comment(world.repository, issue, 'y');
    expect(await alice.comments(world.repository, issue)).toHaveLength(1);
  });

  test('after it took effect loses only its answer', async () => {
    const alice = world.github.as('alice');
    const issue = await alice.openIssue(world.repository, { title: 'Broken' });
    world.github.faults.add({ method: 'POST', path: COMMENTS, after: true });
    await expect(alice.comment(world.repository, issue, 'x')).rejects.toBeInstanceOf(ApiError);
    expect(await alice.comments(world.repository, issue)).toMatchObject([{ body: 'x' }]);
  });

  test('can be a push, before or after the branch exists', async () => {
    const token = world.github.token('alice');
    const path = /\/git-receive-pack$/;
    world.github.faults.add({ method: 'POST', path });
    await expect(world.push('lost/before', { a: '1' }, token)).rejects.toThrow('502');
    expect(await head('lost/before')).toBe('');
    world.github.faults.add({ method: 'POST', path, after: true });
    await expect(world.push('lost/after', { a: '1' }, token)).rejects.toThrow();
    expect(await head('lost/after')).toMatch(/^[0-9a-f]{40}$/);
    await world.push('lost/none', { a: '1' }, token);
  });

  test('can be a connection that breaks', async () => {
    world.github.faults.add({ method: 'GET', path: /^\/user$/, status: 0 });
    await expect(fetch(`${world.github.url}/user`)).rejects.toThrow();
  });
});

// What the stories of publishing rely on, they show.
describe('a repository', () => {
  test('with a new name is found under the old one, also by git', async () => {
    const alice = world.github.as('alice');
    const issue = await alice.openIssue(world.repository, { title: 'Moving' });
    await world.github.rename(world.repository, 'moved');
    const moved = { owner: 'alice', name: 'moved' };
    expect(await alice.comment(world.repository, issue, 'by the old name')).toEqual(expect.any(Number));
    expect(await alice.comments(moved, issue)).toHaveLength(1);
    const answer = await fetch(`${world.github.apiUrl}/repos/alice/demo/issues/${issue}`, {
      redirect: 'manual',
    });
    expect(answer.status).toBe(301);
    const { repositoryId } = world.github.handle('alice', 'moved');
    expect(answer.headers.get('location')).toBe(
      `${world.github.apiUrl}/repositories/${repositoryId}/issues/${issue}`,
    );
    expect(await git(folder, ['ls-remote', remote()])).toBe(
      await git(folder, ['ls-remote', remote('moved')]),
    );
    await world.push('by-the-old-name', { a: '1' }, world.github.token('alice'));
    expect(await head('by-the-old-name')).not.toBe('');
  });

  test('refuses pushes that break its rules, and says which', async () => {
    await world.github.protect('auto-dev/*', "Branches of 'auto-dev' need a signature.");
    const token = world.github.token('alice');
    await expect(world.push('auto-dev/7/r1/A', { a: '1' }, token)).rejects.toThrow(
      /GH013: Repository rule violations.*need a signature/s,
    );
    expect(await head('auto-dev/7/r1/A')).toBe('');
    await world.push('free', { a: '1' }, token);
  });

  test('of another owner can be forked, and the fork proposed in a pull request', async () => {
    const mallory = world.github.as('mallory');
    const own = await mallory.fork(world.repository);
    await mallory.push(own, { branch: 'gift', files: { 'src/gift.js': 'x\n', 'README.md': null } });
    const number = await mallory.openPull(world.repository, {
      head: 'mallory:gift',
      base: 'main',
      title: 'Gift',
    });
    const [pull] = await world.github.as('alice').pulls(world.repository);
    expect(pull).toMatchObject({ number, head: { ref: 'gift', repo: { full_name: 'mallory/demo' } } });
    const refused = mallory.push(world.repository, { branch: 'main', files: { x: 'x' } });
    await expect(refused).rejects.toThrow('may not push');
  });
});

describe('the App receives a webhook', () => {
  const heard = async (event: string) => {
    await world.github.settled();
    return world.github.deliveries.filter((delivery) => delivery.event === event);
  };

  test('for a comment on a line', async () => {
    const bob = world.github.as('bob');
    const sha = await bob.push(world.repository, { branch: 'topic', files: { 'fix.txt': 'one\n' } });
    const pull = await bob.openPull(world.repository, { head: 'topic', base: 'main', title: 'Fix' });
    const id = await bob.commentOnLine(world.repository, pull, {
      path: 'fix.txt',
      line: 1,
      body: '/auto-dev fix',
    });
    expect(await heard('pull_request_review_comment')).toMatchObject([
      {
        action: 'created',
        payload: {
          comment: {
            id,
            body: '/auto-dev fix',
            path: 'fix.txt',
            line: 1,
            user: { login: 'bob', type: 'User' },
          },
          pull_request: { number: pull, head: { sha } },
          sender: { login: 'bob' },
          installation: { id: world.github.installationId },
        },
      },
    ]);
  });

  test('when an installation is suspended, and none afterwards until it is resumed', async () => {
    const alice = world.github.as('alice');
    await world.github.suspend();
    await alice.openIssue(world.repository, { title: 'Unheard' });
    await world.github.settled();
    await world.github.unsuspend();
    await alice.openIssue(world.repository, { title: 'Heard' });
    expect((await heard('installation')).map(({ action }) => action)).toEqual(['suspend', 'unsuspend']);
    expect(await heard('issues')).toMatchObject([{ payload: { issue: { title: 'Heard' } } }]);
  });

  test('when it is uninstalled, or a repository removed', async () => {
    await world.github.setInstalled(world.repository, false);
    await world.github.uninstall();
    const id = world.github.handle('alice', 'demo').repositoryId;
    expect(await heard('installation_repositories')).toMatchObject([
      { action: 'removed', payload: { repositories_removed: [{ id, full_name: 'alice/demo' }] } },
    ]);
    expect(await heard('installation')).toMatchObject([
      { action: 'deleted', payload: { installation: { id: world.github.installationId } } },
    ]);
  });
});
