import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { variablesNamedIn } from '../adapters/config/index.ts';
import { Environment } from '../core/policy/index.ts';

/** Runoff's own checkout or folder. */
export const INSTALLATION = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

export interface Places {
  /** The folder that Runoff was started in. */
  readonly cwd: string;
  /** The data folder, absolute, as far as it is known without a settings file. */
  readonly data: string;
  /** Runoff's own folder, absolute. */
  readonly installation: string;
}

export interface SettingsFile {
  /** The one file that operator settings are read from, absolute; null: there is none. */
  readonly path: string | null;
  /** Where new settings are written, absolute: the file that is read, else the data folder's. */
  readonly writeTo: string;
  /** A sentence for each file that is there and is not read. */
  readonly notices: readonly string[];
}

/**
 * Finds the settings file where none is named: `.env` of the data folder, else `.env` of the installation. Never
 * the one of the folder that Runoff is started in, nor one inside a git work tree that is not Runoff's own: people stand
 * in repositories of strangers (docs/decisions/0046).
 */
export async function findSettingsFile(places: Places): Promise<SettingsFile> {
  const { cwd, data, installation } = places;
  const notices: string[] = [];
  const found: string[] = [];
  for (const folder of new Set([data, installation])) {
    const path = join(folder, '.env');
    if (!(await isThere(path))) continue;
    const tree = await foreignWorkTree(folder, installation);
    if (tree === null) found.push(path);
    else notices.push(inWorkTree(path, tree));
  }
  const [path = null, ...others] = found;
  for (const other of others) {
    notices.push(`Settings in ${other} were not read: one file is read, and ${path} comes first.`);
  }
  const here = join(cwd, '.env');
  const known = await Promise.all([data, installation].map((folder) => realOf(join(folder, '.env'))));
  if (!known.includes(await realOf(here))) notices.push(...(await standingHere(here, data)));
  return { path, writeTo: path ?? join(data, '.env'), notices };
}

const inWorkTree = (path: string, tree: string): string =>
  `Settings in ${path} were not read: it lies in the git work tree ${tree}, whose files may come from somebody else. If it is yours, name it: --env-file ${path}`;

/** Says that `.env` of the current folder was not read, where it sets anything that Runoff knows. */
async function standingHere(path: string, data: string): Promise<readonly string[]> {
  const named = await variablesNamedIn(path);
  const known = named.filter((name) => Object.hasOwn(Environment.shape, name)).sort();
  if (known.length === 0) return [];
  const names = known.length > 3 ? `${known.slice(0, 3).join(', ')} and others` : known.join(', ');
  return [
    `Settings in ${path} (${names}) were not read: the folder that Runoff is started in may be somebody else's repository. If they are yours, name the file, --env-file ${path}, or move it to ${join(data, '.env')}`,
  ];
}

/**
 * The top folder of a git work tree around `path` that is not Runoff's own; null where there is none. Looked for on the
 * path as written and on the one that links lead to; `path` need not be there.
 */
export async function foreignWorkTree(path: string, installation: string): Promise<string | null> {
  const own = new Set([installation, await realOf(installation)]);
  for (const way of new Set([path, await realOf(path)])) {
    const tree = await workTreeAround(way);
    if (tree !== null && !own.has(tree)) return tree;
  }
  return null;
}

async function workTreeAround(path: string): Promise<string | null> {
  for (let folder = path; ; folder = dirname(folder)) {
    if (await isThere(join(folder, '.git'))) return folder;
    if (folder === dirname(folder)) return null;
  }
}

/** With the links resolved of that part of the path that is there. */
async function realOf(path: string): Promise<string> {
  const found = await realpath(path).catch(() => null);
  if (found !== null || path === dirname(path)) return found ?? path;
  return join(await realOf(dirname(path)), basename(path));
}

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );
