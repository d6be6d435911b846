import { copyFile, lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault, type Sha } from '../../core/model/index.ts';
import type { Workspaces } from '../../ports/index.ts';
import type { DamageMarks } from './damage.ts';
import { gitFault } from './faults.ts';
import type { Git, GitCall, GitDone } from './git.ts';
import { exists, isSha, type Layout } from './layout.ts';
import type { Locks } from './locks.ts';
import type { Mirrors } from './mirrors.ts';
import { describeLocal, inUserRepository, READ_ONLY, userIgnores, withoutFilters } from './sources.ts';
import { removeTree } from './trees.ts';

/** Maximum bytes of the changed files together. Our default: more is data, not a change. */
const MAX_CHANGED_BYTES = 256 * 2 ** 20;

const COMMITTER = { name: 'Runoff', email: 'runoff@users.noreply.github.com' };

interface UncommittedParts {
  readonly git: Git;
  readonly layout: Layout;
  readonly locks: Locks;
  readonly marks: DamageMarks;
  readonly mirrors: Mirrors;
}

/**
 * Makes a commit of a work tree as it is, in the mirror of its repository: with an index of our own, and new objects
 * beside those of the repository, which is only read.
 */
export function openUncommitted(parts: UncommittedParts): Workspaces['keepChanges'] {
  const { git, layout, locks, marks, mirrors } = parts;
  return async (path, at) => {
    const { top, empty } = await describeLocal(git, path);
    if (empty) throw new Fault('REPOSITORY_EMPTY', `${top} has no commit yet.`);
    const source = { kind: 'local', path: top } as const;
    const head = await mirrors.resolve(source, 'HEAD');
    if (head === null) throw new Fault('BASE_MISSING', `The checked-out commit of ${top} cannot be read.`);
    const paths = await changedPaths(git, top);
    return mirrors.using(source, async (key) => {
      await mirrors.hold(source, head);
      const mirror = layout.mirror(key);
      return locks.fetching(key, async () => {
        const scratch = layout.trash();
        try {
          await mkdir(scratch, { recursive: true, mode: 0o700 });
          const index = await ownIndex(git, { top, head, mirror, scratch });
          const sha = await commitTree(git, mirror, { tree: await addAll(index, top), head, at });
          const kept = await git({ cwd: mirror, args: ['update-ref', `refs/runoff/${sha}`, sha] });
          if (kept.exitCode !== 0) throw gitFault('Keeping uncommitted changes', kept);
          await marks.mark(mirror);
          return { sha, paths };
        } finally {
          await removeTree(scratch);
        }
      });
    });
  };
}

/** Git in the work tree, for which neither index nor objects of the repository are written. */
type IndexGit = (args: readonly string[], input?: string) => Promise<GitDone>;

