import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Fault, type Sha } from '../../core/model/index.ts';
import type { RepositorySource } from '../../ports/index.ts';
import { openCommitFiles, type TreeEntry } from './commit-files.ts';
import type { DamageMarks } from './damage.ts';
import { errorTextOf, gitFault, remoteFault, sourceFault } from './faults.ts';
import type { Git } from './git.ts';
import {
  checkedSha,
  exists,
  isSha,
  type Layout,
  makeAtomically,
  namesIn,
  temporaryPath,
  touch,
} from './layout.ts';
import type { Locks } from './locks.ts';
import { fetchable, isRefLike, keyOfSource, resolveLocal, withOneLogin } from './sources.ts';
import { removeTree } from './trees.ts';

/**
 * One bare repository for each source, with the history of the commits that runs started from, and of those that tell
 * what became of a run. Checkouts have objects of their own, so no run can see more than its base.
 */
export interface Mirrors {
  resolve(source: RepositorySource, ref: string): Promise<Sha | null>;
  /** The key of the source's mirror. The mirror has the commit when this resolves. */
  hold(source: RepositorySource, sha: Sha): Promise<string>;
  readFile(source: RepositorySource, sha: Sha, path: string): Promise<string | null>;
  listFiles(source: RepositorySource, sha: Sha): Promise<readonly string[]>;
  entries(key: string, sha: Sha, path?: string): Promise<readonly TreeEntry[]>;
  /** Text of a file that `entries` listed, or its size if that exceeds `most` bytes (default 1 MiB). */
  blob(key: string, entry: TreeEntry, most?: number): Promise<string | { readonly bytes: number }>;
  /** Does the work while nothing of the source's repository can be pruned. */
  using<T>(source: RepositorySource, work: (key: string) => Promise<T>): Promise<T>;
}

interface MirrorParts {
  readonly git: Git;
  readonly layout: Layout;
  readonly locks: Locks;
  readonly marks: DamageMarks;
  /** Called for each mirror that is found damaged, before it is recreated. */
  readonly onDamage: (path: string, why: string) => void;
}

