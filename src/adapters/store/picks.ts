import type { RunId } from '../../core/model/index.ts';
import type { Store } from '../../ports/index.ts';
import { json } from './rows.ts';
import { type Db, inTransaction, lockRun, type Tx } from './transaction.ts';

/** What people voted for and picked. */
export function picks(db: Db) {
  return {
    vote: (runId, vote) =>
      inTransaction(db, async (tx) => {
        const row = { run_id: runId, user_id: vote.by.id, vote: json(vote), at: vote.at };
        await tx
          .insertInto('runoff.vote')
          .values(row)
          .onConflict((conflict) =>
            conflict
              .columns(['run_id', 'user_id'])
              .doUpdateSet({ vote: row.vote, at: row.at })
              // A vote that is told late is no later one.
              .where('runoff.vote.at', '<=', row.at),
          )
          .execute();
      }),

    votes: (runId) =>
      inTransaction(db, async (tx) =>
        (
          await tx
            .selectFrom('runoff.vote')
            .select('vote')
            .where('run_id', '=', runId)
            .orderBy('at')
            .orderBy('user_id')
            .execute()
        ).map(({ vote }) => vote),
      ),

    addPick: (runId, pick) =>
      inTransaction(db, async (tx) => {
        // Picks of one run come one after the other: without the lock two would take the same number.
        await lockRun(tx, runId);
        const made = await picksOf(tx, runId);
        const known = made.find(({ key }) => key === pick.key);
        if (known) return known;
        const inserted = await tx
          .insertInto('runoff.pick')
          .values({ run_id: runId, number: made.length + 1, key: pick.key, pick: json(pick) })
          .returning(['number', 'pick'])
          .executeTakeFirstOrThrow();
        return { ...inserted.pick, number: inserted.number };
      }),

    picks: (runId) => inTransaction(db, (tx) => picksOf(tx, runId)),
  } satisfies Partial<Store>;
}

async function picksOf(tx: Tx, runId: RunId) {
  const rows = await tx
    .selectFrom('runoff.pick')
    .select(['number', 'pick'])
    .where('run_id', '=', runId)
    .orderBy('number')
    .execute();
  return rows.map(({ number, pick }) => ({ ...pick, number }));
}
