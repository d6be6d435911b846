import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { chmod, chown, lstat, mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log, PrunedTools, Tools } from '../../../ports/index.ts';
import { copyFault } from '../areas.ts';
import { mayHoldTool } from '../launch.ts';
import { type Owner, runCommand } from '../processes.ts';
import { discardFolder, ownFolder } from '../scratch.ts';
import type { HostTool } from './host.ts';

/** Folder inside a sandbox for tools without a path of their own. */
export const SHELF = '/opt/tools';

/** Where copies are kept, and which user must be able to read them. */
export interface Lender {
  readonly dir: string;
  readonly owner: Owner | null;
  readonly log?: Pick<Log, 'warn'>;
}

/** Whether the sandboxes' user can run a tool at its original path. */
export const isReachable = async ({ program }: HostTool, owner: Owner | null): Promise<boolean> =>
  owner === null || (await runCommand(['test', '-x', program], owner)).code === 0;

/**
 * Mounts a tool for a sandbox: at its own path, or below `SHELF` if a sandbox has other things there, as in
 * /home/agent. If the sandboxes' user cannot reach it, as in root's home, a copy in `dir` is mounted. Null for a single
 * file that has no place.
 */
export async function lendTool(tool: HostTool, { dir, owner, log }: Lender): Promise<Tools | null> {
  const { root, bin } = tool;
  if (root === null) return { mounts: [], path: [bin] };
  const { mtimeMs, size } = statSync(tool.program);
  // The last word tells copies from those of older versions, which held what only its owner may read.
  const key = createHash('sha256').update(`${root}\0${mtimeMs}\0${size}\0closed`).digest('hex').slice(0, 16);
  if (!mayHoldTool(root) && root === tool.program) return null;
  const to = mayHoldTool(root) ? root : `${SHELF}/host-${key}`;
  const path = [root === tool.program ? bin : `${to}${bin.slice(root.length)}`];
  if (await isReachable(tool, owner)) return { mounts: [{ from: root, to }], path };
  const copy = join(dir, `host-${key}`);
  if (!existsSync(copy)) await copyTool(tool, root, copy, log);
  // Others on this host have no more right to it than before.
  if (owner !== null) {
    await chown(dir, 0, owner.gid);
    await chmod(dir, 0o710);
  }
  return { mounts: [{ from: copy, to }], path };
}

/**
 * Copies without documentation, which is half of a toolchain; atomically. Removes leftovers of an earlier try first. If
 * one of the two `tar` processes was killed, its exit code counts, not the other's: 141 means that a writer's reader
 * has ended.
 */
const COPY = `set -e
rm -rf -- "$2"
if test -d "$1"; then
  mkdir -- "$2"
  set +e
  tar -C "$1" --exclude=./share/doc --exclude=./share/man --exclude=__pycache__ -cf - . | tar -C "$2" --no-same-owner -xf -
  ends=("\${PIPESTATUS[@]}")
  set -e
  for end in "\${ends[@]}"; do
    if test "$end" -gt 128 && test "$end" -ne 141; then exit "$end"; fi
  done
  test "\${ends[1]}" -eq 0 || exit "\${ends[1]}"
  test "\${ends[0]}" -eq 0 || exit "\${ends[0]}"
else cp -- "$1" "$2"; fi`;

const OPEN_TO_ALL = ['chmod', '-R', 'u+w,a+rX', '--'] as const;

/**
 * Removes from a copy what only the owner of the original may read, such as keys beside sources. Returns the number of
 * files and folders.
 */
async function removeClosed(folder: string): Promise<number> {
  let removed = 0;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const { mode } = await lstat(path);
    const isClosed = entry.isDirectory() ? (mode & 0o1) === 0 : entry.isFile() && (mode & 0o4) === 0;
    if (isClosed) await rm(path, { recursive: true, force: true });
    removed += isClosed ? 1 : 0;
    if (!isClosed && entry.isDirectory()) removed += await removeClosed(path);
  }
  return removed;
}

