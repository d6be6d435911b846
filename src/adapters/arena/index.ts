import { createHash } from 'node:crypto';
import { constants, lstat, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { CONTEST_FILE, isContestName, unfinishedChars } from '../../core/arena/index.ts';
import { asFault, byCodeUnits, Fault, machineFaultIn } from '../../core/model/index.ts';
import type { ContestFolder, Contests } from '../../ports/index.ts';
import { makeFolder } from '../folders/index.ts';
import { isInside, leadsTo, type Places, placesOf } from './places.ts';
import { copyTreeInto, readPlainFile, readTree } from './trees.ts';

interface ContestsOptions {
  /** The folder of contests that are not in a repository; created on demand. */
  readonly dir: string;
  /** Nothing else in it is a contest's to read. */
  readonly dataDir: string;
  /** Takes the exclusive lock of a file; null if another process has it. */
  readonly lock: (path: string) => Promise<(() => Promise<void>) | null>;
}

/** Held by the process that appends. It is never deleted: another process might wait for its inode. */
const LOCK_FILE = '.lock';
/** Our defaults: some hundred thousand samples, and the tests of a large change. */
const MAX_FILE_BYTES = 256 * 2 ** 20;
const MAX_FOLDER_BYTES = 32 * 2 ** 20;

/** Contests as folders of text files. */
export function openContests({ dir, dataDir, lock }: ContestsOptions): Contests {
  return {
    folderOf: (name) => join(dir, name),
    list: () => contestsIn(dir),
    async open(path, how, { repository } = {}) {
      const places = await placesOf({
        root: path,
        dataDir,
        contests: dir,
        ...(repository === undefined ? {} : { repository }),
      });
      if (how === 'read') {
        if (!(await stat(path).catch(nullIfMissing))?.isDirectory())
          throw new Fault('CONTEST_UNKNOWN', `There is no contest in ${path}.`);
        return folderAt(path, places, null);
      }
      // Private content, in a data folder that others may enter; a folder in a repository is as its owner wants it.
      if (path.startsWith(`${dir}/`)) await makeContestFolder(dir, 0o700);
      await makeContestFolder(path);
      const release = await lock(join(path, LOCK_FILE)).catch(refuseLink(join(path, LOCK_FILE)));
      if (!release)
        throw new Fault('ALREADY_RUNNING', `Another process is working on the contest in ${path}.`);
      return folderAt(path, places, release);
    },
  };
}

/** Fault OUTPUT_UNWRITABLE if it cannot be created. */
async function makeContestFolder(path: string, mode?: number): Promise<void> {
  try {
    await onDisk(() => makeFolder(path, mode));
  } catch (thrown) {
    const { code, message } = asFault(thrown);
    if (code !== 'INTERNAL') throw thrown;
    throw new Fault('OUTPUT_UNWRITABLE', `Cannot write the contest into the folder ${path}: ${message}.`, {
      cause: thrown,
    });
  }
}

/** Folders that have a contest's file; others are not contests, whatever lies there. */
async function contestsIn(dir: string): Promise<readonly string[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(nullIfMissing);
  const names: string[] = [];
  for (const entry of entries ?? []) {
    if (!entry.isDirectory() || !isContestName(entry.name)) continue;
    const file = await lstat(join(dir, entry.name, CONTEST_FILE)).catch(nullIfMissing);
    if (file?.isFile()) names.push(entry.name);
  }
  return names.toSorted(byCodeUnits);
}

function folderAt(path: string, places: Places, release: (() => Promise<void>) | null): ContestFolder {
  // Lines are appended one at a time: two writers of one process must not mix them.
  let last: Promise<void> = Promise.resolve();
  return {
    path,
    absolute: (file) => resolve(path, file),
    async repository(folder) {
      await places.requireRepository(resolve(path, folder));
      return resolve(path, folder);
    },
    async within(outer, inner) {
      const [top, below] = [await leadsTo(resolve(path, outer)), await leadsTo(resolve(path, inner))];
      return isInside(below, top) ? relative(top, below) : null;
    },
    text: async (file) => textOf(await places.readable(resolve(path, file)), 'complete'),
    records: async (file) => textOf(await places.readable(resolve(path, file)), 'may end within a character'),
    files: async (folder) => filesBelow(await places.readable(resolve(path, folder))),
    fingerprint: async (folder) => fingerprintOf(await places.readable(resolve(path, folder))),
    async copy(folder, into) {
      const top = await folderOrNull(await places.readable(resolve(path, folder)));
      if (top === null)
        throw new Fault('CONTEST_INVALID', `${resolve(path, folder)} is not a folder or does not exist.`);
      await onDisk(() => copyTreeInto(top, into));
    },
    append(file, line) {
      if (!release) return Promise.reject(new Fault('INTERNAL', `${path} was opened to be read.`));
      const turn = last.then(() => appendLine(join(path, file), line));
      last = turn.catch(() => undefined);
      return turn;
    },
    async create(file, text) {
      await places.requireOwn(dirname(resolve(path, file)));
      return onDisk(() => createFile(resolve(path, file), text));
    },
    async write(file, text) {
      await places.requireOwn(dirname(resolve(path, file)));
      await onDisk(() => replaceFile(resolve(path, file), text));
    },
    sha256: (text) => createHash('sha256').update(text).digest('hex'),
    async close() {
      await last;
      await release?.();
    },
  };
}

type TextEnd = 'complete' | 'may end within a character';

async function textOf(path: string | null, end: TextEnd): Promise<string | null> {
  if (path === null) return null;
  const content = await readPlainFile(path, MAX_FILE_BYTES);
  if (content === 'too-large') throw new Fault('CONTEST_INVALID', `${path} is larger than 256 MiB.`);
  return asText(path, content, end);
}

function asText(path: string, bytes: Buffer, end: TextEnd): string {
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    // Of a stream, the decoder keeps an incomplete character for later.
    return decoder.decode(bytes, { stream: end === 'may end within a character' });
  } catch {
    throw new Fault('CONTEST_INVALID', `${path} is not UTF-8 text.`);
  }
}

