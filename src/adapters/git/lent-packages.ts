import { createHash, randomBytes } from 'node:crypto';
import { lstat, readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Fault } from '../../core/model/index.ts';
import {
  isPackageFile,
  NPM_LOCK,
  NPM_RECORD,
  packageFolders,
  staleNpmPackage,
} from '../../core/patches/index.ts';
import type { BaseCheckout, WorkArea, Workspaces } from '../../ports/index.ts';
import { type Areas, SETUP_AREA } from './areas.ts';
import type { Bases } from './bases.ts';
import type { Collector } from './collect.ts';
import type { TreeEntry } from './commit-files.ts';
import { isWhole, setAsideDamaged } from './damage.ts';
import { hasCode, keyOf, type Layout } from './layout.ts';
import { type Locks, openSharedWork } from './locks.ts';
import type { Mirrors } from './mirrors.ts';
import { fingerprintLayer, keepLayer, layeredBase } from './setup-cache.ts';
import { copyTree, type FileOwner, fingerprintTree, isFull, TreeTooLarge } from './trees.ts';

type Lend = Workspaces['lend'];
type Lent = Awaited<ReturnType<Lend>>;
type From = Parameters<Lend>[1];

interface LendingParts {
  readonly layout: Layout;
  readonly locks: Locks;
  readonly mirrors: Mirrors;
  readonly areas: Areas;
  readonly bases: Bases;
  readonly collector: Collector;
  readonly owner: FileOwner;
  readonly onDamage: (path: string, why: string) => void;
}

/** A folder of installed packages: its path in the working tree, and where it really is. */
interface PackageFolder {
  readonly path: string;
  readonly real: string;
}

const nothing = (why: string | null): Lent => ({ kind: 'none', why });

/** Copies installed packages of a working tree to layers, in the form of those that setup leaves. */
export function openLending(parts: LendingParts): Lend {
  const { layout, locks, mirrors, areas, bases, collector, owner } = parts;
  const shared = openSharedWork<Lent>();

  async function lend(base: BaseCheckout, from: From, signal: AbortSignal | undefined): Promise<Lent> {
    const { known } = from;
    const copy = known === undefined ? null : await existing(base, known);
    if (copy !== null) return { kind: 'lent', id: copy.id, folders: [], base: copy.base };
    const entries = await mirrors.entries(base.repositoryKey, base.sha);
    const folders = await foldersIn(base, from.top, entries);
    if (folders.length === 0) return nothing(null);
    const stale = from.anyVersion ? null : await mismatch(from.top, entries);
    if (stale !== null) return nothing(stale);
    const fingerprints = await Promise.all(
      folders.map(async ({ path, real }) => `${path}\0${real}\0${await fingerprintTree(real)}`),
    );
    const id = keyOf(['lent', base.sha, ...fingerprints].join('\0'));
    if (known !== undefined && known !== id) return nothing('they have changed since');
    const names = folders.map(({ path }) => path);
    const made = (await existing(base, id)) ?? (await copyOf(base, id, folders, signal));
    return typeof made === 'string' ? nothing(made) : { kind: 'lent', id, folders: names, base: made.base };
  }

  async function existing(base: BaseCheckout, id: string) {
    const layer = layout.layer(base.repositoryKey, id);
    if (!(await isWhole(layer, () => fingerprintLayer(layer)))) return null;
    return { id, base: layeredBase(base, layer) };
  }

  /** A string says why there is no copy. */
  async function copyOf(
    base: BaseCheckout,
    id: string,
    folders: readonly PackageFolder[],
    signal: AbortSignal | undefined,
  ): Promise<{ readonly base: BaseCheckout } | string> {
    const area = await areas.open(base, `${SETUP_AREA}${randomBytes(8).toString('hex')}`);
    try {
      const failed = await copyAll(folders, area, parts);
      if (failed !== null) return failed;
      const wrote = await collector.traces(base, area, await bases.facts(base), signal);
      const layer = layout.layer(base.repositoryKey, id);
      // Otherwise a damaged one would stay in the place of the new one.
      await setAsideDamaged(parts, base.repositoryKey, layer, () => fingerprintLayer(layer));
      const excess = await keepLayer(layer, area, wrote, null);
      return excess === null ? { base: layeredBase(base, layer) } : excess.message;
    } finally {
      await areas.remove(area.id);
    }
  }

  return (base, from, signal) =>
    shared(
      [base.repositoryKey, base.sha, from.top, from.known ?? '', from.anyVersion ?? ''].join('\0'),
      () =>
        locks.using(base.repositoryKey, async () => {
          try {
            return await lend(base, from, signal);
          } catch (error) {
            if (error instanceof TreeTooLarge) return nothing(error.message);
            throw error;
          }
        }),
      signal,
    );

  async function copyAll(
    folders: readonly PackageFolder[],
    area: WorkArea,
    { layout }: Pick<LendingParts, 'layout'>,
  ): Promise<string | null> {
    for (const { path, real } of folders) {
      const why = await copyTree(real, area.upper, path, owner);
      if (why === null) continue;
      if (await isFull(layout.areas))
        throw new Fault('DISK_FULL', `There was no space left to copy the ${path} of the working tree.`);
      return `${path} cannot be copied: ${why}`;
    }
    return null;
  }
}