async function copyTool({ program }: HostTool, from: string, to: string, log: Lender['log']): Promise<void> {
  await mkdir(join(to, '..'), { recursive: true, mode: 0o755 });
  const building = ownFolder(join(to, '..'), 'building');
  try {
    const end = await runCommand(['bash', '-c', COPY, 'bash', from, building], null);
    if (end.code !== 0) throw copyFault(from, end.stderr);
    // If the program itself is closed to others, the umask of its owner closes everything.
    const isOpen = (statSync(program).mode & 0o4) !== 0;
    const leftOut = isOpen && statSync(building).isDirectory() ? await removeClosed(building) : 0;
    const opened = await runCommand([...OPEN_TO_ALL, building], null);
    if (opened.code !== 0) throw copyFault(from, opened.stderr);
    await rename(building, to);
    if (leftOut > 0)
      log?.warn(
        { toolchain: from, leftOut },
        'Sandboxes see a toolchain without what only its owner may read.',
      );
  } catch (thrown) {
    await rm(building, { recursive: true, force: true });
    // Another process was faster; its copy is the same.
    if (!existsSync(to)) throw thrown;
  }
}

/** Names of what `lendTool`, `packagedTool` and `releasedYarn` make; others are folders of a process that builds one. */
const LENT = /^[a-z]+-[0-9a-f]{12,16}$/;

/** Notes that tools are used now, so that they are kept. False if one that is kept in `dir` is gone. */
export async function markUsed(dir: string, { mounts }: Tools): Promise<boolean> {
  const now = new Date();
  for (const { from } of mounts) {
    if (!from.startsWith(`${dir}/`)) continue;
    try {
      await utimes(from, now, now);
    } catch (thrown) {
      if (isAbsent(thrown)) return false;
      throw thrown;
    }
  }
  return true;
}

/** Removes the tools in `dir` that were last used before a moment, milliseconds since 1970. */
export async function pruneTools(dir: string, before: number): Promise<PrunedTools> {
  let [tools, bytes] = [0, 0];
  const names = await readdir(dir).catch(unlessAbsent([]));
  for (const name of names.filter((one) => LENT.test(one))) {
    const trash = await moveUnused(dir, name, before);
    if (trash === null) continue;
    bytes += await bytesIn(trash);
    await discardFolder(trash);
    tools += 1;
  }
  return { tools, bytes };
}

/**
 * Null if it stays, or if another process removes it. Who uses it between the look and the move notes that on the folder
 * itself, which then goes back, unless it has been made again.
 */
async function moveUnused(dir: string, name: string, before: number): Promise<string | null> {
  const isUnused = async (path: string): Promise<boolean> => {
    const found = await stat(path).catch(unlessAbsent(null));
    return found !== null && found.mtimeMs < before;
  };
  const folder = join(dir, name);
  if (!(await isUnused(folder))) return null;
  const trash = ownFolder(dir, 'removed');
  try {
    await rename(folder, trash);
  } catch (thrown) {
    if (isAbsent(thrown)) return null;
    throw thrown;
  }
  if (await isUnused(trash)) return trash;
  try {
    await rename(trash, folder);
  } catch (thrown) {
    if (!isTaken(thrown)) throw thrown;
    await discardFolder(trash);
  }
  return null;
}

/** On disk; 0 if that cannot be measured, which is no reason to keep what nobody uses. */
async function bytesIn(path: string): Promise<number> {
  const { stdout } = await runCommand(['du', '-s', '-x', '--block-size=1', '--', path], null);
  return Number(/^\d+/.exec(stdout)?.[0] ?? 0);
}

const isAbsent = (thrown: unknown): boolean => (thrown as NodeJS.ErrnoException).code === 'ENOENT';

const isTaken = (thrown: unknown): boolean =>
  ['ENOTEMPTY', 'EEXIST'].includes((thrown as NodeJS.ErrnoException).code ?? '');

const unlessAbsent =
  <T>(instead: T) =>
  (thrown: unknown): T => {
    if (isAbsent(thrown)) return instead;
    throw thrown;
  };
