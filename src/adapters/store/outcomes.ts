import { sql } from 'kysely';
import type { CandidateOutcome, MergeFacts } from '../../core/learning/index.ts';
import { isOver, RUN_STATES } from '../../core/model/index.ts';
import type { Outcomes, Store } from '../../ports/index.ts';
import { type Db, inStatement, inTransaction } from './connection.ts';
import { storableJson, storableText } from './rows.ts';

const OVER = RUN_STATES.filter(isOver);

export function outcomes(db: Db) {
  return {
    keepOutcomes: (runId, found, at) =>
      inTransaction(db, async (tx) => {
        await tx.updateTable('runoff.run').set({ outcomes_at: at }).where('id', '=', runId).execute();
        // A retry may have fewer: what it has no longer is not counted.
        await tx
          .deleteFrom('runoff.candidate_outcome')
          .where('run_id', '=', runId)
          .where('alias', 'not in', ['', ...found.map(({ alias }) => alias)])
          .execute();
        for (const one of found) {
          const row = {
            repository: storableText(one.repository),
            at: one.at,
            outcome: storableJson(one),
            kept_at: at,
          };
          await tx
            .insertInto('runoff.candidate_outcome')
            .values({ run_id: runId, alias: one.alias, ...row })
            .onConflict((conflict) => conflict.columns(['run_id', 'alias']).doUpdateSet(row))
            .execute();
        }
      }),

    keepMerge: async (runId, merge) => {
      const update = db
        .updateTable('runoff.candidate_outcome')
        .set({ merge: storableJson(merge) })
        .where('run_id', '=', runId);
      await inStatement(update.execute());
    },

    async outcomes({ repositories, runs }) {
      const newest = db
        .selectFrom('runoff.candidate_outcome')
        .select('run_id')
        .groupBy('run_id')
        .orderBy(sql`max(at)`, 'desc')
        .orderBy('run_id', 'desc')
        .limit(runs);
      const rows = await inStatement(
        db
          .selectFrom('runoff.candidate_outcome')
          .select(['outcome', 'merge'])
          .where(
            'run_id',
            'in',
            repositories === undefined
              ? newest
              : newest.where('repository', '=', sql<string>`any(${repositories.map(storableText)})`),
          )
          .orderBy('at')
          .orderBy('run_id')
          .orderBy('alias')
          .execute(),
      );
      return rows.map(({ outcome, merge }) => withMerge(outcome, merge));
    },

    async mergesSince(at) {
      const rows = await inStatement(
        db
          .selectFrom('runoff.candidate_outcome as one')
          .innerJoin('runoff.run as run', 'run.id', 'one.run_id')
          .select(['one.outcome', 'one.merge'])
          .where('run.updated_at', '>=', at)
          .where(
            sql<boolean>`(one.outcome -> 'shown')::boolean and one.outcome #>> '{pull,state}' = 'merged'`,
          )
          .orderBy('one.at')
          .orderBy('one.run_id')
          .orderBy('one.alias')
          .execute(),
      );
      return rows.map(({ outcome, merge }) => withMerge(outcome, merge));
    },

    async outcomeRepositories() {
      const name = sql<string>`outcome ->> 'repositoryName'`;
      const newest = sql<number>`max(at)`;
      return inStatement(
        db
          .selectFrom('runoff.candidate_outcome')
          .select(['repository', name.as('repositoryName'), newest.as('at')])
          .groupBy(['repository', name])
          .orderBy(newest, 'desc')
          .orderBy('repository')
          .orderBy(name)
          .execute(),
      );
    },

    deleteOutcomes: async (repository) => {
      const gone = db
        .deleteFrom('runoff.candidate_outcome')
        .where('repository', '=', storableText(repository));
      const [{ numDeletedRows } = { numDeletedRows: 0n }] = await inStatement(gone.execute());
      return Number(numDeletedRows);
    },

    async outcomesDue(limit, among) {
      const due = db
        .selectFrom('runoff.run as run')
        .select('run.id')
        .where('run.decision', 'is not', null)
        .where('run.state', 'in', OVER)
        .where(
          sql<boolean>`coalesce(run.outcomes_at, -1)
            <= greatest(run.updated_at, (select max((pick ->> 'at')::bigint) from runoff.pick where run_id = run.id))`,
        )
        .orderBy('run.updated_at', 'desc')
        .orderBy('run.id')
        .limit(limit);
      const wanted = among ? due.where('run.id', '=', sql<string>`any(${among})`) : due;
      return (await inStatement(wanted.execute())).map(({ id }) => id);
    },
  } satisfies Outcomes & Partial<Store>;
}

/** What was found out about the merge belongs to the pull request of the outcome. */
const withMerge = (outcome: CandidateOutcome, merge: MergeFacts | null): CandidateOutcome =>
  merge && outcome.pull ? { ...outcome, pull: { ...outcome.pull, ...merge } } : outcome;
