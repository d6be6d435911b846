import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../../core/model/index.ts';
import { LONG_UNUSED, Recipe } from '../../core/settings/index.ts';
import type { Recipes } from '../../ports/index.ts';

/**
 * Stores recipes as files on this machine, for commands that open no database: one folder per repository, one file per
 * key. Recipes unused for two weeks are removed when another recipe of the repository is stored. `dir` is created on
 * demand. Fault: DISK_FULL.
 */
export function openRecipeFiles(dir: string): Recipes {
  const folderOf = (repository: string) => join(dir, createHash('sha256').update(repository).digest('hex'));
  const fileOf = (repository: string, key: string) => {
    if (!/^[0-9a-f]{1,128}$/.test(key)) throw new Fault('INTERNAL', 'The key of a recipe is hexadecimal.');
    return join(folderOf(repository), `${key}.json`);
  };
  return {
    async recipe(repository, key, at) {
      const file = fileOf(repository, key);
      const text = await orNull(readFile(file, 'utf8'));
      if (text === null) return null;
      await orNull(utimes(file, at / 1000, at / 1000));
      return recipeFrom(text);
    },

    async keepRecipe(repository, key, recipe, at) {
      const [folder, file] = [folderOf(repository), fileOf(repository, key)];
      const fresh = `${file}.tmp-${process.pid}`;
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await writeFile(fresh, JSON.stringify(recipe), { mode: 0o600 });
        await utimes(fresh, at / 1000, at / 1000);
        await rename(fresh, file);
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== 'ENOSPC') throw cause;
        throw new Fault('DISK_FULL', 'There was no space left for the recipe of the repository.', { cause });
      }
      for (const name of await readdir(folder)) {
        const path = join(folder, name);
        const facts = await orNull(stat(path));
        if (facts && facts.mtimeMs < at - LONG_UNUSED.ms) await rm(path, { force: true });
      }
    },
  };
}

/** A damaged file is ignored: the recipe is determined again. */
function recipeFrom(text: string): Recipe | null {
  try {
    return Recipe.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

async function orNull<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
