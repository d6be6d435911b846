import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { lstat, readdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand, startedAt, whileAlive } from './processes.ts';

/** Age in milliseconds from which a folder counts as orphaned if its process cannot be looked up. Our default. */
const LONGEST_USE_MS = 24 * 60 * 60_000;

/** Temporary names used by other adapters before a rename; such a name does not identify its owner. */
const DRAFT = /\.[0-9a-f]{12}(?:\.tmp)?$/;

/** Kind, process namespace of this boot, process, its start time, and a random part. */
const OWNED = /^([a-z]+)-(\d+)-(\d+)-(\d+)-[0-9a-f]{12}$/;

/**
 * Returns the path of a new folder that only this process uses. The name identifies the process, so that
 * `removeOrphans` finds the folder if the process is killed before it removes it.
 */
export function ownFolder(parent: string, kind: string): string {
  const owner = [namespaceOfProcesses(), process.pid, startOf(process.pid)].join('-');
  return join(parent, `${kind}-${owner}-${randomBytes(6).toString('hex')}`);
}

/** Milliseconds to wait for a removal, our default: nearly every folder is removed by then. */
const REMOVAL_WAIT_MS = 1_000;

/**
 * Removes a folder that a command may have written to: its path is free when this resolves. The removal itself, by `rm`
 * because a command can nest folders deeper than any path that a Node call accepts, may go on in the background; what
 * is left when this process ends is an orphan.
 */
export async function discardFolder(folder: string): Promise<void> {
  const trash = ownFolder(dirname(folder), 'removed');
  try {
    await rename(folder, trash);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw thrown;
  }
  await Promise.race([removeFolder(trash), sleep(REMOVAL_WAIT_MS, undefined, { ref: false })]);
}

/** Also with folders that a command has closed. What cannot be removed now is tried again at the next start. */
async function removeFolder(trash: string): Promise<void> {
  const remove = ['rm', '-rf', '--', trash] as const;
  try {
    if ((await runCommand(remove, null)).code === 0) return;
    await runCommand(['chmod', '-R', 'u+rwx', '--', trash], null);
    await runCommand(remove, null);
  } catch {
    // The programs were killed.
  }
}

/**
 * Removes folders left by killed processes. A folder that cannot be removed yet stays. `kinds` is for a parent folder
 * that may hold other people's files: only folders of these kinds are removed, and no drafts, whose names others use too.
 */
export async function removeOrphans(parent: string, kinds?: readonly string[]): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  for (const name of names) {
    const folder = join(parent, name);
    if (kinds !== undefined && !kinds.includes(OWNED.exec(name)?.[1] ?? '')) continue;
    if (await isOrphan(folder, name)) await discardFolder(folder).catch(() => undefined);
  }
}

async function isOrphan(folder: string, name: string): Promise<boolean> {
  const [owned, , namespace, pid, start] = OWNED.exec(name) ?? [];
  if (owned === undefined && !DRAFT.test(name)) return false;
  if (owned !== undefined && namespace === namespaceOfProcesses()) return startOf(Number(pid)) !== start;
  // Nobody can tell whether its process runs: in another namespace or machine, the same number is another one.
  const found = await lstat(folder).catch(() => null);
  return found !== null && Date.now() - found.mtimeMs > LONGEST_USE_MS;
}

const startOf = (pid: number): string => startedAt(pid) ?? '0';

/**
 * A number of at most 10 digits, because paths of sockets are short. It depends on the boot too: the first namespace has
 * the same number on every machine, and machines can share a folder.
 */
function namespaceOfProcesses(): string {
  const boot = whileAlive(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(), '');
  const namespace = whileAlive(() => readlinkSync('/proc/self/ns/pid'), '');
  const digest = createHash('sha256').update(`${boot} ${namespace}`).digest();
  return String(digest.readUInt32BE());
}
