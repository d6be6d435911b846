import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Tools } from '../../../ports/index.ts';
import { copyFault } from '../areas.ts';
import { mayHoldTool } from '../launch.ts';
import { type Owner, runCommand } from '../processes.ts';
import { ownFolder } from '../scratch.ts';
import type { HostTool } from './host.ts';

/** Folder inside a sandbox for tools without a path of their own. */
export const SHELF = '/opt/tools';

/** Where copies are kept, and which user must be able to read them. */
export interface Lender {
  readonly dir: string;
  readonly owner: Owner | null;
}

/** Whether the sandboxes' user can run a tool at its original path. */
export const isReachable = async ({ program }: HostTool, owner: Owner | null): Promise<boolean> =>
  owner === null || (await runCommand(['test', '-x', program], owner)).code === 0;

/**
 * Mounts a tool for a sandbox: at its own path, or below `SHELF` if a sandbox has other things there, as in
 * /home/agent. If the sandboxes' user cannot reach it, as in root's home, a copy in `dir` is mounted. Null for a single
 * file that has no place.
 */
export async function lendTool(tool: HostTool, { dir, owner }: Lender): Promise<Tools | null> {
  const { root, bin } = tool;
  if (root === null) return { mounts: [], path: [bin] };
  const { mtimeMs, size } = statSync(tool.program);
  const key = createHash('sha256').update(`${root}\0${mtimeMs}\0${size}`).digest('hex').slice(0, 16);
  if (!mayHoldTool(root) && root === tool.program) return null;
  const to = mayHoldTool(root) ? root : `${SHELF}/host-${key}`;
  const path = [root === tool.program ? bin : `${to}${bin.slice(root.length)}`];
  if (await isReachable(tool, owner)) return { mounts: [{ from: root, to }], path };
  const copy = join(dir, `host-${key}`);
  if (!existsSync(copy)) await copyTool(root, copy);
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
else cp -- "$1" "$2"; fi
chmod -R u+w,a+rX -- "$2"`;

async function copyTool(from: string, to: string): Promise<void> {
  await mkdir(join(to, '..'), { recursive: true, mode: 0o755 });
  const building = ownFolder(join(to, '..'), 'building');
  try {
    const end = await runCommand(['bash', '-c', COPY, 'bash', from, building], null);
    if (end.code !== 0) throw copyFault(from, end.stderr);
    await rename(building, to);
  } catch (thrown) {
    await rm(building, { recursive: true, force: true });
    // Another process was faster; its copy is the same.
    if (!existsSync(to)) throw thrown;
  }
}
