import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fchownSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Fault } from '../../core/model/index.ts';
import { type Cluster, processExists, serverEnvironment } from './cluster.ts';
import type { Binaries, ServerAccount } from './install.ts';

/** Recovery after a crash replays at most `max_wal_size`, which takes a while on slow disks. */
const START_MS = 60_000;
const STOP_MS = 60_000;
const MAX_START_TRIES = 4;
const START_RETRY_MS = 250;
const POLL_MS = 20;
const LOG_BYTES = 5 * 2 ** 20;

/**
 * Small memory for a few connections on one machine; durability stays on. Our defaults, measured on a two-core machine.
 * Shared buffers are all used from the first start, and what they do not hold is in the cache of the kernel.
 * No parallel, replication or I/O workers: each idle helper process costs more than it gains here.
 */
const SERVER_SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '8MB',
  work_mem: '4MB',
  maintenance_work_mem: '16MB',
  max_wal_size: '256MB',
  min_wal_size: '32MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  io_method: 'sync',
  jit: 'off',
  max_worker_processes: '0',
  max_parallel_workers: '0',
  max_logical_replication_workers: '0',
  autovacuum_max_workers: '1',
  autovacuum_worker_slots: '1',
  log_checkpoints: 'off',
} as const;

/** Data about a running server from `postmaster.pid`. */
interface RunningServer {
  readonly pid: number;
  readonly port: number;
  readonly ready: boolean;
}

const pidFile = (cluster: Cluster): string => join(cluster.data, 'postmaster.pid');

/** After a reboot or in a new container, a pid may belong to another process; on Linux the command line shows it. */
function isServerOf(cluster: Cluster, pid: number): boolean {
  if (!processExists(pid)) return false;
  if (process.platform !== 'linux') return true;
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(cluster.data);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

function readFileIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function runningServer(cluster: Cluster): RunningServer | null {
  const lines = readFileIfThere(pidFile(cluster))?.split('\n') ?? [];
  const pid = Number(lines[0]);
  if (!isServerOf(cluster, pid)) return null;
  return { pid, port: Number(lines[3]), ready: lines[7]?.trim() === 'ready' };
}

function acceptsConnections(port: number): Promise<boolean> {
  return new Promise((settle) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      settle(true);
    });
    socket.on('error', () => settle(false));
  });
}

