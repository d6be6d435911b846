import { sql } from 'kysely';
import { isFinal, isOver, move } from '../../core/lifecycle/index.ts';
import { Fault, RUN_STATES, type RunState } from '../../core/model/index.ts';
import type { Identity, Store } from '../../ports/index.ts';
import { type ConnectionLimits, LONG_WORK } from '../postgres/index.ts';
import { answers } from './answers.ts';
import { addAudit, audits } from './audits.ts';
import { commands } from './commands.ts';
import { asDatabaseFault, connect } from './connection.ts';
import { executorList } from './executors.ts';
import { intents } from './intents.ts';
import { ledger } from './ledger.ts';
import { lookups } from './lookups.ts';
import { isMigrated, migrate } from './migrate.ts';
import { modelAnswers } from './model-answers.ts';
import { picks } from './picks.ts';
import { replies } from './replies.ts';
import { retention } from './retention.ts';
import {
  candidateOfRow,
  type NewRun,
  rowOfCandidate,
  rowOfNewRun,
  rowOfRunPatch,
  runOfRow,
  runState,
  text,
  transitionOfRow,
} from './rows.ts';
import { type Db, inStatement, inTransaction, lockRun, type Tx, unknownRun } from './transaction.ts';

export interface StoreOptions {
  /** Connections at most; default 4. They are opened on demand and closed after ten idle seconds. */
  readonly poolSize?: number;
  /**
   * For a process that shares the work: once it is given up, each method that writes rejects with GIVEN_UP, also before it
   * has joined. Absent: nobody gives it up.
   */
  readonly identity?: Identity | undefined;
  /** How long a connection waits; absent: our defaults. */
  readonly limits?: ConnectionLimits | undefined;
}

/** States that a run does not come to by its own work. */
const AUDITED: Partial<Record<RunState, 'refusal' | 'transition'>> = {
  refused: 'refusal',
  cancelled: 'transition',
  merged: 'transition',
  closed: 'transition',
};

const inRepository = (id: number | null) => (id === null ? {} : { repositoryId: id });

const OVER = RUN_STATES.filter(isOver);
const LIVING = RUN_STATES.filter((state) => !isFinal(state));

/** As the port says. */
const MOST_AT_A_THREAD = 50;
/** In the words of the index `run_of_pull`. */
const isPull = (number: number) =>
  sql<boolean>`(outcome ->> 'kind' = 'pull' and (outcome ->> 'number')::integer = ${number})`;

/** Opens the database at `url` and brings its schema up to date. Rejects with DATABASE_UNAVAILABLE. */
export async function openStore(url: string, options: StoreOptions = {}): Promise<Store> {
  const { poolSize = 4, identity, limits } = options;
  const { db, close: closeMain } = connect(url, { poolSize, name: 'runoff store', identity, limits });
  // Connects when it is first used.
  const slow = connect(url, { poolSize: 1, name: 'runoff store (long work)', identity, limits: LONG_WORK });
  const close = async () => void (await Promise.all([closeMain(), slow.close()]));
  try {
    if (!(await isMigrated(db))) await migrate(slow.db);
  } catch (error) {
    await close();
    throw asDatabaseFault(error);
  }
  return {
    ...runs(db),
    ...progress(db),
    ...ledger(db),
    ...intents(db),
    ...replies(db),
    ...answers(db),
    ...modelAnswers(db),
    ...lookups(db),
    ...commands(db),
    ...picks(db),
    ...executorList(db),
    ...audits(db),
    ...retention(slow.db),
    close,
  };
}

async function insertRun(tx: Tx, run: NewRun): Promise<boolean> {
  const inserted = await tx
    .insertInto('runoff.run')
    .values(rowOfNewRun(run))
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  return inserted !== undefined;
}

async function withStages(tx: Tx, rows: readonly Parameters<typeof runOfRow>[0][]) {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.id);
  const stages = await tx.selectFrom('runoff.stage_timing').selectAll().where('run_id', 'in', ids).execute();
  return rows.map((row) => runOfRow(row, stages));
}

