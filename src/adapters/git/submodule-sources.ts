import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sha } from '../../core/model/index.ts';
import {
  declaredSubmodules,
  hostObstacle,
  isPlainPath,
  type SubmoduleAccess,
  submoduleAddress,
} from '../../core/settings/index.ts';
import type { RepositorySource } from '../../ports/index.ts';
import { type TreeEntry, treeEntry } from './commit-files.ts';
import { gitFault } from './faults.ts';
import type { Git } from './git.ts';
import { hasCode } from './layout.ts';
import { inUserRepository } from './sources.ts';

/** Of `.gitmodules`. Our default. */
const MAX_TEXT_BYTES = 256 * 1024;

/** A commit that has submodules. */
interface SubmoduleParent {
  /** A bare repository that has the commit. */
  readonly cwd: string;
  readonly sha: Sha;
  /** Its address, for relative URLs; null if unknown. */
  readonly url: string | null;
  /** Where the git folders of its submodules are, in a repository of this disk; null: nowhere. */
  readonly modules: string | null;
}

export interface FoundSubmodule {
  readonly path: string;
  readonly sha: Sha;
  /** Why it cannot be fetched, as a clause; null if it can. */
  readonly why: string | null;
  readonly url: string | null;
  /** Its git folder in the same repository of this disk, if that has the commit. */
  readonly folder: string | null;
}

/** Where a repository is, and where submodules that it names relative to itself are. */
export async function homeOf(git: Git, source: RepositorySource) {
  const quiet = inUserRepository(git);
  const ask = async (path: string, args: readonly string[]): Promise<string | null> => {
    const done = await quiet({ cwd: path, args, env: { GIT_OPTIONAL_LOCKS: '0' } });
    return done.exitCode === 0 ? done.stdout.replace(/\n$/, '') : null;
  };
  const isLocal = source.kind === 'local';
  const named = isLocal ? await ask(source.path, ['config', '--get', 'remote.origin.url']) : source.url;
  // CI clones with a token in the URL; submodules are fetched without one.
  const origin = named?.replace(/^(https?:\/\/)[^/]*@/i, '$1') ?? null;
  const address = origin === null ? null : submoduleAddress(origin, isLocal ? null : origin);
  const { url = null, host = '' } = address?.kind === 'address' ? address : {};
  const common = isLocal
    ? await ask(source.path, ['rev-parse', '--path-format=absolute', '--git-common-dir'])
    : null;
  // A repository on this disk may come from a stranger, and name a host of the own network as its origin.
  const own = !isLocal || /\.[a-z][a-z\d-]*:\d+$/.test(host) ? host : null;
  return { url, own, modules: common === null ? null : join(common, 'modules') };
}

export async function linksOf(
  git: Git,
  { cwd, sha }: Pick<SubmoduleParent, 'cwd' | 'sha'>,
): Promise<readonly TreeEntry[]> {
  const done = await git({ cwd, args: ['ls-tree', '-r', '-z', '--full-tree', sha] });
  if (done.exitCode !== 0) throw gitFault('Listing submodules', done);
  return done.stdout
    .split('\0')
    .filter((record) => record.startsWith('160000 '))
    .map(treeEntry);
}

export async function submodulesOf(
  git: Git,
  parent: SubmoduleParent,
  { access, own }: { readonly access: SubmoduleAccess; readonly own: string | null },
): Promise<readonly FoundSubmodule[]> {
  const links = await linksOf(git, parent);
  if (links.length === 0) return [];
  const declared = declaredSubmodules(await gitmodules(git, parent));
  const found: FoundSubmodule[] = [];
  for (const { path, oid: sha } of links) {
    const one = { path, sha, url: null, folder: null };
    const entry = declared.find((each) => each.path.replace(/\/+$/, '') === path);
    if (!access.wanted) found.push({ ...one, why: '`checks.submodules` is false' });
    else if (!isPlainPath(path)) found.push({ ...one, why: 'its path is not plain' });
    else if (entry === undefined) found.push({ ...one, why: '.gitmodules does not name it' });
    else {
      const address = submoduleAddress(entry.url, parent.url);
      const folder = await localFolder(git, parent, entry.name, sha);
      const url = address.kind === 'address' ? address.url : null;
      const why = address.kind === 'address' ? hostObstacle(address.host, own, access) : address.why;
      found.push({ path, sha, url, folder, why: folder === null ? why : null });
    }
  }
  return found;
}

/** Text of `.gitmodules` of a commit; empty if there is none. */
async function gitmodules(git: Git, { cwd, sha }: SubmoduleParent): Promise<string> {
  const size = await git({ cwd, args: ['cat-file', '-s', `${sha}:.gitmodules`] });
  if (size.exitCode !== 0 || Number(size.stdout) > MAX_TEXT_BYTES) return '';
  return (await git({ cwd, args: ['cat-file', 'blob', `${sha}:.gitmodules`] })).stdout;
}

/** Git's own folder of a submodule that was fetched in the person's repository, if it has the commit. */
async function localFolder(
  git: Git,
  { modules }: SubmoduleParent,
  name: string,
  sha: Sha,
): Promise<string | null> {
  if (modules === null || !isPlainPath(name)) return null;
  const folder = join(modules, name);
  // A link may lead to another repository of this person.
  if ((await realPathOf(folder)) !== join(await realPathOf(modules), name)) return null;
  const quiet = inUserRepository(git);
  const env = { GIT_DIR: '.' };
  const done = await quiet({ cwd: folder, args: ['cat-file', '-e', `${sha}^{commit}`], env });
  return done.exitCode === 0 ? folder : null;
}

async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR') || hasCode(error, 'ELOOP')) return '';
    throw error;
  }
}

/** Bytes of all files of a commit. */
export async function bytesAt(git: Git, cwd: string, sha: Sha): Promise<number> {
  const done = await git({ cwd, args: ['ls-tree', '-r', '-l', '-z', '--full-tree', sha] });
  if (done.exitCode !== 0) throw gitFault('Measuring a submodule', done);
  const sizes = done.stdout
    .split('\0')
    .map((record) => Number(/^\S+ blob \S+ +(\d+)\t/.exec(record)?.[1] ?? 0));
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}
