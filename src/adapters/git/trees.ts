import { type ExecFileException, execFile, spawn } from 'node:child_process';
import { createHash, hash } from 'node:crypto';
import { stat, statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type ChildLost, Fault, mayStartLater, restarting, signalIn } from '../../core/model/index.ts';

/** The user that sandboxed processes run as and that owns all checkouts; null if that is our own user. */
export type FileOwner = { readonly uid: number; readonly gid: number } | null;

const execFileAsync = promisify(execFile);
const MAX_OUTPUT = 2 ** 20;

/**
 * Runs a tool of the operating system over a tree, for at most `timeout` milliseconds (0: no limit). We do not walk the
 * tree ourselves, because a coder can nest folders deeper than any path that a Node call accepts. Rejects with
 * PROGRAM_KILLED if the tool is killed again and again.
 */
async function tool(file: string, args: readonly string[], owner: FileOwner, timeout = 0): Promise<ToolEnd> {
  return restarting<ToolEnd | ChildLost>(file, sleep, () => toolOnce(file, args, owner, timeout));
}

interface ToolEnd {
  readonly kind: 'ended';
  readonly ok: boolean;
  readonly out: string;
  readonly message: string;
}

async function toolOnce(
  file: string,
  args: readonly string[],
  owner: FileOwner,
  timeout: number,
): Promise<ToolEnd | ChildLost> {
  try {
    const { stdout } = await execFileAsync(file, args, {
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
      cwd: '/',
      maxBuffer: MAX_OUTPUT,
      timeout,
      ...(owner ? { uid: owner.uid, gid: owner.gid } : {}),
    });
    return { kind: 'ended', ok: true, out: stdout, message: '' };
  } catch (error) {
    const { stdout = '', message, code, signal, killed } = error as ExecFileException;
    // `killed`: by us, because its time was over.
    if (signal != null && !killed) return { kind: 'lost', how: `was killed by ${signal}` };
    // The exit code of a shell whose program was killed.
    const inside = typeof code === 'number' ? signalIn(code) : null;
    if (inside !== null) return { kind: 'lost', how: `was killed by signal ${inside}` };
    if (mayStartLater(String(code))) return { kind: 'lost', how: `could not be started: ${code}` };
    return { kind: 'ended', ok: false, out: String(stdout), message };
  }
}

/**
 * Copies a folder to `path` below `into`, readable and writable for the owner, and for others to read. Replaces what is
 * there, such as the part that a killed copy left. Links are copied as they are. Null on success, else the reason.
 */
export async function copyTree(
  from: string,
  into: string,
  path: string,
  owner: FileOwner,
): Promise<string | null> {
  const script =
    'set -e; cd -- "$2"; mkdir -p -- "$(dirname "$3")"; rm -rf -- "$3"; cp -R -P --reflink=auto -- "$1" "$3"; chmod -R u+rwX,go+rX -- "$3"; ' +
    '[ -z "$4" ] || chown -R -h "$4" -- .';
  const done = await tool(
    'sh',
    ['-c', script, 'sh', from, into, path, owner ? `${owner.uid}:${owner.gid}` : ''],
    null,
  );
  return done.ok ? null : (done.message.trim().split('\n').at(-1) ?? '').slice(0, 300);
}

/** Removes a tree whatever the modes of its folders; no error if there is none. */
export async function removeTree(path: string): Promise<void> {
  const first = await tool('rm', ['-rf', '--', path], null);
  if (first.ok) return;
  await tool('chmod', ['-R', 'u+rwx', '--', path], null);
  const second = await tool('rm', ['-rf', '--', path], null);
  if (!second.ok)
    throw new Fault('INTERNAL', `${path} could not be removed: ${second.message.slice(0, 600)}`);
}

/**
 * Removes everything that matches the patterns of `find -path`, recursively. Follows no links, since a link may have
 * been created where a pattern expects a folder.
 */
export async function removeWithin(path: string, patterns: readonly string[]): Promise<void> {
  const anyOf = patterns.flatMap((pattern) => ['-o', '-path', pattern]).slice(1);
  const found = [path, '-mindepth', '1', '(', ...anyOf, ')', '-prune', '-exec', 'rm', '-rf', '--', '{}', '+'];
  const done = await tool('find', found, null);
  if (!done.ok) throw new Fault('INTERNAL', `${path} could not be cleaned: ${done.message.slice(0, 600)}`);
}

/** Milliseconds; our default. Each closed folder takes about one, and a coder can leave several 100,000. */
const OPENING_MS = 30_000;

/**
 * Restores the owner's read access to files and folders that a coder made inaccessible: folders without rwx and files
 * without r. Fixes a folder before entering it. What remains inaccessible, for example after a time-out, is later
 * reported as an unreadable file.
 */
export async function openFolders(path: string, owner: FileOwner): Promise<void> {
  const folders = ['-type', 'd', '!', '-perm', '-700', '-exec', 'chmod', 'u+rwx', '{}', ';'];
  const files = ['-type', 'f', '!', '-perm', '-400', '-exec', 'chmod', 'u+r', '{}', '+'];
  await tool('find', [path, ...folders, '-o', ...files], owner, OPENING_MS);
}

/**
 * Bytes of the list of a tree beyond which it is too large; our default. A million files of packages take a fifth of it,
 * 23,000 folders inside of each other all of it, because each is listed with its whole path.
 */
