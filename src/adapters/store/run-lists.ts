import type { RunLists } from '../../ports/index.ts';
import { type Db, inStatement } from './connection.ts';

/** What pages ask. */
export function runLists(db: Db): RunLists {
  return {
    async originOf(id) {
      const found = db.selectFrom('runoff.run').select('origin').where('id', '=', id);
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
      const rows = await inStatement(
        db
          .selectFrom(newest)
          .select('origin')
          .orderBy('created_at', 'desc')
          .orderBy('repository_id')
          .execute(),
      );
      return rows.flatMap(({ origin }) =>
        origin.kind === 'github'
          ? [
              {
                installationId: origin.installationId,
                repositoryId: origin.repositoryId,
                owner: origin.owner,
                name: origin.name,
              },
            ]
          : [],
      );
    },
  };
}
