import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { link, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay, setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type ChildLost, Fault, machineFaultIn, mayStartLater, restarting } from '../../core/model/index.ts';
import type { Binaries, ServerAccount } from './install.ts';

/** Owner of everything in the embedded database. */
export const SUPERUSER = 'runoff';

const DatabaseCredentials = z.object({ password: z.string().min(1), port: z.int().min(0).max(65_535) });
export type DatabaseCredentials = z.infer<typeof DatabaseCredentials>;

/** A data folder and the file with its password; the folder's name contains Postgres's major version. */
export interface Cluster {
  readonly data: string;
  readonly credentialsFile: string;
}

export const clusterAt = (dir: string, major: string): Cluster => ({
  data: join(dir, `pg${major}`),
  credentialsFile: join(dir, 'pg.json'),
});

export async function readCredentials(cluster: Cluster): Promise<DatabaseCredentials> {
  try {
    return DatabaseCredentials.parse(JSON.parse(await readFile(cluster.credentialsFile, 'utf8')));
  } catch (error) {
    throw new Fault(
      'DATABASE_UNAVAILABLE',
      `The embedded database cannot be opened: its password file ${cluster.credentialsFile} is missing, damaged or belongs to another user.`,
      { cause: error },
    );
  }
}

export async function writeCredentials(cluster: Cluster, credentials: DatabaseCredentials): Promise<void> {
  const draft = `${cluster.credentialsFile}.${process.pid}`;
  await writeFile(draft, JSON.stringify(credentials), { mode: 0o600 });
  await rename(draft, cluster.credentialsFile);
}

function chownToServer(path: string, account: ServerAccount): void {
  const { uid, gid } = account.ids;
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}

/** Environment of the server: without Runoff's variables and without the PG* variables that would redirect it. */
export const serverEnvironment = (): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH ?? '/usr/bin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
});

function initdb(
  draft: string,
  passwordFile: string,
  binaries: Binaries,
  account: ServerAccount,
  dir: string,
) {
  return spawnSync(
    binaries.initdb,
    [
      ['-D', draft, '-U', SUPERUSER, `--pwfile=${passwordFile}`],
      ['--auth=scram-sha-256', '-E', 'UTF8', '--locale=C', '--no-instructions'],
    ].flat(),
    { ...account.ids, env: serverEnvironment(), cwd: dir, encoding: 'utf8' },
  );
}

/**
 * Creates the cluster, under the start lock and in a folder of its own: after a kill, it starts again in an empty one.
 */
async function makeCluster(draft: string, passwordFile: string, on: ClusterSetup): Promise<void> {
  const { binaries, account, dir } = on;
  const { answer } = await restarting<Answered | ChildLost>('initdb', sleep, async () => {
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { mode: 0o700 });
    chownToServer(draft, account);
    const answer = initdb(draft, passwordFile, binaries, account, dir);
    const { code } = (answer.error ?? {}) as NodeJS.ErrnoException;
    const cause = answer.signal ?? (mayStartLater(code) ? code : undefined);
    return cause ? { kind: 'lost', how: `was ended by ${cause}` } : { kind: 'answered', answer };
  });
  if (answer.status === 0) return;
  const why = answer.error?.message ?? answer.stderr.trim().slice(-600);
  if (machineFaultIn(why) === 'DISK_FULL')
    throw new Fault('DISK_FULL', `The disk is full: there is no space for the embedded database in ${dir}.`);
  throw new Fault(
    'DATABASE_UNAVAILABLE',
    `The embedded database could not be set up in ${dir}: ${why}. Set DATABASE_URL to a Postgres server if its programs do not run on this system.`,
  );
}

interface Answered {
  readonly kind: 'answered';
  readonly answer: ReturnType<typeof initdb>;
}

interface ClusterSetup {
  readonly binaries: Binaries;
  readonly account: ServerAccount;
  readonly dir: string;
}

/** Creates the data folder if it does not exist. Call it under the start lock; a folder is complete or absent. */
export async function initialise(
  cluster: Cluster,
  binaries: Binaries,
  account: ServerAccount,
  dir: string,
): Promise<void> {
  if (existsSync(cluster.data)) return;
  const draft = `${cluster.data}.new`;
  const passwordFile = `${cluster.data}.password`;
  const password = randomBytes(24).toString('hex');
  try {
    writeFileSync(passwordFile, password, { mode: 0o600 });
    chownToServer(passwordFile, account);
    await makeCluster(draft, passwordFile, { binaries, account, dir });
  } finally {
    await rm(passwordFile, { force: true });
  }
  // The password comes first: a folder without its password could never be opened.
  await writeCredentials(cluster, { password, port: 0 });
  await rename(draft, cluster.data);
}

/** A start that has to initialise takes seconds; after a minute its process counts as hanging. */
const LOCK_WAIT_MS = 60_000;
const LOCK_RETRY_MS = 50;

/** Zombies and other users' processes count as existing. */
export function processExists(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Start time of a process in kernel ticks, which distinguishes a reused pid; empty without /proc. */
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
  // Linked, not created in place, so that a lock file is never read half-written.
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
 * Removes a stale lock. Two processes may do so concurrently: the moved file is checked again, and put back if it is
 * the other process's new lock.
 */
async function clearStale(path: string): Promise<void> {
  const content = await readFile(path, 'utf8').catch(() => null);
  if (content === null || !isStale(content)) return;
  const movedPath = `${path}.stale-${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    await rename(path, movedPath);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const moved = await readFile(movedPath, 'utf8');
  if (!isStale(moved)) {
    await link(movedPath, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
  await rm(movedPath, { force: true });
}

/**
 * Temporary password and lock files, and stale locks that were moved away; each name contains the pid of its process.
 */
const DRAFT = /^pg\.(?:json|lock(?:\.stale-)?)\.?(\d+)(?:-[0-9a-f]{8})?$/;

/** Removes what killed processes left beside the data folder. */
export async function removeDrafts(dir: string): Promise<void> {
  for (const name of await readdir(dir)) {
    const pid = DRAFT.exec(name)?.[1];
    if (pid !== undefined && !processExists(Number(pid))) await rm(join(dir, name), { force: true });
  }
}

/**
 * Runs `work` while holding the lock file; a lock left by a dead process is taken over. As a second safeguard, Postgres
 * itself refuses a data folder that another server uses.
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
