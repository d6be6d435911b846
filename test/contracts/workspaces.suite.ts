import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Sha } from '../../src/core/model/index.ts';
import {
  type Collected,
  type CollectedPatch,
  DEFAULT_LIMITS,
  type WorkArea,
  type Workspaces,
} from '../../src/ports/index.ts';

export interface WorkspacesWorld {
  readonly workspaces: Workspaces;
  /** A new repository with one commit on `main`. */
  repository(files: Readonly<Record<string, string>>): { readonly path: string; readonly sha: Sha };
  /** A new folder. */
  folder(): string;
  /** Runs git in a repository on the host. */
  git(cwd: string, ...args: readonly string[]): string;
  /** Writes files in a repository's working tree. */
  write(path: string, files: Readonly<Record<string, string>>): void;
  /** Makes a folder of a repository one that its user may not write to. */
  lockFolder(path: string, folder: string): { unlock(): void };
  /** Runs a shell line in an area, as a coder would. */
  run(area: WorkArea, line: string): Promise<{ readonly exitCode: number | null; readonly stdout: string }>;
  close(): void;
}

const LIMITS = { ...DEFAULT_LIMITS, wallMs: 60_000 };
const AT = 1_700_000_000;

export function patchOf(collected: Collected): CollectedPatch {
  if (collected.kind !== 'patch') throw new Error(`no patch: ${JSON.stringify(collected)}`);
  return collected.patch;
}

/** `M src/a.ts` for each changed file. */
export function changes(collected: Collected): readonly string[] {
  const fields = patchOf(collected).raw.split('\0').slice(0, -1);
  return fields.flatMap((field, at) => (at % 2 === 0 ? [`${field.at(-1)} ${fields[at + 1]}`] : []));
}

