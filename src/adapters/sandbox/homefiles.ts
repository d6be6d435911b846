import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  mkdirSync,
  openSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { Fault } from '../../core/model/index.ts';
import type { Owner } from './owner.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;
const ENTER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
/** Never an existing file: that one may be a link, or have a second name elsewhere. */
const MAKE = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;

/**
 * Writes files below a folder that a command may have written before: every step goes through a descriptor of the folder
 * that the last step entered and follows no link, so nothing outside can be reached however the folder is changed
 * meanwhile. Files are new, their owner's, and nobody else's to read. Throws INTERNAL for a path that is not a plain
 * relative one, SANDBOX_UNAVAILABLE when something stands in the way.
 */
export function writeBelow(
  folder: string,
  files: Readonly<Record<string, string>>,
  owner: Owner | null,
): void {
  const entries = Object.entries(files).map(([path, text]) => ({ parts: partsOf(path), text }));
  for (const { parts, text } of entries) {
    try {
      write(folder, parts, text, owner);
    } catch (thrown) {
      const { code } = thrown as NodeJS.ErrnoException;
      throw new Fault(
        'SANDBOX_UNAVAILABLE',
        `${parts.join('/')} cannot be written below a command's HOME (${code}): a link, a file or a closed folder stands in its way.`,
      );
    }
  }
}

function partsOf(path: string): readonly string[] {
  const parts = path.split('/');
  if (path.includes('\0') || parts.some((part) => part === '' || part === '.' || part === '..')) {
    throw new Fault('INTERNAL', `${JSON.stringify(path)} is no path below a command's HOME.`);
  }
  return parts;
}

/** A name in the folder behind a descriptor; Node has no openat. */
const at = (fd: number, name: string): string => `/proc/self/fd/${fd}/${name}`;

function write(folder: string, parts: readonly string[], text: string, owner: Owner | null): void {
  let here = openSync(folder, ENTER);
  try {
    for (const name of parts.slice(0, -1)) {
      const next = enter(here, name, owner);
      closeSync(here);
      here = next;
    }
    const file = make(at(here, parts.at(-1) ?? ''));
    try {
      // The mode of openSync is cut by the umask.
      fchmodSync(file, 0o600);
      if (owner !== null) fchownSync(file, owner.uid, owner.gid);
      writeFileSync(file, text);
    } finally {
      closeSync(file);
    }
  } finally {
    closeSync(here);
  }
}

function enter(fd: number, name: string, owner: Owner | null): number {
  let made = false;
  try {
    mkdirSync(at(fd, name), { mode: 0o700 });
    made = true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
  }
  const entered = openSync(at(fd, name), ENTER);
  if (made && owner !== null) fchownSync(entered, owner.uid, owner.gid);
  return entered;
}

function make(path: string): number {
  try {
    return openSync(path, MAKE, 0o600);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
    unlinkSync(path);
    return openSync(path, MAKE, 0o600);
  }
}
