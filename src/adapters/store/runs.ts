import { sql } from 'kysely';
import { Fault, isFinal, isOver, RUN_STATES, type RunState } from '../../core/model/index.ts';
import type { Expiry, Retention, Store } from '../../ports/index.ts';
import { type Db, inStatement, inTransaction, type Tx, unknownRun } from './connection.ts';
import { hasBegun, type NewRun, ownerColumn, rowOfNewRun, rowOfRunPatch, runOfRow } from './rows.ts';

const OVER = RUN_STATES.filter(isOver);
const UNFINISHED = RUN_STATES.filter((state) => !isFinal(state));

/** As in the port. */
const MAX_RUNS_OF_THREAD = 50;
/** The expression of the index `run_of_pull`. */
const isPull = (number: number) =>
  sql<boolean>`(outcome ->> 'kind' = 'pull' and (outcome ->> 'number')::integer = ${number})`;

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
  const stages = await tx.selectFrom('runoff.stage_timing').selectAll().where('run_id', 'in', ids).execute();
  return rows.map((row) => runOfRow(row, stages));
}

export function runs(db: Db) {
  const all = (tx: Tx) => tx.selectFrom('runoff.run').selectAll();
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
      inTransaction(db, async (tx) =>
        withStages(
          tx,
          await all(tx)
            .where('repository_id', '=', repositoryId)
            .where(({ eb, or }) => or([eb('issue', '=', thread), isPull(thread)]))
            .orderBy('created_at', 'desc')
            .orderBy('id', 'desc')
            .limit(MAX_RUNS_OF_THREAD)
            .execute(),
        ),
      ),

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

    unfinished: () =>
      inTransaction(db, async (tx) =>
        withStages(
          tx,
          await all(tx).where('state', 'in', UNFINISHED).orderBy('created_at').orderBy('id').execute(),
        ),
      ),

    idsIn: async (states) => {
      const found = db.selectFrom('runoff.run').select('id').where('state', '=', sql<string>`any(${states})`);
      const rows = await inStatement(found.orderBy('created_at').orderBy('id').execute());
      return rows.map(({ id }) => id);
    },

    updateRun: (id, patch, at) =>
      inTransaction(db, async (tx) => {
        const { numUpdatedRows } = await tx
          .updateTable('runoff.run')
          .set(rowOfRunPatch(patch, at))
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

const FINAL_STATES = RUN_STATES.filter(isFinal);
/** States in which the run's own work has ended, even if people may still act on its result. */
const DONE_STATES = [...FINAL_STATES, 'published', 'awaiting_pick'];
const INTENT_DAY_MS = 86_400_000;

const sqlList = (words: readonly string[]) => sql.join(words);
/** Published without a pull request: nothing more will happen to it. */
const isOverSql = sql<boolean>`
  (run.state in (${sqlList(FINAL_STATES)})
   or (run.state = 'published' and coalesce(run.outcome ->> 'kind', '') <> 'pull'))`;
const neverPicked = sql<boolean>`not exists (select from runoff.pick where pick.run_id = run.id)`;

async function countOrDelete(
  tx: Tx,
  table: string,
  where: ReturnType<typeof sql>,
  dry: boolean,
): Promise<number> {
  const from = sql.table(table);
  if (!dry) {
    const { numAffectedRows } = await sql`delete from ${from} as one where ${where}`.execute(tx);
    return Number(numAffectedRows ?? 0);
  }
  const { rows } = await sql<{ n: number }>`select count(*) as n from ${from} as one where ${where}`.execute(
    tx,
  );
  return Number(rows[0]?.n ?? 0);
}

async function expireRuns(
  tx: Tx,
  { runs: before, except = [] }: Expiry,
  dry: boolean,
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select run.id from runoff.run as run
    where run.updated_at < ${before} and ${isOverSql} and ${neverPicked} and run.id <> all(${[...except]}::text[])
    order by run.created_at, run.id`.execute(tx);
  const ids = rows.map(({ id }) => id);
  if (dry || ids.length === 0) return ids;
  await tx.deleteFrom('runoff.intent').where('scope', 'in', ids).execute();
  await tx.deleteFrom('runoff.run').where('id', 'in', ids).execute();
  return ids;
}

/** Removes counts of past days, settled commands, keys and ended tokens of the API, and recipes that no run has used. */
async function expireTraces(tx: Tx, { runs: before, keys }: Expiry): Promise<void> {
  await sql`
    delete from runoff.intent
    where scope ~ '^day:[0-9]{1,9}:' and split_part(scope, ':', 2)::bigint < ${Math.floor(before / INTENT_DAY_MS)}`.execute(
    tx,
  );
  await tx.deleteFrom('runoff.recipe').where('used_at', '<', before).execute();
  await tx.deleteFrom('runoff.command').where('settled_at', '<', before).execute();
  await tx.deleteFrom('runoff.idempotency_key').where('at', '<', keys).execute();
  const ended = sql<number>`least(expires_at, coalesce(revoked_at, expires_at))`;
  await tx.deleteFrom('runoff.api_token').where(ended, '<', before).execute();
}

/** All tables of the store and the engine, including those that later versions add. */
async function allTables(tx: Tx): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select table_schema || '.' || table_name as name from information_schema.tables
    where table_schema in ('runoff', 'dbos') and table_type = 'BASE TABLE'`.execute(tx);
  return rows.map(({ name }) => name);
}

export function retention(db: Db): Retention {
  return {
    expire: (before, dry) =>
      inTransaction(db, async (tx) => {
        const runs = await expireRuns(tx, before, dry);
        if (!dry) await expireTraces(tx, before);
        const old = sql`one.at < ${before.ledger}`;
        // The calls of a run stay with it as long as it is kept, and count against its cap.
        const ofNoRun = sql`not exists (
          select from runoff.run as run where run.id = one.run_id and run.id <> all (${sql.val(runs)}))`;
        const over = sql`
          exists (select from runoff.run as run where run.id = one.run_id and run.state in (${sqlList(DONE_STATES)}))
          or (one.at < ${before.runs} and not exists (select from runoff.run as run where run.id = one.run_id))`;
        return {
          runs,
          calls: await countOrDelete(tx, 'runoff.gateway_call', sql`${old} and ${ofNoRun}`, dry),
          audit: await countOrDelete(tx, 'runoff.audit', old, dry),
          answers: await countOrDelete(tx, 'runoff.model_answer', over, dry),
        };
      }),

    artifactsInUse: () =>
      inTransaction(db, async (tx) => {
        const names = new Set<string>();
        for (const table of await allTables(tx)) {
          const { rows } = await sql<{ name: string }>`
            select distinct found[1] as name
            from ${sql.table(table)} as one,
                 lateral regexp_matches(one::text, '(?:^|[^0-9a-f])([0-9a-f]{64})(?![0-9a-f])', 'g') as found`.execute(
            tx,
          );
          for (const { name } of rows) names.add(name);
        }
        return names;
      }),
  };
}
