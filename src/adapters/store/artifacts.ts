import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type ArtifactRef, asFault, Fault } from '../../core/model/index.ts';
import type { Artifacts } from '../../ports/index.ts';

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

async function readIfThere(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function sync(path: string, flags: string): Promise<void> {
  const handle = await open(path, flags);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** On disk when it resolves; a crash leaves the file whole or not there. */
async function writeDurably(path: string, bytes: Buffer): Promise<void> {
  const folder = dirname(path);
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
    await handle.close();
    await rename(draft, path);
  } catch (error) {
    await handle.close();
    await rm(draft, { force: true });
    throw error;
  }
  await sync(folder, 'r');
}

/**
 * Content-addressed files below `dir`: `ab/cdef…` is the SHA-256 of the content as UTF-8. What is there and intact
 * is not written again. Faults: DISK_FULL, INTERNAL.
 */
export function openArtifacts(dir: string): Artifacts {
  const pathOf = (hash: string): string => {
    if (!/^[0-9a-f]{64}$/.test(hash))
      throw new Fault('INTERNAL', `\`${hash}\` is not the name of an artifact.`);
    return join(dir, hash.slice(0, 2), hash.slice(2));
  };
  return {
    async put(content) {
      const bytes = Buffer.from(content, 'utf8');
      const ref: ArtifactRef = { sha256: sha256(bytes), bytes: bytes.length };
      const path = pathOf(ref.sha256);
      try {
        const there = await readIfThere(path);
        if (there === null || !there.equals(bytes)) await writeDurably(path, bytes);
      } catch (error) {
        throw asFault(error);
      }
      return ref;
    },

    async get(ref) {
      const bytes = await readIfThere(pathOf(ref.sha256)).catch((error: unknown) => {
        throw asFault(error);
      });
      if (bytes === null) throw new Fault('INTERNAL', `The artifact ${ref.sha256} is gone from ${dir}.`);
      if (bytes.length !== ref.bytes || sha256(bytes) !== ref.sha256) {
        throw new Fault('INTERNAL', `The artifact ${ref.sha256} in ${dir} is not what was put there.`);
      }
      return bytes.toString('utf8');
    },
  };
}
