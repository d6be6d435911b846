import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Fault } from '../../core/model/index.ts';

/** A start that has to initialise takes seconds; a minute means that its holder hangs. */
const LOCK_WAIT_MS = 60_000;
const LOCK_RETRY_MS = 50;

/** A zombie counts as alive here, and so does a process of another user. */
export function processExists(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** When a process began, in the kernel's ticks; empty where /proc does not tell. Tells a reused pid from its former holder. */
function startTimeOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

function isStale(content: string): boolean {
  const [pid, born = ''] = content.trim().split(' ');
  return !processExists(Number(pid)) || startTimeOf(Number(pid)) !== born;
}

async function createLock(path: string): Promise<boolean> {
  // Linked, not created in place: a lock file is never seen half written.
  const draft = `${path}.${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    await writeFile(draft, `${process.pid} ${startTimeOf(process.pid)}`);
    await link(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * Removes a lock whose holder is gone. Two processes may do this at once: the file that is moved away is looked at
 * again, and put back if it turns out to be the new lock of the other one.
 */
async function clearStale(path: string): Promise<void> {
  const seen = await readFile(path, 'utf8').catch(() => null);
  if (seen === null || !isStale(seen)) return;
  const aside = `${path}.stale-${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const moved = await readFile(aside, 'utf8');
  if (!isStale(moved)) {
    await link(aside, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
  await rm(aside, { force: true });
}

/**
 * Runs `work` while no other process holds the lock file; the lock of a process that is gone is taken over.
 * A second fence stands behind it: Postgres itself refuses a data folder that another server uses.
 */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + LOCK_WAIT_MS;
  while (!(await createLock(path))) {
    await clearStale(path);
    if (performance.now() > giveUpAt) {
      throw new Fault(
        'DATABASE_UNAVAILABLE',
        `Another Runoff process has been starting or stopping the embedded database for a minute. If none is, remove ${path}.`,
      );
    }
    await delay(LOCK_RETRY_MS);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}
