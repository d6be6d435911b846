import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Fault } from '../../core/model/index.ts';
import type { Owner } from './git.ts';

const run = promisify(execFile);
const MAX_OUTPUT = 2 ** 20;

/**
 * Runs one of the operating system's own tools over a tree. They, and not our own walk, because a coder can nest
 * folders deeper than any path a Node call takes.
 */
async function tool(
  file: string,
  args: readonly string[],
  owner: Owner,
): Promise<{ ok: boolean; said: string }> {
  try {
    await run(file, args, {
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
      cwd: '/',
      maxBuffer: MAX_OUTPUT,
      ...(owner ? { uid: owner.uid, gid: owner.gid } : {}),
    });
    return { ok: true, said: '' };
  } catch (error) {
    return { ok: false, said: error instanceof Error ? error.message : String(error) };
  }
}

/** Removes a tree whatever the modes of its folders are; no error if there is none. */
export async function removeTree(path: string): Promise<void> {
  const first = await tool('rm', ['-rf', '--', path], null);
  if (first.ok) return;
  await openFolders(path, null);
  const second = await tool('rm', ['-rf', '--', path], null);
  if (!second.ok) throw new Fault('INTERNAL', `${path} could not be removed: ${second.said.slice(0, 600)}`);
}

/**
 * Lets the owner read what a coder locked: folders without rwx and files without r. A folder is opened before it is
 * entered. What stays locked shows later, as a file that cannot be read.
 */
export async function openFolders(path: string, owner: Owner): Promise<void> {
  const folders = ['-type', 'd', '!', '-perm', '-700', '-exec', 'chmod', 'u+rwx', '{}', ';'];
  const files = ['-type', 'f', '!', '-perm', '-400', '-exec', 'chmod', 'u+r', '{}', '+'];
  await tool('find', [path, ...folders, '-o', ...files], owner);
}
