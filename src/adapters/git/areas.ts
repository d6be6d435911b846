import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BaseCheckout, WorkArea } from '../../ports/index.ts';
import type { Owner } from './git.ts';
import { exists, give, hasCode, type Layout } from './layout.ts';
import { removeTree } from './tools.ts';

/** Half-made folders older than this belong to no process that still works on them, milliseconds. */
const ABANDONED_MS = 24 * 60 * 60_000;

export interface Areas {
  open(base: BaseCheckout, id: string): Promise<WorkArea>;
  remove(id: string): Promise<void>;
  sweep(keep: (id: string) => boolean): Promise<readonly string[]>;
}

export function openAreas(layout: Layout, owner: Owner): Areas {
  return {
    async open(base, id) {
      const area = layout.area(id);
      if (await exists(area)) await removeTree(area);
      const [upper, work, merged, home] = [
        join(area, 'u'),
        join(area, 'w'),
        join(area, 'm'),
        join(area, 'home'),
      ];
      for (const folder of [area, upper, work, merged, home]) {
        await mkdir(folder, { mode: 0o755 });
        await give(folder, owner);
      }
      return { id, lowers: [...base.layers, base.lower], upper, work, merged, home };
    },

    remove: (id) => removeTree(layout.area(id)),

    async sweep(keep) {
      const removed: string[] = [];
      for (const id of await readdir(layout.areas)) {
        if (id.startsWith('.') || keep(id)) continue;
        await removeTree(layout.area(id));
        removed.push(id);
      }
      await sweepHalfMade(layout);
      return removed;
    },
  };
}

async function sweepHalfMade(layout: Layout): Promise<void> {
  const root = join(layout.areas, '..');
  const folders = [root, join(root, 'mirrors'), join(root, 'objects')];
  const bases = join(root, 'bases');
  for (const key of await readdir(bases)) {
    folders.push(join(bases, key));
    for (const sha of await readdir(join(bases, key))) folders.push(join(bases, key, sha, 'layers'));
  }
  for (const folder of folders) {
    for (const name of await namesIn(folder)) {
      const path = join(folder, name);
      if (name.startsWith('.tmp-') && (await ageOf(path)) > ABANDONED_MS) await removeTree(path);
    }
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return [];
    throw error;
  }
}

/** Zero for what is gone by now. */
async function ageOf(path: string): Promise<number> {
  try {
    return Date.now() - (await stat(path)).mtimeMs;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 0;
    throw error;
  }
}
