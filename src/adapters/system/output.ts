import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Writes a file that the user named, and creates its folder. Rejects with errors of the file system. */
export async function writeOutput(path: string, text: string): Promise<void> {
  await makeOneByOne(dirname(path));
  await writeFile(path, text);
}

/** Node's recursive `mkdir` never ends where a folder refuses new ones with ENOENT, as those of /proc do. */
async function makeOneByOne(folder: string): Promise<void> {
  if (await made(folder)) return;
  await makeOneByOne(dirname(folder));
  await mkdir(folder);
}

/** Whether it is there now; false if its parent may be missing. */
async function made(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
    return true;
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'EEXIST') return true;
    if (code === 'ENOENT') return false;
    throw thrown;
  }
}
