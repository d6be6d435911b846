import { sql } from 'kysely';
import { isFinal, RUN_STATES } from '../../core/model/index.ts';
import type { Expiry, Retention } from '../../ports/index.ts';
import { type Db, inTransaction, type Tx } from './connection.ts';

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
  // A list is one parameter, of which Postgres takes 65,535.
  await sql`delete from runoff.intent where scope = any(${sql.val(ids)}::text[])`.execute(tx);
  await sql`delete from runoff.run where id = any(${sql.val(ids)}::text[])`.execute(tx);
  return ids;
}

/**
 * Removes counts of past days, settled commands with their results, answers to work that is not a run, keys and ended
 * tokens of the API, and recipes that no run has used.
 */
async function expireTraces(tx: Tx, { runs: before, keys }: Expiry): Promise<void> {
  await sql`
    delete from runoff.intent
    where scope ~ '^day:[0-9]{1,9}:' and split_part(scope, ':', 2)::bigint < ${Math.floor(before / INTENT_DAY_MS)}`.execute(
    tx,
  );
  await tx.deleteFrom('runoff.recipe').where('used_at', '<', before).execute();
  await tx.deleteFrom('runoff.command').where('settled_at', '<', before).execute();
  // A command is stored before its first intent, so one without its command belonged to a deleted one.
  await sql`
    delete from runoff.intent
    where scope like 'command:%'
      and not exists (select from runoff.command where 'command:' || command.id = intent.scope)`.execute(tx);
  await tx.deleteFrom('runoff.answer').where('at', '<', before).execute();
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

    databaseName: (owner) =>
      inTransaction(db, async (tx) => {
        if (owner === null) {
          await sql`
            insert into runoff.intent (scope, key, state, result)
            values ('database', 'name', 'done', to_jsonb(gen_random_uuid()))
            on conflict (scope, key) do nothing`.execute(tx);
        }
        const { rows } = await sql<{ name: string }>`
          select result #>> '{}' as name from runoff.intent where scope = 'database' and key = 'name'`.execute(
          tx,
        );
        return rows[0]?.name ?? '';
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
