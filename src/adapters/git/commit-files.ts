import { Fault, openImmutableCache, type Sha } from '../../core/model/index.ts';
import { gitFault } from './faults.ts';
import type { Git } from './git.ts';
import { checkedSha, type Layout } from './layout.ts';

/** Files larger than this are not read into memory as text. */
const MAX_FILE_BYTES = 2 ** 20;
/**
 * Paths and characters of commits that are kept in memory; our defaults. A run reads the same manifests of the same commit
 * dozens of times, and each time costs several processes. A path takes about 100 bytes.
 */
const MAX_KEPT_PATHS = 200_000;
const MAX_KEPT_CHARS = 2 ** 22;
/** What a kept text weighs besides its characters, also where a commit has no such file. */
const TEXT_WEIGHT = 200;

export interface TreeEntry {
  readonly mode: string;
  readonly type: string;
  readonly oid: Sha;
  readonly path: string;
}

/** Files of the commits that a mirror has, by the key of the mirror. */
interface CommitFiles {
  entries(key: string, sha: Sha, path?: string): Promise<readonly TreeEntry[]>;
  /** Paths of all files, in git's order. Submodules are none. */
  list(key: string, sha: Sha): Promise<readonly string[]>;
  /** Null if there is no such file. */
  text(key: string, sha: Sha, path: string): Promise<string | null>;
  /** Text of a file that `entries` listed, or its size if that exceeds `most` bytes (default 1 MiB). */
  blob(key: string, entry: TreeEntry, most?: number): Promise<string | { readonly bytes: number }>;
}

export function openCommitFiles(git: Git, layout: Layout): CommitFiles {
  const keptList = openImmutableCache<readonly string[]>(MAX_KEPT_PATHS, (paths) => paths.length);
  const keptText = openImmutableCache<string | null>(
    MAX_KEPT_CHARS,
    (text) => TEXT_WEIGHT + (text?.length ?? 0),
  );

  async function entries(key: string, sha: Sha, path?: string): Promise<readonly TreeEntry[]> {
    const where = path === undefined ? [] : ['--', path];
    const listing = ['ls-tree', '-r', '-z', '--full-tree', checkedSha(sha), ...where];
    const done = await git({ cwd: layout.mirror(key), args: listing });
    if (done.exitCode !== 0) throw gitFault('Listing files', done);
    return done.stdout.split('\0').filter(Boolean).map(treeEntry);
  }

  async function textAt(key: string, sha: Sha, path: string): Promise<string | null> {
    const found = (await entries(key, sha, path)).find((entry) => entry.path === path);
    if (!found?.mode.startsWith('100')) return null;
    const text = await blob(key, found);
    if (typeof text === 'string') return text;
    throw new Fault(
      'SETTINGS_INVALID',
      `${path} has ${text.bytes} bytes; files up to ${MAX_FILE_BYTES} bytes are read.`,
    );
  }

  async function blob(
    key: string,
    { oid, path }: TreeEntry,
    most = MAX_FILE_BYTES,
  ): Promise<string | { readonly bytes: number }> {
    const cwd = layout.mirror(key);
    const size = await git({ cwd, args: ['cat-file', '-s', oid] });
    if (size.exitCode !== 0) throw gitFault(`Reading ${path}`, size);
    if (Number(size.stdout) > most) return { bytes: Number(size.stdout) };
    const done = await git({ cwd, args: ['cat-file', 'blob', oid] });
    if (done.exitCode !== 0) throw gitFault(`Reading ${path}`, done);
    return done.stdout;
  }

  return {
    entries,
    blob,
    list: (key, sha) =>
      keptList(`${key} ${sha}`, async () => {
        const all = await entries(key, sha);
        return all.filter((entry) => entry.type === 'blob').map((entry) => entry.path);
      }),
    text: (key, sha, path) => keptText(`${key} ${sha} ${path}`, () => textAt(key, sha, path)),
  };
}

export function treeEntry(record: string): TreeEntry {
  const tab = record.indexOf('\t');
  const [mode = '', type = '', oid = ''] = record.slice(0, tab).split(' ');
  return { mode, type, oid, path: record.slice(tab + 1) };
}
