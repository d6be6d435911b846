import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type { ExecutorFacts, ExecutorRecord, Executors, Identity, Store } from '../../ports/index.ts';
import { type ConnectionLimits, LIMITS } from '../postgres/index.ts';
import { connect } from './connection.ts';
import { json } from './rows.ts';
import { type Db, inStatement, inTransaction, type Tx } from './transaction.ts';

/** Beats are told apart from the store's work, and from burying others, so that they never wait behind it. */
const CONNECTIONS = 2;

/** Any fixed number; those of migrations and launches are others. */
const BURYING = 7_346_004;

/** Instead of the incarnation of a process that was given up, until its work is moved. None is called so. */
const TOMBSTONE = 'given up';

/** Where processes of older versions give their signs of life; there is none where no such version ever ran. */
const FORMER = 'runoff_engine.executor';

/**
 * Shorter than those of the store: a sign of life is one row, and one that is lost must be given again before others take
 * over. Our default.
 */
const BEAT_LIMITS: ConnectionLimits = {
  ...LIMITS,
  connectMs: 5_000,
  silenceMs: 5_000,
  statementMs: 4_000,
  lockMs: 4_000,
};

/** Longer than an earlier process of the name can hold its row: the server ends a transaction that stands still. */
const JOIN_LIMITS: ConnectionLimits = { ...LIMITS, silenceMs: 30_000, statementMs: 25_000, lockMs: 20_000 };

/** Milliseconds between two looks for the end of a burial. */
const BURIAL_POLL_MS = 100;

/** The processes that share the work, as the one of this identity sees them. The schema must be up to date. */
export function openExecutors(
  url: string,
  { id, incarnation }: Identity,
  limits: ConnectionLimits = BEAT_LIMITS,
): Executors {
  const { db, close } = connect(url, { poolSize: CONNECTIONS, name: 'runoff heartbeat', limits });
  return {
    async join(facts, at) {
      const self = { id, incarnation };
      const waiting = connect(url, { poolSize: 1, name: 'runoff heartbeat', limits: JOIN_LIMITS });
      try {
        if (await joined(waiting.db, self, facts, at, 'at once')) return;
        // Whose work is moved just now comes back when that is through. Asked again and again, as no statement waits so long.
        while (!(await joined(waiting.db, self, facts, at, 'afterwards'))) await delay(BURIAL_POLL_MS);
      } finally {
        await waiting.close();
      }
    },

    async beat() {
      const update = db
        .updateTable('runoff.executor')
        .set({ seen: sql<Date>`clock_timestamp()` })
        .where('id', '=', id)
        .where('incarnation', '=', incarnation);
      const { numUpdatedRows } = await inStatement(update.executeTakeFirst());
      return numUpdatedRows === 0n ? 'given up' : 'alive';
    },

    async leave() {
      const update = db
        .updateTable('runoff.executor')
        .set({ seen: '-infinity' })
        .where('id', '=', id)
        .where('incarnation', '=', incarnation);
      await inStatement(update.execute());
    },

    bury: (staleMs, handOn) =>
      inStatement(
        db.connection().execute(async (held) => {
          if (!(await tryLock(held))) return [];
          try {
            return await buryAll(held, id, staleMs, handOn);
          } finally {
            await sql`select pg_advisory_unlock(${BURYING})`.execute(held);
          }
        }),
      ),

    close,
  };
}

/** Writes the row of a process; false, and nothing is written, where somebody is being buried: this name, if `when` is `at once`. */
function joined(
  db: Db,
  { id, incarnation }: Identity,
  { role, ...facts }: ExecutorFacts,
  at: number,
  when: 'at once' | 'afterwards',
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    if (when === 'afterwards' && !(await tryTransactionLock(tx))) return false;
    // Waits for what an earlier process of the name writes just now.
    const query = tx.selectFrom('runoff.executor').select('incarnation').where('id', '=', id).forUpdate();
    const former = await query.executeTakeFirst();
    if (former?.incarnation === TOMBSTONE && when === 'at once') return false;
    const row = {
      incarnation,
      role,
      facts: json(facts),
      started_at: at,
      seen: sql<Date>`clock_timestamp()`,
    };
    await tx
      .insertInto('runoff.executor')
      .values({ id, ...row })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
      .execute();
    // Else a process of an older version would miss it there, and take what this one works on.
    if (await hasFormer(tx))
      await sql`delete from ${sql.table(FORMER)} where executor_id = ${id}`.execute(tx);
    return true;
  });
}

