import { type Insertable, type Selectable, sql } from 'kysely';
import { CODER_STEP_KINDS, CODER_STEP_LIMITS, type CoderStep } from '../../core/model/index.ts';
import type { LiveRuns, RunMark, Store } from '../../ports/index.ts';
import { type Db, inStatement, inTransaction, type Tx } from './connection.ts';
import { oneOf, storableText, withoutNulls } from './rows.ts';
import type { CoderStepTable } from './schema.ts';

/** Steps of coders, and what has changed since somebody looked. */
export function liveRuns(db: Db): LiveRuns {
  return {
    appendSteps: (runId, steps) =>
      inTransaction(db, async (tx) => {
        if (steps.length === 0) return;
        await tx
          .insertInto('runoff.coder_step')
          .values(steps.map((step) => rowOfStep(runId, step)))
          .onConflict((conflict) => conflict.doNothing())
          .execute();
        for (const [alias, last] of lastNumbers(steps)) await deleteOldSteps(tx, runId, alias, last);
      }),

    async steps(runId, { alias, after, before, kinds, text, limit }) {
      let found = db
        .selectFrom('runoff.coder_step')
        .selectAll()
        .where('run_id', '=', runId)
        .where('alias', '=', alias)
        .orderBy('number', before === undefined ? 'asc' : 'desc')
        .limit(limit);
      if (after !== undefined) found = found.where('number', '>', after);
      if (before !== undefined) found = found.where('number', '<', before);
      if (kinds !== undefined) found = found.where('kind', '=', sql<string>`any(${[...kinds]})`);
      if (text !== undefined) {
        const wanted = storableText(text);
        found = found.where(
          sql<boolean>`position(lower(${wanted}) in lower(text || ' ' || coalesce(detail, ''))) > 0`,
        );
      }
      const rows = (await inStatement(found.execute())).map(stepOfRow);
      return before === undefined ? rows : rows.toReversed();
    },

    async stepTotals(runId) {
      const totals = db
        .selectFrom('runoff.coder_step')
        .where('run_id', '=', runId)
        .groupBy('alias')
        .orderBy('alias')
        .select([
          'alias',
          sql<number>`min(number)`.as('first'),
          sql<number>`max(number)`.as('last'),
          sql<number>`(count(*) filter (where kind = 'start'))::integer`.as('starts'),
          sql<number>`coalesce(sum(length(detail)), 0)::integer`.as('details'),
        ]);
      return inStatement(totals.execute());
    },

    runMarks: (which) => inStatement(readMarks(db, which)),
  } satisfies LiveRuns & Partial<Store>;
}

function lastNumbers(steps: readonly CoderStep[]): ReadonlyMap<string, number> {
  const last = new Map<string, number>();
  for (const { alias, number } of steps) last.set(alias, Math.max(number, last.get(alias) ?? 0));
  return last;
}

async function deleteOldSteps(tx: Tx, runId: string, alias: string, last: number): Promise<void> {
  const old = last - CODER_STEP_LIMITS.steps;
  if (old < 1) return;
  await tx
    .deleteFrom('runoff.coder_step')
    .where('run_id', '=', runId)
    .where('alias', '=', alias)
    .where('number', '<=', old)
    .execute();
}

const optionalText = (text: string | undefined): string | null =>
  text === undefined ? null : storableText(text);

const rowOfStep = (runId: string, step: CoderStep): Insertable<CoderStepTable> => ({
  run_id: runId,
  alias: step.alias,
  number: step.number,
  at: step.at,
  kind: step.kind,
  text: storableText(step.text),
  detail: optionalText(step.detail),
  call: optionalText(step.call),
  exit_code: step.exitCode ?? null,
  ok: step.ok ?? null,
});

const stepOfRow = (row: Selectable<CoderStepTable>): CoderStep => ({
  alias: row.alias,
  number: row.number,
  at: row.at,
  kind: oneOf(CODER_STEP_KINDS, row.kind, 'kind of a step'),
  text: row.text,
  ...withoutNulls({ detail: row.detail, call: row.call, exitCode: row.exit_code, ok: row.ok }),
});

/** One statement, each part of which is read from an index of the run. */
async function readMarks(db: Db, which: Parameters<LiveRuns['runMarks']>[0]): Promise<readonly RunMark[]> {
  const chosen =
    'newest' in which
      ? sql`select * from runoff.run order by updated_at desc, id desc limit ${which.newest}`
      : sql`select * from runoff.run where id = any(${[...which]}::text[])`;
  const { rows } = await sql<RunMark>`
    select run.id, run.origin,
      md5(concat_ws('|', run.state, run.updated_at, run.title,
        (select string_agg(md5(one::text), ',' order by alias) from runoff.candidate as one where run_id = run.id),
        (select string_agg(md5(one::text), ',' order by stage) from runoff.stage_timing as one where run_id = run.id),
        (select concat_ws(':', count(*), count(*) filter (where status <> 0), sum(usd)) from runoff.gateway_call where run_id = run.id),
        (select concat_ws(':', count(*), max(at)) from runoff.vote where run_id = run.id),
        (select max(number) from runoff.pick where run_id = run.id),
        (select max(number) from runoff.reply where run_id = run.id))) as version,
      coalesce((select jsonb_object_agg(one.alias, found.last)
        from runoff.candidate as one,
          lateral (select max(number) as last from runoff.coder_step as step
                    where step.run_id = one.run_id and step.alias = one.alias) as found
        where one.run_id = run.id and found.last is not null), '{}') as steps
    from (${chosen}) as run`.execute(db);
  return rows;
}
