import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { Fault } from '../../core/model/index.ts';
import type { BaseCheckout, Log, WorkArea } from '../../ports/index.ts';
import type { Bin } from './bin.ts';
import type { Owner } from './git.ts';
import {
  besides,
  exists,
  give,
  hasCode,
  isHalfMade,
  isTrash,
  keyOfHalfMade,
  type Layout,
  namesIn,
  touch,
  usedAt,
} from './layout.ts';
import type { Locks } from './locks.ts';
import { removeTree } from './tools.ts';

/** Half-made things that no lock tells about are left by a crash when they are this old, milliseconds. */
const ABANDONED_MS = 24 * 60 * 60_000;

/** Areas in which setup runs; they belong to the call that opened them and to no run. */
export const SETUP_AREA = 'setup-';

/** What an area stands on: for as long as the area is there, nobody may take it away. */
const Ground = z.object({ repositoryKey: z.string(), lowers: z.array(z.string()) });
export type Ground = z.infer<typeof Ground>;

export interface Areas {
  open(base: BaseCheckout, id: string): Promise<WorkArea>;
  remove(id: string): Promise<void>;
  sweep(keep: (id: string) => boolean): Promise<readonly string[]>;
  /** The ground of every area that is open, in whichever process. */
  grounds(): Promise<readonly Ground[]>;
}

interface Parts {
  readonly layout: Layout;
  readonly locks: Locks;
  readonly owner: Owner;
  readonly log: Log;
  readonly bin: Bin;
}

export function openAreas(parts: Parts): Areas {
  const { layout, locks, log, bin } = parts;
  const groundFile = (id: string): string => join(layout.area(id), 'ground.json');

  async function ground(id: string): Promise<Ground | null> {
    try {
      return Ground.parse(JSON.parse(await readFile(groundFile(id), 'utf8')));
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return null;
      throw error;
    }
  }

  /** An area of a setup whose process is gone. */
  async function isAbandoned(id: string): Promise<boolean> {
    // A machine that lost its power may have kept the file without its content: then only its age tells.
    const on = await ground(id).catch(() => null);
    if (on) return (await locks.alone(on.repositoryKey, async () => true)) ?? false;
    const at = await usedAt(layout.area(id));
    return at !== null && Date.now() - at > ABANDONED_MS;
  }

  async function discard(path: string): Promise<void> {
    try {
      await removeTree(path);
    } catch (error) {
      // A git that outlived its killed parent may still write there; the next sweep finds it.
      log.warn({ err: error, path }, 'half-made files could not be removed yet');
    }
  }

  return {
    open: (base, id) => locks.using(base.repositoryKey, () => openArea(parts, groundFile(id), base, id)),

    remove: (id) => bin.discard(layout.area(id)),

    async sweep(keep) {
      const removed: string[] = [];
      for (const id of await namesIn(layout.areas)) {
        if (id.startsWith('.') || !(id.startsWith(SETUP_AREA) ? await isAbandoned(id) : !keep(id))) continue;
        try {
          await bin.discard(layout.area(id));
          removed.push(id);
        } catch (thrown) {
          // One that resists must not keep the others, or a start, from going on; the next sweep tries again.
          log.warn({ area: id, err: thrown }, 'An area could not be removed.');
        }
      }
      for (const path of await leftByCrash(layout, locks)) await discard(path);
      bin.clear(await trashIn(layout));
      return removed;
    },

    async grounds() {
      const all = (await namesIn(layout.areas)).filter((id) => !id.startsWith('.'));
      const found = await Promise.all(all.map(ground));
      return found.filter((each) => each !== null);
    },
  };
}

async function openArea(
  { layout, owner, bin }: Parts,
  groundFile: string,
  base: BaseCheckout,
  id: string,
): Promise<WorkArea> {
  const area = layout.area(id);
  await bin.discard(area);
  const [upper, work, merged, home] = [join(area, 'u'), join(area, 'w'), join(area, 'm'), join(area, 'home')];
  const lowers = [...base.layers, base.lower];
  try {
    // The area itself stays ours: what lies in it is opened and written by name.
    await mkdir(area, { mode: 0o755 });
    for (const folder of [upper, work, merged, home]) {
      await mkdir(folder, { mode: 0o755 });
      await give(folder, owner);
    }
    const on: Ground = { repositoryKey: base.repositoryKey, lowers };
    const fresh = besides(groundFile);
    await writeFile(fresh, JSON.stringify(on));
    await rename(fresh, groundFile);
    await standOn(lowers);
  } catch (error) {
    await removeTree(area);
    throw error;
  }
  return { id, lowers, upper, work, merged, home };
}

/** Notes the use of each lower layer's folder, which is the one above the files themselves. */
async function standOn(lowers: readonly string[]): Promise<void> {
  for (const lower of lowers) {
    if ((await exists(lower)) && (await touch(join(lower, '..')))) continue;
    throw new Fault('INTERNAL', `${lower} is gone; the checkout must be prepared again.`);
  }
}

/** What a crash, or another process, left half removed. */
async function trashIn({ areas }: Layout): Promise<readonly string[]> {
  return (await namesIn(areas)).filter(isTrash).map((name) => join(areas, name));
}

/** What a crash left half made. Of a repository that nobody uses now, however young it is. */
async function leftByCrash(layout: Layout, locks: Locks): Promise<readonly string[]> {
  const root = join(layout.areas, '..');
  const found: string[] = [];
  for (const path of await halfMadeIn(root)) {
    const at = await usedAt(path);
    if (at !== null && Date.now() - at > ABANDONED_MS) found.push(path);
  }
  const bare = [...(await halfMadeIn(join(root, 'mirrors'))), ...(await halfMadeIn(join(root, 'objects')))];
  const keys = new Set([
    ...(await layout.keys()),
    ...bare.flatMap((path) => keyOfHalfMade(basename(path)) ?? []),
  ]);
  for (const key of keys) {
    const list = async () => [
      ...(await halfMadeIn(layout.bases(key))),
      ...(await halfMadeIn(layout.layers(key))),
      ...bare.filter((path) => keyOfHalfMade(basename(path)) === key),
    ];
    // A look without the lock first: there is hardly ever anything.
    if ((await list()).length > 0) found.push(...((await locks.alone(key, list)) ?? []));
  }
  return found;
}

async function halfMadeIn(folder: string): Promise<string[]> {
  const names = await namesIn(folder);
  return names.filter(isHalfMade).map((name) => join(folder, name));
}
