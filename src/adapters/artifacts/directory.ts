import { createHash, randomBytes } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type ArtifactRef, asFault, Fault } from '../../core/model/index.ts';
import type { Artifacts, SweepOptions, Swept } from '../../ports/index.ts';

const errorCode = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';

/** What a shared folder says while its server is away, and a local one when its disk or mount is gone. */
const UNAVAILABLE_CODES: ReadonlySet<string> = new Set([
  'EIO',
  'ESTALE',
  'ETIMEDOUT',
  'ENOTCONN',
  'EHOSTDOWN',
  'EREMOTEIO',
  'EROFS',
]);
const FULL_CODES: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

function asStoreFault(thrown: unknown, dir: string): Fault {
  if (thrown instanceof Fault) return thrown;
  const { message } = thrown as Error;
  if (FULL_CODES.has(errorCode(thrown))) {
    return new Fault('DISK_FULL', `The artifact store in ${dir} is full: ${message}.`, {
      cause: thrown,
    });
  }
  if (UNAVAILABLE_CODES.has(errorCode(thrown))) {
    return new Fault('ARTIFACTS_UNAVAILABLE', `The artifact store in ${dir} does not answer: ${message}.`, {
      cause: thrown,
    });
  }
  return asFault(thrown);
}

/** Null for what is not there. */
async function ifThere<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** On disk when it resolves; a crash leaves the file whole or not there, for readers on other machines too. */
async function writeDurably(path: string, bytes: Buffer): Promise<void> {
  const folder = dirname(path);
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
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
  await sync(folder);
  if (made !== undefined) await sync(dirname(folder));
}

/** What `link` says on file systems without hard links, such as exFAT, some SMB servers and some of FUSE. */
const NO_LINKS_CODES: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** Writes a small file if none is there, and returns what is there. */
async function createOnce(path: string, bytes: Buffer): Promise<Buffer> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  await writeDurably(draft, bytes);
  try {
    await link(draft, path);
  } catch (error) {
    const code = errorCode(error);
    // Replaces a file written since we looked, as in a bucket. One created at its own name could be read half-written.
    if (NO_LINKS_CODES.has(code)) await rename(draft, path);
    else if (code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return readFile(path);
}

/** False when it is not there any more. */
async function renewTime(path: string): Promise<boolean> {
  const now = new Date();
  return (await ifThere(utimes(path, now, now).then(() => true))) ?? false;
}

/**
 * On a shared folder, a machine that once looked for a name remembers for a while that it was not there (NFS): opening
 * the folders makes it ask again.
 */
async function readShared(path: string): Promise<Buffer | null> {
  const found = await ifThere(readFile(path));
  if (found !== null) return found;
  await ifThere(readdir(dirname(dirname(path))));
  await ifThere(readdir(dirname(path)));
  return ifThere(readFile(path));
}

/**
 * Takes away one old file. Renamed first and checked again: whoever put it once more since we looked has renewed
 * its time, and gets it back; whoever does so later finds nothing and writes it.
 */
async function remove(path: string, before: number): Promise<boolean> {
  const movedPath = `${path}.${randomBytes(6).toString('hex')}`;
  if ((await ifThere(rename(path, movedPath).then(() => true))) === null) return false;
  if ((await stat(movedPath)).mtimeMs >= before) {
    await rename(movedPath, path);
    return false;
  }
  await rm(movedPath, { force: true });
  return true;
}

async function sweepFolder(dir: string, prefix: string, { keep, before }: SweepOptions): Promise<Swept> {
  let files = 0;
  let bytes = 0;
  for (const name of (await ifThere(readdir(join(dir, prefix)))) ?? []) {
    const [stem = '', draft] = name.split('.', 2);
    const hash = hashInName(`${prefix}/${stem}`);
    const path = join(dir, prefix, name);
    const found = hash === null ? null : await ifThere(stat(path));
    if (hash === null || found === null || found.mtimeMs >= before) continue;
    if (draft === undefined && keep(hash)) continue;
    if (!(await remove(path, before))) continue;
    files += 1;
    bytes += found.size;
  }
  return { files, bytes };
}

/**
 * Content-addressed files below `dir`, which several machines may share: `ab/cdef…` is the SHA-256 of the content as
 * UTF-8. What is there and intact is not written again. Faults: DISK_FULL, ARTIFACTS_UNAVAILABLE, INTERNAL.
 */
export function openArtifacts(dir: string): Artifacts {
  const asFaults = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw asStoreFault(error, dir);
    }
  };
  return {
    put(content) {
      const bytes = Buffer.from(content, 'utf8');
      const ref = artifactRef(bytes);
      const path = join(dir, artifactName(ref.sha256));
      return asFaults(async () => {
        const there = await ifThere(readFile(path));
        if (there?.equals(bytes) && (await renewTime(path))) return ref;
        await writeDurably(path, bytes);
        return ref;
      });
    },

    async claim(nameOf) {
      const path = join(dir, OWNER);
      const found = await asFaults(() => readShared(path));
      const database = await nameOf(found?.toString() ?? null);
      const owner = found ?? (await asFaults(() => createOnce(path, Buffer.from(database))));
      requireOwner(owner.toString(), database, dir);
    },

    get: (ref) =>
      asFaults(async () => verified(await readShared(join(dir, artifactName(ref.sha256))), ref, dir)),

    sweep: (options) =>
      asFaults(async () => {
        const swept = { files: 0, bytes: 0 };
        for (const prefix of (await ifThere(readdir(dir))) ?? []) {
          if (!/^[0-9a-f]{2}$/.test(prefix)) continue;
          const { files, bytes } = await sweepFolder(dir, prefix, options);
          swept.files += files;
          swept.bytes += bytes;
        }
        return swept;
      }),
  };
}

