import type { Kysely, Transaction } from 'kysely';
import { asDatabaseFault } from './connection.ts';
import type { Schema } from './schema.ts';

export type Db = Kysely<Schema>;
export type Tx = Transaction<Schema>;

/** One method of the port: one transaction, and a fault from the catalogue for whatever goes wrong. */
export async function inTransaction<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  try {
    return await db.transaction().execute(work);
  } catch (error) {
    throw asDatabaseFault(error);
  }
}

/** As `inTransaction` for work of a single statement, which is a transaction by itself: a third of the round trips. */
export async function inStatement<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw asDatabaseFault(error);
  }
}
