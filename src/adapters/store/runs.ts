import { sql } from 'kysely';
import { Fault, isFinal, isOver, RUN_STATES, type RunId, type RunState } from '../../core/model/index.ts';
import type { RunRecord, Store } from '../../ports/index.ts';
import { type Db, inStatement, inTransaction, type Tx, unknownRun } from './connection.ts';
import { hasBegun, type NewRun, ownerColumn, rowOfNewRun, rowOfRunPatch, runOfRow } from './rows.ts';

const OVER = RUN_STATES.filter(isOver);
const UNFINISHED = RUN_STATES.filter((state) => !isFinal(state));

/** As in the port. */
const MAX_RUNS_OF_THREAD = 50;
/** The expression of the index `run_of_pull`. */
const isPull = (number: number) =>
  sql<boolean>`(outcome ->> 'kind' = 'pull' and (outcome ->> 'number')::integer = ${number})`;

/** A run has a task, or a place in the queue, once its requester's write access is known. */
const isPermitted = sql<boolean>`(task is not null or queue_entry is not null)`;

async function insertRun(tx: Tx, run: NewRun): Promise<boolean> {
  const inserted = await tx
    .insertInto('runoff.run')
    .values(rowOfNewRun(run))
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  return inserted !== undefined;
}

async function withStages(tx: Tx, rows: readonly Parameters<typeof runOfRow>[0][]) {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.id);
  const stages = await tx
    .selectFrom('runoff.stage_timing')
    .selectAll()
    .where('run_id', '=', sql<string>`any(${ids})`)
    .execute();
  return rows.map((row) => runOfRow(row, stages));
}

const all = (tx: Tx) => tx.selectFrom('runoff.run').selectAll();

/** A run, locked against other writers until the transaction ends. Fault RUN_UNKNOWN. */
async function lockedRun(tx: Tx, id: RunId): Promise<RunRecord> {
  const [run] = await withStages(tx, await all(tx).where('id', '=', id).forUpdate().execute());
  if (run === undefined) throw unknownRun(id);
  return run;
}

export function runs(db: Db) {
  return {
    createRun: (run) => inTransaction(db, (tx) => insertRun(tx, run)),

    acceptDelivery: (delivery, run) =>
      inTransaction(db, async (tx) => {
        const taken = await tx
          .insertInto('runoff.delivery')
          .values({
            id: delivery.id,
            event: delivery.event,
            semantic_key: delivery.semanticKey,
            run_id: delivery.runId,
            at: run.at,
          })
          .onConflict((conflict) => conflict.doNothing())
          .returning('id')
          .executeTakeFirst();
        if (taken === undefined) return false;
        if (await insertRun(tx, { id: delivery.runId, ...run })) return true;
        throw new Fault('INTERNAL', `Delivery ${delivery.id} asks for run ${delivery.runId}, which exists.`);
      }),

    run: (id) =>
      inTransaction(
        db,
        async (tx) => (await withStages(tx, await all(tx).where('id', '=', id).execute()))[0] ?? null,
      ),

    runs: (limit) =>
      inTransaction(db, async (tx) =>
        withStages(
          tx,
          await all(tx).orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute(),
        ),
      ),

    activeRuns: (repositoryId, issue) =>
      inTransaction(db, async (tx) =>
        withStages(
          tx,
          await all(tx)
            .where('repository_id', '=', repositoryId)
            .where('issue', '=', issue)
            .where('state', 'in', UNFINISHED)
            .orderBy('created_at')
            .orderBy('id')
            .execute(),
        ),
      ),

    runsAt: (repositoryId, thread) =>
      inTransaction(db, async (tx) => {
        const found = tx
          .selectFrom('runoff.run')
          .select('id')
          .where('repository_id', '=', repositoryId)
          .where(({ eb, or }) => or([eb('issue', '=', thread), isPull(thread)]))
          .orderBy(({ eb }) => eb('state', 'in', UNFINISHED), 'desc')
          .orderBy(isPermitted, 'desc')
          .orderBy('created_at', 'desc')
          .orderBy('id', 'desc')
          .limit(MAX_RUNS_OF_THREAD);
        const listed = all(tx).where('id', 'in', found);
        return withStages(tx, await listed.orderBy('created_at', 'desc').orderBy('id', 'desc').execute());
      }),

    endedWithout: (key, since, limit) =>
      inTransaction(db, async (tx) => {
        const spokenOf = sql<boolean>`(task is not null or (queue_entry is not null and run.state = 'cancelled'))`;
        const fulfilled = sql<boolean>`exists (
          select from runoff.intent
          where scope = run.id and key = ${key} and intent.state = 'done' and result = 'true'::jsonb)`;
        const found = tx
          .selectFrom('runoff.run as run')
          .selectAll()
          .where('repository_id', 'is not', null)
          .where('run.state', 'in', OVER)
          .where('updated_at', '>=', since)
          .where(spokenOf)
          .where(({ not }) => not(fulfilled));
        return withStages(tx, await found.orderBy('updated_at').orderBy('id').limit(limit).execute());
      }),

    runsIn: (states) =>
      inTransaction(db, async (tx) => {
        const found = all(tx).where('state', '=', sql<string>`any(${states})`);
        return withStages(tx, await found.orderBy('created_at').orderBy('id').execute());
      }),

    idsIn: async (states) => {
      const found = db.selectFrom('runoff.run').select('id').where('state', '=', sql<string>`any(${states})`);
      const rows = await inStatement(found.orderBy('created_at').orderBy('id').execute());
      return rows.map(({ id }) => id);
    },

    updateRun: (id, patch, at) =>
      inTransaction(db, async (tx) => {
        const set = typeof patch === 'function' ? patch(await lockedRun(tx, id)) : patch;
        const { numUpdatedRows } = await tx
          .updateTable('runoff.run')
          .set(rowOfRunPatch(set, at))
          .where('id', '=', id)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) throw unknownRun(id);
      }),
  } satisfies Partial<Store>;
}

