import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openGit } from '../../../src/adapters/git/git.ts';
import { changes } from '../../contracts/workspaces.suite.ts';
import { type GitServer, startGitServer } from './server.ts';
import { type Files, type GitWorld, git, openGitWorld, writeFiles } from './world.ts';

const OPEN = { wanted: true, ownHost: true, hosts: [] };
const { signal } = new AbortController();

describe('the submodules of a base commit', () => {
  let world: GitWorld;
  let server: GitServer;
  let served: string;
  beforeAll(async () => {
    world = openGitWorld();
    served = world.folder();
    server = await startGitServer(served);
  });
  afterAll(async () => {
    await server.close();
    world.close();
  });

  /** A repository on the server, open to everybody unless `isPrivate`. */
  function published(name: string, files: Files, isPrivate = false) {
    const { path, sha } = world.repository(files);
    return publish(name, path, sha, isPrivate);
  }
  function publish(name: string, path: string, sha: string, isPrivate = false) {
    git(path, 'clone', '-q', '--bare', path, join(served, `${name}.git`));
    if (!isPrivate) server.open.add(`${name}.git`);
    const source = {
      kind: 'remote',
      url: server.url(name),
      credential: async () => server.credential,
    } as const;
    return { path, sha, source };
  }
  /** A repository with gitlinks that were not made by git: `.gitmodules` may say anything. */
  function withLinks(
    links: readonly { path: string; url: string; sha: string; name?: string }[],
    more: Files = {},
  ) {
    const gitmodules = links
      .map(({ path, url, name = path }) => `[submodule "${name}"]\n\tpath = ${path}\n\turl = ${url}\n`)
      .join('');
    const { path } = world.repository({ '.gitmodules': gitmodules, 'a.txt': 'one\n', ...more });
    for (const link of links)
      git(path, 'update-index', '--add', '--cacheinfo', `160000,${link.sha},${link.path}`);
    git(path, 'commit', '-q', '-m', 'Links');
    return { path, sha: git(path, 'rev-parse', 'HEAD') };
  }
  const read = (base: { submodules?: { files: string } }, path: string) =>
    readFileSync(join(base.submodules?.files ?? '', path), 'utf8');

  test('are fetched from the own server at the recorded commit, nested ones too, and never with a login', async () => {
    const inner = published('inner', { 'deep.txt': 'deep\n' });
    const lib = withLinks([{ path: 'inner', url: '../inner.git', sha: inner.sha }], { 'lib.txt': 'v1\n' });
    publish('lib', lib.path, lib.sha);
    const app = withLinks([{ path: 'vendor/lib', url: '../lib.git', sha: lib.sha }]);
    const { source } = publish('app', app.path, app.sha, true);
    writeFiles(lib.path, { 'lib.txt': 'v2\n' });
    git(lib.path, 'commit', '-q', '-a', '-m', 'Later');

    const checkout = await world.workspaces.prepare(source, app.sha);
    const base = await world.workspaces.fetchSubmodules(checkout, { source, access: OPEN }, signal);
    expect(base.submodules?.absent).toEqual([]);
    expect(read(base, 'vendor/lib/lib.txt')).toBe('v1\n');
    expect(read(base, 'vendor/lib/inner/deep.txt')).toBe('deep\n');
    expect(existsSync(join(base.submodules?.files ?? '', 'vendor/lib/.git'))).toBe(false);

    const seen = server.seen.requests.length;
    const again = await world.workspaces.fetchSubmodules(checkout, { source, access: OPEN }, signal);
    expect(again.submodules).toEqual(base.submodules);
    expect(server.seen.requests.length).toBe(seen);
    expect(await world.workspaces.isWhole(base)).toBe(true);
  });

  test('are seen by commands and set-up, and are no part of a patch', async () => {
    const lib = published('seen', { 'x.txt': 'x\n', 'd/y.txt': 'y\n' });
    const app = withLinks([{ path: 'lib', url: '../seen.git', sha: lib.sha }]);
    const { source } = publish('seer', app.path, app.sha);
    const checkout = await world.workspaces.prepare(source, app.sha);
    const bare = await world.workspaces.fetchSubmodules(checkout, { source, access: OPEN }, signal);
    const limits = {
      wallMs: 60_000,
      memoryBytes: 2 ** 30,
      diskBytes: 2 ** 30,
      processes: 100,
      outputBytes: 65_536,
    };
    const installed = await world.workspaces.install(bare, {
      command: 'cp lib/x.txt made.txt',
      egress: [],
      limits,
    });
    if (installed.kind !== 'ready') throw new Error(installed.tail);
    const area = await world.workspaces.open(installed.base, 'submodules-1');
    const looked = await world.run(
      area,
      'git status --porcelain --ignored=no; cat lib/x.txt lib/d/y.txt made.txt',
    );
    expect(looked.stdout).toBe('?? made.txt\nx\ny\nx\n');
    await world.run(area, 'echo two > a.txt; echo changed > lib/x.txt; echo new > lib/new.txt; rm -r lib/d');
    expect(changes(await world.workspaces.collect(installed.base, area))).toEqual(['M a.txt']);
    await world.workspaces.remove(area);
    expect(read(installed.base, 'lib/x.txt')).toBe('x\n');
    const without = await world.workspaces.install(checkout, {
      command: 'cp lib/x.txt made.txt',
      egress: [],
      limits,
    });
    expect(without.kind).toBe('failed');
  });

  test('come from the same repository on this disk, if that has them', async () => {
    const inner = world.repository({ 'deep.txt': 'deep\n' });
    const lib = world.repository({ 'lib.txt': 'v1\n' });
    git(lib.path, 'submodule', '--quiet', 'add', inner.path, 'inner');
    git(lib.path, 'commit', '-q', '-m', 'Nested');
    const app = world.repository({ 'a.txt': 'one\n' });
    git(app.path, 'submodule', '--quiet', 'add', lib.path, 'lib');
    git(app.path, 'submodule', '--quiet', 'update', '--init', '--recursive');
    git(app.path, 'commit', '-q', '-m', 'With a submodule');
    const sha = git(app.path, 'rev-parse', 'HEAD');
    const source = { kind: 'local', path: app.path } as const;
    const closed = { ...OPEN, ownHost: false };
    expect(await world.workspaces.listSubmodules(source, sha, closed)).toEqual([{ path: 'lib', why: null }]);
    const checkout = await world.workspaces.prepare(source, sha);
    const base = await world.workspaces.fetchSubmodules(checkout, { source, access: closed }, signal);
    expect(base.submodules?.absent).toEqual([]);
    expect(read(base, 'lib/lib.txt')).toBe('v1\n');
    expect(read(base, 'lib/inner/deep.txt')).toBe('deep\n');

    // A link in the folder of git's own data would show another repository of this person.
    const other = world.repository({ 'secret.txt': 'secret\n' });
    renameSync(join(app.path, '.git/modules/lib'), join(app.path, '.git/modules/moved'));
    symlinkSync(join(other.path, '.git'), join(app.path, '.git/modules/lib'));
    git(app.path, 'update-index', '--cacheinfo', `160000,${other.sha},lib`);
    git(app.path, 'commit', '-q', '-m', 'Another commit');
    const next = git(app.path, 'rev-parse', 'HEAD');
    const listed = await world.workspaces.listSubmodules(source, next, closed);
    expect(listed).toEqual([{ path: 'lib', why: 'its URL is not one of https or ssh' }]);
  });

  test('that need a login, are nowhere, or may not be fetched are named with the reason', async () => {
    const hidden = published('hidden', { 'secret.txt': 's\n' }, true);
    const lib = published('shown', { 'x.txt': 'x\n' });
    const gone = '1'.repeat(40);
    const app = withLinks([
      { path: 'a', url: '../hidden.git', sha: hidden.sha },
      { path: 'b', url: '../shown.git', sha: lib.sha },
      { path: 'c', url: '../shown.git', sha: gone },
      { path: 'd', url: 'git@other.test:x/y.git', sha: lib.sha },
      { path: 'e', url: 'file:///etc', sha: lib.sha },
      { path: 'f', url: 'ext::sh -c "touch owned"', sha: lib.sha },
    ]);
    const { source } = publish('mixed', app.path, app.sha, true);
    const checkout = await world.workspaces.prepare(source, app.sha);
    const first = await world.workspaces.fetchSubmodules(checkout, { source, access: OPEN }, signal);
    const host = new URL(server.url('x')).host;
    expect(read(first, 'b/x.txt')).toBe('x\n');
    expect(first.submodules?.absent).toEqual([
      { path: 'a', why: `${host} does not give it without a login, and Runoff uses none for submodules` },
      { path: 'c', why: expect.stringContaining(`it could not be fetched from ${host}: `) },
      {
        path: 'd',
        why: expect.stringContaining(
          'Runoff may not reach other.test: add `network: { allow: [other.test] }`',
        ),
      },
      { path: 'e', why: 'its URL is not one of https or ssh' },
      { path: 'f', why: 'its URL is not one of https or ssh' },
    ]);

    // A run keeps what it began with; another one tries again.
    server.open.add('hidden.git');
    const known = first.submodules?.id ?? '';
    const same = await world.workspaces.fetchSubmodules(checkout, { source, access: OPEN, known }, signal);
    expect(same.submodules).toEqual(first.submodules);
    const later = await world.workspaces.fetchSubmodules(checkout, { source, access: OPEN }, signal);
    expect(read(later, 'a/secret.txt')).toBe('s\n');
  });

  test('that are switched off, or on a closed network, are not asked for', async () => {
    const lib = published('unasked', { 'x.txt': 'x\n' });
    const app = withLinks([{ path: 'lib', url: '../unasked.git', sha: lib.sha }]);
    const { source } = publish('quiet', app.path, app.sha);
    for (const [access, why] of [
      [{ ...OPEN, wanted: false }, '`checks.submodules` is false'],
      [{ ...OPEN, ownHost: false }, 'Runoff may not reach'],
    ] as const) {
      const checkout = await world.workspaces.prepare(source, app.sha);
      const base = await world.workspaces.fetchSubmodules(checkout, { source, access }, signal);
      expect(base.submodules?.absent).toEqual([{ path: 'lib', why: expect.stringContaining(why) }]);
    }
    expect(server.seen.requests.filter((one) => one.includes('unasked'))).toEqual([]);
  });

  test('are bounded in size, in transfer and as files', async () => {
    const small = world.another({ submoduleBytes: 300_000 });
    const noise = published('noise', { 'a.bin': randomBytes(2_000_000) });
    const zeros = published('zeros', { 'a.bin': Buffer.alloc(2_000_000) });
    server.endless.add('noise.git');
    const app = withLinks([
      { path: 'noise', url: '../noise.git', sha: noise.sha },
      { path: 'zeros', url: '../zeros.git', sha: zeros.sha },
    ]);
    const { source } = publish('large', app.path, app.sha);
    const checkout = await small.prepare(source, app.sha);
    const { submodules } = await small.fetchSubmodules(checkout, { source, access: OPEN }, signal);
    expect(submodules?.absent).toEqual([
      {
        path: 'noise',
        why: expect.stringMatching(/^it could not be fetched from .*: fatal: more than 0 MiB$/),
      },
      { path: 'zeros', why: 'its files have more than 0 MiB' },
    ]);
  });

  test('have an address where that of the repository has a login in it', async () => {
    const app = withLinks([{ path: 'lib', url: '../lib.git', sha: 'a'.repeat(40) }]);
    git(app.path, 'remote', 'add', 'origin', 'https://x-access-token:ghs_c@nary@github.com/acme/app.git');
    const source = { kind: 'local', path: app.path } as const;
    const access = { ...OPEN, hosts: ['github.com:443'] };
    expect(await world.workspaces.listSubmodules(source, app.sha, access)).toEqual([
      { path: 'lib', why: null },
    ]);
  });

  test('of a server that never ends its answer hold up neither a cancelled run nor one that waits', async () => {
    const lib = published('drips', { 'a.txt': 'a\n' });
    server.endless.add('drips.git');
    const app = withLinks([{ path: 'lib', url: '../drips.git', sha: lib.sha }]);
    const { source } = publish('dripped', app.path, app.sha);
    const checkout = await world.workspaces.prepare(source, app.sha);
    const cancelled = AbortSignal.timeout(500);
    await expect(
      world.workspaces.fetchSubmodules(checkout, { source, access: OPEN }, cancelled),
    ).rejects.toMatchObject({ name: 'AbortError' });

    const host = openGit(join(world.root, 'settings'));
    git(lib.path, 'init', '-q', '--bare', 'into');
    const args = ['fetch', '-q', server.url('drips'), `+${lib.sha}:refs/runoff/x`];
    const done = await host({ cwd: join(lib.path, 'into'), args, maxMs: 500 });
    expect(done).toMatchObject({
      exitCode: 128,
      stderr: expect.stringMatching(/^fatal: not done after \d+ s$/),
    });
  });

  test('start nothing of theirs', async () => {
    const lib = world.repository({
      '.gitattributes': '* filter=own\n',
      'x.txt': 'x\n',
      link: 'plain',
    });
    mkdirSync(join(lib.path, 'hooks'));
    writeFileSync(join(lib.path, 'hooks/post-checkout'), '#!/bin/sh\ntouch owned\n', { mode: 0o755 });
    execFileSync(
      'sh',
      [
        '-c',
        'ln -sfn /etc outside && git -c user.name=a -c user.email=a@b.c add -A && git -c user.name=a -c user.email=a@b.c commit -qm x',
      ],
      { cwd: lib.path },
    );
    const sha = git(lib.path, 'rev-parse', 'HEAD');
    publish('hooked', lib.path, sha);
    const app = withLinks([{ path: 'lib', url: '../hooked.git', sha }]);
    const { source } = publish('hooking', app.path, app.sha);
    const checkout = await world.workspaces.prepare(source, app.sha);
    const base = await world.workspaces.fetchSubmodules(checkout, { source, access: OPEN }, signal);
    expect(read(base, 'lib/x.txt')).toBe('x\n');
    expect(existsSync(join(base.submodules?.files ?? '', 'lib/owned'))).toBe(false);
  });
});
