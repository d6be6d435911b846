import { sql } from 'kysely';
import type { RunState } from '../../core/model/index.ts';
import type { Store } from '../../ports/index.ts';
import { ownerOf } from './rows.ts';
import { type Db, inStatement } from './transaction.ts';

/** In which somebody works on a run. */
const AT_WORK: readonly RunState[] = ['queued', 'admitted', 'briefed', 'coded', 'examined', 'judged'];

/** Of a `run`. */
export const hasBegun = sql<boolean>`exists (select from runoff.stage_timing where run_id = run.id)`;

/** What admission and intake ask about all runs. */
export function lookups(db: Db) {
  return {
    async lined() {
      const rows = await inStatement(
        db
          .selectFrom('runoff.run as run')
          .where('run.state', 'in', AT_WORK)
          .where('run.repository_id', 'is not', null)
          .where('run.line', 'is not', null)
          .select(['run.id', 'run.line', 'run.state', hasBegun.as('begun')])
          .execute(),
      );
      const known = rows.flatMap(({ line, ...row }) => (line === null ? [] : [{ ...row, line }]));
      const waits = ({ state, begun }: (typeof known)[number]) => state === 'queued' && !begun;
      return {
        waiting: known.filter(waits).map(({ id, line }) => ({ id, ...line, returning: false })),
        placed: known.filter((one) => !waits(one)).map(({ line }) => ({ share: line.share })),
      };
    },

    async startedSince(at, whose) {
      const count = db
        .selectFrom('runoff.run')
        .where('created_at', '>=', at)
        .where('repository_id', 'is not', null)
        .where('task', 'is not', null)
        .where(ownerOf(whose, 'runoff.run'), '=', whose.id)
        .select(sql<number>`count(*)`.as('runs'));
      return (await inStatement(count.executeTakeFirstOrThrow())).runs;
    },

    async labelSeen(repositoryId, issue, at) {
      const prefix = `labeled:${repositoryId}:${issue}:`;
      // Other keys may begin alike one day; only a time is read as a number.
      const time = sql<number | null>`
        case when semantic_key ~ '^labeled:[0-9]+:[0-9]+:[0-9]{1,15}$'
             then split_part(semantic_key, ':', 4)::bigint end`;
      const found = db
        .selectFrom('runoff.delivery')
        .where('semantic_key', 'like', `${prefix}%`)
        .where(time, '>=', at)
        .select('id')
        .limit(1);
      return (await inStatement(found.executeTakeFirst())) !== undefined;
    },
  } satisfies Partial<Store>;
}
