import { mkdir, realpath, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Fault, type Sha } from '../../core/model/index.ts';
import type { RepositorySource } from '../../ports/index.ts';
import { gitFault, remoteFault, saidBy } from './faults.ts';
import type { Git, GitCall } from './git.ts';
import {
  checkedSha,
  exists,
  hasCode,
  isSha,
  keyOf,
  type Layout,
  makeWhole,
  namesIn,
  touch,
} from './layout.ts';
import type { Locks } from './locks.ts';
import { removeTree } from './tools.ts';
import { inUserRepository } from './user-repository.ts';

/** Files over this are not read into memory as text. */
const MAX_FILE_BYTES = 2 ** 20;
/** A remote that says nothing for this long is taken as gone. */
const SILENCE_MS = 10 * 60_000;

/**
 * One bare repository for each source, with the history of the commits that runs started from and nothing else:
 * other branches are not fetched, so no run can see them.
 */
export interface Mirrors {
  resolve(source: RepositorySource, ref: string): Promise<Sha | null>;
  /** The key of the source's mirror, which has the commit when this resolves. */
  hold(source: RepositorySource, sha: Sha): Promise<string>;
  readFile(source: RepositorySource, sha: Sha, path: string): Promise<string | null>;
  listFiles(source: RepositorySource, sha: Sha): Promise<readonly string[]>;
  entries(key: string, sha: Sha, path?: string): Promise<readonly TreeEntry[]>;
  /** Text of a file that `entries` listed, or its size where that is over `most` bytes, by default 1 MiB. */
  blob(key: string, entry: TreeEntry, most?: number): Promise<string | { readonly bytes: number }>;
  /** Does the work while nothing of the source's repository can be pruned. */
  using<T>(source: RepositorySource, work: (key: string) => Promise<T>): Promise<T>;
}

export interface TreeEntry {
  readonly mode: string;
  readonly type: string;
  readonly oid: Sha;
  readonly path: string;
}

export function openMirrors(git: Git, layout: Layout, locks: Locks): Mirrors {
  // By its ref, which git writes when all of the commit is there: the commit itself may be what a fetch left behind
  // that was killed or ran out of space.
  async function has(mirror: string, sha: Sha): Promise<boolean> {
    const done = await git({ cwd: mirror, args: ['rev-parse', '--verify', '--quiet', `refs/runoff/${sha}`] });
    return done.stdout.trim() === sha;
  }

  async function fetchCommit(source: RepositorySource, mirror: string, sha: Sha): Promise<void> {
    const from = await fetchable(source);
    const done = await git({
      cwd: mirror,
      args: [
        ...['fetch', '--progress', '--no-tags', '--no-write-fetch-head', '--update-shallow'],
        ...[from.address, `+${sha}:refs/runoff/${sha}`],
      ],
      ...from.call,
    });
    if (done.exitCode === 0) return;
    await clearCrash(mirror);
    if (/not our ref|no such remote ref|couldn't find remote ref|unadvertised object/i.test(done.stderr)) {
      throw new Fault('BASE_MISSING', `The repository has no commit ${sha}: ${saidBy(done)}`);
    }
    if (source.kind === 'remote') throw remoteFault(`Fetching ${source.url}`, done);
    throw gitFault(`Reading ${source.path}`, done);
  }

  async function hold(source: RepositorySource, sha: Sha): Promise<string> {
    checkedSha(sha);
    const key = await keyOfSource(source);
    const mirror = layout.mirror(key);
    if ((await touch(mirror)) && (await has(mirror, sha))) return key;
    return locks.fetching(key, async () => {
      await makeBare(git, mirror);
      await clearCrash(mirror);
      if (!(await has(mirror, sha))) await fetchCommit(source, mirror, sha);
      return key;
    });
  }

  async function entries(key: string, sha: Sha, path?: string): Promise<readonly TreeEntry[]> {
    const where = path === undefined ? [] : ['--', path];
    const listing = ['ls-tree', '-r', '-z', '--full-tree', checkedSha(sha), ...where];
    const done = await git({ cwd: layout.mirror(key), args: listing });
    if (done.exitCode !== 0) throw gitFault('Listing files', done);
    return done.stdout.split('\0').filter(Boolean).map(treeEntry);
  }

  const using = async <T>(source: RepositorySource, work: (key: string) => Promise<T>): Promise<T> => {
    const key = await keyOfSource(source);
    return locks.using(key, () => work(key));
  };

  return {
    hold,
    entries,
    using,

    async resolve(asked, ref) {
      if (!isRefLike(ref)) return null;
      const source = withOneLogin(asked);
      const sha =
        source.kind === 'local'
          ? await resolveLocal(git, source.path, ref)
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
        const found = (await entries(key, sha, path)).find((entry) => entry.path === path);
        if (!found?.mode.startsWith('100')) return null;
        const text = await blob(key, found);
        if (typeof text === 'string') return text;
        throw new Fault(
          'SETTINGS_INVALID',
          `${path} has ${text.bytes} bytes; files up to ${MAX_FILE_BYTES} bytes are read.`,
        );
      });
    },

    async listFiles(source, sha) {
      const all = await using(source, async () => entries(await hold(source, sha), sha));
      return all.filter((entry) => entry.type === 'blob').map((entry) => entry.path);
    },

    blob,
  };

  async function blob(
    key: string,
    { oid, path }: TreeEntry,
    most = MAX_FILE_BYTES,
  ): ReturnType<Mirrors['blob']> {
    const cwd = layout.mirror(key);
    const size = await git({ cwd, args: ['cat-file', '-s', oid] });
    if (size.exitCode !== 0) throw gitFault(`Reading ${path}`, size);
    if (Number(size.stdout) > most) return { bytes: Number(size.stdout) };
    const done = await git({ cwd, args: ['cat-file', 'blob', oid] });
    if (done.exitCode !== 0) throw gitFault(`Reading ${path}`, done);
    return done.stdout;
  }

  /** Asks for exact names only; a full object name that no ref has is looked for by the fetch that follows. */
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
 * Removes locks, half-fetched packs and half-written objects of a git that was killed or had no space: one process at a
 * time fetches into a mirror, and that is us.
 */
