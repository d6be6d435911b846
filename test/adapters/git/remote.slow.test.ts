import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Fault } from '../../../src/core/model/index.ts';
import { patchOf } from '../../contracts/workspaces.suite.ts';
import { type GitServer, startGitServer } from './server.ts';
import { type GitWorld, git, openGitWorld } from './world.ts';

describe('a repository behind a URL', () => {
  let world: GitWorld;
  let server: GitServer;
  let folder: string;
  beforeAll(async () => {
    world = openGitWorld();
    folder = world.folder();
    server = await startGitServer(folder);
  });
  afterAll(async () => {
    await server.close();
    world.close();
  });

  let count = 0;
  let minted = 0;
  const sourceAt = (url: string, login = server.credential) => {
    const credential = async () => {
      minted += 1;
      return login;
    };
    return { kind: 'remote', url, credential } as const;
  };
  /** A repository on the server, and what a run knows of it. */
  function published(files: Readonly<Record<string, string>> = { 'a.txt': 'one\n' }) {
    const { path, sha } = world.repository(files);
    const name = `repo-${++count}`;
    const bare = join(folder, `${name}.git`);
    git(path, 'clone', '-q', '--bare', path, bare);
    git(path, 'remote', 'add', 'origin', bare);
    return {
      path,
      sha,
      bare,
      source: sourceAt(server.url(name)),
    };
  }
  async function changed(remote: ReturnType<typeof published>) {
    const base = await world.workspaces.prepare(remote.source, remote.sha);
    const area = await world.workspaces.open(base, `area-${count}`);
    await world.run(area, 'echo two > a.txt');
    const { tree } = patchOf(await world.workspaces.collect(base, area));
    const author = { name: 'Runoff', email: 'runoff@example.org' };
    const spec = { base: remote.sha, tree, message: 'Fix', author, at: 1_700_000_000 };
    const sha = await world.workspaces.commit(base, spec);
    const other = await world.workspaces.commit(base, { ...spec, message: 'Other' });
    return {
      base,
      sha,
      other,
      next: () => world.workspaces.commit(base, { ...spec, base: sha, message: 'Next' }),
      push: (name: string, what = sha, onto?: string) =>
        world.workspaces.push(
          base,
          { url: remote.source.url, credential: server.credential },
          name,
          what,
          onto,
        ),
    };
  }

  test('is resolved by branch, tag, HEAD and commit', async () => {
    const remote = published();
    git(remote.bare, 'tag', '-a', '-m', 'one', 'v1', remote.sha);
    for (const ref of ['main', 'v1', 'HEAD', remote.sha]) {
      expect(await world.workspaces.resolve(remote.source, ref), ref).toBe(remote.sha);
    }
    for (const ref of ['gone', 'refs/heads/main', 'mai*', '-q', '0123456789'.repeat(4)]) {
      expect(await world.workspaces.resolve(remote.source, ref), ref).toBeNull();
    }
  });

  test('is read in its current state each time', async () => {
    const remote = published();
    expect(await world.workspaces.resolve(remote.source, 'main')).toBe(remote.sha);
    git(remote.path, 'commit', '-q', '--allow-empty', '-m', 'Next');
    git(remote.path, 'push', '-q', 'origin', 'main');
    const next = git(remote.path, 'rev-parse', 'HEAD');
    expect(await world.workspaces.resolve(remote.source, 'main')).toBe(next);
    expect(await world.workspaces.listFiles(remote.source, next)).toEqual(['a.txt']);
  });

  test('is not contacted for a commit that exists locally', async () => {
    const remote = published();
    await world.workspaces.prepare(remote.source, remote.sha);
    const before = [server.seen.requests.length, minted];
    await world.workspaces.prepare(remote.source, remote.sha);
    await world.workspaces.readFile(remote.source, remote.sha, 'a.txt');
    await world.workspaces.listFiles(remote.source, remote.sha);
    expect([server.seen.requests.length, minted]).toEqual(before);
  });

  test('takes one login to look for a branch and fetch it', async () => {
    const remote = published();
    const before = minted;
    expect(await world.workspaces.resolve(remote.source, 'main')).toBe(remote.sha);
    expect(minted).toBe(before + 1);
  });

  test('reports an unavailable login with the fault of its provider', async () => {
    const { source, sha } = published();
    const credential = async () => {
      throw new Fault('GITHUB_REFUSED', 'The App was uninstalled.');
    };
    const locked = { ...source, credential };
    const refused = { code: 'GITHUB_REFUSED', message: 'The App was uninstalled.' };
    await expect(world.workspaces.resolve(locked, 'main')).rejects.toMatchObject(refused);
    await expect(world.workspaces.prepare(locked, sha)).rejects.toMatchObject(refused);
  });

  test('gets a new branch and no other change', async () => {
    const remote = published();
    const { sha, push } = await changed(remote);
    expect(await push('auto-dev/7/r1/A')).toEqual({ kind: 'pushed' });
    expect(git(remote.bare, 'for-each-ref', '--format=%(refname) %(objectname)')).toBe(
      `refs/heads/auto-dev/7/r1/A ${sha}\nrefs/heads/main ${remote.sha}`,
    );
    expect(git(remote.bare, 'show', `${sha}:a.txt`)).toBe('two');
  });

  test('keeps a branch at another commit, and counts one at the same commit as pushed', async () => {
    const remote = published();
    const { sha, other, push } = await changed(remote);
    await push('auto-dev/7/A');
    expect(await push('auto-dev/7/A')).toEqual({ kind: 'pushed' });
    expect(await push('auto-dev/7/A', other)).toEqual({ kind: 'exists', at: sha });
    expect(git(remote.bare, 'rev-parse', 'auto-dev/7/A')).toBe(sha);
  });

  test.each(['told', 'served'] as const)('keeps a branch that appears before a push is %s', async (last) => {
    const remote = published();
    const { sha, push } = await changed(remote);
    const appears = 'auto-dev/7/A';
    server.beforePush = (moment) => {
      if (moment === last) git(remote.bare, 'update-ref', `refs/heads/${appears}`, remote.sha);
    };
    expect(await push(appears)).toEqual({ kind: 'exists', at: remote.sha });
    server.beforePush = null;
    expect(git(remote.bare, 'rev-parse', appears)).toBe(remote.sha);
    expect(sha).not.toBe(remote.sha);
  });

  test('extends a branch only from its known commit, not after a push by others', async () => {
    const remote = published();
    const { sha, other, next, push } = await changed(remote);
    const branch = 'auto-dev/7/A';
    await push(branch);
    const child = await next();
    expect(await push(branch, child, sha)).toEqual({ kind: 'pushed' });
    expect(await push(branch, child, sha)).toEqual({ kind: 'pushed' });
    expect(git(remote.bare, 'rev-parse', branch)).toBe(child);
    git(remote.bare, 'update-ref', `refs/heads/${branch}`, remote.sha);
    expect(await push(branch, child, sha)).toEqual({ kind: 'exists', at: remote.sha });
    git(remote.bare, 'update-ref', '-d', `refs/heads/${branch}`);
    expect(await push(branch, child, sha)).toEqual({ kind: 'exists', at: null });
    await expect(push(branch, other, sha)).rejects.toThrow(/not built on/);
  });

  test('can reject a branch by its own rules', async () => {
    const remote = published();
    const { push } = await changed(remote);
    const hook = join(remote.bare, 'hooks', 'pre-receive');
    writeFileSync(hook, '#!/bin/sh\necho "error: GH013: Repository rule violations found" >&2\nexit 1\n');
    chmodSync(hook, 0o755);
    const result = await push('auto-dev/7/A');
    expect(result).toMatchObject({ kind: 'refused', why: expect.stringContaining('GH013') });
    expect(git(remote.bare, 'branch', '--list', 'auto-dev/*')).toBe('');
  });

  test('receives only auto-dev/ branches', async () => {
    const remote = published();
    const { push } = await changed(remote);
    const before = server.seen.requests.length;
    for (const name of ['main', 'feature', 'auto-dev', 'x/auto-dev/a', 'auto-dev/../main']) {
      await expect(push(name), name).rejects.toMatchObject({ name: 'Fault' });
    }
    expect(server.seen.requests).toHaveLength(before);
  });

  test('does not receive a base again that it has moved on from', async () => {
    const remote = published({ 'a.txt': 'one\n', 'noise.txt': randomBytes(300_000).toString('base64') });
    const { push } = await changed(remote);
    git(remote.path, 'commit', '-q', '--allow-empty', '-m', 'Next');
    git(remote.path, 'push', '-q', 'origin', 'main');
    const before = server.seen.pushedBytes;
    expect(await push('auto-dev/7/A')).toEqual({ kind: 'pushed' });
    expect(server.seen.pushedBytes - before).toBeLessThan(20_000);
  });

  test('never has its token in a file, argument or message', async () => {
    const remote = published();
    const { push } = await changed(remote);
    let processes = '';
    server.beforePush = () => {
      processes += execFileSync('ps', ['-eo', 'args', '-ww']).toString();
    };
    expect(await push('auto-dev/7/A')).toEqual({ kind: 'pushed' });
    server.beforePush = null;
    expect(processes).toContain(`git push`);
    const encoded = Buffer.from(`x-access-token:${server.credential.password}`).toString('base64');
    for (const secret of [server.credential.password, encoded]) {
      expect(processes).not.toContain(secret);
      const found = execFileSync('sh', ['-c', 'grep -raF -- "$1" "$2" || true', 'sh', secret, world.dataDir]);
      expect(found.toString()).toBe('');
    }
    const wrong = sourceAt(remote.source.url, { username: 'x', password: 'ghs_wrong' });
    const error = await world.workspaces.resolve(wrong, 'main').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'GITHUB_UNAVAILABLE' });
    expect(String(error)).not.toContain('ghs_wrong');
  });

  test.each([
    [401, 'GITHUB_UNAVAILABLE'],
    [403, 'GITHUB_REFUSED'],
    [404, 'GITHUB_REFUSED'],
    [500, 'GITHUB_UNAVAILABLE'],
    [503, 'GITHUB_UNAVAILABLE'],
  ])('with status %i is the fault %s', async (status, code) => {
    const remote = published();
    server.status = status;
    try {
      await expect(world.workspaces.resolve(remote.source, 'main')).rejects.toMatchObject({ code });
      await expect(world.workspaces.prepare(remote.source, remote.sha)).rejects.toMatchObject({ code });
    } finally {
      server.status = null;
    }
  });

  test('that is unreachable is the fault GITHUB_UNAVAILABLE', async () => {
    const gone = await startGitServer(folder);
    const source = sourceAt(gone.url('x'), gone.credential);
    await gone.close();
    await expect(world.workspaces.resolve(source, 'main')).rejects.toMatchObject({
      code: 'GITHUB_UNAVAILABLE',
    });
  });

  test.each(['ext::sh -c touch% /tmp/x', 'file:///etc', '/etc', 'https://user:pass@example.org/a.git'])(
    'with the address %s is rejected before anything runs',
    async (url) => {
      const before = minted;
      await expect(world.workspaces.resolve(sourceAt(url), 'main')).rejects.toMatchObject({
        code: 'INTERNAL',
      });
      expect(minted).toBe(before);
    },
  );
});
