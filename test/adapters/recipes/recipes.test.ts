import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openRecipeFiles } from '../../../src/adapters/recipes/index.ts';
import { recipesContract } from '../../contracts/recipes.suite.ts';

const root = mkdtempSync(join(tmpdir(), 'recipes-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let count = 0;
const freshFolder = (): string => {
  count += 1;
  return join(root, `${count}`);
};
const recipe = { commands: { test: 'npm test' }, from: { test: 'package.json' } };
const DAY = 86_400_000;

describe('recipes as files', () => {
  recipesContract(async () => openRecipeFiles(freshFolder()));

  test('one that is damaged is as good as none, and can be kept again', async () => {
    const folder = freshFolder();
    const recipes = openRecipeFiles(folder);
    await recipes.keepRecipe('local-/a', 'ab', recipe, DAY);
    const [repository = ''] = readdirSync(folder);
    const file = join(folder, repository, 'ab.json');
    for (const damage of ['', '{"commands":{"test":3},"from":{}}', readFileSync(file, 'utf8').slice(0, 20)]) {
      writeFileSync(file, damage);
      expect(await recipes.recipe('local-/a', 'ab', DAY), damage).toBeNull();
    }
    await recipes.keepRecipe('local-/a', 'ab', recipe, DAY);
    expect(await recipes.recipe('local-/a', 'ab', DAY)).toEqual(recipe);
  });

  test('what was not used for two weeks goes when another one comes', async () => {
    const recipes = openRecipeFiles(freshFolder());
    await recipes.keepRecipe('local-/a', 'aa', recipe, DAY);
    await recipes.keepRecipe('local-/a', 'bb', recipe, DAY);
    await recipes.recipe('local-/a', 'bb', 10 * DAY);
    await recipes.keepRecipe('local-/a', 'cc', recipe, 20 * DAY);
    const found = await Promise.all(
      ['aa', 'bb', 'cc'].map((key) => recipes.recipe('local-/a', key, 20 * DAY)),
    );
    expect(found.map((one) => one !== null)).toEqual([false, true, true]);
  });

  test('a key that is no hexadecimal number never becomes a path', async () => {
    const recipes = openRecipeFiles(freshFolder());
    await expect(recipes.recipe('local-/a', '../x', 1)).rejects.toMatchObject({ code: 'INTERNAL' });
  });
});
