import type { Selectable } from 'kysely';
import { Fault, type RunId } from '../../core/model/index.ts';
import type { CommandRecord, Store } from '../../ports/index.ts';
import { type Db, inStatement, inTransaction, lockRun, type Tx } from './connection.ts';
import { addAudit } from './progress.ts';
import { storableJson, storableText } from './rows.ts';
import type { CommandTable } from './schema.ts';

/** Inbox and audit of commands on GitHub. */
export function commands(db: Db) {
  const all = () => db.selectFrom('runoff.command').selectAll();
  return {
    async recordCommand(command) {
      const insert = db
        .insertInto('runoff.command')
        .values({
          id: storableText(command.id),
          repository_id: command.place.repositoryId,
          comment: command.place.comment,
          at: command.at,
          payload: storableJson(command),
        })
        .onConflict((conflict) => conflict.doNothing())
        .returning('id');
      return (await inStatement(insert.executeTakeFirst())) !== undefined;
    },

    async command(id) {
      const row = await inStatement(all().where('id', '=', storableText(id)).executeTakeFirst());
      return row === undefined ? null : commandOfRow(row);
    },

    settleCommand: (id, outcome, at, runId) =>
      inTransaction(db, async (tx) => {
        const { numUpdatedRows } = await tx
          .updateTable('runoff.command')
          .set({ outcome: storableJson(outcome), run_id: runId ?? null, settled_at: at })
          .where('id', '=', storableText(id))
          .where('outcome', 'is', null)
          .executeTakeFirst();
        const row = await tx
          .selectFrom('runoff.command')
          .select('payload')
          .where('id', '=', storableText(id))
          .executeTakeFirst();
        if (!row) throw new Fault('INTERNAL', `There is no command ${id} that could be settled.`);
        if (numUpdatedRows === 0n) return;
        const { by, text: written, place, token } = row.payload;
        await addAudit(
          tx,
          {
            ...{ kind: 'command', command: id, by, text: written, thread: place.thread, outcome },
            ...(token === undefined ? {} : { token }),
          },
          { repositoryId: place.repositoryId, at, ...(runId === undefined ? {} : { run: runId }) },
        );
      }),

    async unsettledCommands() {
      const open = all().where('outcome', 'is', null).orderBy('at').orderBy('comment').orderBy('id');
      return (await inStatement(open.execute())).map(commandOfRow);
    },

    async commands(repositoryId, limit) {
      const newest = all()
        .where('repository_id', '=', repositoryId)
        .orderBy('at', 'desc')
        .orderBy('comment', 'desc')
        .orderBy('id', 'desc')
        .limit(limit);
      return (await inStatement(newest.execute())).map(commandOfRow);
    },
  } satisfies Partial<Store>;
}

const commandOfRow = (row: Selectable<CommandTable>): CommandRecord => ({
  ...row.payload,
  ...(row.outcome === null ? {} : { outcome: row.outcome }),
  ...(row.run_id === null ? {} : { runId: row.run_id }),
  ...(row.settled_at === null ? {} : { settledAt: row.settled_at }),
});

/** Replies to runs. */
export function replies(db: Db) {
  return {
    addReply: (runId, key, reply) =>
      inTransaction(db, async (tx) => {
        // Replies to one run are stored one after the other: without the lock two could get the same number.
        await lockRun(tx, runId);
        const existing = await tx
          .selectFrom('runoff.reply')
          .select(({ fn, eb }) => [
            fn.coalesce(fn.max('number'), eb.lit(0)).as('last'),
            fn.coalesce(fn.agg<boolean>('bool_or', [eb('key', '=', key)]), eb.lit(false)).as('known'),
          ])
          .where('run_id', '=', runId)
          .executeTakeFirstOrThrow();
        if (existing.known) return null;
        const inserted = await tx
          .insertInto('runoff.reply')
          .values({ run_id: runId, number: existing.last + 1, key, reply: storableJson(reply) })
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

/** Votes and picks. */
export function picks(db: Db) {
  return {
    vote: (runId, vote) =>
      inTransaction(db, async (tx) => {
        const row = { run_id: runId, user_id: vote.by.id, vote: storableJson(vote), at: vote.at };
        await tx
          .insertInto('runoff.vote')
          .values(row)
          .onConflict((conflict) =>
            conflict
              .columns(['run_id', 'user_id'])
              .doUpdateSet({ vote: row.vote, at: row.at })
              // A vote that arrives late does not replace a later one.
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
        // Picks of one run are stored one after the other: without the lock two could get the same number.
        await lockRun(tx, runId);
        const made = await picksOf(tx, runId);
        const known = made.find(({ key }) => key === pick.key);
        if (known) return known;
        const inserted = await tx
          .insertInto('runoff.pick')
          .values({ run_id: runId, number: made.length + 1, key: pick.key, pick: storableJson(pick) })
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
