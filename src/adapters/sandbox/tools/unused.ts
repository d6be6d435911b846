import { readdir, rename, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { PrunedTools, Tools } from '../../../ports/index.ts';
import { runCommand } from '../processes.ts';
import { discardFolder, ownFolder } from '../scratch.ts';

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