/** The file or object with the name of the database whose rows refer to the artifacts. */
export const OWNER = 'database';

/** `database`: empty if it has no name. `where`: the place of the artifacts. Fault ENVIRONMENT_INVALID. */
export function requireOwner(owner: string, database: string, where: string): void {
  if (owner === database && database !== '') return;
  throw new Fault(
    'ENVIRONMENT_INVALID',
    `ARTIFACTS_URL: the artifacts in ${where} belong to another database than the one of this command. Each of the two would delete what only the other one needs, so nothing was changed. If you are moving to the database of this command, set DATABASE_URL back and use runoff move-database; else set DATABASE_URL to the other one, or ARTIFACTS_URL to another place. Delete ${where}/${OWNER} only if the other database is gone for good: what only that one needs will be deleted.`,
  );
}

const HASH_PATTERN = /^[0-9a-f]{64}$/;

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

export const artifactRef = (bytes: Buffer): ArtifactRef => ({ sha256: sha256(bytes), bytes: bytes.length });

/** `ab/cdef…`, the same in a folder and in a bucket, so that one can be copied to the other. Fault INTERNAL. */
export function artifactName(hash: string): string {
  if (!HASH_PATTERN.test(hash)) throw new Fault('INTERNAL', `\`${hash}\` is not the name of an artifact.`);
  return `${hash.slice(0, 2)}/${hash.slice(2)}`;
}

/** The hash that a name stands for; null for what is no artifact. */
export function hashInName(name: string): string | null {
  const hash = name.replace('/', '');
  return name[2] === '/' && HASH_PATTERN.test(hash) ? hash : null;
}

/** The text of `ref`, or STORED_DATA_DAMAGED when these bytes are not it; `where` names the store, for the log only. */
export function verified(bytes: Buffer | null, ref: ArtifactRef, where: string): string {
  if (bytes === null) throw damagedFault('gone', `${where}/${artifactName(ref.sha256)} is gone`);
  if (bytes.length !== ref.bytes || sha256(bytes) !== ref.sha256) {
    throw damagedFault('damaged', `${where}/${artifactName(ref.sha256)} is not what was put there`);
  }
  return bytes.toString('utf8');
}

const damagedFault = (how: 'gone' | 'damaged', detail: string): Fault =>
  new Fault('STORED_DATA_DAMAGED', `Stored data of this run is ${how} on the machine that runs Runoff.`, {
    cause: new Error(detail),
  });