/** The promises of the `Workspaces` port on local repositories. */
export function workspacesContract(name: string, open: () => WorkspacesWorld): void {
  describe(`workspaces: ${name}`, () => {
    let world: WorkspacesWorld;
    let workspaces: Workspaces;
    beforeAll(() => {
      world = open();
      workspaces = world.workspaces;
    });
    afterAll(() => world.close());

    const local = (path: string) => ({ kind: 'local', path }) as const;
    const based = async (files: Readonly<Record<string, string>>) => {
      const repository = world.repository(files);
      const base = await workspaces.prepare(local(repository.path), repository.sha);
      return { ...repository, base };
    };
    let areas = 0;
    const anArea = () => `area-${++areas}`;

    describe('the history of a source', () => {
      test('messages come oldest first, from a given time on, whole and with their own time', async () => {
        const { path } = world.repository({ 'a.txt': 'a\n' });
        const committed = (text: string, at: number) => {
          const dated = `!GIT_COMMITTER_DATE="${at} +0000" git commit`;
          world.git(path, '-c', `alias.dated=${dated}`, 'dated', '-q', '--allow-empty', '-m', text);
          return world.git(path, 'rev-parse', 'HEAD');
        };
        const seconds = AT + 60;
        const sha = committed('Round half up', AT);
        const tip = committed(`Revert "Round half up"\n\nThis reverts commit ${sha}.`, seconds);
        const found = await workspaces.messages(local(path), tip, 0);
        expect(found.map((one) => one.sha).slice(-2)).toEqual([sha, tip]);
        expect(found.at(-1)?.message.trim()).toBe(`Revert "Round half up"\n\nThis reverts commit ${sha}.`);
        expect(found.at(-1)?.at).toBe(1000 * seconds);
        const later = await workspaces.messages(local(path), tip, 1000 * seconds);
        expect(later.map((one) => one.sha).filter((one) => one === sha || one === tip)).toEqual([tip]);
        expect(await workspaces.messages(local(path), tip, Date.now() + 3_600_000)).toEqual([]);
      });

      test('the work of a head began where it left the first parent of its merge', async () => {
        const { path, sha } = world.repository({ 'a.txt': 'a\n' });
        const committed = (name: string) => {
          world.write(path, { [name]: name });
          world.git(path, 'add', '-A');
          world.git(path, 'commit', '-qm', name);
          return world.git(path, 'rev-parse', 'HEAD');
        };
        world.git(path, 'checkout', '-qb', 'work');
        committed('own.txt');
        world.git(path, 'checkout', '-q', 'main');
        const newer = committed('main.txt');
        world.git(path, 'checkout', '-q', 'work');
        world.git(path, 'merge', '-q', '--no-edit', 'main');
        const head = world.git(path, 'rev-parse', 'HEAD');
        world.git(path, 'checkout', '-q', 'main');
        world.git(path, 'merge', '-q', '--no-ff', '--no-edit', 'work');
        const merge = world.git(path, 'rev-parse', 'HEAD');
        // The branch was brought up to date before.
        expect(await workspaces.forkPoint(local(path), merge, head)).toBe(newer);
        expect(await workspaces.forkPoint(local(path), newer, newer)).toBe(sha);
        expect(await workspaces.forkPoint(local(path), sha, sha)).toBeNull();
        await expect(workspaces.forkPoint(local(path), merge, 'f'.repeat(40))).rejects.toMatchObject({
          code: 'BASE_MISSING',
        });
      });
    });

    describe('keeping uncommitted changes', () => {
      const AT_MS = AT * 1_000;

      /** Everything in the repository's own folder, by name and content. */
      const inside = (path: string): readonly string[] =>
        readdirSync(join(path, '.git'), { recursive: true, withFileTypes: true })
          .filter((one) => one.isFile())
          .map(({ parentPath, name }) => join(parentPath, name))
          .toSorted()
          .map((file) => `${file} ${readFileSync(file, 'base64')}`);

      test('makes a commit of the working tree as it is, and changes nothing of the repository', async () => {
        const { path, sha } = world.repository({
          'a.txt': 'a\n',
          'b.txt': 'b\n',
          'gone.txt': 'x\n',
          '.gitignore': 'out/\n',
        });
        world.write(path, { 'a.txt': 'staged\n' });
        world.git(path, 'add', 'a.txt');
        world.write(path, { 'a.txt': 'edited\n', 'new/c.txt': 'new\n', 'out/x': 'ignored' });
        world.git(path, 'rm', '-q', 'gone.txt');
        const status = world.git(path, 'status', '--porcelain');
        const before = inside(path);

        const kept = await workspaces.keepChanges(path, AT_MS);
        expect(kept.changes).toEqual([
          { path: 'a.txt', change: 'modified' },
          { path: 'gone.txt', change: 'deleted' },
          { path: 'new/c.txt', change: 'added' },
        ]);
        expect(inside(path)).toEqual(before);
        expect(world.git(path, 'status', '--porcelain')).toBe(status);
        expect(world.git(path, 'stash', 'list')).toBe('');

        expect(await workspaces.resolve(local(path), kept.sha)).toBe(kept.sha);
        expect(await workspaces.listFiles(local(path), kept.sha)).toEqual([
          '.gitignore',
          'a.txt',
          'b.txt',
          'new/c.txt',
        ]);
        expect(await workspaces.readFile(local(path), kept.sha, 'a.txt')).toBe('edited\n');
        expect(await workspaces.readFile(local(path), sha, 'a.txt')).toBe('a\n');
        // The same state at the same time is the same commit: a repeated step finds it.
        expect((await workspaces.keepChanges(path, AT_MS)).sha).toBe(kept.sha);
      });

      test('lets candidates start from it, and leaves their branches in the repository', async () => {
        const { path } = world.repository({ 'a.txt': 'a\n' });
        world.write(path, { 'a.txt': 'edited\n' });
        const { sha } = await workspaces.keepChanges(path, AT_MS);
        const base = await workspaces.prepare(local(path), sha);
        const area = await workspaces.open(base, 'r1-A');
        await world.run(area, 'echo more >> a.txt');
        const { tree } = patchOf(await workspaces.collect(base, area));
        const author = { name: 'Runoff', email: 'runoff@example.test' };
        const commit = await workspaces.commit(base, { base: sha, tree, message: 'More', author, at: AT });
        await workspaces.branch(base, path, 'runoff/r1/A', commit);
        expect(world.git(path, 'show', 'runoff/r1/A:a.txt')).toBe('edited\nmore');
        expect(world.git(path, 'diff', '--name-only', sha, 'runoff/r1/A')).toBe('a.txt');
        expect(world.git(path, 'log', '--format=%s', '-3', 'runoff/r1/A').split('\n')[1]).toBe(
          'Uncommitted changes that a run started from',
        );
      });

      test('runs nothing that the repository names', async () => {
        const { path } = world.repository({ 'a.txt': 'a\n', '.gitattributes': '* filter=evil\n' });
        const trap = join(world.folder(), 'trap');
        for (const key of ['filter.evil.clean', 'filter.evil.process', 'core.fsmonitor'])
          world.git(path, 'config', key, `touch ${trap}; cat`);
        world.git(path, 'config', 'filter.evil.required', 'true');
        world.write(path, { 'a.txt': 'edited\n', 'new.txt': 'n\n' });
        const { sha } = await workspaces.keepChanges(path, AT_MS);
        expect(await workspaces.readFile(local(path), sha, 'a.txt')).toBe('edited\n');
        expect(existsSync(trap)).toBe(false);
      });

      test('leaves out a repository that lies in the working tree', async () => {
        const { path } = world.repository({ 'a.txt': 'a\n' });
        world.write(path, { 'vendor/x/y.txt': 'y\n', 'a.txt': 'edited\n' });
        world.git(join(path, 'vendor/x'), 'init', '-q');
        world.git(join(path, 'vendor/x'), 'add', '.');
        world.git(join(path, 'vendor/x'), 'commit', '-q', '-m', 'theirs');
        const { sha, changes } = await workspaces.keepChanges(path, AT_MS);
        expect(changes).toEqual([{ path: 'a.txt', change: 'modified' }]);
        expect(await workspaces.listFiles(local(path), sha)).toEqual(['a.txt']);
      });

      test('refuses conflicts that are not resolved', async () => {
        const { path } = world.repository({ 'a.txt': 'a\n' });
        world.git(path, 'checkout', '-q', '-b', 'side');
        world.write(path, { 'a.txt': 'side\n' });
        world.git(path, 'commit', '-q', '-a', '-m', 'side');
        world.git(path, 'checkout', '-q', 'main');
        world.write(path, { 'a.txt': 'main\n' });
        world.git(path, 'commit', '-q', '-a', '-m', 'main');
        expect(() => world.git(path, 'merge', '-q', 'side')).toThrow();
        await expect(workspaces.keepChanges(path, AT_MS)).rejects.toMatchObject({ code: 'CHANGES_REFUSED' });
      });
    });

    describe('inspecting a local path', () => {
      test('finds top folder and branch from any folder below', async () => {
        const { path } = world.repository({ 'src/a.ts': 'a\n' });
        const found = await workspaces.describe(join(path, 'src'));
        expect(found).toEqual({ top: path, dirty: false, branch: 'main', empty: false, unwritable: null });
      });

      test('calls a changed or an untracked file dirty, an ignored one not', async () => {
        const { path } = world.repository({ 'a.txt': 'a\n', '.gitignore': 'out/\n' });
        world.write(path, { 'out/x': 'x' });
        expect(await workspaces.describe(path)).toMatchObject({ dirty: false });
        world.write(path, { 'new.txt': 'x' });
        expect(await workspaces.describe(path)).toMatchObject({ dirty: true });
        world.git(path, 'clean', '-fdq');
        world.write(path, { 'a.txt': 'other\n' });
        expect(await workspaces.describe(path)).toMatchObject({ dirty: true });
      });

      test('has no branch where HEAD is detached', async () => {
        const { path } = world.repository({ 'a.txt': 'a\n' });
        world.git(path, 'checkout', '-q', '--detach');
        expect(await workspaces.describe(path)).toMatchObject({ branch: null });
      });

      test('reports an empty repository', async () => {
        const path = world.folder();
        world.git(path, 'init', '-q');
        expect(await workspaces.describe(path)).toEqual({
          top: path,
          dirty: false,
          branch: 'main',
          empty: true,
          unwritable: null,
        });
        expect(await workspaces.resolve(local(path), 'HEAD')).toBeNull();
      });

      test('names an unwritable folder before any work starts', async () => {
        const { path } = world.repository({ 'a.txt': 'a\n' });
        const refused = world.lockFolder(path, '.git/refs/heads');
        expect(await workspaces.describe(path)).toMatchObject({ unwritable: join(path, '.git/refs/heads') });
        refused.unlock();
        expect(await workspaces.describe(path)).toMatchObject({ unwritable: null });
        const objects = world.lockFolder(path, '.git/objects');
        expect(await workspaces.describe(path)).toMatchObject({ unwritable: join(path, '.git/objects') });
        objects.unlock();
      });

      test('reports a path without a repository', async () => {
        const no = { code: 'NOT_A_REPOSITORY' };
        const path = world.folder();
        await expect(workspaces.describe(path)).rejects.toMatchObject(no);
        await expect(workspaces.describe(join(path, 'missing'))).rejects.toMatchObject(no);
        await expect(workspaces.resolve(local(path), 'main')).rejects.toMatchObject(no);
      });
    });

    describe('naming a commit', () => {
      test('resolves branches, tags and commits, and nothing else', async () => {
        const { path, sha } = world.repository({ 'a.txt': 'a\n' });
        world.git(path, 'tag', '-a', '-m', 'one', 'v1');
        world.git(path, 'branch', 'feature/x');
        const resolve = (ref: string) => workspaces.resolve(local(path), ref);
        for (const ref of ['main', 'HEAD', 'v1', 'feature/x', sha, sha.slice(0, 10)]) {
          expect(await resolve(ref), ref).toBe(sha);
        }
        for (const ref of ['gone', '', '-q', '--all', 'main..main', 'v2', 'main:a.txt', '0'.repeat(40)]) {
          expect(await resolve(ref), ref).toBeNull();
        }
      });

      test('prefers a branch to a tag of the same name', async () => {
        const { path, sha } = world.repository({ 'a.txt': 'a\n' });
        world.git(path, 'tag', 'same');
        world.git(path, 'checkout', '-q', '-b', 'same');
        world.git(path, 'commit', '-q', '--allow-empty', '-m', 'Next');
        const resolved = await workspaces.resolve(local(path), 'same');
        expect(resolved).toBe(world.git(path, 'rev-parse', 'HEAD'));
        expect(resolved).not.toBe(sha);
      });
    });

    describe('reading a commit', () => {
      test('lists and reads files as they were committed', async () => {
        const { path, sha } = world.repository({ 'b/ü.txt': 'äöü\n', 'a.txt': 'committed\n' });
        world.write(path, { 'a.txt': 'edited since\n' });
        const source = local(path);
        await workspaces.resolve(source, sha);
        expect(await workspaces.listFiles(source, sha)).toEqual(['a.txt', 'b/ü.txt']);
        expect(await workspaces.readFile(source, sha, 'a.txt')).toBe('committed\n');
        expect(await workspaces.readFile(source, sha, 'b/ü.txt')).toBe('äöü\n');
        for (const none of ['b', 'c.txt', 'a.txt/x', '../a.txt', '/a.txt', '*.txt']) {
          expect(await workspaces.readFile(source, sha, none), none).toBeNull();
        }
      });

      test('a fingerprint changes with the files that it is of, and with no others', async () => {
        const { path, sha } = world.repository({ 'package.json': '{}', 'a.txt': 'a\n' });
        const source = local(path);
        const commit = (files: Record<string, string>): string => {
          world.write(path, files);
          world.git(path, 'add', '--all');
          world.git(path, 'commit', '-q', '-m', 'Next');
          return world.git(path, 'rev-parse', 'HEAD');
        };
        const of = async (at: string) => {
          await workspaces.resolve(source, at);
          return workspaces.fingerprint(source, at, ['package.json', 'package-lock.json']);
        };
        const first = await of(sha);
        expect(first).toMatch(/^[0-9a-f]{64}$/);
        expect(await of(commit({ 'a.txt': 'b\n' }))).toBe(first);
        const second = await of(commit({ 'package-lock.json': '{}' }));
        expect(second).not.toBe(first);
        expect(await of(commit({ 'package.json': '{} ' }))).not.toBe(second);
      });

      test('refuses to read a file over 1 MiB', async () => {
        const { path, sha } = world.repository({ big: 'x'.repeat(2 ** 20 + 1), most: 'x'.repeat(2 ** 20) });
        await expect(workspaces.readFile(local(path), sha, 'big')).rejects.toMatchObject({ name: 'Fault' });
        expect(await workspaces.readFile(local(path), sha, 'most')).toHaveLength(2 ** 20);
      });
    });

    describe('areas', () => {
      test('show the base commit with its history, and no other branch', async () => {
        const { path } = world.repository({ 'a.txt': 'one\n' });
        world.git(path, 'checkout', '-q', '-b', 'secret');
        world.git(path, 'commit', '-q', '--allow-empty', '-m', 'Hidden work');
        const hidden = world.git(path, 'rev-parse', 'HEAD');
        world.git(path, 'checkout', '-q', 'main');
        world.git(path, 'commit', '-q', '--allow-empty', '-m', 'Second');
        const sha = world.git(path, 'rev-parse', 'HEAD');
        await workspaces.resolve(local(path), 'secret');
        const area = await workspaces.open(await workspaces.prepare(local(path), sha), anArea());
        const seen = await world.run(
          area,
          `cat a.txt; git status --porcelain; git log --format=%s; git cat-file -t ${hidden} 2>/dev/null; git remote`,
        );
        expect(seen.stdout).toBe('one\nSecond\nStart\n');
        await workspaces.remove(area);
      });

      test('do not see each other, and leave the base as it was', async () => {
        const { base } = await based({ 'a.txt': 'one\n' });
        const [one, two] = [await workspaces.open(base, anArea()), await workspaces.open(base, anArea())];
        await Promise.all([
          world.run(one, 'echo first > a.txt; echo x > mine; git commit -qam changed'),
          world.run(two, 'rm a.txt'),
        ]);
        expect(changes(await workspaces.collect(base, one))).toEqual(['M a.txt', 'A mine']);
        expect(changes(await workspaces.collect(base, two))).toEqual(['D a.txt']);
        expect(readFileSync(join(base.lower, 'a.txt'), 'utf8')).toBe('one\n');
      });

      test('start over when opened again under the same id', async () => {
        const { base } = await based({ 'a.txt': 'one\n' });
        const id = anArea();
        const before = await workspaces.open(base, id);
        await world.run(before, 'echo left > over; mkdir d; chmod 000 d; echo x > /home/agent/kept');
        const area = await workspaces.open(base, id);
        expect((await world.run(area, 'ls; ls /home/agent')).stdout).toBe('a.txt\n');
      });

      test('are removed with all they hold, once or twice', async () => {
        const { base } = await based({ 'a.txt': 'one\n' });
        const area = await workspaces.open(base, anArea());
        await world.run(area, 'mkdir -p x/y; echo z > x/y/z; chmod 000 x/y/z x/y x; chmod 555 /home/agent');
        await workspaces.remove(area);
        expect(existsSync(area.upper)).toBe(false);
        expect(existsSync(area.home)).toBe(false);
        await workspaces.remove(area);
      });

      test('are swept unless somebody keeps them', async () => {
        const { base } = await based({ 'a.txt': 'one\n' });
        const [kept, left] = [await workspaces.open(base, anArea()), await workspaces.open(base, anArea())];
        await world.run(left, 'echo x > y');
        const removed = await workspaces.sweep((id) => id === kept.id);
        expect(removed).toContain(left.id);
        expect(removed).not.toContain(kept.id);
        expect(existsSync(left.upper)).toBe(false);
        expect(await workspaces.collect(base, kept)).toEqual({ kind: 'empty' });
      });
    });

    describe('preparing', () => {
      test('a text is noted with the checkout of one commit, and goes with it', async () => {
        const { path, base } = await based({ 'a.txt': 'a\n' });
        world.write(path, { 'a.txt': 'b\n' });
        world.git(path, 'commit', '-q', '-a', '-m', 'Another');
        const next = await workspaces.prepare(local(path), world.git(path, 'rev-parse', 'HEAD'));
        const key = `any text, ${'however long '.repeat(100)}/../\0`;

        expect(await workspaces.noteOf(base, key)).toBeNull();
        await workspaces.note(base, key, 'first');
        await workspaces.note(base, key, 'second');
        expect(await workspaces.noteOf(base, key)).toBe('second');
        expect(await workspaces.noteOf(base, 'another key')).toBeNull();
        expect(await workspaces.noteOf(next, key)).toBeNull();
        expect(await workspaces.isWhole(base)).toBe(true);

        await workspaces.prune({ before: Date.now() + 60_000, keep: () => false });
        await workspaces.note(base, key, 'nowhere to keep it');
        expect(await workspaces.noteOf(base, key)).toBeNull();
        await workspaces.prepare(local(path), base.sha);
        expect(await workspaces.noteOf(base, key)).toBeNull();
      });

      test('makes one checkout per commit, also for simultaneous requests', async () => {
        const { path, sha } = world.repository({ 'a.txt': 'one\n' });
        const all = await Promise.all([1, 2, 3, 4].map(() => workspaces.prepare(local(path), sha)));
        for (const each of all) expect(each).toEqual(all[0]);
        expect(readdirSync(join(all[0]?.lower ?? '', '..', '..'))).toEqual([sha]);
      });
    });

    describe('collecting', () => {
      test('gives added, changed and deleted files, links and modes as a patch that git applies', async () => {
        const { base, path, sha } = await based({
          'a.txt': 'one\n',
          'b.txt': 'b\n',
          'run.sh': '#!/bin/sh\n',
          d: 'd\n',
        });
        const area = await workspaces.open(base, anArea());
        await world.run(
          area,
          `echo two >> a.txt; rm b.txt; chmod +x run.sh; ln -s a.txt link; mkdir -p n/m; echo n > n/m/o
           rm d; mkdir d; echo e > d/e; printf '\\0\\1\\377' > bin; : > empty; echo ü > ü.txt`,
        );
        const collected = await workspaces.collect(base, area);
        expect(changes(collected)).toEqual([
          ...['M a.txt', 'D b.txt', 'A bin', 'D d', 'A d/e', 'A empty', 'A link', 'A n/m/o', 'M run.sh'],
          'A ü.txt',
        ]);
        const { tree, text } = patchOf(collected);
        const clone = join(world.folder(), 'clone');
        world.git(path, 'clone', '-q', path, clone);
        world.write(clone, { '.git/collected.patch': text });
        world.git(clone, 'apply', '--index', '.git/collected.patch');
        expect(world.git(clone, 'write-tree')).toBe(tree);
        expect(world.git(path, 'rev-parse', 'HEAD')).toBe(sha);
      });

      test('is empty where nothing changed in the end', async () => {
        const { base } = await based({ 'a.txt': 'one\n' });
        const area = await workspaces.open(base, anArea());
        await world.run(
          area,
          'echo two > a.txt; git commit -qam two; echo one > a.txt; touch a.txt; mkdir empty',
        );
        expect(await workspaces.collect(base, area)).toEqual({ kind: 'empty' });
      });

      test('leaves out what the base ignores, at any depth', async () => {
        const { base } = await based({
          '.gitignore': '/dist/\n*.log\n!keep.log\n',
          'sub/.gitignore': 'tmp\n',
          'forced.log': 'tracked all the same\n',
        });
        const area = await workspaces.open(base, anArea());
        await world.run(
          area,
          `mkdir -p dist sub/tmp src/dist; echo x > dist/a; echo x > b.log; echo x > sub/tmp/c; echo x > tmp
           echo x > keep.log; echo x > src/dist/a; echo x >> forced.log`,
        );
        const collected = await workspaces.collect(base, area);
        expect(changes(collected)).toEqual(['M forced.log', 'A keep.log', 'A src/dist/a', 'A tmp']);
      });
    });

    describe('installing', () => {
      const setup = (command: string) => ({ command, egress: [], limits: LIMITS });

      test('gives every area the files of set-up, and none of them count as a change', async () => {
        const { base } = await based({ 'a.txt': 'one\n', 'lock.json': '{}\n', 'gone.txt': 'x\n' });
        const command = 'mkdir -p deps; echo lib > deps/lib; echo "{1}" > lock.json; rm gone.txt';
        const installed = await workspaces.install(base, setup(command));
        if (installed.kind !== 'ready') throw new Error(installed.why);
        const area = await workspaces.open(installed.base, anArea());
        const seen = await world.run(
          area,
          'cat deps/lib lock.json; echo more >> a.txt; echo new > deps/mine',
        );
        expect(seen.stdout).toBe('lib\n{1}\n');
        expect(changes(await workspaces.collect(installed.base, area))).toEqual(['M a.txt', 'A deps/mine']);
        const untouched = await workspaces.open(installed.base, anArea());
        expect(await workspaces.collect(installed.base, untouched)).toEqual({ kind: 'empty' });
      });

      test('keeps a change of a candidate to a file that setup changed as well', async () => {
        const { base } = await based({ 'lock.json': '{}\n' });
        const installed = await workspaces.install(base, setup('echo "{1}" > lock.json'));
        if (installed.kind !== 'ready') throw new Error(installed.why);
        const area = await workspaces.open(installed.base, anArea());
        await world.run(area, 'echo "{2}" > lock.json');
        const collected = await workspaces.collect(installed.base, area);
        expect(changes(collected)).toEqual(['M lock.json']);
        expect(patchOf(collected).text).toContain('-{}\n+{2}\n');
      });

      test('may change a file where git warns about .gitattributes', async () => {
        const attributes = '*.png binary # pictures\n!*.txt text\n';
        const { base } = await based({ 'a.txt': 'one\n', 'lock.json': '{}\n', '.gitattributes': attributes });
        const installed = await workspaces.install(base, setup('echo "{1}" > lock.json'));
        if (installed.kind !== 'ready') throw new Error(installed.why);
        const area = await workspaces.open(installed.base, anArea());
        await world.run(area, 'echo more >> a.txt');
        expect(changes(await workspaces.collect(installed.base, area))).toEqual(['M a.txt']);
      });

      test("leaves the repository's own settings and hooks as they were", async () => {
        const { base } = await based({ 'a.txt': 'one\n' });
        const command = `mkdir -p .git/hooks; git config core.hooksPath mine; echo lib > lib
          printf '#!/bin/sh\\nexit 1\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`;
        const installed = await workspaces.install(base, setup(command));
        if (installed.kind !== 'ready') throw new Error(installed.why);
        const area = await workspaces.open(installed.base, anArea());
        const seen = await world.run(
          area,
          'cat lib; git config core.hooksPath; git commit -q --allow-empty -m x && echo ok',
        );
        expect(seen.stdout).toBe('lib\nok\n');
      });

      test('runs a command once for each commit', async () => {
        const { base } = await based({ 'a.txt': 'one\n' });
        const command = 'head -c 16 /dev/urandom | od -An -tx1 > stamp';
        const both = await Promise.all([1, 2].map(() => workspaces.install(base, setup(command))));
        const again = await workspaces.install(base, setup(command));
        if (again.kind !== 'ready') throw new Error(again.why);
        for (const each of both) expect(each).toMatchObject({ kind: 'ready', base: again.base });
        expect(again.output).toBeUndefined();
      });

      test('reports why it failed, and can be repeated', async () => {
        const { base } = await based({ 'a.txt': 'one\n' });
        const failed = await workspaces.install(base, setup('echo no such package >&2; exit 7'));
        expect(failed).toMatchObject({ kind: 'failed', why: expect.stringContaining('7') });
        expect(failed).toMatchObject({ tail: expect.stringContaining('no such package') });
        expect(await workspaces.sweep(() => false)).not.toContain(expect.stringMatching(/^setup-/));
        expect(await workspaces.install(base, setup('true'))).toMatchObject({ kind: 'ready' });
      });
    });

    describe('cancelling', () => {
      const cancelled = { name: 'AbortError' };
      const endless = { command: 'while :; do sleep 1; done', egress: [], limits: LIMITS };

      test('ends a setup at any moment, and leaves no area', async () => {
        const { base } = await based({ 'a.txt': 'one\n' });
        const before = AbortSignal.abort();
        await expect(workspaces.install(base, endless, before)).rejects.toMatchObject(cancelled);
        const controller = new AbortController();
        const call = workspaces.install(base, endless, controller.signal);
        setImmediate(() => controller.abort(new Error('whatever the reason is')));
        await expect(call).rejects.toMatchObject(cancelled);
        const left = await workspaces.sweep(() => false);
        expect(left.filter((id) => id.startsWith('setup-'))).toEqual([]);
      });

      test('ends collecting, and the area can be collected again', async () => {
        const { base } = await based({ 'a.txt': 'one\n' });
        const area = await workspaces.open(base, anArea());
        await world.run(area, 'echo two > a.txt');
        const controller = new AbortController();
        const call = workspaces.collect(base, area, controller.signal);
        controller.abort();
        await expect(call).rejects.toMatchObject(cancelled);
        expect(changes(await workspaces.collect(base, area))).toEqual(['M a.txt']);
      });
    });

    describe('publishing on a local repository', () => {
      const author = { name: 'Runoff', email: 'runoff@example.org' };
      async function changed() {
        const made = await based({ 'a.txt': 'one\n' });
        const area = await workspaces.open(made.base, anArea());
        await world.run(area, 'echo two > a.txt');
        const { tree } = patchOf(await workspaces.collect(made.base, area));
        await workspaces.remove(area);
        return { ...made, spec: { base: made.sha, tree, message: 'Fix it\n\nBecause.\n', author, at: AT } };
      }

      test('writes the same commit for the same spec', async () => {
        const { base, path, spec } = await changed();
        const sha = await workspaces.commit(base, spec);
        expect(await workspaces.commit(base, spec)).toBe(sha);
        expect(await workspaces.commit(base, { ...spec, at: AT + 1 })).not.toBe(sha);
        await workspaces.branch(base, path, 'auto-dev/a', sha);
        expect(world.git(path, 'cat-file', 'commit', 'auto-dev/a')).toBe(
          [
            `tree ${spec.tree}`,
            `parent ${spec.base}`,
            `author Runoff <runoff@example.org> ${AT} +0000`,
            `committer Runoff <runoff@example.org> ${AT} +0000`,
            '',
            'Fix it\n\nBecause.',
          ].join('\n'),
        );
      });

      test('makes and moves a branch, and touches no file of the user', async () => {
        const { base, path, sha, spec } = await changed();
        world.write(path, { 'a.txt': 'the user edits\n' });
        const [first, second] = [
          await workspaces.commit(base, spec),
          await workspaces.commit(base, { ...spec, message: 'Other' }),
        ];
        const before = readdirSync(path, { recursive: true }).filter(
          (name) => !String(name).startsWith('.git'),
        );
        await workspaces.branch(base, path, 'auto-dev/7/A', first);
        await workspaces.branch(base, path, 'auto-dev/7/A', second);
        expect(world.git(path, 'rev-parse', 'auto-dev/7/A')).toBe(second);
        expect(world.git(path, 'rev-parse', 'HEAD')).toBe(sha);
        expect(world.git(path, 'status', '--porcelain')).toBe(' M a.txt');
        expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('the user edits\n');
        expect(
          readdirSync(path, { recursive: true }).filter((name) => !String(name).startsWith('.git')),
        ).toEqual(before);
        expect(world.git(path, 'fsck', '--strict')).not.toContain('error');
      });

      test('refuses a branch that is checked out, here or in another working tree', async () => {
        const { base, path, sha, spec } = await changed();
        const commit = await workspaces.commit(base, spec);
        world.git(path, 'worktree', 'add', '-q', '-b', 'elsewhere', join(world.folder(), 'tree'));
        for (const name of ['main', 'elsewhere']) {
          await expect(workspaces.branch(base, path, name, commit)).rejects.toMatchObject({ name: 'Fault' });
          expect(world.git(path, 'rev-parse', name)).toBe(sha);
        }
      });

      test.each(['', '-x', 'a..b', 'a b', 'x.lock', 'a/../b', 'a\nb'])(
        'refuses %j as a branch',
        async (name) => {
          const { base, path, sha } = await based({ 'a.txt': 'one\n' });
          await expect(workspaces.branch(base, path, name, sha)).rejects.toMatchObject({ name: 'Fault' });
        },
      );
    });
  });
}
