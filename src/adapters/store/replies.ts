import type { Store } from '../../ports/index.ts';
import { json } from './rows.ts';
import { type Db, inTransaction, lockRun } from './transaction.ts';

/** What people said to runs. */
export function replies(db: Db) {
  return {
    addReply: (runId, key, reply) =>
      inTransaction(db, async (tx) => {
        // Replies to one run come one after the other: without the lock two would take the same number.
        await lockRun(tx, runId);
        const said = await tx
          .selectFrom('runoff.reply')
          .select(({ fn, eb }) => [
            fn.coalesce(fn.max('number'), eb.lit(0)).as('last'),
            fn.coalesce(fn.agg<boolean>('bool_or', [eb('key', '=', key)]), eb.lit(false)).as('known'),
          ])
          .where('run_id', '=', runId)
          .executeTakeFirstOrThrow();
        if (said.known) return null;
        const inserted = await tx
          .insertInto('runoff.reply')
          .values({ run_id: runId, number: said.last + 1, key, reply: json(reply) })
          .returning(['number', 'reply'])
          .executeTakeFirstOrThrow();
        return { ...inserted.reply, number: inserted.number };
      }),

    replies: (runId) =>
      inTransaction(db, async (tx) =>
        (
          await tx
            .selectFrom('runoff.reply')
            .select(['number', 'reply'])
            .where('run_id', '=', runId)
            .orderBy('number')
            .execute()
        ).map(({ number, reply }) => ({ ...reply, number })),
      ),
  } satisfies Partial<Store>;
}
