import type { Store } from '../../ports/index.ts';
import { json } from './rows.ts';
import { type Db, inTransaction } from './transaction.ts';

/** Answers of models that are kept outside runs. */
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
          .values({ scope, key, artifact: json(answer) })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      }),
  } satisfies Partial<Store>;
}
