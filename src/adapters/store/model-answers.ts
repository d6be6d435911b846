import type { KeptAnswer, LedgerRow, Store } from '../../ports/index.ts';
import { json, text } from './rows.ts';
import { type Db, inStatement, type Tx } from './transaction.ts';

/** Answers of models that a run paid for. */
export function modelAnswers(db: Db) {
  return {
    async keptAnswers(runId, spender) {
      const rows = await inStatement(
        db
          .selectFrom('runoff.model_answer')
          .select(['question', 'number', 'answer', 'body', 'at'])
          .where('run_id', '=', runId)
          .where('spender', '=', text(spender))
          .execute(),
      );
      return rows.map(({ answer, ...row }) => ({ ...row, ...answer }));
    },
  } satisfies Partial<Store>;
}

/** Within the transaction that settles its call. A later answer under the same number is there because the body of the earlier one is gone. */
export async function keepAnswer(tx: Tx, { runId, spender }: LedgerRow, answer: KeptAnswer): Promise<void> {
  const { question, number, status, headers, body, at } = answer;
  const kept = { answer: json({ status, headers }), body: json(body), at };
  await tx
    .insertInto('runoff.model_answer')
    .values({ run_id: runId, spender: text(spender), question, number, ...kept })
    .onConflict((conflict) => conflict.columns(['run_id', 'spender', 'question', 'number']).doUpdateSet(kept))
    .execute();
}
