import type { Kysely, Transaction } from 'kysely';
import { Fault, type RunId } from '../../core/model/index.ts';
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

/** State and repository of a run, which nobody else writes about until the transaction ends. Fault RUN_UNKNOWN. */
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