function findFreePort(): Promise<number> {
  return new Promise((settle, fail) => {
    const probe = createServer();
    probe.on('error', fail);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => settle(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/** The previous port if it is free, so that addresses in logs and tools stay valid. */
export const choosePort = async (last: number): Promise<number> =>
  last !== 0 && !(await acceptsConnections(last)) ? last : findFreePort();

function openServerLog(path: string, account: ServerAccount): number {
  if (existsSync(path) && statSync(path).size > LOG_BYTES) renameSync(path, `${path}.1`);
  const file = openSync(path, 'a', 0o600);
  const { uid, gid } = account.ids;
  if (uid !== undefined && gid !== undefined) fchownSync(file, uid, gid);
  return file;
}

function spawnServer(
  cluster: Cluster,
  binaries: Binaries,
  account: ServerAccount,
  dir: string,
  port: number,
) {
  const settings = Object.entries(SERVER_SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const log = openServerLog(join(dir, 'pg.log'), account);
  // In its own session: an interrupt on the terminal is handled by this process, which closes its connections first.
  const server = spawn(binaries.postgres, ['-D', cluster.data, '-p', String(port), ...settings], {
    ...account.ids,
    env: serverEnvironment(),
    cwd: dir,
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  server.unref();
  const ended = new Promise<string>((settle) => {
    server.on('error', (error) => settle(error.message));
    server.on('exit', (code, signal) => settle(`it ended with ${signal ?? code}`));
  });
  return ended;
}

const lastLogLines = (dir: string): string =>
  readFileIfThere(join(dir, 'pg.log'))?.slice(-600).trim() ?? 'there is no log';

/**
 * Removes a pid file whose pid now belongs to another program: Postgres would mistake that for a running server and
 * refuse to start.
 */
function dropForeignPidFile(cluster: Cluster): void {
  const pid = Number(readFileIfThere(pidFile(cluster))?.split('\n', 1)[0]);
  if (processExists(pid) && !isServerOf(cluster, pid)) rmSync(pidFile(cluster), { force: true });
}

/**
 * Starts the server and waits until it accepts connections. Call it under the start lock, when `running` returns null.
 * Retries a few times: processes of a killed server need a moment to end, and another program may take a free port
 * first.
 */
export async function startServer(
  cluster: Cluster,
  binaries: Binaries,
  account: ServerAccount,
  dir: string,
  port: () => Promise<number>,
): Promise<RunningServer> {
  let why = 'it was not ready in time';
  for (let trial = 1; trial <= MAX_START_TRIES; trial += 1) {
    dropForeignPidFile(cluster);
    const ended = spawnServer(cluster, binaries, account, dir, await port());
    const found = await untilReadyOr(ended, cluster);
    if (typeof found !== 'string') return found;
    why = found;
    await delay(trial * START_RETRY_MS);
  }
  const logTail = lastLogLines(dir);
  const damaged = DAMAGE_MESSAGES.test(logTail)
    ? ' Its files are damaged: restore this folder from a backup, or move it away to begin with an empty database.'
    : '';
  throw new Fault(
    'DATABASE_UNAVAILABLE',
    `The embedded database in ${dir} did not start (${why}).${damaged} Its log says: ${logTail}`,
  );
}

/** Postgres's start-up messages about damaged files. */
const DAMAGE_MESSAGES =
  /PANIC|is not a valid data directory|checkpoint record|incorrect checksum|could not (?:open|read|access|stat) (?:file|directory)|invalid data in|control file|bogus data|lock file "postmaster\.pid" is empty/;

async function untilReadyOr(ended: Promise<string>, cluster: Cluster): Promise<RunningServer | string> {
  const giveUpAt = performance.now() + START_MS;
  for (;;) {
    const found = runningServer(cluster);
    if (found?.ready) return found;
    const why = await Promise.race([ended, delay(POLL_MS, null)]);
    if (why !== null) return why;
    if (performance.now() > giveUpAt) return 'it was not ready in time';
  }
}

/** Waits for a server that another process is starting. */
export async function untilReady(cluster: Cluster, dir: string): Promise<RunningServer | null> {
  const giveUpAt = performance.now() + START_MS;
  for (;;) {
    const found = runningServer(cluster);
    if (found === null || found.ready) return found;
    if (performance.now() > giveUpAt) {
      throw new Fault(
        'DATABASE_UNAVAILABLE',
        `The embedded database in ${dir} (process ${found.pid}) did not become ready. Its log says: ${lastLogLines(dir)}`,
      );
    }
    await delay(POLL_MS);
  }
}

/** Whether the server ended without cleaning up: an ordered stop removes the pid file, a kill does not. */
export const wasKilled = (cluster: Cluster): boolean =>
  runningServer(cluster) === null && existsSync(pidFile(cluster));

/** Closes open connections, flushes all data and waits until the server has ended. */
export async function stopServer(cluster: Cluster, dir: string): Promise<void> {
  const found = runningServer(cluster);
  if (found === null) return;
  process.kill(found.pid, 'SIGINT');
  const giveUpAt = performance.now() + STOP_MS;
  // The file is removed last; the process may remain as a zombie if it is not reaped.
  while (existsSync(pidFile(cluster)) && processExists(found.pid)) {
    if (performance.now() > giveUpAt) {
      throw new Fault(
        'DATABASE_UNAVAILABLE',
        `The embedded database in ${dir} did not stop (process ${found.pid}).`,
      );
    }
    await delay(POLL_MS);
  }
}
