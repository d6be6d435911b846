import { randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { startedAt } from './processes.ts';

/** Milliseconds after which a folder of a process that cannot be looked up is taken for left behind. Our default. */
const LONGEST_USE_MS = 24 * 60 * 60_000;

/** Kind, process namespace, process, its start time, and a random part. */
const OWNED = /^[a-z]+-(\d+)-(\d+)-(\d+)-[0-9a-f]{12}$/;

/**
 * The path of a new folder that only this process uses. Its name says whose it is, so that `removeOrphans` finds it when
 * the process is killed before it removes the folder itself.
 */
export function ownFolder(parent: string, kind: string): string {
  const owner = [namespaceOfProcesses(), process.pid, startOf(process.pid)].join('-');
  return join(parent, `${kind}-${owner}-${randomBytes(6).toString('hex')}`);
}

/** Removes what processes that were killed left of their own folders. A folder that cannot be removed yet stays. */
export async function removeOrphans(parent: string): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  for (const name of names) {
    const folder = join(parent, name);
    if (!(await isOrphan(folder, name))) continue;
    await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  }
}

async function isOrphan(folder: string, name: string): Promise<boolean> {
  const [owned, namespace, pid, start] = OWNED.exec(name) ?? [];
  if (owned === undefined) return false;
  if (namespace === namespaceOfProcesses()) return startOf(Number(pid)) !== start;
  // The same number is another process there.
  const found = await stat(folder).catch(() => null);
  return found !== null && Date.now() - found.mtimeMs > LONGEST_USE_MS;
}

const startOf = (pid: number): string => startedAt(pid) ?? '0';

function namespaceOfProcesses(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
  } catch {
    return '0';
  }
}
