import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, readlink, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { byCodeUnits, Fault } from '../../core/model/index.ts';

/** Our defaults: a large project without its packages. */
const MAX_TREE_BYTES = 256 * 2 ** 20;
const MAX_TREE_ENTRIES = 50_000;
/** Folders inside of each other; a path of more would reach the limit of the operating system. */
const MAX_TREE_DEPTH = 100;

/** A file or link of a folder that whoever wrote a contest made. */
export interface TreeEntry {
  /** Relative to the folder. */
  readonly path: string;
  readonly kind: 'file' | 'program' | 'link';
  /** Of a link, its target, which is never followed. */
  readonly content: Buffer;
}

/**
 * Calls `each` for everything below the real folder `top` in order of code units of the names in a folder, except any
 * `.git`. Follows no link and waits for no pipe. Faults: CONTEST_INVALID for what is no file, folder or link, cannot be
 * read, or is too large.
 */
export async function readTree(top: string, each: (entry: TreeEntry) => Promise<void>): Promise<void> {
  const left = { bytes: MAX_TREE_BYTES, entries: MAX_TREE_ENTRIES };
  const walk = async (folder: string, depth: number): Promise<void> => {
    if (depth > MAX_TREE_DEPTH)
      throw new Fault(
        'CONTEST_INVALID',
        `Folders in ${top} are nested more than ${MAX_TREE_DEPTH} levels deep.`,
      );
    const found = await readdir(join(top, folder), { withFileTypes: true }).catch(
      refuseUnread(join(top, folder)),
    );
    for (const entry of found.toSorted((a, b) => byCodeUnits(a.name, b.name))) {
      const path = join(folder, entry.name);
      if (isGitFolder(entry.name)) continue;
      left.entries -= 1;
      if (left.entries < 0)
        throw new Fault('CONTEST_INVALID', `There are more than ${MAX_TREE_ENTRIES} files below ${top}.`);
      if (entry.isDirectory()) {
        await walk(path, depth + 1);
        continue;
      }
      const read = await readEntry(join(top, path), left.bytes, top);
      left.bytes -= read.content.length;
      await each({ path, ...read });
    }
  };
  await walk('', 0);
}

/** Git takes no path with such a part, in whatever case it is written. */
const isGitFolder = (name: string): boolean => name.toLowerCase() === '.git';

async function readEntry(path: string, most: number, top: string): Promise<Omit<TreeEntry, 'path'>> {
  const facts = await lstat(path).catch(refuseUnread(path));
  if (facts.isSymbolicLink())
    return { kind: 'link', content: Buffer.from(await readlink(path).catch(refuseUnread(path))) };
  const content = await readPlainFile(path, most);
  if (content === 'too-large')
    throw new Fault(
      'CONTEST_INVALID',
      `The files below ${top} are larger than ${MAX_TREE_BYTES / 2 ** 20} MiB.`,
    );
  return { kind: (facts.mode & 0o100) === 0 ? 'file' : 'program', content };
}

/**
 * Content of an ordinary file of at most `most` bytes. Follows no link at the end of the path and waits for no pipe.
 * Faults: CONTEST_INVALID.
 */
export async function readPlainFile(path: string, most: number): Promise<Buffer | 'too-large'> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(refuseUnread(path));
  try {
    const facts = await file.stat();
    if (!facts.isFile()) throw notPlain(path);
    return facts.size > most ? 'too-large' : await readUpTo(file, facts.size);
  } finally {
    await file.close();
  }
}

/** A file that grows while it is read is cut at the size that it had. */
async function readUpTo(file: FileHandle, size: number): Promise<Buffer> {
  const content = Buffer.alloc(size);
  let done = 0;
  while (done < size) {
    const { bytesRead } = await file.read(content, done, size - done, done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return content.subarray(0, done);
}

const notPlain = (path: string): Fault =>
  new Fault('CONTEST_INVALID', `${path} is neither a file nor a folder; remove it from the contest.`);

/** Links and sockets cannot be opened as files. */
const refuseUnread =
  (path: string) =>
  (thrown: NodeJS.ErrnoException): never => {
    if (thrown.code === 'ELOOP' || thrown.code === 'ENXIO') throw notPlain(path);
    throw new Fault('CONTEST_INVALID', `${path} cannot be read: ${thrown.code ?? thrown.message}.`, {
      cause: thrown,
    });
  };

/** Copies everything below the real folder `top` into the empty folder `into`; links are copied as they are. */
export async function copyTreeInto(top: string, into: string): Promise<void> {
  await readTree(top, async ({ path, kind, content }) => {
    const to = join(into, path);
    await mkdir(dirname(to), { recursive: true });
    if (kind === 'link') await symlink(content, to);
    else await writeFile(to, content, { flag: 'wx', mode: kind === 'program' ? 0o755 : 0o644 });
  });
}
