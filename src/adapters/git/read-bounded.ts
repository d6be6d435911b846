import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { hasCode } from './layout.ts';

/**
 * Reads a file that a sandbox wrote: null unless it is a plain file of at most `most` bytes. Neither follows a link
 * nor waits for a pipe.
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
    // What is there may be anything: a link, a socket, a folder.
    if (['ENOENT', 'ELOOP', 'ENXIO', 'EISDIR', 'ENODEV', 'EACCES'].some((code) => hasCode(error, code)))
      return null;
    throw error;
  }
}
