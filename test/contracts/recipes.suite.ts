import { expect, test } from 'vitest';
import type { Recipe } from '../../src/core/settings/index.ts';
import type { Recipes } from '../../src/ports/index.ts';

/** The promises of `Recipes`, for whatever keeps them. `fresh`: empty. */
export function recipesContract(fresh: () => Promise<Recipes>): void {
  const recipe: Recipe = {
    commands: { setup: 'npm install', test: 'npm test' },
    from: { setup: 'package.json', test: 'package.json' },
    instead: { setup: 'npm ci' },
  };
  const other: Recipe = { commands: { test: 'make "test"; ü' }, from: { test: 'Makefile' } };

  test('a recipe is found by repository and key, and the later one counts', async () => {
    const recipes = await fresh();
    expect(await recipes.recipe('github-42', 'ab12', 1)).toBeNull();
    await recipes.keepRecipe('github-42', 'ab12', other, 1);
    await recipes.keepRecipe('github-42', 'ab12', recipe, 2);
    await recipes.keepRecipe('github-42', 'ab13', other, 2);
    expect(await recipes.recipe('github-42', 'ab12', 3)).toEqual(recipe);
    expect(await recipes.recipe('github-42', 'ab13', 3)).toEqual(other);
    expect(await recipes.recipe('github-43', 'ab12', 3)).toBeNull();
    expect(await recipes.recipe('local-/srv/../x', 'ab12', 3)).toBeNull();
  });
}
