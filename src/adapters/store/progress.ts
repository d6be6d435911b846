import { Fault, move, type RunState } from '../../core/model/index.ts';
import type { Intent, Store } from '../../ports/index.ts';
import { addAudit } from './audits.ts';
import { type Db, inTransaction, lockRun, type Tx } from './connection.ts';
import {
  candidateOfRow,
  rowOfCandidate,
  runState,
  storableJson,
  storableText,
  transitionOfRow,
} from './rows.ts';

/** States that a run does not reach by its own work. */
const AUDITED: Partial<Record<RunState, 'refusal' | 'transition'>> = {
  refused: 'refusal',
  cancelled: 'transition',
  merged: 'transition',
  closed: 'transition',
};

const inRepository = (id: number | null) => (id === null ? {} : { repositoryId: id });

export function progress(db: Db) {
  return {
    transition: (id, to, cause, at) =>
      inTransaction(db, async (tx) => {
        const { state, repository_id } = await lockRun(tx, id);
        const from = runState(state);
        if (move(from, to).kind !== 'moved') return from;
        await tx.updateTable('runoff.run').set({ state: to, updated_at: at }).where('id', '=', id).execute();
        await tx
          .insertInto('runoff.transition')
          .values({ run_id: id, from_state: from, to_state: to, cause: storableText(cause), at })
          .execute();
        const kind = AUDITED[to];
        if (kind)
          await addAudit(tx, { kind, from, to, cause }, { run: id, at, ...inRepository(repository_id) });
        return to;
      }),

    transitions: (id) =>
      inTransaction(db, async (tx) =>
        (
          await tx
            .selectFrom('runoff.transition')
            .selectAll()
            .where('run_id', '=', id)
            .orderBy('id')
            .execute()
        ).map(transitionOfRow),
      ),

    markStage: (id, stage, mark, at) =>
      inTransaction(db, async (tx) => {
        if (mark === 'end') {
          await tx
            .updateTable('runoff.stage_timing')
            .set({ ended_at: at })
            .where('run_id', '=', id)
            .where('stage', '=', stage)
            .execute();
          return;
        }
        // A stage that is repeated after a crash keeps its first start time and is active again.
        await tx
          .insertInto('runoff.stage_timing')
          .values({ run_id: id, stage, started_at: at, ended_at: null })
          .onConflict((conflict) => conflict.columns(['run_id', 'stage']).doUpdateSet({ ended_at: null }))
          .execute();
      }),

    putCandidate: (candidate) =>
      inTransaction(db, async (tx) => {
        const row = rowOfCandidate(candidate);
        await tx
          .insertInto('runoff.candidate')
          .values(row)
          .onConflict((conflict) => conflict.columns(['run_id', 'alias']).doUpdateSet(row))
          .execute();
      }),

    candidates: (id) =>
      inTransaction(db, async (tx) =>
        (
          await tx
            .selectFrom('runoff.candidate')
            .selectAll()
            .where('run_id', '=', id)
            .orderBy('alias')
            .execute()
        ).map(candidateOfRow),
      ),
  } satisfies Partial<Store>;
}

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

/** Intents of external writes, so that each write is made only once. */
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
          .set({ state: 'done', result: storableJson(result) })
          .where('scope', '=', scope)
          .where('key', '=', key)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) {
          throw new Fault('INTERNAL', `${scope} has no intent \`${key}\` that could be fulfilled.`);
        }
      }),
  } satisfies Partial<Store>;
}
