import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { asFault, Fault, machineFaultIn } from '../../core/model/index.ts';
import type { Log } from '../../ports/index.ts';
import {
  type Cluster,
  clusterAt,
  type DatabaseCredentials,
  initialise,
  readCredentials,
  removeDrafts,
  SUPERUSER,
  withLock,
  writeCredentials,
} from './cluster.ts';
import { type KeptConnection, keepConnected, openPresence, type ServerConnection } from './connection.ts';

export { copyPostgres } from './install.ts';

import {
  type Binaries,
  installBinaries,
  openFolder,
  removeOtherBinaries,
  type ServerAccount,
  serverAccount,
} from './install.ts';
import { choosePort, startServer, stopServer, untilReady, wasKilled } from './server.ts';

/** A Postgres server on this machine, shared by all Runoff processes that use the same folder. */
export interface EmbeddedPostgres {
  /** The server's version, e.g. `18.4`. */
  readonly version: string;
  /** Whether the server was already running: another process uses it, or a crashed one left it. */
  readonly attached: boolean;
  /** Connection string with password, for 127.0.0.1 only. Never log it. */
  url(database: string): string;
  /** Creates a database if it does not exist. Names are lower-case words: `a-z`, `0-9`, `_`. */
  ensureDatabase(name: string): Promise<void>;
  /**
   * Releases the server, and stops it if no other connection is left; waits for the end. Close stores and engines of
   * this process first: their connections count as use. `force` stops it regardless of connections.
   */
  stop(options?: { readonly force?: boolean }): Promise<void>;
}

interface EmbeddedPostgresOptions {
  /**
   * Folder for programs, data, password and log, e.g. /var/lib/runoff/pg. As root, the server runs as `postgres` or
   * else `nobody`, and that user must be able to enter every parent folder.
   */
  readonly dir: string;
  readonly log?: Log;
}

const MAX_ATTACH_TRIES = 6;
const ATTACH_PAUSE_MS = 250;
/** A server process ends a moment after its connection. */
const DISCONNECT_WAIT_MS = 1_500;
const CONNECTIONS_POLL_MS = 50;

const address = (credentials: DatabaseCredentials, database: string): string =>
  `postgresql://${SUPERUSER}:${credentials.password}@127.0.0.1:${credentials.port}/${database}`;

async function createDatabase(presence: ServerConnection, name: string): Promise<void> {
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(name)) {
    throw new Fault('INTERNAL', `\`${name}\` cannot be the name of a database.`);
  }
  const found = await presence.query('select 1 from pg_database where datname = $1', [name]);
  if (found.length !== 0) return;
  try {
    await presence.query(`create database ${name}`);
  } catch (error) {
    // Created concurrently by another process: 42P04 is "exists", 23505 the same detected a moment earlier.
    if (!['42P04', '23505'].includes((error as { code?: string }).code ?? '')) throw error;
  }
}

/** Whether another Runoff process or a person is connected. This process has closed its stores and engines by now. */
async function usedByOthers(presence: ServerConnection): Promise<boolean> {
  const until = performance.now() + DISCONNECT_WAIT_MS;
  for (;;) {
    const others = await presence.query(
      "select 1 from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() limit 1",
    );
    if (others.length === 0 || performance.now() > until) return others.length !== 0;
    await delay(CONNECTIONS_POLL_MS);
  }
}

interface Installation {
  readonly cluster: Cluster;
  readonly binaries: Binaries;
  readonly account: ServerAccount;
  readonly dir: string;
  readonly lock: string;
  readonly log: Log | undefined;
}

interface Reached {
  readonly credentials: DatabaseCredentials;
  readonly revival: KeptConnection;
  readonly attached: boolean;
}

/** Restarts the server on `port`, under the lock, unless it runs; null if it was not killed. */
async function reopen(
  place: Installation,
  port: number,
  connect: () => Promise<ServerConnection>,
): Promise<ServerConnection | null> {
  const { cluster, binaries, account, dir } = place;
  return withLock(place.lock, async () => {
    const found = await untilReady(cluster, dir);
    if (found === null && !wasKilled(cluster)) return null;
    const now = found ?? (await startServer(cluster, binaries, account, dir, async () => port));
    if (now.port === port) return connect();
    throw new Fault(
      'DATABASE_UNAVAILABLE',
      `The embedded database is running again on port ${now.port}, because another program took ${port}. Restart this process.`,
    );
  });
}

