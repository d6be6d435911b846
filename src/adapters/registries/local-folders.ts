import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RegistryAccess } from '../../ports/index.ts';

/** Sibling folders of `simple` in a mirror on disk, whose pages link to them as `../../files/…`. */
const BESIDE_INDEX = ['files', 'packages'];

/** A folder of packages on this machine, and its path in a sandbox. */
export function localFolder(
  path: string,
  at: string,
): { readonly to: string; readonly binds: RegistryAccess['folders'] } {
  const to = `/opt/registries/${at}/${basename(path)}`;
  const beside = (basename(path) === 'simple' ? BESIDE_INDEX : [])
    .map((name) => join(dirname(path), name))
    .filter(mayBeShared);
  return {
    to,
    binds: [
      { from: path, to },
      ...beside.map((from) => ({ from, to: `/opt/registries/${at}/${basename(from)}` })),
    ],
  };
}

/** The folder that a setting of pip names; null for any other value, and for one that must not be shared. */
export const localFolderOf = (value: string): string | null => {
  const path = value.startsWith('file:') && URL.canParse(value) ? fileURLToPath(value) : value;
  return isAbsolute(path) && mayBeShared(path) ? realpathSync(path) : null;
};

/** Never share a folder that contains the home of Runoff's user, and so logins and keys, whatever pip's settings. */
const mayBeShared = (path: string): boolean =>
  existsSync(path) && relative(realpathSync(path), realpathSync(homedir())).startsWith('..');
