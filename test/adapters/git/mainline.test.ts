import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parsePatch } from '../../../src/core/patches/index.ts';
import { type GitWorld, git, openGitWorld, writeFiles } from './world.ts';

let world: GitWorld;
let path: string;
let first: string;
let head: string;
const ODD = 'src/odd "name"\n$(touch x)\u00e9.js';
const MESSAGE = 'A title\n\ncommit 0123456789012345678901234567890123456789\n\u0001\u001b[2J\n';

beforeAll(() => {
  world = openGitWorld();
  ({ path, sha: first } = world.repository({ 'src/a.js': 'one\n', 'img.bin': Buffer.from([0, 1, 2]) }));
  git(path, 'checkout', '-q', '-b', 'side');
  writeFiles(path, { 'src/side.js': 'side\n' });
  git(path, 'add', '-A');
  git(path, 'commit', '-q', '-m', 'On a branch');
  git(path, 'checkout', '-q', 'main');
  writeFiles(path, { [ODD]: 'odd\n', 'src/a.js': 'two\n' });
  git(path, 'rm', '-q', 'img.bin');
  git(path, 'add', '-A');
  git(path, 'commit', '-q', '-m', MESSAGE);
  git(path, 'merge', '-q', '--no-ff', '-m', 'Merge it', 'side');
  head = git(path, 'rev-parse', 'HEAD');
});
afterAll(() => world.close());

const source = () => ({ kind: 'local', path }) as const;

