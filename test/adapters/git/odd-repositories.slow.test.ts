import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parsePatch } from '../../../src/core/patches/index.ts';
import type { CollectedPatch } from '../../../src/ports/index.ts';
import { changes, patchOf } from '../../contracts/workspaces.suite.ts';
import { type Files, type GitWorld, git, openGitWorld, writeFiles } from './world.ts';

const isRoot = process.getuid?.() === 0;

describe('unusual repositories', () => {
  let world: GitWorld;
  beforeAll(() => {
    world = openGitWorld();
  });
  afterAll(() => world.close());

  let areas = 0;
  async function edited(source: { path: string; sha: string }, line: string) {
    const base = await world.workspaces.prepare({ kind: 'local', path: source.path }, source.sha);
    const area = await world.workspaces.open(base, `odd-${++areas}`);
    const ran = await world.run(area, line);
    if (ran.exitCode !== 0) throw new Error(ran.stderr);
    const collected = await world.workspaces.collect(base, area);
    await world.workspaces.remove(area);
    return { base, collected };
  }
  /** The tree that `git apply` makes of the base. */
  function applied(source: { path: string; sha: string }, patch: CollectedPatch): string {
    const clone = join(world.folder(), 'clone');
    git(world.root, 'clone', '-q', '--no-checkout', source.path, clone);
    // Checked out the way candidates get it, so that no attribute changes a byte.
    writeFileSync(
      join(clone, '.git/info/attributes'),
      '* -text -ident !eol !filter !working-tree-encoding\n',
    );
    git(clone, 'checkout', '-q', '--detach', source.sha);
    writeFileSync(join(clone, '.git/collected.patch'), patch.text);
    git(clone, 'apply', '--index', '--whitespace=nowarn', '.git/collected.patch');
    return git(clone, 'write-tree');
  }

  test('can be bare, a linked working tree or a shallow clone', async () => {
    const origin = world.repository({ 'a.txt': 'one\n' });
    git(origin.path, 'commit', '-q', '--allow-empty', '-m', 'Second');
    const sha = git(origin.path, 'rev-parse', 'HEAD');
    const [bare, shallow, linked] = ['bare.git', 'shallow', 'linked'].map((name) =>
      join(world.folder(), name),
    );
    if (!bare || !shallow || !linked) throw new Error('no paths');
    git(origin.path, 'clone', '-q', '--bare', origin.path, bare);
    git(origin.path, 'clone', '-q', '--depth=1', `file://${origin.path}`, shallow);
    git(origin.path, 'worktree', 'add', '-q', '--detach', linked, sha);
    for (const path of [bare, shallow, linked]) {
      expect(await world.workspaces.resolve({ kind: 'local', path }, 'HEAD'), path).toBe(sha);
      const { base, collected } = await edited({ path, sha }, 'echo two > a.txt');
      const author = { name: 'R', email: 'r@example.org' };
      const spec = { base: sha, tree: patchOf(collected).tree, message: 'm', author, at: 1 };
      await world.workspaces.branch(base, path, 'auto-dev/1', await world.workspaces.commit(base, spec));
      expect(git(path, 'show', 'auto-dev/1:a.txt'), path).toBe('two');
    }
  });

  test('keep a submodule unchanged, whatever a candidate puts in its place', async () => {
    const inner = world.repository({ 'lib.c': 'int x;\n' });
    const outer = world.repository({ 'a.txt': 'one\n' });
    git(outer.path, 'submodule', '--quiet', 'add', inner.path, 'lib [1]');
    git(outer.path, 'commit', '-q', '-m', 'With a submodule');
    const source = { path: outer.path, sha: git(outer.path, 'rev-parse', 'HEAD') };
    expect(await world.workspaces.listFiles({ kind: 'local', path: outer.path }, source.sha)).toEqual([
      '.gitmodules',
      'a.txt',
    ]);
    const inside = await edited(source, 'echo x > "lib [1]/new.c"; cd "lib [1]"; git init -q .; echo y > z');
    expect(inside.collected).toEqual({ kind: 'empty' });
    const removed = await edited(source, 'rmdir "lib [1]"; echo file > "lib [1]"; echo two > a.txt');
    expect(changes(removed.collected)).toEqual(['M a.txt']);
  });

  test('change no byte by their attributes', async () => {
    const source = world.repository({
      '.gitattributes':
        '*.bat text eol=crlf\n*.c ident\n*.u16 working-tree-encoding=UTF-16LE\n*.psd filter=lfs -diff\n',
      'a.bat': 'echo\nunix\n',
      'b.bat': 'echo\ndos\n',
      'a.c': '$Id$\n',
      'a.u16': Buffer.from('plain\n', 'utf16le'),
      'a.psd': 'version https://git-lfs.github.com/spec/v1\n',
    });
    const { base, collected } = await edited(
      source,
      `printf 'echo\\r\\ndos\\r\\n' > b.bat; echo '$Id: mine $' > new.c; echo changed > a.psd`,
    );
    expect(readFileSync(join(base.lower, 'a.bat'), 'utf8')).toBe('echo\nunix\n');
    expect(readFileSync(join(base.lower, 'a.c'), 'utf8')).toBe('$Id$\n');
    expect(readFileSync(join(base.lower, 'a.u16'), 'utf8')).toBe('plain\n');
    expect(changes(collected)).toEqual(['M a.psd', 'M b.bat', 'A new.c']);
    expect(patchOf(collected).text).toContain('+dos\r\n');
    expect(patchOf(collected).text).toContain('+$Id: mine $\n');
    expect(patchOf(collected).text).toContain('+changed\n');
  });

  test('give a binary patch for content that is not UTF-8', async () => {
    const source = world.repository({
      'a.txt': 'a\n',
      'l.txt': Buffer.from('caf\xe9\n', 'latin1'),
      'z.txt': 'z\n',
    });
    const { collected } = await edited(
      source,
      `echo A >> a.txt; printf 'th\\351\\n' >> l.txt; echo Z >> z.txt; printf '\\000PNG\\377' > p.png
       printf 'caf\\351' > new; echo 'diff --git a/x b/x' > q`,
    );
    const patch = patchOf(collected);
    const heads = patch.text.split('\n').filter((line) => /^(diff|GIT binary)/.test(line));
    expect(heads).toEqual([
      ...['diff --git a/a.txt b/a.txt', 'diff --git a/l.txt b/l.txt', 'GIT binary patch'],
      ...['diff --git a/new b/new', 'GIT binary patch', 'diff --git a/p.png b/p.png', 'GIT binary patch'],
      ...['diff --git a/q b/q', 'diff --git a/z.txt b/z.txt'],
    ]);
    expect(applied(source, patch)).toBe(patch.tree);
  });

  test.each(['echo x > "$(printf "caf\\351")"', 'ln -s "$(printf "caf\\351")" link'])(
    'are rejected with a name or link target that is not UTF-8: %s',
    async (line) => {
      const { collected } = await edited(world.repository({ 'a.txt': 'a\n' }), line);
      expect(collected).toMatchObject({ kind: 'refused', why: expect.stringContaining('UTF-8') });
    },
  );

  test('are collected even if a candidate removed permissions', async () => {
    const source = world.repository({ 'a.txt': 'a\n', 'd/b.txt': 'b\n' });
    const { collected } = await edited(
      source,
      'echo x > a.txt; chmod 000 a.txt; mkdir n; echo y > n/y; echo y > d/c; chmod 000 n/y n d/c d; chmod 000 .',
    );
    expect(changes(collected)).toEqual(['M a.txt', 'A d/c', 'A n/y']);
  });

  test('can change files into links or folders, and back', async () => {
    const source = world.repository({ f: 'f\n', g: 'g\n', 'd/e/x': 'x\n', 'd/y': 'y\n', 'k/z': 'z\n' });
    const { collected } = await edited(
      source,
      'rm f; ln -s g f; rm g; mkdir -p g/h; echo i > g/h/i; rm -r d; echo d > d; rm -r k; ln -s g k',
    );
    const patch = patchOf(collected);
    expect(changes(collected)).toEqual(['A d', 'D d/e/x', 'D d/y', 'T f', 'D g', 'A g/h/i', 'A k', 'D k/z']);
    expect(applied(source, patch)).toBe(patch.tree);
  });

  test('give patches that git applies to the same tree, whatever the bytes', async () => {
    const names = [
      'a',
      'b c',
      'd/e',
      'd/f/g',
      'ü',
      'x.bin',
      '-dash',
      ':colon',
      '"quote"',
      'back\\slash',
      'h*?[i]',
    ];
    const content = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 40 }).map((text) => Buffer.from(text)),
      fc
        .array(fc.constantFrom('a\n', 'b\n', '\n', 'a', 'c\r\n', 'diff --git a/x b/x\n'), { maxLength: 8 })
        .map((lines) => Buffer.from(lines.join(''))),
      fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
    );
    const entry = fc.record({ name: fc.constantFrom(...names), content, executable: fc.boolean() });
    const tree = fc.uniqueArray(entry, { selector: ({ name }) => name, maxLength: 8 });
    const asFiles = (entries: readonly { name: string; content: Buffer }[]): Files =>
      Object.fromEntries(entries.map(({ name, content: bytes }) => [name, bytes]));
    const sh = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

    await fc.assert(
      fc.asyncProperty(tree, tree, async (before, after) => {
        const source = world.repository({ '.keep': '', ...asFiles(before) });
        const lines = after.map(({ name, content: bytes, executable }) => {
          const path = sh(`./${name}`);
          const octal = [...bytes].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
          return `mkdir -p "$(dirname ${path})"; printf '${octal}' > ${path}; chmod ${executable ? 755 : 644} ${path}`;
        });
        const { collected } = await edited(
          source,
          ['find . -name .git -prune -o -type f -exec rm -f {} +', ...lines].join('\n'),
        );
        const patch = patchOf(collected);
        expect(applied(source, patch)).toBe(patch.tree);
        expect(git(source.path, 'rev-parse', 'HEAD^{tree}')).not.toBe(patch.tree);
        const parsed = parsePatch(patch.raw, patch.text);
        const odd = /[\\"*?:]/.test(patch.raw.replaceAll(/:\d{6} \d{6} \w{40} \w{40} .\0/g, ''));
        if (!odd) expect(parsed).toMatchObject({ kind: 'patch' });
      }),
      { numRuns: 12 },
    );
  });

  test('can be prepared by two processes at once', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 300 }, (_, at) => [`d${at % 7}/f${at}`, `${at}\n`]),
    );
    const { path, sha } = world.repository(files);
    const views = [world.workspaces, world.another(), world.another()];
    const bases = await Promise.all(views.map((view) => view.prepare({ kind: 'local', path }, sha)));
    for (const base of bases) expect(base).toEqual(bases[0]);
    const folder = join(bases[0]?.lower ?? '', '..', '..');
    expect(readdirSync(folder)).toEqual([sha]);
  });

  test('can have two candidates collected at once', async () => {
    const source = world.repository({ 'a.txt': 'a\n' });
    const all = await Promise.all(
      [1, 2, 3].map((n) => edited(source, `echo ${n} > a.txt; echo ${n} > n${n}`)),
    );
    for (const [at, { collected }] of all.entries()) {
      expect(changes(collected)).toEqual(['M a.txt', `A n${at + 1}`]);
      expect(patchOf(collected).text).toContain(`+${at + 1}\n`);
    }
  });

  test('are rejected above the limit of files or bytes, with the number', async () => {
    const source = world.repository({ 'a.txt': 'a\n', 'old.bin': 'x'.repeat(60_000) });
    const strict = world.another({ limits: { files: 20, contentBytes: 50_000, packBytes: 40_000 } });
    const base = await strict.prepare({ kind: 'local', path: source.path }, source.sha);
    const why = async (line: string): Promise<string> => {
      const area = await strict.open(base, `limits-${++areas}`);
      await world.run(area, line);
      const collected = await strict.collect(base, area);
      return collected.kind === 'refused' ? collected.why : collected.kind;
    };
    expect(await why('for i in $(seq 20); do echo $i > f$i; done')).toBe('patch');
    expect(await why('for i in $(seq 21); do echo $i > f$i; done')).toContain('21 files');
    expect(await why('for i in $(seq 20); do echo $i > f$i; done; rm a.txt')).toContain('21 files');
    expect(await why('head -c 30000 /dev/zero > big')).toBe('patch');
    expect(await why('head -c 60000 /dev/zero > big')).toContain('more than');
    expect(await why('truncate -s 3G sparse')).toContain('more than');
    expect(await why('head -c 45000 /dev/urandom > big')).toContain('more than');
    expect(await why('rm old.bin')).toContain('more than');
  });

  test.runIf(isRoot)('a full disk is the fault DISK_FULL', async () => {
    const { path, sha } = world.repository({ noise: randomBytes(3_000_000) });
    const dataDir = world.folder();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m,mode=755', 'tmpfs', dataDir]);
    try {
      const full = world.another({ dataDir });
      await expect(full.prepare({ kind: 'local', path }, sha)).rejects.toMatchObject({ code: 'DISK_FULL' });
      execFileSync('sh', ['-c', 'cat /dev/zero > "$1"/fill 2>/dev/null || true', 'sh', dataDir]);
      await expect(full.prepare({ kind: 'local', path }, sha)).rejects.toMatchObject({ code: 'DISK_FULL' });
    } finally {
      execFileSync('umount', [dataDir]);
    }
  });

  test.runIf(isRoot)(
    'as root, a branch is written with the rights of the one whom the repository belongs to',
    async () => {
      const { path, sha } = world.repository({ 'a.txt': 'a\n' });
      execFileSync('chown', ['-R', '64192:64192', path]);
      const { base, collected } = await edited({ path, sha }, 'echo b > a.txt');
      const author = { name: 'R', email: 'r@example.org' };
      const spec = { base: sha, tree: patchOf(collected).tree, message: 'm', author, at: 1 };
      await world.workspaces.branch(base, path, 'auto-dev/1', await world.workspaces.commit(base, spec));
      const names = readdirSync(join(path, '.git'), { recursive: true }).map(String);
      expect(names.filter((name) => statSync(join(path, '.git', name)).uid !== 64192)).toEqual([]);
      expect(await world.workspaces.describe(path)).toMatchObject({ dirty: false, branch: 'main' });
    },
  );

  test.runIf(isRoot)('a data folder that the sandbox user cannot enter is named', async () => {
    const closed = world.folder();
    mkdirSync(join(closed, 'data'));
    chownSync(closed, 0, 0);
    execFileSync('chmod', ['700', closed]);
    const unreachable = world.another({ dataDir: join(closed, 'data') });
    const fault = { code: 'ENVIRONMENT_INVALID', message: expect.stringContaining(closed) };
    await expect(unreachable.sweep(() => true)).rejects.toMatchObject(fault);
    execFileSync('chmod', ['755', closed]);
    expect(await unreachable.sweep(() => true)).toEqual([]);
  });

  test('are rejected and removed if folders are nested deeper than any path', async () => {
    const source = world.repository({ 'a.txt': 'a\n' });
    const base = await world.workspaces.prepare({ kind: 'local', path: source.path }, source.sha);
    const area = await world.workspaces.open(base, 'deep');
    const name = 'd'.repeat(200);
    await world.run(
      area,
      `i=0; while [ $i -lt 60 ]; do mkdir ${name} && cd -P ${name} || exit 1; i=$((i+1)); done; echo x > x`,
    );
    expect(await world.workspaces.collect(base, area)).toMatchObject({ kind: 'refused' });
    await world.workspaces.remove(area);
    expect(readdirSync(join(world.dataDir, 'areas'))).not.toContain('deep');
  });

  test('are rejected if the names alone fill memory', async () => {
    const source = world.repository({ 'a.txt': 'a\n', '.gitignore': 'junk\n' });
    const base = await world.workspaces.prepare({ kind: 'local', path: source.path }, source.sha);
    const area = await world.workspaces.open(base, 'names');
    const deep = Array.from({ length: 14 }, () => 'd'.repeat(250)).join('/');
    const line = `mkdir -p junk/${deep} && cd junk/${deep} && seq 1 19000 | xargs touch`;
    expect(await world.run(area, line)).toMatchObject({ exitCode: 0 });
    expect(await world.workspaces.collect(base, area)).toMatchObject({
      kind: 'refused',
      why: expect.stringContaining('listed'),
    });
    await world.workspaces.remove(area);
  });

  test('never yield an incomplete checkout', async () => {
    const { path, sha } = world.repository({ 'a.txt': 'a\n' });
    const once = await world.workspaces.prepare({ kind: 'local', path }, sha);
    const half = join(once.lower, '..', '..', '.tmp-0123456789abcdef', 'lower');
    writeFiles(half, { 'a.txt': 'ha' });
    expect(await world.another().prepare({ kind: 'local', path }, sha)).toEqual(once);
    execFileSync('touch', ['-d', '2 days ago', join(half, '..')]);
    await world.workspaces.sweep(() => true);
    expect(readdirSync(join(once.lower, '..', '..'))).toEqual([sha]);
  });
});
