import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import {
  chmod,
  chown,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Fault, type Sha } from '../../core/model/index.ts';
import type { FileOwner } from './trees.ts';

/**
 * Reads a file that a sandbox wrote: null unless it is a regular file of at most `most` bytes. Does not follow links or
 * wait for pipes.
 */
export async function readBounded(path: string, most: number): Promise<Buffer | null> {
  const file = await openPlain(path);
  if (!file) return null;
  try {
    const { size } = await file.stat().then((facts) => (facts.isFile() ? facts : { size: most + 1 }));
    if (size > most) return null;
    const content = Buffer.alloc(size);
    const { bytesRead } = await file.read(content, 0, size, 0);
    return content.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

async function openPlain(path: string) {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    // It may be anything: a link, a socket, a folder.
    if (['ENOENT', 'ELOOP', 'ENXIO', 'EISDIR', 'ENODEV', 'EACCES'].some((code) => hasCode(error, code)))
      return null;
    throw error;
  }
}

/** All paths in the data folder; all of them are absolute. */
export interface Layout {
  readonly settingsFile: string;
  readonly areas: string;
  mirror(key: string): string;
  /** Objects that candidates added, separate from the mirror; contains only checked packs. */
  objects(key: string): string;
  bases(key: string): string;
  base(key: string, sha: Sha): string;
  /** Output of setup commands for base commits of one repository; never shared between repositories. */
  layers(key: string): string;
  layer(key: string, id: string): string;
  readonly locks: string;
  area(id: string): string;
  /** A new path for data to be removed. Any process may remove data at such a path. */
  trash(): string;
  /** Keys of all repositories that have any data here. */
  keys(): Promise<readonly string[]>;
}

/** Folders in the data folder. */
const FOLDERS = ['mirrors', 'objects', 'bases', 'layers', 'areas', 'locks'] as const;

export function layoutOf(dataDir: string): Layout {
  const root = resolve(dataDir);
  const bases = (key: string) => join(root, 'bases', checkedKey(key));
  const layers = (key: string) => join(root, 'layers', checkedKey(key));
  return {
    settingsFile: join(root, 'gitconfig'),
    areas: join(root, 'areas'),
    mirror: (key) => join(root, 'mirrors', `${checkedKey(key)}.git`),
    objects: (key) => join(root, 'objects', `${checkedKey(key)}.git`),
    bases,
    base: (key, sha) => join(bases(key), checkedSha(sha)),
    layers,
    layer: (key, id) => join(layers(key), checkedKey(id)),
    locks: join(root, 'locks'),
    area: (id) => join(root, 'areas', checkedId(id)),
    // In the folder of areas, so that its space counts as theirs until it is removed.
    trash: () => join(root, 'areas', `${TRASH}${randomBytes(8).toString('hex')}`),
    async keys() {
      const names = await Promise.all(
        ['mirrors', 'objects', 'bases', 'layers'].map((name) => namesIn(join(root, name))),
      );
      const keys = names.flat().map((name) => name.replace(/\.git$/, ''));
      return [...new Set(keys.filter(isKey))];
    },
  };
}

/** Creates the folders. Faults if the owner could not reach them. */
export async function makeLayout(layout: Layout, owner: FileOwner): Promise<void> {
  const root = dirname(layout.areas);
  await mkdir(root, { recursive: true, mode: 0o711 });
  for (const name of FOLDERS) {
    const folder = join(root, name);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // This is private code, and a candidate may leave a set-user-id file: no other user of this host may enter.
    await chmod(folder, owner ? 0o710 : 0o700);
    if (owner) await chown(folder, 0, owner.gid);
  }
  if (owner) await assertReachable(root, owner);
}

const TEMPORARY = '.tmp-';
const TRASH = '.trash-';

export const isTrash = (name: string): boolean => name.startsWith(TRASH);

/** A name for incomplete data that says what it will become. It never equals a final name. */
export const temporaryPath = (path: string): string =>
  join(dirname(path), `${TEMPORARY}${basename(path, '.git')}-${randomBytes(8).toString('hex')}`);

/**
 * Replaces a file of a checkout or an object store completely or not at all. Until it is complete, it is beside `owner`,
 * the folder of that, where a sweep finds what a killed process leaves.
 */
export async function replaceFile(file: string, text: string, owner: string): Promise<void> {
  const fresh = temporaryPath(owner);
  try {
    await writeFile(fresh, text);
    await rename(fresh, file);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}

/** The key of an incomplete mirror or object store; null for any other name. */
export const keyOfTemporary = (name: string): string | null =>
  name.startsWith(TEMPORARY) && isKey(name.slice(TEMPORARY.length, -17))
    ? name.slice(TEMPORARY.length, -17)
    : null;

export const isTemporary = (name: string): boolean => name.startsWith(TEMPORARY);

export const keyOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 24);

export const isSha = (text: string): boolean => /^[0-9a-f]{40}$/.test(text);

export function checkedSha(sha: Sha): Sha {
  if (!isSha(sha)) throw new Fault('INTERNAL', `"${sha.slice(0, 60)}" is not a full git object name.`);
  return sha;
}

const isKey = (text: string): boolean => /^[0-9a-f]{24}$/.test(text);

function checkedKey(key: string): string {
  if (!isKey(key)) throw new Fault('INTERNAL', 'A repository key is 24 hex digits.');
  return key;
}

/** Whether a name can be that of an area: its folder may hold other files of the operator. */
export const isAreaId = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/.test(name);

function checkedId(id: string): string {
  if (!isAreaId(id)) {
    throw new Fault('INTERNAL', 'The id of an area is made of letters, digits, - and _ only.');
  }
  return id;
}

export async function chownTo(path: string, owner: FileOwner): Promise<void> {
  if (owner) await chown(path, owner.uid, owner.gid);
}

/**
 * Creates a folder completely or not at all: if `fill` fails, nothing appears at `path`. The first of several processes
 * wins.
 */
export async function makeAtomically(
  path: string,
  fill: (folder: string) => Promise<void>,
  discard: (folder: string) => Promise<void>,
): Promise<void> {
  const fresh = temporaryPath(path);
  await mkdir(fresh, { recursive: true, mode: 0o755 });
  try {
    await fill(fresh);
    await rename(fresh, path);
  } catch (error) {
    await discard(fresh);
    if (!isOccupied(error)) throw error;
  }
}

const isOccupied = (error: unknown): boolean => hasCode(error, 'ENOTEMPTY') || hasCode(error, 'EEXIST');

export const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

export async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return false;
    throw error;
  }
}

/** Null if there is no such file. */
export async function readTextFile(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/** Marks a folder as used now, by its modification time. False if it does not exist. */
export async function touch(folder: string): Promise<boolean> {
  const now = new Date();
  try {
    await utimes(folder, now, now);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

/** When it was last used, in milliseconds since 1970; null if it does not exist. */
export async function usedAt(folder: string): Promise<number | null> {
  try {
    return (await stat(folder)).mtimeMs;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/** Names in a folder; empty if the folder does not exist. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return [];
    throw error;
  }
}

async function assertReachable(folder: string, owner: { uid: number; gid: number }): Promise<void> {
  for (let at = folder; ; at = dirname(at)) {
    const { mode, uid, gid } = await stat(at);
    const needed = uid === owner.uid ? 0o100 : gid === owner.gid ? 0o010 : 0o001;
    if ((mode & needed) === 0) {
      throw new Fault(
        'ENVIRONMENT_INVALID',
        `RUNOFF_DATA is ${folder}, but user ${owner.uid}, whom sandboxed work runs as, may not enter ${at}. ` +
          'Choose a folder outside of private ones.',
      );
    }
    if (at === dirname(at)) return;
  }
}
