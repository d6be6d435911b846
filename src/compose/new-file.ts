import { constants, lstat, mkdir, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Creates a file below a folder whose files may be a stranger's, with the folders between. No part of `path` may be a
 * link: `git clone` makes links to any place, and one that leads nowhere is created by whoever writes through it.
 * Returns why nothing was written, as a clause, or null. Rejects with the error of the file system otherwise.
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

function unlessThere(thrown: NodeJS.ErrnoException): false {
  if (thrown.code === 'EEXIST') return false;
  throw thrown;
}
