import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from '../folders/index.ts';

/** Writes a file that the user named, and creates its folder. Rejects with errors of the file system. */
export async function writeOutput(path: string, text: string): Promise<void> {
  await makeFolder(dirname(path));
  await writeFile(path, text);
}
