import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parsePatch } from '../../src/core/patches/index.ts';
import { git, openGitWorld } from '../adapters/git/world.ts';
import { patchOf } from '../contracts/workspaces.suite.ts';
import { Git, type Tree } from '../core/git.ts';

// A folder of a checkout that git takes for a repository: whoever looks at it with git runs what its settings name.

/** Settings that run a program on `git status`, which leaves a file in the folder above the working tree. */
const SETTINGS = `[core]
\trepositoryformatversion = 0
\tbare = false
\tworktree = "."
\tfsmonitor = "touch \${MARK:?}; false"
`;
const x = (text: string) => ({ executable: text });
const HEAD = 'ref: refs/heads/main\n';
const BARE: Tree = { 'sub/HEAD': HEAD, 'sub/config': SETTINGS, 'sub/objects/x': '', 'sub/refs/x': '' };

/** Writes a tree as a checkout would, into a folder of its own. */
function checkout(tree: Tree): string {
  const root = mkdtempSync(join(tmpdir(), 'runoff-embedded-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const work = join(root, 'work');
  for (const [path, entry] of Object.entries(tree)) {
    const at = join(work, path);
    mkdirSync(dirname(at), { recursive: true });
    if (typeof entry === 'string' || Buffer.isBuffer(entry)) writeFileSync(at, entry);
    else if ('link' in entry) symlinkSync(entry.link, at);
    else {
      writeFileSync(at, entry.executable);
      chmodSync(at, 0o755);
    }
  }
  git(work, 'init', '-q');
  return root;
}

/** Does `git status` in a folder of the checkout run what the candidate's settings name? */
function statusRuns(tree: Tree, folder: string): boolean {
  const root = checkout(tree);
  const mark = join(root, 'mark');
  try {
    execFileSync('git', ['status'], {
      cwd: join(root, 'work', folder),
      env: {
        PATH: process.env.PATH,
        HOME: root,
        MARK: mark,
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: '/dev/null',
      },
      stdio: 'pipe',
    });
  } catch {
    // What git says afterwards does not matter.
  }
  return existsSync(mark);
}

function verdict(before: Tree, after: Tree): string {
  using real = new Git();
  const { raw, text } = real.diff(before, after);
  const parsed = parsePatch(raw, text, { baseFiles: Object.keys(before) });
  return parsed.kind === 'patch' ? 'accepted' : parsed.reasons.join('\n');
}

const CONFIG: Tree = { 'sub/config': SETTINGS };
const FOLDERS: Tree = { 'sub/objects/x': '', 'sub/refs/x': '' };
const MADE = '"sub" would become a Git repository of its own';

describe('a candidate cannot leave a folder that runs a program on a reader’s `git status`', () => {
  test.each<readonly [string, Tree, Tree, string]>([
    ['[e01] a bare repository', {}, BARE, MADE],
    [
      '[e02] executable files in the place of its folders',
      {},
      { ...CONFIG, 'sub/HEAD': HEAD, 'sub/objects': x(''), 'sub/refs': x('') },
      MADE,
    ],
    [
      '[e03] links in the place of its folders',
      {},
      {
        ...CONFIG,
        'sub/HEAD': HEAD,
        'sub/objects': { link: '../a' },
        'sub/refs': { link: '../a' },
        'a/x': '',
      },
      MADE,
    ],
    [
      '[e04] a link as its HEAD',
      {},
      { ...CONFIG, ...FOLDERS, 'sub/HEAD': { link: 'refs/heads/main' } },
      MADE,
    ],
    ['[e05] a HEAD without a branch', {}, { ...BARE, 'sub/HEAD': `${'0'.repeat(39)}1\n` }, MADE],
    [
      '[e06] settings in another folder, as a worktree has them',
      {},
      {
        'sub/HEAD': HEAD,
        'sub/commondir': '../other\n',
        'sub/config.worktree': SETTINGS,
        'other/config': '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n',
        'other/objects/x': '',
        'other/refs/x': '',
      },
      MADE,
    ],
    ['[e07] the part that the base has not', { ...CONFIG, ...FOLDERS }, BARE, MADE],
    [
      '[e08] settings of a repository that the base keeps in its tree',
      { ...BARE, 'sub/config': '[core]\n\tbare = true\n' },
      BARE,
      '"sub/config" controls what git does in "sub"',
    ],
    [
      '[e09] a HEAD that was not one before',
      { ...BARE, 'sub/HEAD': 'nothing\n' },
      BARE,
      '"sub/HEAD" controls what git does in "sub"',
    ],
    [
      '[e10] without the file that kept git from it',
      { ...BARE, 'sub/commondir': '/nowhere\n' },
      BARE,
      '"sub/commondir" controls what git does in "sub"',
    ],
    [
      '[e11] a file that was not executable before',
      { ...CONFIG, 'sub/HEAD': HEAD, 'sub/objects': '', 'sub/refs': x('') },
      { ...CONFIG, 'sub/HEAD': HEAD, 'sub/objects': x(''), 'sub/refs': x('') },
      '"sub/objects" controls what git does in "sub"',
    ],
  ])('%s', (_name, before, after, why) => {
    expect(statusRuns({ 'sub/plain': '', ...before }, 'sub')).toBe(false);
    expect(statusRuns(after, 'sub')).toBe(true);
    expect(verdict(before, after)).toContain(why);
  });

  // No file system of a Linux machine shows these; git on Windows and macOS asks for `HEAD`, `objects` and `refs` there.
  test.each([
    ['[e12] in other case', ['Sub/head', 'sub/OBJECTS/x', 'sub/Refs/x']],
    ['[e13] with letters that fold to others', ['sub/HEAD', 'sub/object\u017f/x', 'sub/ref\u017f']],
    ['[e14] with dots and spaces that Windows drops', ['sub/HEAD.', 'sub/objects ./x', 'sub/refs /x']],
    ['[e15] as streams', ['sub/HEAD::$DATA', 'sub/objects::$INDEX_ALLOCATION/x', 'sub/refs/x']],
    ['[e16] by a short name', ['sub/HEAD', 'sub/COMMON~1']],
  ])('%s', (_name, paths) => {
    expect(verdict({}, Object.fromEntries(paths.map((path) => [path, ''])))).toMatch(
      /would become a Git repository of its own/,
    );
  });

  test('[e17] through the settings of another version control system', () => {
    expect(verdict({}, { '.hg/hgrc': '[extensions]\nx = ./x.py\n' })).toContain(
      'in the control folder of another version control system',
    );
    expect(verdict({ 'a/.HG/hgrc': '' }, { 'a/.HG/hgrc': 'x' })).toContain('control folder');
  });

  test('[e18] through the root of the repository', () => {
    expect(verdict({ HEAD, 'refs/x': '' }, { HEAD, 'refs/x': '', 'objects/x': '' })).toContain(
      'The root would become a Git repository',
    );
  });
});

describe('a folder that only resembles a repository is accepted', () => {
  test.each<readonly [string, Tree, Tree]>([
    ['a folder without one of the parts', {}, { 'sub/objects/x': '', 'sub/refs/x': '', 'sub/config': 'x' }],
    ['components of these names', {}, { 'ui/Head/x.ts': '', 'ui/objects/x.ts': '', 'ui/refs/x.ts': '' }],
    ['files with endings', {}, { 'a/HEAD.md': '', 'a/objects.ts': '', 'a/refs.ts': '' }],
    ['parts in different folders', {}, { 'a/HEAD': HEAD, 'b/objects/x': '', 'c/refs/x': '' }],
    ['a repository that goes away', { ...BARE, a: '1' }, { a: '2' }],
    ['a repository of which one part goes away', BARE, { ...CONFIG, ...FOLDERS }],
  ])('%s', (_name, before, after) => {
    expect(verdict(before, after)).toBe('accepted');
  });
});

test('a repository with bare repositories as test data can be changed, including their objects and branches', async () => {
  const world = openGitWorld();
  onTestFinished(() => world.close());
  const files = {
    'a.js': 'one\n',
    'test/data/repo.git/HEAD': HEAD,
    'test/data/repo.git/config': '[core]\n\tbare = true\n',
    'test/data/repo.git/objects/info/packs': '',
    'test/data/repo.git/refs/heads/main': `${'1'.repeat(40)}\n`,
  };
  const { path, sha } = world.repository(files);
  const base = await world.workspaces.prepare({ kind: 'local', path }, sha);
  const after = async (id: string, line: string): Promise<string> => {
    const area = await world.workspaces.open(base, id);
    expect((await world.run(area, line)).exitCode).toBe(0);
    const collected = await world.workspaces.collect(base, area);
    if (collected.kind === 'refused') return collected.why;
    const { raw, text } = patchOf(collected);
    const parsed = parsePatch(raw, text, { baseFiles: Object.keys(files) });
    return parsed.kind === 'refused'
      ? parsed.reasons.join('\n')
      : parsed.patch.files.map((f) => f.path).join(' ');
  };
  expect(await after('code', 'echo two > a.js')).toBe('a.js');
  expect(await after('branch', 'cd test/data/repo.git/refs/heads && cp main next')).toBe(
    'test/data/repo.git/refs/heads/next',
  );
  expect(await after('gone', 'rm -r test/data/repo.git && echo two > a.js')).not.toContain('decides');
  expect(await after('settings', 'echo "[core] fsmonitor = x" >> test/data/repo.git/config')).toBe(
    '"test/data/repo.git/config" controls what git does in "test/data/repo.git", a Git repository inside the tree.',
  );
  expect(await after('hook', 'cd test/data/repo.git && mkdir hooks && echo x > hooks/update')).toContain(
    '"test/data/repo.git/hooks/update" controls what git does',
  );
  expect(await after('second', 'cp -r test/data/repo.git test/data/other.git')).toContain(
    '"test/data/other.git" would become a Git repository of its own',
  );
});
