import { type RawBuilder, sql } from 'kysely';
import { Fault } from '../../core/model/index.ts';
import type { Booker, KeptAnswer, LedgerRow, LedgerSums, Store } from '../../ports/index.ts';
import { type Db, inStatement, inTransaction, type Tx } from './connection.ts';
import { callOfRow, ownerColumn, rowOfCall, storableJson, storableText } from './rows.ts';

/**
 * Any fixed number that no other advisory lock here uses. All calls count against the daily cap, so there is one lock
 * for all.
 */
const BOOKING_LOCK = 7_346_048;

/**
 * Calls through the gateway. Read and written around every call of a model, so each method is a single statement if
 * possible.
 */
export function ledger(db: Db) {
  return {
    bookCall: (whose, decide) =>
      inTransaction(db, async (tx) => {
        await sql`select pg_advisory_xact_lock(${sql.lit(BOOKING_LOCK)})`.execute(tx);
        // A separate statement: it sees what the previous holder of the lock has committed.
        const row = decide(await ledgerSums(tx, whose));
        if (row === null) return null;
        const insert = tx.insertInto('runoff.gateway_call').values(rowOfCall(row)).returning('id');
        return (await insert.executeTakeFirstOrThrow()).id;
      }),

    settleCall: (call, row, answer) =>
      answer === undefined
        ? inStatement(settleRow(db, call, row))
        : inTransaction(db, async (tx) => {
            await settleRow(tx, call, row);
            await keepAnswer(tx, row, answer);
          }),

    usage(id, spender) {
      const calls = db.selectFrom('runoff.gateway_call').where('run_id', '=', id);
      const sums = (spender === undefined ? calls : calls.where('spender', '=', spender)).select([
        sql<number>`coalesce(sum(usd), 0)`.as('usd'),
        sql<number>`coalesce(sum(tokens_in), 0)::bigint`.as('tokensIn'),
        sql<number>`coalesce(sum(tokens_out), 0)::bigint`.as('tokensOut'),
        // Rejected for its cap after it was booked: no call was sent.
        sql<number>`count(*) filter (where status <> 402 or usd > 0)`.as('calls'),
      ]);
      return inStatement(sums.executeTakeFirstOrThrow());
    },

    async callsOf(runId, spender, { after, limit }) {
      const calls = db
        .selectFrom('runoff.gateway_call')
        .selectAll()
        .where('run_id', '=', runId)
        .where('spender', '=', storableText(spender))
        .where('id', '>', after)
        .orderBy('id')
        .limit(limit);
      return (await inStatement(calls.execute())).map((row) => ({ number: row.id, ...callOfRow(row) }));
    },

    async spentSince(at, whose) {
      const calls = db
        .selectFrom('runoff.gateway_call as call')
        .where('call.at', '>=', at)
        .select(sql<number>`coalesce(sum(call.usd), 0)::double precision`.as('usd'));
      const sum = whose
        ? calls
            .innerJoin('runoff.run as run', 'run.id', 'call.run_id')
            .where('run.repository_id', 'is not', null)
            .where(ownerColumn(whose, 'run'), '=', whose.id)
        : calls;
      return (await inStatement(sum.executeTakeFirstOrThrow())).usd;
    },
  } satisfies Partial<Store>;
}

async function ledgerSums(tx: Tx, whose: Booker): Promise<LedgerSums> {
  const { runId, dayFrom, underWayFrom } = whose;
  const [spender, repository] = [storableText(whose.spender), storableText(whose.repository)];
  const tokens = sql`tokens_in + tokens_out`;
  const own = sql`spender = ${spender}`;
  const sum = (of: RawBuilder<unknown>, which: RawBuilder<unknown> = sql`true`) => sql`json_build_object(
    'booked', coalesce(sum(${of}) filter (where ${which}), 0),
    'held', coalesce(sum(${of}) filter (where ${which} and status = 0 and at >= ${underWayFrom}), 0))`;
  const usd = sql`usd`;
  const { rows } = await sql<LedgerSums>`
    select
      run.run, run.spender, run."spenderTokens", today."repositoryDay", today.day,
      (select (task #>> '{settings,budget,run}')::float8 from runoff.run where id = ${runId}) as "runCap"
    from
      (select ${sum(usd)} as run, ${sum(usd, own)} as spender, ${sum(tokens, own)} as "spenderTokens"
         from runoff.gateway_call where run_id = ${runId}) run,
      (select ${sum(usd)} as day, ${sum(usd, sql`repository = ${repository}`)} as "repositoryDay"
         from runoff.gateway_call where at >= ${dayFrom}) today`.execute(tx);
  const [sums] = rows;
  if (sums === undefined) throw new Fault('INTERNAL', 'The ledger gave no sums.');
  return sums;
}

async function settleRow(db: Db, call: number, row: LedgerRow): Promise<void> {
  const update = db.updateTable('runoff.gateway_call').set(rowOfCall(row)).where('id', '=', call);
  const { numUpdatedRows } = await update.executeTakeFirst();
  if (numUpdatedRows === 0n) throw new Fault('INTERNAL', `There is no call ${call} in the ledger.`);
}

/** Answers of models that a run has paid for. */
export function modelAnswers(db: Db) {
  return {
    async keptAnswers(runId, spender) {
      const rows = await inStatement(
        db
          .selectFrom('runoff.model_answer')
          .select(['question', 'number', 'answer', 'body', 'at'])
          .where('run_id', '=', runId)
          .where('spender', '=', storableText(spender))
          .execute(),
      );
      return rows.map(({ answer, ...row }) => ({ ...row, ...answer }));
    },
  } satisfies Partial<Store>;
}

/**
 * Runs in the transaction that settles the call. A later answer with the same number exists if the body of the earlier
 * one is gone.
 */
async function keepAnswer(tx: Tx, { runId, spender }: LedgerRow, answer: KeptAnswer): Promise<void> {
  const { question, number, status, headers, body, at } = answer;
  const kept = { answer: storableJson({ status, headers }), body: storableJson(body), at };
  await tx
    .insertInto('runoff.model_answer')
    .values({ run_id: runId, spender: storableText(spender), question, number, ...kept })
    .onConflict((conflict) => conflict.columns(['run_id', 'spender', 'question', 'number']).doUpdateSet(kept))
    .execute();
}

/** Answers of models that are stored outside of runs. */
export function answers(db: Db) {
  return {
    kept: (scope, key) =>
      inTransaction(db, async (tx) => {
        const row = await tx
          .selectFrom('runoff.answer')
          .select('artifact')
          .where('scope', '=', scope)
          .where('key', '=', key)
          .executeTakeFirst();
        return row?.artifact ?? null;
      }),

    keep: (scope, key, answer) =>
      inTransaction(db, async (tx) => {
        await tx
          .insertInto('runoff.answer')
          .values({ scope, key, artifact: storableJson(answer) })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      }),
  } satisfies Partial<Store>;
}