async function filesBelow(path: string | null): Promise<readonly { path: string; text: string }[] | null> {
  const top = await folderOrNull(path);
  if (top === null) return null;
  const found: { path: string; text: string }[] = [];
  let bytes = 0;
  await readTree(top, async ({ path: below, kind, content }) => {
    const full = join(top, below);
    if (kind === 'link') throw new Fault('CONTEST_INVALID', `${full} is neither a file nor a folder.`);
    bytes += content.length;
    if (bytes > MAX_FOLDER_BYTES)
      throw new Fault('CONTEST_INVALID', `The files below ${top} are larger than 32 MiB.`);
    found.push({ path: below, text: asText(full, content, 'complete') });
  });
  return found.toSorted((a, b) => byCodeUnits(a.path, b.path));
}

async function fingerprintOf(path: string | null): Promise<string | null> {
  const top = await folderOrNull(path);
  if (top === null) return null;
  const hash = createHash('sha256');
  await readTree(top, async ({ path: below, kind, content }) => {
    hash.update(`${below}\0${kind} ${createHash('sha256').update(content).digest('hex')}\0`);
  });
  return hash.digest('hex');
}

const folderOrNull = async (real: string | null): Promise<string | null> =>
  real !== null && (await lstat(real)).isDirectory() ? real : null;

function nullIfMissing(thrown: NodeJS.ErrnoException): null {
  if (thrown.code === 'ENOENT' || thrown.code === 'ENOTDIR') return null;
  throw thrown;
}

async function createFile(path: string, text: string): Promise<'created' | 'exists'> {
  await makeFolder(dirname(path));
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const handle = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666).catch(
    (thrown: NodeJS.ErrnoException) => {
      if (thrown.code === 'EEXIST') return null;
      throw thrown;
    },
  );
  if (!handle) return 'exists';
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
  return 'created';
}

async function replaceFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.${process.pid}.tmp`;
  await rm(fresh, { force: true });
  try {
    await createFile(fresh, text);
    await rename(fresh, path);
  } catch (thrown) {
    await rm(fresh, { force: true });
    throw thrown;
  }
}

/** Bytes from the end of a file in which its last line begins; a longer line is read in several steps. */
const TAIL_BYTES = 64 * 1024;

async function appendLine(path: string, line: string): Promise<void> {
  await onDisk(async () => {
    const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;
    const handle = await open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o666).catch(refuseLink(path));
    try {
      const { size } = await handle.stat();
      const { keep, lineEnd } = await endOf(handle, size);
      const bytes = Buffer.from(`${lineEnd}${line}`);
      await handle.truncate(keep);
      try {
        await writeAll(handle, bytes, keep);
        await handle.sync();
      } catch (thrown) {
        // Half a line would look like the work of a killed process.
        await handle.truncate(keep);
        throw thrown;
      }
    } finally {
      await handle.close();
    }
  });
}

const refuseLink =
  (path: string) =>
  (thrown: NodeJS.ErrnoException): never => {
    if (thrown.code !== 'ELOOP') throw thrown;
    throw new Fault(
      'CONTEST_INVALID',
      `${path} is a link; Runoff writes to no file that it leads to. Remove it.`,
    );
  };

async function writeAll(handle: Awaited<ReturnType<typeof open>>, bytes: Buffer, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
  }
}

/** Bytes of the file to keep, and the line end that is missing after a last line that is complete. */
async function endOf(
  handle: Awaited<ReturnType<typeof open>>,
  size: number,
): Promise<{ readonly keep: number; readonly lineEnd: '' | '\n' }> {
  let start = size;
  let tail = Buffer.alloc(0);
  while (start > 0 && !tail.includes(0x0a)) {
    const from = Math.max(0, start - TAIL_BYTES);
    const part = Buffer.alloc(start - from);
    await handle.read(part, 0, part.length, from);
    tail = Buffer.concat([part, tail]);
    start = from;
  }
  const last = tail.subarray(tail.lastIndexOf(0x0a) + 1);
  if (last.length === 0) return { keep: size, lineEnd: '' };
  return isComplete(last.toString('utf8'))
    ? { keep: size, lineEnd: '\n' }
    : { keep: size - last.length, lineEnd: '' };
}

const isComplete = (last: string): boolean => unfinishedChars(last) === 0;

/** Does the work; a full disk is a sentence for whoever must make room. */
async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    if (machineFaultIn(message) !== 'DISK_FULL') throw thrown;
    throw new Fault('DISK_FULL', `There is no space left for the files of the contest: ${message}.`, {
      cause: thrown,
    });
  }
}
