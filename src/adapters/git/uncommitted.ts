import { copyFile, lstat, mkdir, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault, type Sha } from '../../core/model/index.ts';
import type { RawEntry } from '../../core/patches/index.ts';
import { COMMIT_AUTHOR } from '../../core/reports/index.ts';
import type { KeptChange, Workspaces } from '../../ports/index.ts';
import type { DamageMarks } from './damage.ts';
import { rawEntries } from './diff-trees.ts';
import { gitFault } from './faults.ts';
import type { Git, GitDone } from './git.ts';
import { exists, isSha, type Layout, temporaryPath } from './layout.ts';
import type { Locks } from './locks.ts';
import { clearCrash, type Mirrors } from './mirrors.ts';
import { identityEnv } from './publish.ts';
import { describeLocal, inUserRepository, READ_ONLY, userIgnores } from './sources.ts';
import { removeTree } from './trees.ts';

/** Maximum bytes of the changed files together. Our default: more is data, not a change. */
const MAX_CHANGED_BYTES = 256 * 2 ** 20;

interface UncommittedParts {
  readonly git: Git;
  readonly layout: Layout;
  readonly locks: Locks;
  readonly marks: DamageMarks;
  readonly mirrors: Mirrors;
}

/**
 * Makes a commit of a working tree as it is, in the mirror of its repository: with an index of our own, and new objects
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
    const listed = await listChanges(git, top);
    return mirrors.using(source, async (key) => {
      await mirrors.hold(source, head);
      const mirror = layout.mirror(key);
      return locks.fetching(key, async () => {
        // A sweep removes it only while nobody uses the repository.
        const scratch = temporaryPath(mirror);
        try {
          await mkdir(scratch, { mode: 0o700 });
          const theirs = await objectsOf(git, top);
          const index = await ownIndex(git, { top, head, mirror, scratch, theirs });
          const { tree, changes } = await addAll(index, { top, head, listed });
          const sha = await commitTree(git, mirror, { tree, head, at, theirs });
          await packCommit(git, mirror, { sha, head, theirs });
          const kept = await git({ cwd: mirror, args: ['update-ref', `refs/runoff/${sha}`, sha] });
          if (kept.exitCode !== 0) throw gitFault('Keeping uncommitted changes', kept);
          await marks.mark(mirror);
          return { sha, changes };
        } finally {
          await removeTree(scratch);
        }
      });
    });
  };
}

/** Git in the working tree, for which neither index nor objects of the repository are written. */
type IndexGit = (args: readonly string[], input?: string) => Promise<GitDone>;

/** An environment in which git reads the objects of the repository, too. */
type TheirObjects = Readonly<Record<'GIT_ALTERNATE_OBJECT_DIRECTORIES', string>>;

