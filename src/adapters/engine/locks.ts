import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { Fault } from '../../core/model/index.ts';
import type { Log } from '../../ports/index.ts';
import { type ClientOptions, type ConnectionLimits, openClient, tryLock } from '../postgres/index.ts';

/** Any fixed number other than the store's. While it is locked, no engine launches. */
export const LAUNCH_LOCK = '7346002';
const LAUNCH_LOCK_POLL_MS = 50;
/** Milliseconds after which a process that was frozen while it launched no longer keeps others from it. Our default. */
const LAUNCH_FROZEN_MS = 60_000;

function unreachableFault(error: unknown): Fault {
  const { message, code } = error as { message: string; code?: string };
  return new Fault('DATABASE_UNAVAILABLE', `The database cannot be reached: ${message || code}.`, {
    cause: error,
  });
}

/** Fault: DATABASE_UNAVAILABLE. */
async function connectEngine(url: string, options: ClientOptions): Promise<pg.Client> {
  try {
    return await openClient(url, options);
  } catch (error) {
    throw unreachableFault(error);
  }
}

/**
 * Executes `work` while no other process launches an engine on this database: DBOS creates its schema without a lock,
 * and if two processes do so at once, one of them fails. `frozenMs`: see `ClientOptions`.
 */
export async function withLaunchLock<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
  frozenMs = LAUNCH_FROZEN_MS,
): Promise<T> {
  const client = await connectEngine(url, { name: 'runoff launch', holds: true, frozenMs });
  try {
    // Not waited for in the server: DBOS builds indexes concurrently, which waits for every active statement.
    while (!(await tryLock(client, LAUNCH_LOCK))) await delay(LAUNCH_LOCK_POLL_MS);
    return await work(client);
  } finally {
    // Closing the connection releases the lock.
    await client.end();
  }
}

/** Milliseconds in which the server should notice that an earlier holder was killed. Our default. */
const EXECUTOR_LOCK_WAIT_MS = 3_000;
const EXECUTOR_LOCK_POLL_MS = 100;
/**
 * Milliseconds in which this process's own broken session should end after its termination was requested. Our default.
 */
const RELOCK_WAIT_MS = 1_000;
/** Milliseconds between two checks for a server that went down. Our default. */
const RELOCK_INTERVAL_MS = 500;

export interface ExecutorLock {
  release(): Promise<void>;
}

const lockKeyOf = (executorId: string): string =>
  createHash('sha256').update(`runoff executor ${executorId}`).digest().readBigInt64BE().toString();

/** Postgres shows the halves of a lock's number; `objsubid` 1: of one number, not of two. */
const LOCKED = `select key::text from unnest($1::bigint[]) as key where exists (
  select from pg_locks where locktype = 'advisory' and granted and objsubid = 1
    and database = (select oid from pg_database where datname = current_database())
    and (classid::bigint << 32) | objid::bigint = key
)`;

/** Those as which a process works at the moment. Takes no lock. Fault: DATABASE_UNAVAILABLE. */
export async function lockedExecutors(
  url: string,
  executorIds: readonly string[],
  limits?: ConnectionLimits,
): Promise<ReadonlySet<string>> {
  if (executorIds.length === 0) return new Set();
  const client = await connectEngine(url, { name: 'runoff executor', limits });
  try {
    const { rows } = await client.query<{ key: string }>(LOCKED, [executorIds.map(lockKeyOf)]);
    const locked = new Set(rows.map(({ key }) => key));
    return new Set(executorIds.filter((id) => locked.has(lockKeyOf(id))));
  } finally {
    await client.end();
  }
}

/** A session of the server, distinguished from a later one with the same process number. */
interface LockSession {
  readonly pid: number;
  readonly begun: string;
}

interface LockHolder {
  readonly client: pg.Client;
  readonly session: LockSession;
}

const OWN_SESSION =
  'select pid, backend_start::text as begun from pg_stat_activity where pid = pg_backend_pid()';

/**
 * A connection that holds the lock as long as it exists; null if another one still holds the lock after `patienceMs`.
 */
async function takeLock(
  url: string,
  key: string,
  patienceMs: number,
  limits: ConnectionLimits | undefined,
  former?: LockSession,
): Promise<LockHolder | null> {
  const client = await connectEngine(url, { name: 'runoff executor', holds: true, limits });
  try {
    if (former) await endSession(client, former);
    const until = performance.now() + patienceMs;
    while (!(await tryLock(client, key))) {
      if (performance.now() >= until) {
        await client.end();
        return null;
      }
      await delay(EXECUTOR_LOCK_POLL_MS);
    }
    const { rows } = await client.query<LockSession>(OWN_SESSION);
    const [session] = rows;
    if (!session) throw new Fault('INTERNAL', 'The database server does not list the session that asked it.');
    return { client, session };
  } catch (error) {
    await client.end();
    throw error;
  }
}

/**
 * If a network loses all packets, the server keeps the session that we gave up, and the lock with it, until it notices
 * by itself.
 */
async function endSession(client: pg.Client, { pid, begun }: LockSession): Promise<void> {
  await client.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where pid = $1 and backend_start = $2::timestamptz',
    [pid, begun],
  );
}

/**
 * The right to work as `executorId`, which only one process at a time has: DBOS resumes the unfinished flows of an
 * executor without checking whether that executor is alive, and two processes would do the same work twice. It ends
 * with the process. If the server goes down, the lock is taken again as soon as the server is back. Faults:
 * ALREADY_RUNNING if another process has it, DATABASE_UNAVAILABLE.
 */
export async function lockExecutor(
  url: string,
  executorId: string,
  log: Log,
  limits?: ConnectionLimits,
): Promise<ExecutorLock> {
  const key = lockKeyOf(executorId);
  const released = new AbortController();
  const { signal } = released;
  let keeping = Promise.resolve();

  const taken = await takeLock(url, key, EXECUTOR_LOCK_WAIT_MS, limits);
  if (taken === null) {
    throw new Fault(
      'ALREADY_RUNNING',
      `Another Runoff process already uses the name \`${executorId}\`: two at once would do the same work twice.`,
    );
  }
  let holder = taken;

  async function retake(): Promise<void> {
    let reported = false;
    while (!signal.aborted) {
      await delay(RELOCK_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      // Without a server the lock cannot be taken; other users of the database report the outage.
      const again = await takeLock(url, key, RELOCK_WAIT_MS, limits, holder.session).catch(() => undefined);
      if (again) {
        keep(again);
        return;
      }
      if (again === null && !reported) {
        reported = true;
        log.error(
          { executorId },
          'Another process took the name of this one while the database was down. Stop one of them.',
        );
      }
    }
  }

  function keep(found: LockHolder): void {
    holder = found;
    found.client.once('end', () => {
      if (!signal.aborted) keeping = retake();
    });
  }
  keep(taken);

  return {
    async release() {
      released.abort();
      await keeping;
      await holder.client.end();
    },
  };
}
