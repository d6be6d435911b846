import { type Kysely, type RawBuilder, sql } from 'kysely';
import { Fault } from '../../../core/model/index.ts';
import { initial } from './0001-initial.ts';
import { answersExpire } from './0002-answers-expire.ts';

/**
 * One step of the schema. A released step is never changed, because databases in the field have executed it. A column
 * added to an existing table is nullable or has a default, because there are rows (`test/migrations` executes each step
 * on a database with data of the one before).
 */
export interface Migration {
  /** 1, 2, 3, … without gaps. */
  readonly version: number;
  readonly name: string;
  readonly up: readonly RawBuilder<unknown>[];
}

/** All steps of the schema, in order. Register a new file here; the folder is not scanned. */
export const MIGRATIONS: readonly Migration[] = [initial, answersExpire];

/** Any fixed number other than the engine's. */
const ADVISORY_LOCK = 7_346_001;

/**
 * Whether the schema is the one of this version. Does not wait for locks; also false if a newer Runoff has written it.
 */
export async function isMigrated<Schema>(db: Kysely<Schema>): Promise<boolean> {
  const { rows: found } = await sql<{ made: boolean }>`
    select to_regclass('runoff.migration') is not null as made`.execute(db);
  if (!found[0]?.made) return false;
  const { rows } = await sql<{ latest: number }>`
    select coalesce(max(version), 0) as latest from runoff.migration`.execute(db);
  return rows[0]?.latest === MIGRATIONS.at(-1)?.version;
}

/**
 * Updates the schema `runoff` in one transaction under an advisory lock: several processes may open the database at
 * once, and a failure changes nothing. Returns the versions that were applied. Rejects with DATABASE_UNAVAILABLE if a
 * newer Runoff has written the database.
 */
export async function migrate<Schema>(
  db: Kysely<Schema>,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<readonly number[]> {
  return db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${sql.lit(ADVISORY_LOCK)})`.execute(tx);
    await sql`create schema if not exists runoff`.execute(tx);
    await sql`
      create table if not exists runoff.migration (
        version    integer primary key,
        name       text not null,
        applied_at timestamptz not null default now()
      )`.execute(tx);
    const { rows } = await sql<{ latest: number }>`
      select coalesce(max(version), 0) as latest from runoff.migration`.execute(tx);
    const latest = rows[0]?.latest ?? 0;
    const known = migrations.at(-1)?.version ?? 0;
    if (latest > known) {
      throw new Fault(
        'DATABASE_UNAVAILABLE',
        `The database was written by a newer Runoff (schema ${latest}; this one knows ${known}). Use that version, or another database.`,
      );
    }
    const missing = migrations.filter((migration) => migration.version > latest);
    for (const { version, name, up } of missing) {
      for (const statement of up) await statement.execute(tx);
      await sql`insert into runoff.migration (version, name) values (${version}, ${name})`.execute(tx);
    }
    return missing.map((migration) => migration.version);
  });
}
