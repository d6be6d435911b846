import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type { ExecutorFacts, ExecutorRecord, Executors, Identity, Store } from '../../ports/index.ts';
import { type ConnectionLimits, LIMITS } from '../postgres/index.ts';
import { connectStore, type Db, inStatement, inTransaction, type Tx } from './connection.ts';
import { storableJson } from './rows.ts';

/** Beats are told apart from the store's work, and from burying others, so that they never wait behind it. */
const HEARTBEAT_CONNECTIONS = 2;

/** Any fixed number; those of migrations and launches are others. */
const EXPIRY_LOCK = 7_346_004;

/** Instead of the incarnation of a process that was given up, until its work is moved. None is called so. */
const EXPIRED_INCARNATION = 'expired';

/**
 * Shorter than those of the store: a sign of life is one row, and one that is lost must be given again before others take
 * over. Our default.
 */
const HEARTBEAT_LIMITS: ConnectionLimits = {
  ...LIMITS,
  connectMs: 5_000,
  silenceMs: 5_000,
  statementMs: 4_000,
  lockMs: 4_000,
};

/** Longer than an earlier process of the name can hold its row: the server ends a transaction that stands still. */
const JOIN_LIMITS: ConnectionLimits = { ...LIMITS, silenceMs: 30_000, statementMs: 25_000, lockMs: 20_000 };

/** Milliseconds between two looks for the end of a burial. */
const EXPIRY_POLL_MS = 100;

interface ExecutorsOptions {
  /** Default: short ones, see `BEAT_LIMITS`. */
  readonly limits?: ConnectionLimits | undefined;
  /** Milliseconds by a clock that never jumps. Default: the system's. */
  readonly elapsed?: (() => number) | undefined;
}

/** The processes that share the work, as the one of this identity sees them. The schema must be up to date. */
export function openExecutors(
  url: string,
  { id, incarnation }: Identity,
  { limits = HEARTBEAT_LIMITS, elapsed = () => performance.now() }: ExecutorsOptions = {},
): Executors {
  const { db, close } = connectStore(url, {
    poolSize: HEARTBEAT_CONNECTIONS,
    name: 'runoff heartbeat',
    limits,
  });
  const unchanged = openObservations(elapsed);
  return {
    async join(facts, at) {
      const self = { id, incarnation };
      const waiting = connectStore(url, { poolSize: 1, name: 'runoff heartbeat', limits: JOIN_LIMITS });
      try {
        if (await tryJoin(waiting.db, self, facts, at, 'at once')) return;
        // Whose work is moved just now comes back when that is through. Asked again and again, as no statement waits so long.
        while (!(await tryJoin(waiting.db, self, facts, at, 'afterwards'))) await delay(EXPIRY_POLL_MS);
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
      return numUpdatedRows === 0n ? 'expired' : 'alive';
    },

    async leave() {
      const update = db
        .updateTable('runoff.executor')
        .set({ seen: '-infinity' })
        .where('id', '=', id)
        .where('incarnation', '=', incarnation);
      await inStatement(update.execute());
    },

    expire: (staleMs, handOn) =>
      inStatement(
        db.connection().execute(async (held) => {
          if (!(await tryExpiryLock(held))) return [];
          try {
            return await expireAll(held, await findSilent(held, id, staleMs, unchanged), handOn);
          } finally {
            await sql`select pg_advisory_unlock(${EXPIRY_LOCK})`.execute(held);
          }
        }),
      ),

    close,
  };
}

/** Writes the row of a process; false, and nothing is written, where somebody is being buried: this name, if `when` is `at once`. */
function tryJoin(
  db: Db,
  { id, incarnation }: Identity,
  { role, ...facts }: ExecutorFacts,
  at: number,
  when: 'at once' | 'afterwards',
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    if (when === 'afterwards' && !(await tryExpiryLockIn(tx))) return false;
    // Waits for what an earlier process of the name writes just now.
    const query = tx.selectFrom('runoff.executor').select('incarnation').where('id', '=', id).forUpdate();
    const former = await query.executeTakeFirst();
    if (former?.incarnation === EXPIRED_INCARNATION && when === 'at once') return false;
    const row = {
      incarnation,
      role,
      facts: storableJson(facts),
      started_at: at,
      seen: sql<Date>`clock_timestamp()`,
    };
    await tx
      .insertInto('runoff.executor')
      .values({ id, ...row })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
      .execute();
    return true;
  });
}

