import type { Selectable } from 'kysely';
import { Fault } from '../../core/model/index.ts';
import type { CommandRecord, Store } from '../../ports/index.ts';
import { addAudit } from './audits.ts';
import { json, text } from './rows.ts';
import type { CommandTable } from './schema.ts';
import { type Db, inStatement, inTransaction } from './transaction.ts';

/** Inbox and audit of what people asked for on GitHub. */
export function commands(db: Db) {
  const all = () => db.selectFrom('runoff.command').selectAll();
  return {
    async hearCommand(command) {
      const insert = db
        .insertInto('runoff.command')
        .values({
          id: text(command.id),
          repository_id: command.place.repositoryId,
          comment: command.place.comment,
          at: command.at,
          heard: json(command),
        })
        .onConflict((conflict) => conflict.doNothing())
        .returning('id');
      return (await inStatement(insert.executeTakeFirst())) !== undefined;
    },

    async command(id) {
      const row = await inStatement(all().where('id', '=', text(id)).executeTakeFirst());
      return row === undefined ? null : commandOfRow(row);
    },

    settleCommand: (id, outcome, at, runId) =>
      inTransaction(db, async (tx) => {
        const { numUpdatedRows } = await tx
          .updateTable('runoff.command')
          .set({ outcome: json(outcome), run_id: runId ?? null, settled_at: at })
          .where('id', '=', text(id))
          .where('outcome', 'is', null)
          .executeTakeFirst();
        const row = await tx
          .selectFrom('runoff.command')
          .select('heard')
          .where('id', '=', text(id))
          .executeTakeFirst();
        if (!row) throw new Fault('INTERNAL', `There is no command ${id} that could be settled.`);
        if (numUpdatedRows === 0n) return;
        const { by, text: written, place } = row.heard;
        await addAudit(
          tx,
          { kind: 'command', command: id, by, text: written, thread: place.thread, outcome },
          { repositoryId: place.repositoryId, at, ...(runId === undefined ? {} : { run: runId }) },
        );
      }),

    async openCommands() {
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
  ...row.heard,
  ...(row.outcome === null ? {} : { outcome: row.outcome }),
  ...(row.run_id === null ? {} : { runId: row.run_id }),
  ...(row.settled_at === null ? {} : { settledAt: row.settled_at }),
});
