import { Fault } from '../../core/model/index.ts';
import type { Intent, Store } from '../../ports/index.ts';
import { json } from './rows.ts';
import { type Db, inTransaction, type Tx } from './transaction.ts';

async function intentOf(tx: Tx, scope: string, key: string): Promise<Intent | null> {
  const row = await tx
    .selectFrom('runoff.intent')
    .select(['state', 'result'])
    .where('scope', '=', scope)
    .where('key', '=', key)
    .executeTakeFirst();
  if (row === undefined) return null;
  return row.state === 'done' ? { state: 'done', result: row.result } : { state: 'planned' };
}

/** External writes that are about to happen, so that each happens once. */
export function intents(db: Db) {
  return {
    intend: (scope, key) =>
      inTransaction(db, async (tx) => {
        const inserted = await tx
          .insertInto('runoff.intent')
          .values({ scope, key, state: 'planned' })
          .onConflict((conflict) => conflict.doNothing())
          .returning('key')
          .executeTakeFirst();
        if (inserted !== undefined) return { fresh: true, intent: { state: 'planned' } as const };
        const intent = await intentOf(tx, scope, key);
        if (!intent) throw new Fault('INTERNAL', `The intent \`${key}\` of ${scope} is gone.`);
        return { fresh: false, intent };
      }),

    intent: (scope, key) => inTransaction(db, (tx) => intentOf(tx, scope, key)),

    fulfil: (scope, key, result) =>
      inTransaction(db, async (tx) => {
        const { numUpdatedRows } = await tx
          .updateTable('runoff.intent')
          .set({ state: 'done', result: json(result) })
          .where('scope', '=', scope)
          .where('key', '=', key)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) {
          throw new Fault('INTERNAL', `${scope} has no intent \`${key}\` that could be fulfilled.`);
        }
      }),
  } satisfies Partial<Store>;
}