const MAX_LIST_BYTES = 512 * 2 ** 20;

/** A tree that cannot be described: the paths in it are too many or too long. */
export class TreeTooLarge extends Fault {
  constructor() {
    super(
      'BASE_BROKEN',
      `The paths of all files take more than ${MAX_LIST_BYTES / 2 ** 20} MiB: there are too many, or folders are nested too deeply.`,
    );
  }
}

/**
 * The fingerprint of a tree: kind, mode, size and modification time of everything in it, as one hash. This is far
 * cheaper than reading the content, which changes without any of these only if a disk loses bits. Rejects with
 * TreeTooLarge.
 */
export async function fingerprintTree(path: string): Promise<string> {
  const { hashes } = await restarting('find', sleep, () => listTree(path));
  const all = createHash('sha256');
  for (const entry of hashes.toSorted()) all.update(entry);
  return all.digest('hex');
}

/** A hash of each entry, in the order in which `find` met them; the entries themselves may not fit into memory. */
async function listTree(
  path: string,
): Promise<{ readonly kind: 'listed'; readonly hashes: readonly string[] } | ChildLost> {
  const child = spawn('find', [path, '-printf', '%y %m %s %T@ %P\\0'], {
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    cwd: '/',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const lost = new Promise<ChildLost | null>((resolve) => {
    child.once('error', (error) => resolve({ kind: 'lost', how: `could not be started: ${error.message}` }));
    // A folder that lists nothing shows what it could not read, so its exit code adds nothing.
    child.once('close', (code, signal) =>
      resolve(code === null ? { kind: 'lost', how: `was killed by ${signal}` } : null),
    );
  });
  const hashes: string[] = [];
  let rest: Buffer = Buffer.alloc(0);
  let bytes = 0;
  // Without free descriptors there is no stream.
  for await (const chunk of (child.stdout ?? []) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_LIST_BYTES) {
      child.kill('SIGKILL');
      throw new TreeTooLarge();
    }
    const entries = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = entries.indexOf(0); end >= 0; end = entries.indexOf(0, start)) {
      // An object for each hash would take twice as long, for every file of a repository, dozens of times in a run.
      hashes.push(hash('sha256', entries.subarray(start, end), 'base64'));
      start = end + 1;
    }
    rest = entries.subarray(start);
  }
  return (await lost) ?? { kind: 'listed', hashes };
}

/** Bytes of free space below which a failure counts as lack of space. */
const FULL_BYTES = 2 ** 20;

/** Whether the file system of a folder has no space, or no inode for another file. */
export async function isFull(folder: string): Promise<boolean> {
  const { bavail, bsize, files, ffree } = await statfs(folder);
  return bavail * bsize < FULL_BYTES || (files > 0 && ffree === 0);
}

/** Bytes on disk of trees, as `du` counts them. What does not exist, and what is mounted in them, does not count. */
export async function bytesOf(paths: readonly string[]): Promise<number> {
  if (paths.length === 0) return 0;
  const { out, message } = await tool('du', ['-s', '-c', '-x', '--block-size=1', '--', ...paths], null);
  const total = /^(\d+)\ttotal$/m.exec(out)?.[1];
  if (total === undefined) throw new Fault('INTERNAL', `\`du\` gave no sum: ${message.slice(0, 300)}`);
  return Number(total);
}

/** Whether the path of anything in a tree contains these words. */
export async function hasPathWith(tree: string, words: string): Promise<boolean> {
  const pattern = `*${globLiteral(words)}*`;
  const found = await tool('find', [tree, '-path', pattern, '-print', '-quit'], null);
  return found.out !== '';
}

/** Escapes a path for `find -path`, whose argument is a pattern. */
export const globLiteral = (path: string): string => path.replace(/[\\*?[\]]/g, '\\$&');

/** Milliseconds between two looks at the size of a folder. Our default. */
const SIZE_EVERY_MS = 500;

/** Watches a folder that is written to. Call `end` when that has ended. */
interface SizeWatch {
  /** Aborted when the folder has more bytes than allowed. */
  readonly exceeded: AbortSignal;
  end(): void;
}

/** `maxBytes` absent: unlimited. */
export function watchSize(folder: string, maxBytes: number | undefined): SizeWatch {
  const exceeded = new AbortController();
  const look = async (): Promise<void> => {
    if (maxBytes !== undefined && (await bytesOf([folder])) > maxBytes) exceeded.abort();
  };
  // A folder that changes while it is measured may fail to be; the next look succeeds.
  const timer =
    maxBytes === undefined ? undefined : setInterval(() => void look().catch(() => undefined), SIZE_EVERY_MS);
  return { exceeded: exceeded.signal, end: () => clearInterval(timer) };
}

/** The first folder that the user may not write to; null if there is none. */
export async function firstUnwritable(folders: readonly string[], as: FileOwner): Promise<string | null> {
  const found = await tool('find', [...folders, '-maxdepth', '0', '!', '-writable', '-print', '-quit'], as);
  if (found.out !== '') return found.out.replace(/\n$/, '');
  return found.ok ? null : (folders[0] ?? null);
}

/** As root we write to a user's repository as that user: files of root in it would lock its owner out. */
export async function userOf(path: string): Promise<FileOwner> {
  if (process.getuid?.() !== 0) return null;
  const { uid, gid } = await stat(path);
  return uid === 0 ? null : { uid, gid };
}
