import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type ChildLost, Fault, mayStartLater, restarting } from '../../core/model/index.ts';
import type { Binaries, ServerAccount } from './install.ts';

/** Owner of everything in the embedded database. */
export const SUPERUSER = 'runoff';

const DatabaseCredentials = z.object({ password: z.string().min(1), port: z.int().min(0).max(65_535) });
export type DatabaseCredentials = z.infer<typeof DatabaseCredentials>;

/** One data folder and the file with its password; the folder's name carries Postgres' major version. */
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

function chownTo(path: string, account: ServerAccount): void {
  const { uid, gid } = account.ids;
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}

/** Environment of the server: nothing of ours, and none of the PG* variables that would change where it looks. */
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

/** Under the start lock, in a folder that nobody else has: one that was killed begins anew in an empty one. */
async function makeCluster(draft: string, passwordFile: string, on: ClusterSetup): Promise<void> {
  const { binaries, account, dir } = on;
  const { answer } = await restarting<Answered | ChildLost>('initdb', sleep, async () => {
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { mode: 0o700 });
    chownTo(draft, account);
    const answer = initdb(draft, passwordFile, binaries, account, dir);
    const { code } = (answer.error ?? {}) as NodeJS.ErrnoException;
    const lost = answer.signal ?? (mayStartLater(code) ? code : undefined);
    return lost ? { kind: 'lost', how: `was ended by ${lost}` } : { kind: 'answered', answer };
  });
  if (answer.status === 0) return;
  const why = answer.error?.message ?? answer.stderr.trim().slice(-600);
  if (/no space left/i.test(why))
    throw new Fault('DISK_FULL', `No room for the embedded database in ${dir}.`);
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

/** Makes the data folder unless it is there. To be called under the start lock; a folder is there whole or not at all. */
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
    chownTo(passwordFile, account);
    await makeCluster(draft, passwordFile, { binaries, account, dir });
  } finally {
    await rm(passwordFile, { force: true });
  }
  // The password first: a folder without its password could never be opened.
  await writeCredentials(cluster, { password, port: 0 });
  await rename(draft, cluster.data);
}
