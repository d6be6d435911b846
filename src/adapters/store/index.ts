import type { Identity, Recipes, Store } from '../../ports/index.ts';
import { type ConnectionLimits, LONG_WORK } from '../postgres/index.ts';
import { apiTokens, idempotencyKeys } from './api.ts';
import { commands, picks, replies } from './commands.ts';
import { asDatabaseFault, connectStore, type Db, inTransaction } from './connection.ts';
import { executorList } from './executors.ts';
import { answers, ledger, modelAnswers } from './ledger.ts';
import { liveRuns } from './live.ts';
import { isMigrated, migrate } from './migrations/index.ts';
import { outcomes } from './outcomes.ts';
import { audits, intents, progress } from './progress.ts';
import { retention } from './retention.ts';
import { runLists } from './run-lists.ts';
import { lookups, runs } from './runs.ts';
import { sessions } from './sessions.ts';

export { openExecutors } from './executors.ts';
export { MIGRATIONS, type Migration, migrate } from './migrations/index.ts';

import { Recipe } from '../../core/settings/index.ts';
import { storableJson } from './rows.ts';

interface StoreOptions {
  /** Maximum number of connections; default 4. They are opened on demand and closed after ten idle seconds. */
  readonly poolSize?: number;
  /**
   * For a process that shares the work: after it has expired, and before it has joined, each method that writes rejects
   * with EXECUTOR_EXPIRED. Default: it never expires.
   */
  readonly identity?: Identity | undefined;
  /** How long a connection waits. Default: our defaults. */
  readonly limits?: ConnectionLimits | undefined;
}

/** Opens the database at `url` and updates its schema. Rejects with DATABASE_UNAVAILABLE. */
export async function openStore(url: string, options: StoreOptions = {}): Promise<Store> {
  const { poolSize = 4, identity, limits } = options;
  const { db, close: closeMain } = connectStore(url, { poolSize, name: 'runoff store', identity, limits });
  // Connects on first use.
  const slow = connectStore(url, {
    poolSize: 1,
    name: 'runoff store (long work)',
    identity,
    limits: LONG_WORK,
  });
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
    ...liveRuns(db),
    ...intents(db),
    ...replies(db),
    ...answers(db),
    ...modelAnswers(db),
    ...lookups(db),
    ...runLists(db),
    ...sessions(db),
    ...commands(db),
    ...picks(db),
    ...executorList(db),
    ...audits(db),
    ...recipes(db),
    ...outcomes(db),
    ...apiTokens(db),
    ...idempotencyKeys(db),
    ...retention(slow.db),
    close,
  };
}

function recipes(db: Db) {
  return {
    recipe: (repository, key, at) =>
      inTransaction(db, async (tx) => {
        const row = await tx
          .updateTable('runoff.recipe')
          .set({ used_at: at })
          .where('repository', '=', repository)
          .where('key', '=', key)
          .returning('recipe')
          .executeTakeFirst();
        return row ? (Recipe.safeParse(row.recipe).data ?? null) : null;
      }),

    keepRecipe: (repository, key, recipe, at) =>
      inTransaction(db, async (tx) => {
        const kept = { recipe: storableJson(recipe), used_at: at };
        await tx
          .insertInto('runoff.recipe')
          .values({ repository, key, ...kept })
          .onConflict((conflict) => conflict.columns(['repository', 'key']).doUpdateSet(kept))
          .execute();
      }),
  } satisfies Recipes & Partial<Store>;
}