/** A killed server may look alive for a moment: only a connection proves that it is. */
async function reach(place: Installation): Promise<Reached> {
  const { cluster, binaries, account, dir, log } = place;
  for (let trial = 1; ; trial += 1) {
    const stored = await readCredentials(cluster);
    const found = await untilReady(cluster, dir);
    const choose = () => choosePort(stored.port);
    const { port } = found ?? (await startServer(cluster, binaries, account, dir, choose));
    const credentials = { ...stored, port };
    if (port !== stored.port) await writeCredentials(cluster, credentials);
    try {
      const revival = await keepConnected({
        connect: (onLost) => openPresence(address(credentials, 'postgres'), onLost),
        reopen: (connect) => reopen(place, port, connect),
        ...(log ? { log } : {}),
      });
      return { credentials, revival, attached: found !== null };
    } catch (error) {
      if (found === null || trial === MAX_ATTACH_TRIES) throw error;
      await delay(ATTACH_PAUSE_MS);
    }
  }
}

async function startOrAttach(dir: string, lock: string, account: ServerAccount, log: Log | undefined) {
  await removeDrafts(dir);
  const binaries = await installBinaries(dir);
  const cluster: Cluster = clusterAt(dir, binaries.major);
  await initialise(cluster, binaries, account, dir);
  const reached = await reach({ cluster, binaries, account, dir, lock, log });
  if (!reached.attached) await removeOtherBinaries(dir, binaries.version);
  const rows = await reached.revival.presence().query<{ server_version: string }>('show server_version');
  return { ...reached, cluster, version: rows[0]?.server_version ?? '' };
}

async function openServer(options: EmbeddedPostgresOptions, account: ServerAccount) {
  const dir = openFolder(options.dir, account);
  const lock = join(dir, 'pg.lock');
  return { dir, lock, server: await withLock(lock, () => startOrAttach(dir, lock, account, options.log)) };
}

function asStartFault(error: unknown, dir: string): Fault {
  const { code } = error as { code?: string };
  if (code !== 'EACCES' && code !== 'EPERM') return asFault(error);
  return new Fault(
    'DATABASE_UNAVAILABLE',
    `The embedded database in ${dir} is closed to this user: ${(error as Error).message}. Use another data folder, or the user who made it.`,
    { cause: error },
  );
}

/** A full disk has no space for the lock file, but stopping must still work; Postgres's own lock remains. */
async function lockedIfRoom(lock: string, work: () => Promise<void>): Promise<void> {
  let begun = false;
  try {
    await withLock(lock, () => {
      begun = true;
      return work();
    });
  } catch (error) {
    if (begun || machineFaultIn(String(error)) !== 'DISK_FULL') throw error;
    await work();
  }
}

/**
 * Starts the Postgres server of `dir`, or attaches to the running one; sets up what is missing first. The server
 * outlives a crash of this process, and is restarted on the same port if it dies while in use. Faults:
 * DATABASE_UNAVAILABLE, DISK_FULL, PROGRAM_KILLED.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const account = await serverAccount();
  const { dir, lock, server } = await openServer(options, account).catch((error: unknown) => {
    throw asStartFault(error, options.dir);
  });
  const { cluster, credentials, revival, attached, version } = server;
  options.log?.info({ dir, port: credentials.port, version, attached }, 'The embedded database is ready.');

  async function letGo(force: boolean): Promise<void> {
    const presence = revival.presence();
    // Without a connection it is unknown who uses a server that another process may have restarted meanwhile.
    const used = !force && (!presence.isOpen() || (await usedByOthers(presence).catch(() => true)));
    await presence.end();
    if (!used) await stopServer(cluster, dir);
  }

  let stopped: Promise<void> | undefined;
  return {
    version,
    attached,
    url: (database) => address(credentials, database),
    ensureDatabase: (name) => createDatabase(revival.presence(), name),
    stop({ force = false } = {}) {
      // First prevent further restarts: one in progress holds the lock.
      stopped ??= revival.end().then(() => lockedIfRoom(lock, () => letGo(force)));
      return stopped;
    },
  };
}
