import { constants, lstat, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Creates a file and its parent folders below a folder whose content is untrusted. No part of `path` may be a link:
 * `git clone` creates links to any place, and writing through a dangling link creates its target. Returns null on
 * success, else why nothing was written, as a clause. Rejects with other errors of the file system.
 */
export async function createBelow(top: string, path: string, text: string): Promise<string | null> {
  const parts = dirname(path).split('/');
  for (const [at] of parts.entries()) {
    const folder = join(top, ...parts.slice(0, at + 1));
    const made = await mkdir(folder).then(() => true, unlessThere);
    if (!made && !(await lstat(folder)).isDirectory())
      return `${folder} is not a folder but a link or a file`;
  }
  const file = join(top, path);
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const handle = await open(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666).catch(unlessThere);
  if (!handle) return `${file} exists already`;
  try {
    await handle.writeFile(text);
  } catch (thrown) {
    await rm(file, { force: true });
    throw thrown;
  } finally {
    await handle.close();
  }
  return null;
}

/**
 * Replaces the text of a regular file below such a folder atomically, if it is still `before`; follows no link. Returns
 * null on success, else why nothing was written, as a clause.
 */
export async function replaceBelow(
  top: string,
  path: string,
  { before, text }: { readonly before: string; readonly text: string },
): Promise<string | null> {
  const folders = dirname(path).split('/');
  for (const [at] of folders.entries()) {
    const folder = join(top, ...folders.slice(0, at + 1));
    if (!(await lstat(folder)).isDirectory()) return `${folder} is not a folder but a link or a file`;
  }
  const file = join(top, path);
  if (!(await lstat(file)).isFile()) return `${file} is not a file`;
  if ((await readFile(file, 'utf8')) !== before) return `${file} is not as it was committed`;
  const fresh = `${path}.${process.pid}.tmp`;
  const why = await createBelow(top, fresh, text);
  if (why === null) await rename(join(top, fresh), file);
  return why;
}

function unlessThere(thrown: NodeJS.ErrnoException): false {
  if (thrown.code === 'EEXIST') return false;
  throw thrown;
}
