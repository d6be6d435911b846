import { sql } from 'kysely';
import { Fault, move, RUN_STATES, type RunState } from '../../core/model/index.ts';
import type { AuditEntry, AuditPlace, AuditRecord, Intent, Store } from '../../ports/index.ts';
import { type Db, inStatement, inTransaction, lockRun, type Tx } from './connection.ts';
import {
  candidateOfRow,
  hasBegun,
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

/**
 * Maximum number of UTF-16 units of a command in the audit log: the command itself, not the rest of the comment. Our
 * default.
 */
const MAX_COMMAND_CHARS = 500;

/** A process without a heartbeat for this long counts as ended. */
const ACTIVE_SINCE = sql`now() - interval '2 minutes'`;

/** Adds a row in the same transaction as the change that it describes. */
export async function addAudit(
  tx: Tx,
  entry: AuditEntry,
  { at, repositoryId, run }: AuditPlace,
): Promise<void> {
  const kept = entry.kind === 'command' ? { ...entry, text: entry.text.slice(0, MAX_COMMAND_CHARS) } : entry;
  await tx
    .insertInto('runoff.audit')
    .values({
      at,
      kind: entry.kind,
      repository_id: repositoryId ?? null,
      run_id: run === undefined ? null : storableText(run),
      entry: storableJson(kept),
    })
    .execute();
}

/** The audit log, and its counts for metrics. */
export function audits(db: Db) {
  return {
    audit: (entry, place) => inTransaction(db, (tx) => addAudit(tx, entry, place)),

    async audited({ run, limit }) {
      const newest = db.selectFrom('runoff.audit').selectAll().orderBy('id', 'desc').limit(limit);
      const rows = await inStatement(
        (run === undefined ? newest : newest.where('run_id', '=', run)).execute(),
      );
      return rows.map(
        (row): AuditRecord => ({
          number: row.id,
          at: row.at,
          ...(row.repository_id === null ? {} : { repositoryId: row.repository_id }),
          ...(row.run_id === null ? {} : { run: row.run_id }),
          entry: row.entry,
        }),
      );
    },

    census: () => inTransaction(db, takeCensus),
  } satisfies Partial<Store>;
}

async function takeCensus(tx: Tx) {
  const states = await tx
    .selectFrom('runoff.run')
    .select(['state', sql<number>`count(*)::integer`.as('number')])
    .groupBy('state')
    .execute();
  const { number: codersWaiting } = await tx
    .selectFrom('runoff.candidate')
    .innerJoin('runoff.run', 'runoff.run.id', 'runoff.candidate.run_id')
    .select(sql<number>`count(*)::integer`.as('number'))
    .where('runoff.candidate.state', '=', 'queued')
    .where('runoff.run.state', '=', 'briefed')
    .executeTakeFirstOrThrow();
  const { number: queuedRuns } = await tx
    .selectFrom('runoff.run as run')
    .select(sql<number>`count(*)::integer`.as('number'))
    .where('run.state', '=', 'queued')
    .where('run.repository_id', 'is not', null)
    .where('run.queue_entry', 'is not', null)
    .where(({ not }) => not(hasBegun))
    .executeTakeFirstOrThrow();
  const roles = await tx
    .selectFrom('runoff.executor')
    .select(['role', sql<number>`count(*)::integer`.as('number')])
    .where('seen', '>', sql<Date>`${ACTIVE_SINCE}`)
    .groupBy('role')
    .execute();
  const none = Object.fromEntries(RUN_STATES.map((state) => [state, 0])) as Record<RunState, number>;
  const runs = { ...none, ...Object.fromEntries(states.map(({ state, number }) => [state, number])) };
  return {
    runs,
    queuedRuns,
    codersWaiting,
    executors: Object.fromEntries(roles.map(({ role, number }) => [role, number])),
  };
}