async function tryTransactionLock(tx: Tx): Promise<boolean> {
  const { rows } = await sql<{ mine: boolean }>`
    select pg_try_advisory_xact_lock(${BURYING}) as mine`.execute(tx);
  return rows[0]?.mine ?? false;
}

/** The lock ends with the connection: whoever dies while burying keeps nobody out. */
async function tryLock(held: Db): Promise<boolean> {
  const { rows } = await sql<{ mine: boolean }>`select pg_try_advisory_lock(${BURYING}) as mine`.execute(
    held,
  );
  return rows[0]?.mine ?? false;
}

/**
 * They are given up first, and for good: whoever moves their flows need not fear that they write meanwhile. Where moving
 * fails, the stone stays, and the next look moves them.
 */
async function buryAll(
  db: Db,
  own: string,
  staleMs: number,
  handOn: Parameters<Executors['bury']>[1],
): Promise<readonly string[]> {
  const [silent, former] = await inTransaction(db, async (tx) => {
    const found = await silentFor(tx, staleMs, own);
    if (found.length > 0) {
      const stones = tx.updateTable('runoff.executor').set({ incarnation: TOMBSTONE });
      await stones.where('id', 'in', found).execute();
    }
    return [found, await formerSilentFor(tx, staleMs)] as const;
  });
  const all = [...silent, ...former];
  if (all.length === 0) return [];
  await handOn(all);
  await inTransaction(db, async (tx) => {
    await tx
      .deleteFrom('runoff.executor')
      .where('id', 'in', all)
      .where('incarnation', '=', TOMBSTONE)
      .execute();
    if (former.length > 0)
      await sql`delete from ${sql.table(FORMER)}
        where executor_id in (${sql.join(former)}) and seen < ${longAgo(staleMs)}`.execute(tx);
  });
  return all;
}

const longAgo = (staleMs: number) => sql<Date>`clock_timestamp() - ${staleMs} * interval '1 millisecond'`;

/** After an outage of the database everybody was silent, and nobody is dead. */
const wasUp = (staleMs: number) =>
  sql<boolean>`(seen = '-infinity' or pg_postmaster_start_time() < ${longAgo(staleMs)})`;

/** One that writes just now, or that another is burying, is left to the next look: nobody waits here. */
async function silentFor(tx: Tx, staleMs: number, own: string): Promise<readonly string[]> {
  const rows = await tx
    .selectFrom('runoff.executor')
    .select('id')
    .where('id', '<>', own)
    .where('seen', '<', longAgo(staleMs))
    .where(wasUp(staleMs))
    .forUpdate()
    .skipLocked()
    .execute();
  return rows.map((row) => row.id);
}

async function formerSilentFor(tx: Tx, staleMs: number): Promise<readonly string[]> {
  if (!(await hasFormer(tx))) return [];
  const { rows } = await sql<{ executor_id: string }>`
    select executor_id from ${sql.table(FORMER)}
    where seen < ${longAgo(staleMs)} and ${wasUp(staleMs)}`.execute(tx);
  return rows.map((row) => row.executor_id);
}

async function hasFormer(tx: Tx): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select to_regclass(${FORMER}) is not null as found`.execute(tx);
  return rows[0]?.found ?? false;
}

/** All of them, for people. */
export function executorList(db: Db) {
  return {
    async executors() {
      const found = db
        .selectFrom('runoff.executor')
        .select(['id', 'role', 'facts', 'started_at'])
        .select(
          sql<number | null>`case when seen = '-infinity' then null
            else greatest(0, extract(epoch from clock_timestamp() - seen) * 1000)::bigint end`.as('silent'),
        )
        .orderBy('id');
      return (await inStatement(found.execute())).map(
        (row): ExecutorRecord => ({
          id: row.id,
          role: row.role === 'worker' ? 'worker' : 'app',
          ...row.facts,
          startedAt: row.started_at,
          silentMs: row.silent,
        }),
      );
    },
  } satisfies Partial<Store>;
}