function runs(db: Db) {
  const all = (tx: Tx) => tx.selectFrom('runoff.run').selectAll();
  return {
    createRun: (run) => inTransaction(db, (tx) => insertRun(tx, run)),

    acceptDelivery: (delivery, run) =>
      inTransaction(db, async (tx) => {
        const taken = await tx
          .insertInto('runoff.delivery')
          .values({
            id: delivery.id,
            event: delivery.event,
            semantic_key: delivery.semanticKey,
            run_id: delivery.runId,
            at: run.at,
          })
          .onConflict((conflict) => conflict.doNothing())
          .returning('id')
          .executeTakeFirst();
        if (taken === undefined) return false;
        if (await insertRun(tx, { id: delivery.runId, ...run })) return true;
        throw new Fault('INTERNAL', `Delivery ${delivery.id} asks for run ${delivery.runId}, which exists.`);
      }),

    run: (id) =>
      inTransaction(
        db,
        async (tx) => (await withStages(tx, await all(tx).where('id', '=', id).execute()))[0] ?? null,
      ),

    runs: (limit) =>
      inTransaction(db, async (tx) =>
        withStages(
          tx,
          await all(tx).orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute(),
        ),
      ),

    livingRuns: (repositoryId, issue) =>
      inTransaction(db, async (tx) =>
        withStages(
          tx,
          await all(tx)
            .where('repository_id', '=', repositoryId)
            .where('issue', '=', issue)
            .where('state', 'in', LIVING)
            .orderBy('created_at')
            .orderBy('id')
            .execute(),
        ),
      ),

    runsAt: (repositoryId, thread) =>
      inTransaction(db, async (tx) =>
        withStages(
          tx,
          await all(tx)
            .where('repository_id', '=', repositoryId)
            .where(({ eb, or }) => or([eb('issue', '=', thread), isPull(thread)]))
            .orderBy('created_at', 'desc')
            .orderBy('id', 'desc')
            .limit(MOST_AT_A_THREAD)
            .execute(),
        ),
      ),

    endedWithout: (key, since, limit) =>
      inTransaction(db, async (tx) => {
        const spokenOf = sql<boolean>`(task is not null or (line is not null and run.state = 'cancelled'))`;
        const fulfilled = sql<boolean>`exists (
          select from runoff.intent
          where scope = run.id and key = ${key} and intent.state = 'done' and result = 'true'::jsonb)`;
        const found = tx
          .selectFrom('runoff.run as run')
          .selectAll()
          .where('repository_id', 'is not', null)
          .where('run.state', 'in', OVER)
          .where('updated_at', '>=', since)
          .where(spokenOf)
          .where(({ not }) => not(fulfilled));
        return withStages(tx, await found.orderBy('updated_at').orderBy('id').limit(limit).execute());
      }),

    unfinished: () =>
      inTransaction(db, async (tx) =>
        withStages(
          tx,
          await all(tx).where('state', 'in', LIVING).orderBy('created_at').orderBy('id').execute(),
        ),
      ),

    idsIn: async (states) => {
      const found = db.selectFrom('runoff.run').select('id').where('state', '=', sql<string>`any(${states})`);
      const rows = await inStatement(found.orderBy('created_at').orderBy('id').execute());
      return rows.map(({ id }) => id);
    },

    updateRun: (id, patch, at) =>
      inTransaction(db, async (tx) => {
        const { numUpdatedRows } = await tx
          .updateTable('runoff.run')
          .set(rowOfRunPatch(patch, at))
          .where('id', '=', id)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) throw unknownRun(id);
      }),
  } satisfies Partial<Store>;
}

function progress(db: Db) {
  return {
    transition: (id, to, cause, at) =>
      inTransaction(db, async (tx) => {
        const { state, repository_id } = await lockRun(tx, id);
        const from = runState(state);
        if (move(from, to).kind !== 'moved') return from;
        await tx.updateTable('runoff.run').set({ state: to, updated_at: at }).where('id', '=', id).execute();
        await tx
          .insertInto('runoff.transition')
          .values({ run_id: id, from_state: from, to_state: to, cause: text(cause), at })
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
        // A stage that is repeated after a crash keeps its first start and is under way again.
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
