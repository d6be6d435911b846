import { type Selectable, sql } from 'kysely';
import { type ListedRun, type RunFilter, type RunLists, rejectedPickKey } from '../../ports/index.ts';
import { type Db, inStatement } from './connection.ts';
import { stagesOfRows, startOfRow, storableText, withoutNulls } from './rows.ts';
import type { PickTable, RunTable } from './schema.ts';

const LISTED = ['id', 'origin', 'state', 'created_at', 'updated_at', 'title', 'decision', 'trouble'] as const;

/** What pages ask. */
export function runLists(db: Db): RunLists {
  const listed = () =>
    db.selectFrom('runoff.run as run').select([
      ...LISTED,
      sql<Selectable<PickTable>['pick'] | null>`
        (select pick from runoff.pick where pick.run_id = run.id and not exists (
          select from runoff.intent
          where scope = run.id and intent.key = ${rejectedPickKey('')}::text || pick.key and intent.state = 'done')
        order by number desc limit 1)`.as('pick'),
      sql<number>`
        (select coalesce(sum(usd), 0) from runoff.gateway_call as call where call.run_id = run.id)::double precision`.as(
        'usd',
      ),
    ]);
  return {
    async originOf(id) {
      const found = db.selectFrom('runoff.run').select('origin').where('id', '=', storableText(id));
      return (await inStatement(found.executeTakeFirst()))?.origin ?? null;
    },

    async repositoriesWithRuns() {
      const newest = db
        .selectFrom('runoff.run')
        .distinctOn('repository_id')
        .select(['repository_id', 'origin', 'created_at'])
        .where('repository_id', 'is not', null)
        .orderBy('repository_id')
        .orderBy('created_at', 'desc')
        .as('newest');
      const ordered = db
        .selectFrom(newest)
        .select('origin')
        .orderBy('created_at', 'desc')
        .orderBy('repository_id');
      return (await inStatement(ordered.execute())).flatMap(({ origin }) => {
        if (origin.kind !== 'github') return [];
        const { installationId, repositoryId, owner, name } = origin;
        return [{ installationId, repositoryId, owner, name }];
      });
    },

    async listRuns(filter) {
      const found = conditions(filter).reduce((query, one) => query.where(one), listed());
      const newest = found.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(filter.limit);
      return (await inStatement(newest.execute())).map(listedOfRow);
    },

    async stagesOf({ repositoryId, work, states, limit }) {
      const newest = db
        .selectFrom('runoff.run')
        .select(['id', 'created_at'])
        .where('repository_id', '=', repositoryId)
        .where('state', 'in', [...states])
        .where(sql<boolean>`origin ->> 'work' is not distinct from ${work ?? null}`)
        .where(sql<boolean>`coalesce(jsonb_array_length(dialogue -> 'inquiries'), 0) = 0`)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit);
      const found = db
        .selectFrom('runoff.stage_timing as timing')
        .innerJoin(newest.as('newest'), 'newest.id', 'timing.run_id')
        .selectAll('timing')
        .orderBy('newest.created_at', 'desc')
        .orderBy('newest.id', 'desc');
      const byRun = Map.groupBy(await inStatement(found.execute()), (row) => row.run_id);
      return [...byRun.values()].map(stagesOfRows);
    },

    async failedRuns(limit) {
      const found = listed()
        .where('trouble', 'is not', null)
        .where(sql<boolean>`trouble ->> 'code' <> 'REFUSED'`)
        .orderBy('updated_at', 'desc')
        .orderBy('id')
        .limit(limit);
      return (await inStatement(found.execute())).map(listedOfRow);
    },

    spendingOf: (id) =>
      inStatement(
        db
          .selectFrom('runoff.gateway_call')
          .where('run_id', '=', id)
          .groupBy(['spender', 'model'])
          .select([
            'spender',
            'model',
            sql<number>`sum(usd)`.as('usd'),
            sql<number>`sum(tokens_in)::bigint`.as('tokensIn'),
            sql<number>`sum(tokens_out)::bigint`.as('tokensOut'),
            sql<number>`sum(ms)`.as('ms'),
            // As in `usage`.
            sql<number>`count(*) filter (where status <> 402 or usd > 0)`.as('calls'),
            sql<number>`count(*) filter (where not exact and usd > 0)`.as('estimated'),
          ])
          .orderBy('usd', 'desc')
          .orderBy('spender')
          .orderBy('model')
          .execute(),
      ),
  };
}

/** `%`, `_` and `\` stand for themselves. */
const contains = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

function conditions({ of, states, by, text, after }: RunFilter) {
  return [
    of === 'local'
      ? sql<boolean>`repository_id is null`
      : sql<boolean>`repository_id = any(${[...of]}::bigint[])`,
    ...(states ? [sql<boolean>`state = any(${[...states]}::text[])`] : []),
    ...(by === undefined
      ? []
      : [sql<boolean>`lower(origin #>> '{requestedBy,login}') = lower(${storableText(by)})`]),
    ...(text === undefined ? [] : [sql<boolean>`title ilike ${contains(storableText(text))}`]),
    ...(after ? [sql<boolean>`(created_at, id) < (${after.createdAt}, ${after.id})`] : []),
  ];
}

type ListedRow = Pick<Selectable<RunTable>, (typeof LISTED)[number]> & {
  readonly pick: Selectable<PickTable>['pick'] | null;
  readonly usd: number;
};

const listedOfRow = (row: ListedRow): ListedRun => ({
  ...startOfRow(row),
  usd: row.usd,
  ...withoutNulls({ decision: row.decision, trouble: row.trouble, pick: row.pick }),
});
