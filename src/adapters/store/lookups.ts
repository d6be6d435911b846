import { sql } from 'kysely';
import type { Store } from '../../ports/index.ts';
import { ownerOf } from './rows.ts';
import { type Db, inStatement } from './transaction.ts';

/** What admission and intake ask about all runs. */
export function lookups(db: Db) {
  return {
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