async function clearCrash(mirror: string): Promise<void> {
  const objects = (await namesIn(join(mirror, 'objects'))).map((name) => `objects/${name}`);
  for (const folder of ['', 'refs/runoff', ...objects]) {
    for (const name of await namesIn(join(mirror, folder))) {
      const isLeft = folder.startsWith('objects/') ? name.startsWith('tmp_') : name.endsWith('.lock');
      if (isLeft) await rm(join(mirror, folder, name), { force: true });
    }
  }
}

/** Makes a bare repository unless it is there; `fill` adds to it before anyone sees it. */
export async function makeBare(
  git: Git,
  path: string,
  fill?: (folder: string) => Promise<void>,
): Promise<void> {
  if (await exists(path)) return;
  await mkdir(dirname(path), { recursive: true });
  await makeWhole(
    path,
    async (folder) => {
      const done = await git({ cwd: folder, args: ['init', '-q', '--bare'] });
      if (done.exitCode !== 0) throw gitFault('Making a mirror', done);
      await fill?.(folder);
    },
    removeTree,
  );
}

async function keyOfSource(source: RepositorySource): Promise<string> {
  if (source.kind === 'local') return keyOf(`local:${await realOf(source.path)}`);
  return keyOf(`remote:${source.knownAs ?? source.url}`);
}

async function realOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT') && !hasCode(error, 'ENOTDIR')) throw error;
    throw new Fault('NOT_A_REPOSITORY', `There is no folder ${path}.`);
  }
}

async function fetchable(
  source: RepositorySource,
): Promise<{ readonly address: string; readonly call: Pick<GitCall, 'login' | 'silenceMs'> }> {
  if (source.kind === 'local') return { address: await realOf(source.path), call: {} };
  if (!/^https?:\/\/[^@]+$/.test(source.url)) {
    throw new Fault('INTERNAL', 'A remote is reached by an http or https URL without a login in it.');
  }
  const login = { url: source.url, credential: await source.credential() };
  return { address: source.url, call: { login, silenceMs: SILENCE_MS } };
}

/** The same source, whose credential is asked for once however often the remote is. */
function withOneLogin(source: RepositorySource): RepositorySource {
  if (source.kind === 'local') return source;
  let login: ReturnType<typeof source.credential> | null = null;
  const credential = (): ReturnType<typeof source.credential> => {
    login ??= source.credential();
    return login;
  };
  return { ...source, credential };
}

/** Branch before tag before whatever else git takes for a commit, such as an abbreviated name or `HEAD~2`. */
async function resolveLocal(host: Git, path: string, ref: string): Promise<Sha | null> {
  const git = inUserRepository(host);
  const cwd = await realOf(path);
  const env = { GIT_CEILING_DIRECTORIES: dirname(cwd) };
  const asked = await git({ cwd, args: ['rev-parse', '--git-dir'], env });
  if (asked.exitCode !== 0) {
    throw new Fault('NOT_A_REPOSITORY', `${path} is not the top folder of a git repository.`);
  }
  for (const name of [`refs/heads/${ref}`, `refs/tags/${ref}`, ref]) {
    const done = await git({ cwd, args: ['rev-parse', '--verify', '--quiet', `${name}^{commit}`], env });
    const sha = done.stdout.trim();
    if (done.exitCode === 0 && isSha(sha)) return sha;
  }
  return null;
}

/** Keeps options, ranges and control characters away from git; git itself says no to the rest. */
function isRefLike(ref: string): boolean {
  return ref.length > 0 && ref.length <= 255 && !ref.startsWith('-') && !/[\s\p{Cc}:?*[\\]|\.\./u.test(ref);
}

function treeEntry(record: string): TreeEntry {
  const tab = record.indexOf('\t');
  const [mode = '', type = '', oid = ''] = record.slice(0, tab).split(' ');
  return { mode, type, oid, path: record.slice(tab + 1) };
}