async function objectsOf(git: Git, top: string): Promise<TheirObjects> {
  const objects = await gitPath(git, top, 'objects');
  // Quoted, since a colon would separate two folders.
  return { GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${objects.replaceAll(/["\\]/g, '\\$&')}"` };
}

async function gitPath(git: Git, top: string, name: string): Promise<string> {
  const args = ['rev-parse', '--path-format=absolute', '--git-path', name];
  const done = await inUserRepository(git)({ cwd: top, args, env: READ_ONLY });
  if (done.exitCode !== 0) throw gitFault(`Reading the state of ${top}`, done);
  return done.stdout.replace(/\n$/, '');
}

async function ownIndex(
  host: Git,
  {
    top,
    head,
    mirror,
    scratch,
    theirs,
  }: {
    readonly top: string;
    readonly head: Sha;
    readonly mirror: string;
    readonly scratch: string;
    readonly theirs: TheirObjects;
  },
): Promise<IndexGit> {
  const git = inUserRepository(host);
  const index = join(scratch, 'index');
  const env = {
    ...READ_ONLY,
    ...theirs,
    GIT_INDEX_FILE: index,
    GIT_OBJECT_DIRECTORY: join(mirror, 'objects'),
  };
  const config = {
    // Git writes the shared part of a split index beside the repository's own index.
    'core.splitIndex': 'false',
  };
  const onKilled = () => rm(`${index}.lock`, { force: true });
  const inTop: IndexGit = (args, input) =>
    git({ cwd: top, args, env, config, onKilled, ...(input === undefined ? {} : { input }) });
  const existing = await gitPath(host, top, 'index');
  // With the dates that it knows, only changed files are read.
  if (await exists(existing)) await copyIndex(existing, index);
  else await succeed(inTop(['read-tree', head]), top);
  return inTop;
}

/**
 * With the time of the original: git reads a file again that was changed in the second in which its index was written,
 * or later, because size and date may be the same. Whole seconds, as not every git compares more.
 */
async function copyIndex(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  const { mtimeMs } = await lstat(from);
  const seconds = Math.floor(mtimeMs / 1000);
  await utimes(to, seconds, seconds);
}

/**
 * The tree of all files as they are, and what differs from `head`. Repositories inside it that are no submodules are
 * left out. Files are added by plumbing: `git add` would start git in submodules, where settings of theirs hold.
 */
async function addAll(
  git: IndexGit,
  { top, head, listed }: { readonly top: string; readonly head: Sha; readonly listed: Listed },
): Promise<{ readonly tree: Sha; readonly changes: readonly KeptChange[] }> {
  const update = async (paths: readonly string[], ...how: readonly string[]): Promise<void> => {
    if (paths.length > 0)
      await succeed(git(['update-index', '-z', ...how, '--stdin'], `${paths.join('\0')}\0`), top);
  };
  // First, because a folder may be a file or a link now.
  await update(listed.deleted, '--force-remove');
  await update(listed.present, '--add', '--replace', '--ignore-skip-worktree-entries');
  const args = ['diff-index', '--cached', '--raw', '-z', '--no-renames', '--no-abbrev', head];
  const entries = rawEntries((await succeed(git(args), top)).stdout);
  await update(
    entries.filter(isNested).map(({ path }) => path),
    '--force-remove',
  );
  const changes = entries.flatMap((entry): readonly KeptChange[] => {
    const { path, status } = entry;
    if (!isNested(entry)) return [{ path, change: KEPT_CHANGES[status] }];
    return status === 'A' ? [] : [{ path, change: 'deleted' }];
  });
  const tree = (await succeed(git(['write-tree']), top)).stdout.trim();
  if (!isSha(tree)) throw new Fault('INTERNAL', `Git named no tree for the files of ${top}.`);
  return { tree, changes };
}

/** Mode of a submodule in git's lists. */
const LINK_TO_COMMIT = '160000';

const isNested = ({ oldMode, newMode }: RawEntry): boolean =>
  newMode === LINK_TO_COMMIT && oldMode !== LINK_TO_COMMIT;

const KEPT_CHANGES = {
  A: 'added',
  D: 'deleted',
  M: 'modified',
  T: 'modified',
} as const satisfies Record<RawEntry['status'], KeptChange['change']>;

async function succeed(call: Promise<GitDone>, top: string): Promise<GitDone> {
  const done = await call;
  if (done.exitCode !== 0) throw gitFault(`Reading the uncommitted changes of ${top}`, done);
  return done;
}

async function commitTree(
  git: Git,
  mirror: string,
  {
    tree,
    head,
    at,
    theirs,
  }: { readonly tree: Sha; readonly head: Sha; readonly at: number; readonly theirs: TheirObjects },
): Promise<Sha> {
  const done = await git({
    cwd: mirror,
    args: ['commit-tree', tree, '-p', head, '-m', 'Uncommitted changes that a run started from'],
    env: { ...theirs, ...identityEnv(COMMIT_AUTHOR, Math.trunc(at / 1000)) },
  });
  const sha = done.stdout.trim();
  if (done.exitCode !== 0 || !isSha(sha)) throw gitFault('Keeping uncommitted changes', done);
  return sha;
}

/**
 * Copies to the mirror what the commit adds to `head`: git writes no object that the repository has already, and what
 * was staged is nowhere else.
 */
async function packCommit(
  git: Git,
  mirror: string,
  { sha, head, theirs }: { readonly sha: Sha; readonly head: Sha; readonly theirs: TheirObjects },
): Promise<void> {
  const done = await git({
    cwd: mirror,
    // Without deltas, which for large files would take longer than all the rest.
    args: ['pack-objects', '--revs', '-q', '--window=0', 'objects/pack/pack'],
    env: theirs,
    input: `${sha}\n^${head}\n`,
    onKilled: () => clearCrash(mirror),
  });
  if (done.exitCode === 0) return;
  await clearCrash(mirror);
  throw gitFault('Keeping uncommitted changes', done);
}

/** Paths whose files differ from the index: what is there, and what is not. */
interface Listed {
  readonly present: readonly string[];
  readonly deleted: readonly string[];
}

/** Fault CHANGES_REFUSED for conflicts, for names that are not UTF-8, and for too much. */
async function listChanges(host: Git, top: string): Promise<Listed> {
  const git = inUserRepository(host);
  const config = await userIgnores(host, top);
  const args = ['status', '--porcelain', '-z', '--no-renames', '--untracked-files=all'];
  const { stdout } = await succeed(
    git({ cwd: top, args: [...args, '--ignore-submodules=dirty'], env: READ_ONLY, config }),
    top,
  );
  // A repository that is no submodule is listed as a folder.
  const entries = stdout.split('\0').filter((entry) => entry !== '' && !entry.endsWith('/'));
  if (entries.some((entry) => /^(?:U.|.U|AA|DD) /.test(entry)))
    throw new Fault('CHANGES_REFUSED', `${top} has conflicts of a merge that are not resolved.`);
  // The second letter is about the working tree; a space means that the index has the file as it is.
  const listed = entries.map((entry) => ({ state: entry.charAt(1), path: entry.slice(3) }));
  const differing = listed.filter(({ state }) => state !== ' ');
  const unnamed = differing.find(({ path }) => path.includes('\uFFFD'));
  if (unnamed)
    throw new Fault('CHANGES_REFUSED', `${top} has a changed file whose name is not UTF-8: ${unnamed.path}`);
  await checkSize(
    top,
    listed.map(({ path }) => path),
  );
  const [deleted, present] = [true, false].map((wanted) =>
    differing.filter(({ state }) => (state === 'D') === wanted).map(({ path }) => path),
  );
  return { present: present ?? [], deleted: deleted ?? [] };
}

async function checkSize(top: string, paths: readonly string[]): Promise<void> {
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
}