/** Folders that are part of the commit are in the checkout already. */
async function foldersIn(
  base: BaseCheckout,
  top: string,
  entries: readonly TreeEntry[],
): Promise<readonly PackageFolder[]> {
  const paths = entries.map(({ path }) => path);
  const root = await realpath(top);
  const found: PackageFolder[] = [];
  for (const path of packageFolders(paths)) {
    if (paths.some((one) => one === path || one.startsWith(`${path}/`))) continue;
    const parent = await realPathOf(join(root, dirname(path)));
    if (parent !== join(root, dirname(path))) continue;
    const real = await realPathOf(join(root, path));
    // A link may lead to the packages of another working tree, but an unpacked archive can also contain one to `~/.ssh`.
    if (real === null || basename(real) !== basename(path) || !(await isFolder(real))) continue;
    // Nor may it contain the data folder that the copy is written to.
    if (!base.lower.startsWith(`${real}/`)) found.push({ path, real });
  }
  return found;
}

/** Why the installed packages may not be those of the commit, as a clause; null if they are. */
async function mismatch(top: string, entries: readonly TreeEntry[]): Promise<string | null> {
  const root = await realpath(top);
  for (const { path, oid, type } of entries) {
    if (type !== 'blob' || !isPackageFile(path)) continue;
    const content = await readPlain(root, path);
    if (content === null || blobName(content) !== oid)
      return `${path} of the working tree is not that of the commit`;
  }
  const [lock, record] = [await readPlain(root, NPM_LOCK), await readPlain(root, NPM_RECORD)];
  return lock === null || record === null ? null : staleNpmPackage(lock.toString(), record.toString());
}

/** Git's name for a file with this content. */
const blobName = (content: Buffer): string =>
  createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');

/** Maximum bytes of a manifest or lock file. Our default: those of the largest repositories have a few million. */
const MAX_BYTES = 32 * 2 ** 20;

/** Null unless it is a regular file of a size that can be read. */
async function readPlain(root: string, path: string): Promise<Buffer | null> {
  const facts = await lstat(join(root, path)).catch(orNull);
  return facts?.isFile() && facts.size <= MAX_BYTES ? readFile(join(root, path)) : null;
}

const realPathOf = (path: string): Promise<string | null> => realpath(path).catch(orNull);

async function isFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(orNull))?.isDirectory() ?? false;
}

function orNull(error: unknown): null {
  if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES'].some((code) => hasCode(error, code))) return null;
  throw error;
}
