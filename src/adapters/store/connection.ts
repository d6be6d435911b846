import { setTimeout as delay } from 'node:timers/promises';
import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import { asFault, Fault, type RunId } from '../../core/model/index.ts';
import type { Identity } from '../../ports/index.ts';
import { type ConnectionLimits, openPool, outageOf } from '../postgres/index.ts';
import type { Schema } from './schema.ts';

/** A network that loses the closing handshake must not keep the process alive. */
const POOL_CLOSE_MS = 2_000;

/** Type number of `bigint`: our times and counts are far below 2^53, so they are read as numbers. */
const BIGINT = 20;

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => (oid === BIGINT ? Number : pg.types.getTypeParser(oid, format)),
};

interface Connection {
  readonly db: Kysely<Schema>;
  close(): Promise<void>;
}

interface ConnectionOptions {
  readonly poolSize: number;
  /** The application name that the server shows. */
  readonly name: string;
  /** The identity for the server's fence. Default: that of a process that shares no work. */
  readonly identity?: Identity | undefined;
  /** Default: our defaults. */
  readonly limits?: ConnectionLimits | undefined;
}

/** Session settings with the identity of the writer, for the database's own fence. */
const identitySettings = ({ id, incarnation }: Identity): Readonly<Record<string, string>> => ({
  'runoff.executor': id,
  'runoff.incarnation': incarnation,
});

export function connectStore(url: string, options: ConnectionOptions): Connection {
  const { poolSize, name, identity, limits } = options;
  const settings = identity ? identitySettings(identity) : {};
  const pool = openPool(url, { size: poolSize, name, limits, settings, types });
  const open = new Set<Promise<void>>();
  pool.on('connect', (client) => {
    const ended = new Promise<void>((settle) => client.once('end', () => settle()));
    open.add(ended);
    void ended.then(() => open.delete(ended));
  });
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  return {
    db,
    async close() {
      await db.destroy();
      // The pool does not wait for its connections to close, but the server may be stopped next, and they must be gone
      // then.
      const patience = new AbortController();
      await Promise.race([
        Promise.all(open),
        delay(POOL_CLOSE_MS, null, { signal: patience.signal }).catch(() => null),
      ]);
      patience.abort();
    },
  };
}

const NO_SUCH_RUN = '23503';
/** Raised by our database function `runoff.fence()`. */
const EXPIRED = 'RF001';
/** The fault for an error of `pg`. */
export function asDatabaseFault(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  const { code } = thrown as { code?: string };
  if (code === NO_SUCH_RUN) return new Fault('RUN_UNKNOWN', 'There is no such run.', { cause: thrown });
  if (code === EXPIRED) {
    return new Fault('EXECUTOR_EXPIRED', 'Others have taken over the work of this process.', {
      cause: thrown,
    });
  }
  const outage = outageOf(thrown);
  if (outage !== null) return new Fault('DATABASE_UNAVAILABLE', outage, { cause: thrown });
  return asFault(thrown);
}

export type Db = Kysely<Schema>;
export type Tx = Transaction<Schema>;

/** One method of the port: one transaction, and a fault from the catalogue for every error. */
export async function inTransaction<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  try {
    return await db.transaction().execute(work);
  } catch (error) {
    throw asDatabaseFault(error);
  }
}

/**
 * Like `inTransaction`, for work of a single statement, which is a transaction by itself: a third of the round trips.
 */
export async function inStatement<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw asDatabaseFault(error);
  }
}

/** State and repository of a run, locked against other writers until the transaction ends. Fault RUN_UNKNOWN. */
export async function lockRun(
  tx: Tx,
  id: RunId,
): Promise<{ readonly state: string; readonly repository_id: number | null }> {
  const row = await tx
    .selectFrom('runoff.run')
    .select(['state', 'repository_id'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (row === undefined) throw unknownRun(id);
  return row;
}

export const unknownRun = (id: RunId): Fault => new Fault('RUN_UNKNOWN', `There is no run ${id}.`);
