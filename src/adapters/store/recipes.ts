import { Recipe } from '../../core/settings/index.ts';
import type { Recipes, Store } from '../../ports/index.ts';
import { type Db, inTransaction } from './connection.ts';
import { storableJson } from './rows.ts';

export function recipes(db: Db) {
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