/** States in which Runoff works on a run. */
const WORKING_STATES: readonly RunState[] = ['queued', 'admitted', 'briefed', 'coded', 'examined', 'judged'];

/** Queries of admission and intake about all runs. */
export function lookups(db: Db) {
  return {
    async queuedRuns() {
      const rows = await inStatement(
        db
          .selectFrom('runoff.run as run')
          .where('run.state', 'in', WORKING_STATES)
          .where('run.repository_id', 'is not', null)
          .where('run.queue_entry', 'is not', null)
          .select(['run.id', 'run.queue_entry', 'run.state', hasBegun.as('begun')])
          .execute(),
      );
      const known = rows.flatMap(({ queue_entry: entry, ...row }) =>
        entry === null ? [] : [{ ...row, entry }],
      );
      const waits = ({ state, begun }: (typeof known)[number]) => state === 'queued' && !begun;
      return {
        waiting: known.filter(waits).map(({ id, entry }) => ({ id, ...entry, returning: false })),
        holders: known.filter((one) => !waits(one)).map(({ entry }) => ({ share: entry.share })),
      };
    },

    async startedSince(at, whose) {
      const count = db
        .selectFrom('runoff.run')
        .where('created_at', '>=', at)
        .where('repository_id', 'is not', null)
        .where('task', 'is not', null)
        .where(ownerColumn(whose, 'runoff.run'), '=', whose.id)
        .select(sql<number>`count(*)`.as('runs'));
      return (await inStatement(count.executeTakeFirstOrThrow())).runs;
    },

    async isLabelRecorded(repositoryId, issue, at) {
      const prefix = `labeled:${repositoryId}:${issue}:`;
      // Other keys may have the same prefix some day; only a time is read as a number.
      const time = sql<number | null>`
        case when semantic_key ~ '^labeled:[0-9]+:[0-9]+:[0-9]{1,15}$'
             then split_part(semantic_key, ':', 4)::bigint end`;
      const found = db
        .selectFrom('runoff.delivery')
        .where('semantic_key', 'like', `${prefix}%`)
        .where(time, '>=', at)
        .select('id')
        .limit(1);
      return (await inStatement(found.executeTakeFirst())) !== undefined;
    },
  } satisfies Partial<Store>;
}