describe('the first-parent line of a repository', () => {
  test('lists commits newest first, with message, parents and changed files', async () => {
    const { changes, shallow } = await world.workspaces.mainline(source(), head, { since: 0 });
    const origin = await world.workspaces.origin(source().path);
    expect([shallow, origin]).toEqual([false, null]);
    expect(changes.map(({ message, parents, files }) => [message.trim(), parents.length, files])).toEqual([
      ['Merge it', 2, [{ path: 'src/side.js', status: 'A' }]],
      [
        MESSAGE.trim(),
        1,
        [
          { path: 'img.bin', status: 'D' },
          { path: 'src/a.js', status: 'M' },
          { path: ODD, status: 'A' },
        ],
      ],
      ['Start', 0, []],
    ]);
    expect(changes.at(-1)?.commit).toBe(first);
    expect(Math.abs((changes[0]?.at ?? 0) - Date.now())).toBeLessThan(3_600_000);
  });

  test('begins at a time', async () => {
    const later = await world.workspaces.mainline(source(), head, { since: Date.now() + 86_400_000 });
    expect(later.changes).toEqual([]);
  });

  test('compares commits in some files, as data that can be parsed and applied', async () => {
    const all = await world.workspaces.diff(source(), first, head, ['src/a.js', 'src/side.js', 'img.bin']);
    const read = parsePatch(all?.raw ?? '', all?.text ?? '');
    expect(read.kind === 'patch' && read.patch.files.map((file) => [file.path, file.change])).toEqual([
      ['img.bin', 'deleted'],
      ['src/a.js', 'modified'],
      ['src/side.js', 'added'],
    ]);
    const one = await world.workspaces.diff(source(), first, head, ['src/a.js']);
    expect(one?.text).toContain('-one\n+two\n');
    expect(one?.text).not.toContain('side');
  });

  test('says of a shallow clone that it is one', async () => {
    const clone = world.folder();
    git(clone, 'clone', '-q', '--depth', '1', `file://${path}`, 'clone');
    const at = { kind: 'local', path: join(clone, 'clone') } as const;
    const { changes, shallow } = await world.workspaces.mainline(at, head, { since: 0 });
    const origin = await world.workspaces.origin(at.path);
    expect([changes.length, shallow, origin]).toEqual([1, true, `file://${path}`]);
  });

  test('has no remote where a repository only encloses the folder', async () => {
    const outer = world.repository({ 'a.txt': 'a\n', 'inner/b.txt': 'b\n' }).path;
    git(outer, 'remote', 'add', 'origin', 'https://github.com/stranger/outer.git');
    expect(await world.workspaces.origin(outer)).toBe('https://github.com/stranger/outer.git');
    expect(await world.workspaces.origin(join(outer, 'inner'))).toBeNull();
    const link = join(world.folder(), 'link');
    symlinkSync(join(outer, 'inner'), link);
    expect(await world.workspaces.origin(link)).toBeNull();
    expect(await world.workspaces.origin(join(outer, 'gone'))).toBeNull();
  });

  test('is not taken from an enclosing repository below a folder whose name has a colon', async () => {
    const files = { 'odd:name/inner/b.txt': 'b\n', 'odd:name/own/c.txt': 'c\n' };
    const outer = world.repository(files).path;
    git(outer, 'remote', 'add', 'origin', 'https://github.com/stranger/outer.git');
    const [inner, own] = [join(outer, 'odd:name/inner'), join(outer, 'odd:name/own')];
    expect(await world.workspaces.origin(inner)).toBeNull();
    const nowhere = world.workspaces.resolve({ kind: 'local', path: inner }, 'main');
    await expect(nowhere).rejects.toMatchObject({ code: 'NOT_A_REPOSITORY' });
    git(own, 'init', '-q');
    git(own, 'add', '-A');
    git(own, 'commit', '-q', '-m', 'Own');
    const sha = git(own, 'rev-parse', 'HEAD');
    expect(await world.workspaces.resolve({ kind: 'local', path: own }, 'main')).toBe(sha);
    const base = await world.workspaces.prepare({ kind: 'local', path: own }, sha);
    await world.workspaces.branch(base, own, 'runoff/r1/A', sha);
    expect(git(own, 'branch', '--list', 'runoff/*').trim()).toBe('runoff/r1/A');
    await world.workspaces.deleteBranch(own, { name: 'runoff/r1/A', sha });
    expect(git(own, 'branch', '--list', 'runoff/*')).toBe('');
    expect(git(outer, 'branch', '--list', 'runoff/*')).toBe('');
  });

  test('starts nothing that settings, attributes and hooks of the repository name', async () => {
    const marker = join(world.folder(), 'started');
    const program = join(world.folder(), 'program');
    writeFileSync(program, `#!/bin/sh\ntouch ${marker}\ncat\n`);
    chmodSync(program, 0o755);
    const settings = {
      'core.fsmonitor': program,
      'core.hooksPath': join(path, '.git/hooks'),
      'core.pager': program,
      'core.sshCommand': program,
      'core.alternateRefsCommand': program,
      'diff.external': program,
      'diff.odd.command': program,
      'diff.odd.textconv': program,
      'filter.odd.clean': program,
      'filter.odd.smudge': program,
      'filter.odd.process': program,
      'gpg.program': program,
      'log.showSignature': 'true',
      'i18n.logOutputEncoding': 'UTF-16',
      'credential.helper': program,
      'trailer.odd.command': program,
      'uploadpack.packObjectsHook': program,
      'pager.rev-list': program,
    };
    for (const [name, value] of Object.entries(settings)) git(path, 'config', name, value);
    mkdirSync(join(path, '.git/info'), { recursive: true });
    writeFileSync(join(path, '.git/info/attributes'), '* diff=odd filter=odd\n');
    for (const hook of ['post-checkout', 'reference-transaction', 'post-index-change'])
      writeFileSync(join(path, '.git/hooks', hook), `#!/bin/sh\ntouch ${marker}\n`, { mode: 0o755 });
    const { changes } = await world.workspaces.mainline(source(), head, { since: 0 });
    expect(changes[1]?.message.trim()).toBe(MESSAGE.trim());
    const diff = await world.another({ dataDir: world.folder() }).diff(source(), first, head, ['src/a.js']);
    expect(diff?.text).toContain('+two');
    expect(existsSync(marker)).toBe(false);
  });
});