async function ownIndex(
  host: Git,
  {
    top,
    head,
    mirror,
    scratch,
  }: { readonly top: string; readonly head: Sha; readonly mirror: string; readonly scratch: string },
): Promise<IndexGit> {
  const git = inUserRepository(host);
  const where = async (...args: readonly string[]): Promise<string> => {
    const done = await git({
      cwd: top,
      args: ['rev-parse', '--path-format=absolute', ...args],
      env: READ_ONLY,
    });
    if (done.exitCode !== 0) throw gitFault(`Reading the state of ${top}`, done);
    return done.stdout.replace(/\n$/, '');
  };
  const index = join(scratch, 'index');
  const theirs = await where('--git-path', 'index');
  const objects = await where('--git-path', 'objects');
  const env = {
    ...READ_ONLY,
    GIT_INDEX_FILE: index,
    GIT_OBJECT_DIRECTORY: join(mirror, 'objects'),
    // Quoted, since a colon would separate two folders.
    GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${objects.replaceAll(/["\\]/g, '\\$&')}"`,
  };
  const config = { ...(await userIgnores(host, top)), ...(await withoutFilters(git, top, READ_ONLY)) };
  const inTop: IndexGit = (args, input) =>
    git({ cwd: top, args, env, config, ...(input === undefined ? {} : { input }) } satisfies GitCall);
  // With the dates that it knows, only changed files are read.
  if (await exists(theirs)) await copyFile(theirs, index);
  else await succeed(inTop(['read-tree', head]), top);
  return inTop;
}

/** The tree of all files as they are; repositories inside it that are no submodules are left out. */
async function addAll(git: IndexGit, top: string): Promise<Sha> {
  await succeed(git(['add', '--all', '--', '.']), top);
  const { stdout } = await succeed(git(['diff-index', '--cached', '-z', '--no-renames', 'HEAD']), top);
  const nested: string[] = [];
  const records = stdout.split('\0');
  for (let at = 0; at + 1 < records.length; at += 2) {
    const [, before, after] = /^:(\d+) (\d+) /.exec(records[at] ?? '') ?? [];
    if (after === '160000' && before !== '160000') nested.push(records[at + 1] ?? '');
  }
  if (nested.length > 0)
    await succeed(git(['update-index', '-z', '--force-remove', '--stdin'], `${nested.join('\0')}\0`), top);
  const tree = (await succeed(git(['write-tree']), top)).stdout.trim();
  if (!isSha(tree)) throw new Fault('INTERNAL', `Git named no tree for the files of ${top}.`);
  return tree;
}

async function succeed(call: Promise<GitDone>, top: string): Promise<GitDone> {
  const done = await call;
  if (done.exitCode !== 0) throw gitFault(`Reading the uncommitted changes of ${top}`, done);
  return done;
}

async function commitTree(
  git: Git,
  mirror: string,
  { tree, head, at }: { readonly tree: Sha; readonly head: Sha; readonly at: number },
): Promise<Sha> {
  const date = `@${Math.trunc(at / 1000)} +0000`;
  const done = await git({
    cwd: mirror,
    args: ['commit-tree', tree, '-p', head, '-m', 'Uncommitted changes that a run started from'],
    env: {
      GIT_AUTHOR_NAME: COMMITTER.name,
      GIT_AUTHOR_EMAIL: COMMITTER.email,
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_NAME: COMMITTER.name,
      GIT_COMMITTER_EMAIL: COMMITTER.email,
      GIT_COMMITTER_DATE: date,
    },
  });
  const sha = done.stdout.trim();
  if (done.exitCode !== 0 || !isSha(sha)) throw gitFault('Keeping uncommitted changes', done);
  return sha;
}

/** Paths that differ from the checked-out commit. Fault CHANGES_REFUSED for conflicts, and for too much. */
async function changedPaths(host: Git, top: string): Promise<readonly string[]> {
  const git = inUserRepository(host);
  const config = { ...(await userIgnores(host, top)), ...(await withoutFilters(git, top, READ_ONLY)) };
  const args = ['status', '--porcelain', '-z', '--no-renames', '--untracked-files=all'];
  const { stdout } = await succeed(
    git({ cwd: top, args: [...args, '--ignore-submodules=dirty'], env: READ_ONLY, config }),
    top,
  );
  const entries = stdout.split('\0').filter((entry) => entry !== '');
  if (entries.some((entry) => /^(?:U.|.U|AA|DD) /.test(entry)))
    throw new Fault('CHANGES_REFUSED', `${top} has conflicts of a merge that are not resolved.`);
  const paths = entries.map((entry) => entry.slice(3));
  let bytes = 0;
  for (const path of paths) {
    const facts = await lstat(join(top, path)).catch(() => null);
    bytes += facts?.isFile() ? facts.size : 0;
    if (bytes > MAX_CHANGED_BYTES)
      throw new Fault(
        'CHANGES_REFUSED',
        `The uncommitted changes of ${top} have more than ${MAX_CHANGED_BYTES / 2 ** 20} MiB.`,
      );
  }
  return paths;
}
