import { setTimeout as delay } from 'node:timers/promises';
import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import { asFault, Fault, type RunId } from '../../core/model/index.ts';
import type { Identity } from '../../ports/index.ts';
import { type ConnectionLimits, openPool } from '../postgres/index.ts';
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

/** Node's error codes for a server that cannot be reached. */
const UNREACHABLE_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
/**
 * SQLSTATE classes and codes: connection, authorisation, no such database, too many connections, shutdown, a
 * transaction that was idle for too long.
 */
const NO_CONNECTION = /^(08...|28...|3D000|53300|57P0.|25P0[34])$/;
const BROKEN =
  /connection terminated|timeout exceeded when trying to connect|connection error|driver has already been destroyed|after calling end/i;
const NO_SUCH_RUN = '23503';
/** Raised by our database function `runoff.fence()`. */
const EXPIRED = 'RF001';
/** SQLSTATEs of a server that answers but cannot write: an outage, which runs wait out. Nothing was written. */
const NO_WRITES: Readonly<Record<string, string>> = {
  '53000': 'it is short of something',
  '53100': 'its disk is full',
  '53200': 'its memory is used up',
  '53400': 'a limit of its configuration is reached',
  '25006': 'it is read-only, as servers are whose disk is nearly full, and stand-bys',
  '58030': 'its disk fails',
};

/** SQLSTATEs of a transaction that was ended so that others could continue; it was rolled back and can be retried. */
const ROLLED_BACK: Readonly<Record<string, string>> = {
  '57014': 'the statement took longer than its limit',
  '55P03': 'a lock was held by others for longer than its limit',
  '40001': 'another transaction changed the same rows',
  '40P01': 'it was in a deadlock with another transaction',
};

/** The fault for an error of `pg`. Its messages contain hosts and users, never a password. */
export function asDatabaseFault(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  const { code = '', message } = thrown as { code?: string; message: string };
  if (code === NO_SUCH_RUN) return new Fault('RUN_UNKNOWN', 'There is no such run.', { cause: thrown });
  if (code === EXPIRED) {
    return new Fault('EXECUTOR_EXPIRED', 'Others have taken over the work of this process.', {
      cause: thrown,
    });
  }
  const short = NO_WRITES[code];
  if (short !== undefined) {
    return new Fault('DATABASE_UNAVAILABLE', `The database takes no writes: ${short} (${message}).`, {
      cause: thrown,
    });
  }
  const gaveWay = ROLLED_BACK[code];
  if (gaveWay !== undefined) {
    return new Fault('DATABASE_UNAVAILABLE', `The database ended a transaction: ${gaveWay} (${message}).`, {
      cause: thrown,
    });
  }
  if (UNREACHABLE_CODES.has(code) || NO_CONNECTION.test(code) || BROKEN.test(message)) {
    return new Fault('DATABASE_UNAVAILABLE', `The database cannot be reached: ${message || code}.`, {
      cause: thrown,
    });
  }
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
