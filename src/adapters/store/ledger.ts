import { sql } from 'kysely';
import { Fault } from '../../core/model/index.ts';
import type { LedgerRow, Store } from '../../ports/index.ts';
import { keepAnswer } from './model-answers.ts';
import { ownerOf, rowOfCall, text } from './rows.ts';
import { type Db, inStatement, inTransaction } from './transaction.ts';

/** Calls through the gateway. Read and written around every call of a model, so each method is one statement where it can be. */
export function ledger(db: Db) {
  return {
    async openCall(row) {
      const insert = db.insertInto('runoff.gateway_call').values(rowOfCall(row)).returning('id');
      return (await inStatement(insert.executeTakeFirstOrThrow())).id;
    },

    settleCall: (call, row, answer) =>
      answer === undefined
        ? inStatement(settle(db, call, row))
        : inTransaction(db, async (tx) => {
            await settle(tx, call, row);
            await keepAnswer(tx, row, answer);
          }),

    usage(id, spender) {
      const calls = db.selectFrom('runoff.gateway_call').where('run_id', '=', id);
      const sums = (spender === undefined ? calls : calls.where('spender', '=', spender)).select([
        sql<number>`coalesce(sum(usd), 0)`.as('usd'),
        sql<number>`coalesce(sum(tokens_in), 0)::bigint`.as('tokensIn'),
        sql<number>`coalesce(sum(tokens_out), 0)::bigint`.as('tokensOut'),
        // Refused for its cap after it was booked: no call went out.
        sql<number>`count(*) filter (where status <> 402 or usd > 0)`.as('calls'),
      ]);
      return inStatement(sums.executeTakeFirstOrThrow());
    },

    async spentSince(at, repository) {
      const calls = db.selectFrom('runoff.gateway_call').where('at', '>=', at);
      const own = repository === undefined ? calls : calls.where('repository', '=', text(repository));
      const sum = own.select(sql<number>`coalesce(sum(usd), 0)`.as('usd'));
      return (await inStatement(sum.executeTakeFirstOrThrow())).usd;
    },

    async runCap(id) {
      const cap = db
        .selectFrom('runoff.run')
        .select(sql<string | null>`task #>> '{settings,budget,run}'`.as('usd'))
        .where('id', '=', id);
      const usd = (await inStatement(cap.executeTakeFirst()))?.usd ?? null;
      return usd === null ? null : Number(usd);
    },

    async spentBySince(at, whose) {
      const sum = db
        .selectFrom('runoff.gateway_call as call')
        .innerJoin('runoff.run as run', 'run.id', 'call.run_id')
        .where('call.at', '>=', at)
        .where('run.repository_id', 'is not', null)
        .where(ownerOf(whose, 'run'), '=', whose.id)
        .select(sql<number>`coalesce(sum(call.usd), 0)`.as('usd'));
      return (await inStatement(sum.executeTakeFirstOrThrow())).usd;
    },
  } satisfies Partial<Store>;
}

async function settle(db: Db, call: number, row: LedgerRow): Promise<void> {
  const update = db.updateTable('runoff.gateway_call').set(rowOfCall(row)).where('id', '=', call);
  const { numUpdatedRows } = await update.executeTakeFirst();
  if (numUpdatedRows === 0n) throw new Fault('INTERNAL', `There is no call ${call} in the ledger.`);
}
