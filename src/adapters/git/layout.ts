import { createHash, randomBytes } from 'node:crypto';
import { chown, mkdir, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Fault, type Sha } from '../../core/model/index.ts';
import { GIT_SETTINGS, type Owner } from './git.ts';

/** Where everything lies below the data directory. All paths are absolute. */
export interface Layout {
  readonly settingsFile: string;
  readonly areas: string;
  mirror(key: string): string;
  /** Objects that candidates brought, apart from the mirror; made of nothing but checked packs. */
  objects(key: string): string;
  bases(key: string): string;
  base(key: string, sha: Sha): string;
  area(id: string): string;
}

export function layoutOf(dataDir: string): Layout {
  const root = resolve(dataDir);
  const bases = (key: string) => join(root, 'bases', checkedKey(key));
  return {
    settingsFile: join(root, 'gitconfig'),
    areas: join(root, 'areas'),
    mirror: (key) => join(root, 'mirrors', `${checkedKey(key)}.git`),
    objects: (key) => join(root, 'objects', `${checkedKey(key)}.git`),
    bases,
    base: (key, sha) => join(bases(key), checkedSha(sha)),
    area: (id) => join(root, 'areas', checkedId(id)),
  };
}

/** Makes the folders and the settings file; faults when the owner could not reach them. */
export async function makeLayout(layout: Layout, owner: Owner): Promise<void> {
  const root = dirname(layout.areas);
  for (const name of ['mirrors', 'objects', 'bases', 'areas']) {
    await mkdir(join(root, name), { recursive: true, mode: 0o755 });
  }
  if (owner) await assertReachable(root, owner);
  const fresh = besides(layout.settingsFile);
  await writeFile(fresh, GIT_SETTINGS, { mode: 0o644 });
  await rename(fresh, layout.settingsFile);
}

/** A name for something half made: sweeping knows it by its first letter, and it never meets a finished name. */
export const besides = (path: string): string =>
  join(dirname(path), `.tmp-${randomBytes(8).toString('hex')}`);

export const keyOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 24);

export const isSha = (text: string): boolean => /^[0-9a-f]{40}$/.test(text);

export function checkedSha(sha: Sha): Sha {
  if (!isSha(sha)) throw new Fault('INTERNAL', `"${sha.slice(0, 60)}" is not a full git object name.`);
  return sha;
}

function checkedKey(key: string): string {
  if (!/^[0-9a-f]{24}$/.test(key)) throw new Fault('INTERNAL', 'A repository key is 24 hex digits.');
  return key;
}

function checkedId(id: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/.test(id)) {
    throw new Fault('INTERNAL', 'The id of an area is made of letters, digits, - and _ only.');
  }
  return id;
}

export async function give(path: string, owner: Owner): Promise<void> {
  if (owner) await chown(path, owner.uid, owner.gid);
}

/** Makes a folder whole or not at all: what `fill` fails on is never seen under `path`; the first maker wins. */
export async function makeWhole(
  path: string,
  fill: (folder: string) => Promise<void>,
  discard: (folder: string) => Promise<void>,
): Promise<void> {
  const fresh = besides(path);
  await mkdir(fresh, { recursive: true, mode: 0o755 });
  try {
    await fill(fresh);
    await rename(fresh, path);
  } catch (error) {
    await discard(fresh);
    if (!isTaken(error)) throw error;
  }
}

const isTaken = (error: unknown): boolean => hasCode(error, 'ENOTEMPTY') || hasCode(error, 'EEXIST');

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
