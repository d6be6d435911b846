import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { Fault } from '../../core/model/index.ts';
import { type ConnectOptions, openClient } from '../postgres/index.ts';

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
