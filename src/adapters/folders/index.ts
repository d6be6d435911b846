import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/**
 * Creates a folder and those above it that are missing. Returns the first one created; undefined if it was there. Unlike
 * Node's own recursive `mkdir`, it ends where a folder refuses new ones with ENOENT, as those of /proc do. Rejects with
 * errors of the file system.
 */
export async function makeFolder(path: string, mode = 0o777): Promise<string | undefined> {
  const folder = resolve(path);
  const above = dirname(folder);
  try {
    return await makeOne(folder, mode);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT' || above === folder) throw thrown;
    const first = await makeFolder(above, mode);
    const last = await makeOne(folder, mode);
    return first ?? last;
  }
}

/** Undefined if it was there. Whether it is there counts, not why it cannot be created: its disk may be read-only. */
async function makeOne(folder: string, mode: number): Promise<string | undefined> {
  try {
    await mkdir(folder, { mode });
    return folder;
  } catch (thrown) {
    const isThere = await stat(folder).then(
      (found) => found.isDirectory(),
      () => false,
    );
    if (isThere) return undefined;
    throw thrown;
  }
}