export function openMirrors({ git, layout, locks, marks, onDamage }: MirrorParts): Mirrors {
  const files = openCommitFiles(git, layout);

  async function fetchCommit(source: RepositorySource, mirror: string, sha: Sha): Promise<void> {
    const from = await fetchable(source);
    const done = await git({
      cwd: mirror,
      args: [
        ...['fetch', '--progress', '--no-tags', '--no-write-fetch-head', '--update-shallow'],
        ...[from.address, `+${sha}:refs/runoff/${sha}`],
      ],
      ...from.call,
      onKilled: () => clearCrash(mirror),
    });
    if (done.exitCode === 0) return;
    await clearCrash(mirror);
    if (/not our ref|no such remote ref|couldn't find remote ref|unadvertised object/i.test(done.stderr)) {
      throw new Fault('BASE_MISSING', `The repository has no commit ${sha}: ${errorTextOf(done)}`);
    }
    if (source.kind === 'remote') throw remoteFault(`Fetching ${source.url}`, done);
    throw sourceFault(source.path, done);
  }

  async function hold(source: RepositorySource, sha: Sha): Promise<string> {
    checkedSha(sha);
    const key = await keyOfSource(source);
    const mirror = layout.mirror(key);
    const whole = (await touch(mirror)) && (await marks.isAsMarked(mirror));
    if (whole && (await has(git, mirror, sha))) return key;
    return locks.fetching(key, async () => {
      await makeBare(git, mirror, (folder) => marks.mark(folder));
      if (!(await marks.isAsMarked(mirror))) await restore(source, mirror);
      await clearCrash(mirror);
      if (await has(git, mirror, sha)) return key;
      await fetchCommit(source, mirror, sha);
      await marks.mark(mirror);
      return key;
    });
  }

  /** Recreates a damaged mirror. A mirror that is intact but whose mark was lost in a crash is marked. */
  async function restore(source: RepositorySource, mirror: string): Promise<void> {
    await clearCrash(mirror);
    const why = await marks.damage(mirror);
    if (why === null) return marks.mark(mirror);
    onDamage(mirror, why);
    const fresh = temporaryPath(mirror);
    try {
      await mkdir(fresh);
      await initBare(git, fresh);
      for (const sha of await heldBy(mirror)) await fetchAgain(source, { fresh, mirror, sha });
      await marks.mark(fresh);
      // Others find one of the two; a process that found the damaged one tries again.
      const old = layout.trash();
      await rename(mirror, old);
      await rename(fresh, mirror);
      await removeTree(old);
    } finally {
      await removeTree(fresh);
    }
  }

  /**
   * Areas and patches of other runs need a commit of the damaged mirror. What its source no longer provides is taken
   * from the damaged mirror, if it can still be read.
   */
  async function fetchAgain(
    source: RepositorySource,
    { fresh, mirror, sha }: { readonly fresh: string; readonly mirror: string; readonly sha: Sha },
  ): Promise<void> {
    try {
      await fetchCommit(source, fresh, sha);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'BASE_MISSING') throw error;
      await git({
        cwd: fresh,
        args: ['fetch', '-q', '--no-tags', '--no-write-fetch-head', mirror, `+${sha}:refs/runoff/${sha}`],
        onKilled: () => clearCrash(fresh),
      });
    }
  }

  async function using<T>(source: RepositorySource, work: (key: string) => Promise<T>): Promise<T> {
    const key = await keyOfSource(source);
    return locks.using(key, () => work(key));
  }

  return {
    hold,
    entries: files.entries,
    using,

    async resolve(asked, ref) {
      if (!isRefLike(ref)) return null;
      const source = withOneLogin(asked);
      const sha =
        source.kind === 'local'
          ? ((await resolveLocal(git, source.path, ref)) ??
            (await heldCommit(git, layout.mirror(await keyOfSource(source)), ref)))
          : await resolveRemote(ref, source);
      if (sha === null) return null;
      try {
        await using(source, () => hold(source, sha));
      } catch (error) {
        if (error instanceof Fault && error.code === 'BASE_MISSING') return null;
        throw error;
      }
      return sha;
    },

    async readFile(source, sha, path) {
      if (path.startsWith('/') || path.split('/').includes('..')) return null;
      return using(source, async () => {
        const key = await hold(source, sha);
        return files.text(key, sha, path);
      });
    },

    async listFiles(source, sha) {
      return using(source, async () => {
        const key = await hold(source, sha);
        return files.list(key, sha);
      });
    },

    blob: files.blob,
  };

  /** Queries exact names only. If no ref has a full object name, the following fetch resolves it. */
  async function resolveRemote(
    ref: string,
    source: RepositorySource & { kind: 'remote' },
  ): Promise<Sha | null> {
    const names = ref === 'HEAD' ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}^{}`, `refs/tags/${ref}`];
    const from = await fetchable(source);
    const done = await git({
      cwd: dirname(layout.areas),
      args: ['ls-remote', '-q', from.address, ...names],
      ...from.call,
    });
    if (done.exitCode !== 0) throw remoteFault(`Reading ${source.url}`, done);
    const found = new Map(done.stdout.split('\n').map((line) => [line.slice(41), line.slice(0, 40)]));
    for (const name of names) {
      const sha = found.get(name);
      if (sha) return sha;
    }
    return isSha(ref) ? ref : null;
  }
}

/**
 * Removes locks, incomplete packs and incomplete objects of a git that was killed or ran out of space. Only one process
 * at a time fetches into a mirror or packs its objects, and that is us.
 */
export async function clearCrash(mirror: string): Promise<void> {
  const objects = (await namesIn(join(mirror, 'objects'))).map((name) => `objects/${name}`);
  for (const folder of ['', 'refs/runoff', ...objects]) {
    for (const name of await namesIn(join(mirror, folder))) {
      const isLeft = folder.startsWith('objects/') ? /^(?:tmp_|\.tmp-)/.test(name) : name.endsWith('.lock');
      if (isLeft) await rm(join(mirror, folder, name), { force: true });
    }
  }
}

/** Creates a bare repository if it does not exist; `fill` adds to it before it becomes visible. */
export async function makeBare(
  git: Git,
  path: string,
  fill?: (folder: string) => Promise<void>,
): Promise<void> {
  if (await exists(path)) return;
  await mkdir(dirname(path), { recursive: true });
  await makeAtomically(
    path,
    async (folder) => {
      await initBare(git, folder);
      await fill?.(folder);
    },
    removeTree,
  );
}

export async function initBare(git: Git, folder: string): Promise<void> {
  const onKilled = async (): Promise<void> => {
    for (const name of await namesIn(folder)) await removeTree(join(folder, name));
  };
  const done = await git({ cwd: folder, args: ['init', '-q', '--bare'], onKilled });
  if (done.exitCode !== 0) throw gitFault('Making a mirror', done);
}

/**
 * Checks the ref, which git writes when the commit is complete: the commit itself may have been left by a fetch that
 * was killed or ran out of space.
 */
async function has(git: Git, mirror: string, sha: Sha): Promise<boolean> {
  // As git keeps a ref that it has not packed.
  const loose = await readFile(join(mirror, 'refs/runoff', sha), 'latin1').catch(() => null);
  if (loose === `${sha}\n`) return true;
  const done = await git({ cwd: mirror, args: ['rev-parse', '--verify', '--quiet', `refs/runoff/${sha}`] });
  return done.stdout.trim() === sha;
}

/** A commit that only the mirror has: of uncommitted changes. */
const heldCommit = async (git: Git, mirror: string, ref: string): Promise<Sha | null> =>
  isSha(ref) && (await has(git, mirror, ref)) ? ref : null;

/** The commits that a mirror was created to hold, by the names of its refs. */
async function heldBy(mirror: string): Promise<readonly Sha[]> {
  const loose = await namesIn(join(mirror, 'refs/runoff'));
  const packed = await readFile(join(mirror, 'packed-refs'), 'latin1').catch(() => '');
  const names = [...loose, ...packed.split('\n').map((line) => line.split('refs/runoff/')[1] ?? '')];
  return [...new Set(names.filter(isSha))];
}
