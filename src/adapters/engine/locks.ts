import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { Fault } from '../../core/model/index.ts';
import type { Log } from '../../ports/index.ts';
import { type ConnectionLimits, type ConnectOptions, openClient } from '../postgres/index.ts';

/** Any fixed number; the store's lock is another. While it is held, no engine launches. */
export const LAUNCH_LOCK = '7346002';
const LOCK_POLL_MS = 50;

function unavailable(error: unknown): Fault {
  const { message, code } = error as { message: string; code?: string };
  return new Fault('DATABASE_UNAVAILABLE', `The database cannot be reached: ${message || code}.`, {
    cause: error,
  });
}

/** Fault: DATABASE_UNAVAILABLE. */
export async function connect(
  url: string,
  options: ConnectOptions & { readonly holds?: boolean },
): Promise<pg.Client> {
  try {
    return await openClient(url, options);
  } catch (error) {
    throw unavailable(error);
  }
}

/**
 * Takes the database's lock of this number, unless another connection has it; it ends with the connection.
 * Tried again and again rather than waited for: DBOS builds indexes concurrently, which waits for every statement that
 * is under way, and so would wait for those who wait for the lock.
 */
export async function tryLock(client: pg.Client, key: string): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [key]);
  return rows[0]?.taken ?? false;
}

/**
 * Runs `work` while no other process launches an engine on this database: DBOS creates its schema without a lock of
 * its own, and of two that do so at once one dies.
 */
export async function withLaunchLock<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connect(url, { name: 'runoff launch', holds: true });
  try {
    while (!(await tryLock(client, LAUNCH_LOCK))) await delay(LOCK_POLL_MS);
    return await work(client);
  } finally {
    // Closing the connection gives the lock back.
    await client.end();
  }
}

/** Milliseconds that the server gets to notice that an earlier holder was killed. Our default. */
const PATIENCE_MS = 3_000;
const LOCK_POLL_INTERVAL_MS = 100;
/** Milliseconds that our own lost session gets to end when it was told to. Our default. */
const RETAKE_PATIENCE_MS = 1_000;
/** Milliseconds between two looks for a server that went away. Our default. */
const RETAKE_EVERY_MS = 500;

export interface ExecutorLock {
  release(): Promise<void>;
}

const keyOf = (executorId: string): string =>
  createHash('sha256').update(`runoff executor ${executorId}`).digest().readBigInt64BE().toString();

/** A session of the server, told from a later one that has the same process number. */
interface Session {
  readonly pid: number;
  readonly begun: string;
}

interface Holder {
  readonly client: pg.Client;
  readonly session: Session;
}

const SESSION = 'select pid, backend_start::text as begun from pg_stat_activity where pid = pg_backend_pid()';

/** A connection that holds the lock as long as it lives; null when another one still holds it after `patienceMs`. */
async function take(
  url: string,
  key: string,
  patienceMs: number,
  limits: ConnectionLimits | undefined,
  former?: Session,
): Promise<Holder | null> {
  const client = await connect(url, { name: 'runoff executor', holds: true, limits });
  try {
    if (former) await endSession(client, former);
    const until = performance.now() + patienceMs;
    while (!(await tryLock(client, key))) {
      if (performance.now() >= until) {
        await client.end();
        return null;
      }
      await delay(LOCK_POLL_INTERVAL_MS);
    }
    const { rows } = await client.query<Session>(SESSION);
    const [session] = rows;
    if (!session) throw new Fault('INTERNAL', 'The database server does not list the session that asked it.');
    return { client, session };
  } catch (error) {
    await client.end();
    throw error;
  }
}

/**
 * Where a network swallowed everything, the server still has the session that we gave up, and the lock with it, until it
 * notices by itself.
 */
async function endSession(client: pg.Client, { pid, begun }: Session): Promise<void> {
  await client.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where pid = $1 and backend_start = $2::timestamptz',
    [pid, begun],
  );
}

/**
 * The right to work as `executorId`, which one process at a time has: DBOS takes up what an executor of this name left
 * unfinished without asking whether that executor is alive, and two would do the same work twice. It ends with the
 * process. When the server goes away, it is taken again as soon as the server is back.
 * Faults: ALREADY_RUNNING when another process has it, DATABASE_UNAVAILABLE.
 */
export async function lockExecutor(
  url: string,
  executorId: string,
  log: Log,
  limits?: ConnectionLimits,
): Promise<ExecutorLock> {
  const key = keyOf(executorId);
  const released = new AbortController();
  const { signal } = released;
  let keeping = Promise.resolve();

  const taken = await take(url, key, PATIENCE_MS, limits);
  if (taken === null) {
    throw new Fault(
      'ALREADY_RUNNING',
      `Another Runoff process works as \`${executorId}\` already: two at once would do the same work twice.`,
    );
  }
  let holder = taken;

  async function retake(): Promise<void> {
    let told = false;
    while (!signal.aborted) {
      await delay(RETAKE_EVERY_MS, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      // Without a server nothing can be taken, and whoever uses the database says so.
      const again = await take(url, key, RETAKE_PATIENCE_MS, limits, holder.session).catch(() => undefined);
      if (again) {
        keep(again);
        return;
      }
      if (again === null && !told) {
        told = true;
        log.error(
          { executorId },
          'Another process works under our name since the database was away; end one.',
        );
      }
    }
  }

  function keep(found: Holder): void {
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