async function tryExpiryLockIn(tx: Tx): Promise<boolean> {
  const { rows } = await sql<{ mine: boolean }>`
    select pg_try_advisory_xact_lock(${EXPIRY_LOCK}) as mine`.execute(tx);
  return rows[0]?.mine ?? false;
}

/** The lock ends with the connection: whoever dies while burying keeps nobody out. */
async function tryExpiryLock(held: Db): Promise<boolean> {
  const { rows } = await sql<{ mine: boolean }>`select pg_try_advisory_lock(${EXPIRY_LOCK}) as mine`.execute(
    held,
  );
  return rows[0]?.mine ?? false;
}

/** A sign of life as it stands in a row, with the server's start: what was silent while the server was away is no sign. */
interface Heartbeat {
  readonly id: string;
  readonly sign: string;
  /** Left by itself, or given up already. */
  readonly gone: boolean;
}

/** Milliseconds for which each sign of life has been the same, by the clock of this process. */
type Observations = (signs: readonly Heartbeat[]) => (sign: Heartbeat) => number;

/**
 * Whether a process is silent is measured here and not by comparing times: the clock of the database server, by which
 * they are written, can be set while everybody is alive.
 */
function openObservations(elapsed: () => number): Observations {
  let seen: ReadonlyMap<string, { readonly sign: string; readonly since: number }> = new Map();
  return (signs) => {
    const at = elapsed();
    const now = new Map(
      signs.map(({ id, sign }) => {
        const known = seen.get(id);
        return [id, known?.sign === sign ? known : { sign, since: at }];
      }),
    );
    seen = now;
    return ({ id }) => at - (now.get(id)?.since ?? at);
  };
}

const heartbeatText = sql<string>`concat_ws(' ', seen, pg_postmaster_start_time())`;

async function findSilent(
  db: Db,
  own: string,
  staleMs: number,
  unchangedFor: Observations,
): Promise<readonly Heartbeat[]> {
  const { rows } = await sql<Heartbeat>`
    select id, concat_ws(' ', incarnation, ${heartbeatText}) as sign,
      seen = '-infinity' or incarnation = ${EXPIRED_INCARNATION} as gone
    from runoff.executor where id <> ${own}`.execute(db);
  const unchanged = unchangedFor(rows);
  return rows.filter((sign) => sign.gone || unchanged(sign) >= staleMs);
}

/**
 * They are given up first, and for good: whoever moves their flows need not fear that they write meanwhile. Where moving
 * fails, the stone stays, and the next look moves them.
 */
async function expireAll(
  db: Db,
  silent: readonly Heartbeat[],
  handOn: Parameters<Executors['expire']>[1],
): Promise<readonly string[]> {
  const ids = silent.length === 0 ? [] : await markExpired(db, silent);
  if (ids.length === 0) return [];
  await handOn(ids);
  const stones = db
    .deleteFrom('runoff.executor')
    .where('id', 'in', ids)
    .where('incarnation', '=', EXPIRED_INCARNATION);
  await inStatement(stones.execute());
  return ids;
}

/**
 * Puts a tombstone in the place of those that gave no sign of life since. One that writes just now is left to the next
 * look: nobody waits here.
 */
function markExpired(db: Db, silent: readonly Heartbeat[]): Promise<readonly string[]> {
  return inTransaction(db, async (tx) => {
    const same = sql.join(silent.map(({ id, sign }) => sql`(${id}, ${sign})`));
    const found = await tx
      .selectFrom('runoff.executor')
      .select('id')
      .where(sql<boolean>`(id, concat_ws(' ', incarnation, ${heartbeatText})) in (${same})`)
      .forUpdate()
      .skipLocked()
      .execute();
    const ids = found.map(({ id }) => id);
    if (ids.length > 0) {
      const stones = tx.updateTable('runoff.executor').set({ incarnation: EXPIRED_INCARNATION });
      await stones.where('id', 'in', ids).execute();
    }
    return ids;
  });
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
