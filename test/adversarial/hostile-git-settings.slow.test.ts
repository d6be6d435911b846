import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type GitWorld, git, openGitWorld } from '../adapters/git/world.ts';

// A repository that was unpacked from an archive brings a `.git/config` of somebody else's. `runoff run --repo` looks at
// it and leaves branches in it with the host's git: nothing that it names may start.

const AUTHOR = { name: 'R', email: 'r@example.org' };
let world: GitWorld;
beforeAll(() => {
  world = openGitWorld();
});
afterAll(() => world.close());

/** A file that a hostile setting makes, and a program that makes it. */
function canary(): { readonly sings: () => boolean; readonly program: string } {
  const folder = world.folder();
  // The repository's owner may be another user than we are.
  chmodSync(folder, 0o777);
  const [program, mark] = [join(folder, 'evil'), join(folder, 'sang')];
  writeFileSync(program, `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
  return { sings: () => existsSync(mark), program };
}

interface Hostile {
  readonly path: string;
  readonly sha: string;
}

/** What a user does, or what happens to them, that starts the program: shows that the trap is real. */
const status = ({ path }: Hostile) =>
  void spawnSync('git', ['status'], { cwd: path, stdio: 'ignore', timeout: 20_000 });
const fetchItself = ({ path, sha }: Hostile) =>
  void spawnSync('git', ['fetch', path, `+${sha}:refs/heads/copy`], {
    cwd: path,
    stdio: 'ignore',
    timeout: 20_000,
  });

function staleIndex(path: string): void {
  // Git reads the file again, through its filter, because its date is not the one in the index.
  utimesSync(join(path, 'a.txt'), 1, 1);
}

const VERSION = execFileSync('git', ['--version']).toString();
const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(VERSION)?.slice(1) ?? []).map(Number);
/** Which settings start a program depends on the git of this machine. */
const knows = (since: number): boolean => major > 2 || minor >= since;

const SETTINGS: readonly (readonly [
  name: string,
  plant: (at: Hostile, program: string) => void,
  springs: (at: Hostile) => void,
])[] = [
  ['a file system monitor', ({ path }, program) => git(path, 'config', 'core.fsmonitor', program), status],
  [
    'a clean filter',
    ({ path }, program) => {
      git(path, 'config', 'filter.x=y "z.clean', program);
      git(path, 'config', 'filter.x=y "z.required', 'true');
      git(path, 'config', 'filter.pwn.clean', program);
      writeFileSync(join(path, '.git/info/attributes'), '*.txt filter=pwn\n');
      staleIndex(path);
    },
    status,
  ],
  [
    'a filter process, from an included file',
    ({ path }, program) => {
      writeFileSync(join(path, '.git/more'), `[filter "pwn"]\n\tprocess = ${program}\n\trequired = true\n`);
      git(path, 'config', 'include.path', 'more');
      writeFileSync(join(path, '.git/info/attributes'), '*.txt filter=pwn\n');
      staleIndex(path);
    },
    status,
  ],
  [
    'hooks in a folder that the settings name',
    ({ path }, program) => {
      mkdirSync(join(path, '.git/mine'));
      for (const hook of ['reference-transaction', 'post-index-change', 'pre-auto-gc', 'post-checkout']) {
        writeFileSync(join(path, '.git/mine', hook), `#!/bin/sh\nexec ${program} < /dev/null\n`, {
          mode: 0o755,
        });
      }
      git(path, 'config', 'core.hooksPath', '.git/mine');
    },
    fetchItself,
  ],
  [
    'hooks in their usual place',
    ({ path }, program) => {
      mkdirSync(join(path, '.git/hooks'), { recursive: true });
      writeFileSync(
        join(path, '.git/hooks/reference-transaction'),
        `#!/bin/sh\nexec ${program} < /dev/null\n`,
        { mode: 0o755 },
      );
    },
    fetchItself,
  ],
  [
    'a command for the references of another repository',
    ({ path }, program) => {
      const other = world.repository({ 'b.txt': 'other\n' });
      writeFileSync(join(path, '.git/objects/info/alternates'), `${other.path}/.git/objects\n`);
      git(path, 'config', 'core.alternateRefsCommand', program);
    },
    ({ path }) =>
      void spawnSync('git', ['fetch', world.repository({ 'c.txt': '' }).path], {
        cwd: path,
        timeout: 20_000,
      }),
  ],
  [
    'an address that is rewritten to a command',
    ({ path }, program) => {
      git(path, 'config', `url.ext::${program} .insteadOf`, '/');
      git(path, 'config', 'protocol.ext.allow', 'always');
    },
    fetchItself,
  ],
  [
    'objects that are missing and are fetched when they are asked for',
    ({ path, sha }, program) => {
      git(path, 'config', 'core.repositoryFormatVersion', '1');
      git(path, 'config', 'extensions.partialClone', 'origin');
      git(path, 'config', 'remote.origin.url', path);
      git(path, 'config', 'remote.origin.promisor', 'true');
      git(path, 'config', 'remote.origin.uploadpack', program);
      const blob = git(path, 'rev-parse', `${sha}:a.txt`);
      rmSync(join(path, '.git/objects', blob.slice(0, 2), blob.slice(2)));
    },
    ({ path, sha }) =>
      void spawnSync('git', ['cat-file', '-p', `${sha}:a.txt`], {
        cwd: path,
        stdio: 'ignore',
        timeout: 20_000,
      }),
  ],
];

