import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type pg from 'pg';
import type { ExecutorFacts, ExecutorRecord, Executors, Identity, Store } from '../../ports/index.ts';
import { type ConnectionLimits, LIMITS, openClient, tryLock } from '../postgres/index.ts';
import { connectStore, type Db, inStatement, inTransaction, type Tx } from './connection.ts';
import { storableJson } from './rows.ts';

/** Heartbeats have their own connections, so that they never wait for the store's work or for the expiry of others. */
const HEARTBEAT_CONNECTIONS = 2;

/** Any fixed number; those of migrations and launches are different. */
const EXPIRY_LOCK = '7346004';
/** After this many times `staleMs`, the server ends the session of a frozen process that moves work. Our default. */
const EXPIRY_FROZEN_FACTOR = 2;

/** Replaces the incarnation of an expired process until its work has been moved. No process has this incarnation. */
const EXPIRED_INCARNATION = 'expired';

/**
 * Shorter than those of the store: a heartbeat is one row, and a lost one must be repeated before others take over. Our
 * default.
 */
const HEARTBEAT_LIMITS: ConnectionLimits = {
  ...LIMITS,
  connectMs: 5_000,
  silenceMs: 5_000,
  statementMs: 4_000,
  lockMs: 4_000,
};

/** Longer than an earlier process of the name can lock its row: the server ends an idle transaction. */
const JOIN_LIMITS: ConnectionLimits = { ...LIMITS, silenceMs: 30_000, statementMs: 25_000, lockMs: 20_000 };

/** Milliseconds between two checks whether an expiry has ended. */
const EXPIRY_POLL_MS = 100;

interface ExecutorsOptions {
  /** Default: `HEARTBEAT_LIMITS`. */
  readonly limits?: ConnectionLimits | undefined;
  /** Milliseconds by a monotonic clock. Default: the system's. */
  readonly elapsed?: (() => number) | undefined;
}

/** The processes that share the work, as seen by the one with this identity. The schema must be up to date. */
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
        // A process whose work is being moved joins after that. It polls, because no statement may wait for so long.
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

    expire: (staleMs, transfer) =>
      inStatement(
        (async () => {
          // Not under the lock: a process that is frozen while it holds it would keep all others from taking over.
          const silent = await findSilent(db, id, staleMs, unchanged);
          if (silent.length === 0) return [];
          // Once a frozen one has lost the lock, others have seen its silence, and give it up as well.
          const frozenMs = EXPIRY_FROZEN_FACTOR * staleMs;
          const client = await openClient(url, { name: 'runoff heartbeat', limits, holds: true, frozenMs });
          try {
            if (!(await tryLock(client, EXPIRY_LOCK))) return [];
            const ids = await markExpired(db, silent);
            if (ids.length === 0) return [];
            await transfer(ids);
            await forgetExpired(client, ids);
            return ids;
          } finally {
            await client.end();
          }
        })(),
      ),

    close,
  };
}

/**
 * Writes the row of a process. Returns false, and writes nothing, during an expiry: of any process, or, if `when` is
 * `at once`, only of this name.
 */
function tryJoin(
  db: Db,
  { id, incarnation }: Identity,
  { role, ...facts }: ExecutorFacts,
  at: number,
  when: 'at once' | 'afterwards',
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    if (when === 'afterwards' && !(await tryExpiryLockIn(tx))) return false;
    // Waits for active writes of an earlier process of the name.
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

/**
 * A heartbeat as stored in a row, combined with the server's start: silence while the server was down does not count.
 */
interface Heartbeat {
  readonly id: string;
  readonly sign: string;
  /** It left by itself, or has already expired. */
  readonly gone: boolean;
}

/** Milliseconds for which each heartbeat has been unchanged, by the clock of this process. */
type Observations = (signs: readonly Heartbeat[]) => (sign: Heartbeat) => number;

/**
 * Silence is measured here instead of comparing times: the heartbeats are written by the clock of the database server,
 * which can be set while all processes are alive.
 */
function openObservations(elapsed: () => number): Observations {
  let previous: ReadonlyMap<string, { readonly sign: string; readonly since: number }> = new Map();
  return (signs) => {
    const at = elapsed();
    const now = new Map(
      signs.map(({ id, sign }) => {
        const known = previous.get(id);
        return [id, known?.sign === sign ? known : { sign, since: at }];
      }),
    );
    previous = now;
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
 * Deletes the marks of executors whose work has been moved. By the connection that holds the lock: if it was lost
 * meanwhile, this fails, and the marks are those of another process, which moves the work.
 */
async function forgetExpired(holder: pg.Client, ids: readonly string[]): Promise<void> {
  await holder.query('delete from runoff.executor where id = any($1) and incarnation = $2', [
    ids,
    EXPIRED_INCARNATION,
  ]);
}

/**
 * Marks executors as expired that have sent no heartbeat since, for good, so that they cannot write while their flows
 * are moved. If moving fails, the mark stays, and the next check moves them. Rows being written at the moment are
 * skipped until the next check, so that this never waits.
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

/** All executors, for people. */
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