function hostile(plant: (at: Hostile, program: string) => void, program: string): Hostile {
  const made = world.repository({ 'a.txt': 'one\n' });
  plant(made, program);
  return made;
}

describe.each(SETTINGS)('%s', (_, plant, springs) => {
  test('starts for a user of plain git, as a check of this test', () => {
    const { program, sings } = canary();
    springs(hostile(plant, program));
    expect(sings()).toBe(true);
  });

  test('does not start when Runoff reads the repository or creates a branch in it', async () => {
    const { program, sings } = canary();
    const at = hostile(plant, program);
    const { workspaces } = world;
    const source = { kind: 'local', path: at.path } as const;
    await workspaces.describe(at.path).catch(() => {});
    await workspaces.resolve(source, 'HEAD').catch(() => {});
    expect(sings()).toBe(false);
    const base = await workspaces.prepare(source, at.sha).catch(() => null);
    if (base !== null) {
      const tree = git(at.path, 'rev-parse', `${at.sha}^{tree}`);
      const spec = { base: at.sha, tree, message: 'Candidate', author: AUTHOR, at: 1 };
      const commit = await workspaces.commit(base, spec);
      const made = await workspaces.branch(base, at.path, 'runoff/r1/A', commit).then(
        () => true,
        () => false,
      );
      expect(made).toBe(true);
    }
    expect(sings()).toBe(false);
  });
});

/** All that changes a repository, or works with an index. */
async function useFully({ path, sha }: Hostile): Promise<void> {
  const { workspaces } = world;
  appendFileSync(join(path, 'a.txt'), 'two\n');
  await workspaces.describe(path);
  await workspaces.keepChanges(path, 1);
  const base = await workspaces.prepare({ kind: 'local', path }, sha);
  const tree = git(path, 'rev-parse', `${sha}^{tree}`);
  const commit = await workspaces.commit(base, { base: sha, tree, message: 'C', author: AUTHOR, at: 1 });
  await workspaces.branch(base, path, 'auto-dev/a', commit);
  await workspaces.deleteBranch(path, { name: 'auto-dev/a', sha: commit });
}

test.runIf(knows(54))('hooks that settings define start for nothing that Runoff does', async () => {
  const { program, sings } = canary();
  const at = hostile(({ path }) => {
    for (const event of ['reference-transaction', 'post-index-change']) {
      git(path, 'config', `hook.mine-${event}.command`, program);
      git(path, 'config', `hook.mine-${event}.event`, event);
    }
  }, program);
  await useFully(at);
  expect(sings()).toBe(false);
  fetchItself(at);
  expect(sings()).toBe(true);
});

test.runIf(knows(40))('a bundle that settings name is not read', async () => {
  const at = world.repository({ 'a.txt': 'one\n' });
  const bundle = join(world.folder(), 'evil.bundle');
  git(at.path, 'bundle', 'create', '-q', bundle, 'main');
  git(at.path, 'config', 'fetch.bundleURI', `file://${bundle}`);
  await useFully(at);
  const bundled = () => git(at.path, 'for-each-ref', 'refs/bundles');
  expect(bundled()).toBe('');
  fetchItself(at);
  expect(bundled()).toContain('refs/bundles/');
});

test("a repository's filter cannot hide its uncommitted changes", async () => {
  const { program } = canary();
  const at = world.repository({ 'a.txt': 'one\n' });
  git(at.path, 'config', 'filter.pwn.clean', program);
  git(at.path, 'config', 'filter.pwn.required', 'true');
  writeFileSync(join(at.path, '.git/info/attributes'), '*.txt filter=pwn\n');
  staleIndex(at.path);
  expect(await world.workspaces.describe(at.path)).toMatchObject({ dirty: false });
  appendFileSync(join(at.path, 'a.txt'), 'two\n');
  expect(await world.workspaces.describe(at.path)).toMatchObject({ dirty: true });
});

test("a repository whose settings name another folder as working tree is refused with that folder's name", async () => {
  const [at, other] = [world.repository({ 'a.txt': 'one\n' }), world.repository({ 'b.txt': 'two\n' })];
  git(at.path, 'config', 'core.worktree', other.path);
  expect(execFileSync('git', ['rev-parse', '--show-toplevel'], { cwd: at.path }).toString().trim()).toBe(
    other.path,
  );
  await expect(world.workspaces.describe(at.path)).rejects.toMatchObject({
    code: 'NOT_A_REPOSITORY',
    message: expect.stringContaining(other.path),
  });
});
