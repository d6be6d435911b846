import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { Fault } from '../../core/model/index.ts';
import type { BaseCheckout, Log, WorkArea } from '../../ports/index.ts';
import {
  chownTo,
  exists,
  hasCode,
  isAreaId,
  isTemporary,
  isTrash,
  keyOfTemporary,
  type Layout,
  namesIn,
  temporaryPath,
  touch,
  usedAt,
} from './layout.ts';
import type { Locks } from './locks.ts';
import type { FileOwner } from './trees.ts';
import { removeTree } from './trees.ts';

/** Age in milliseconds from which incomplete data without a lock counts as left by a crash. */
const ABANDONED_MS = 24 * 60 * 60_000;

/** Prefix of areas in which setup runs; they belong to the call that opened them and to no run. */
export const SETUP_AREA = 'setup-';

/** The layers below an area: as long as the area exists, they must not be removed. */
const AreaRecord = z.object({ repositoryKey: z.string(), lowers: z.array(z.string()) });
export type AreaRecord = z.infer<typeof AreaRecord>;

/**
 * An area with an unknown base: any data used since `since` (milliseconds since 1970) may be part of it, because
 * opening it counted as use.
 */
export interface UnknownArea {
  readonly since: number;
}

export interface Areas {
  open(base: BaseCheckout, id: string): Promise<WorkArea>;
  remove(id: string): Promise<void>;
  sweep(keep: (id: string) => boolean): Promise<readonly string[]>;
  /** Layers and bases of all open areas, of every process. */
  records(): Promise<readonly (AreaRecord | UnknownArea)[]>;
}

/** What an area stands on, in its folder. */
const RECORD = 'area.json';

interface AreaParts {
  readonly layout: Layout;
  readonly locks: Locks;
  readonly owner: FileOwner;
  readonly log: Log;
  readonly trash: Trash;
}

export function openAreas(parts: AreaParts): Areas {
  const { layout, locks, log, trash } = parts;
  const recordFile = (id: string): string => join(layout.area(id), RECORD);

  const ids = async (): Promise<readonly string[]> => (await namesIn(layout.areas)).filter(isAreaId);

  async function record(id: string): Promise<AreaRecord | null> {
    try {
      return AreaRecord.parse(JSON.parse(await readFile(recordFile(id), 'utf8')));
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return null;
      throw error;
    }
  }

  /** Whether this is the area of a setup whose process is gone. */
  async function isAbandoned(id: string): Promise<boolean> {
    // After a power failure a file may exist without its content; then only its age decides.
    const on = await record(id).catch(() => null);
    if (on) return (await locks.alone(on.repositoryKey, async () => true)) ?? false;
    const at = await usedAt(layout.area(id));
    return at !== null && Date.now() - at > ABANDONED_MS;
  }

  /** Whether this is an area of such a setup, or one that is not kept. */
  async function isUnused(id: string, keep: (id: string, usedAt: number) => boolean): Promise<boolean> {
    if (id.startsWith(SETUP_AREA)) return isAbandoned(id);
    const at = await usedAt(layout.area(id));
    return at !== null && !keep(id, at);
  }

  /** Its base is unknown: its record was lost in a disk or power failure. */
  async function unreadable(id: string, thrown: unknown): Promise<UnknownArea> {
    if (!(thrown instanceof SyntaxError || thrown instanceof z.ZodError)) throw thrown;
    log.warn({ err: thrown, path: recordFile(id) }, 'The record of an area cannot be read.');
    return { since: (await stat(layout.area(id))).birthtimeMs };
  }

  async function discard(path: string): Promise<void> {
    try {
      await removeTree(path);
    } catch (error) {
      // A git that outlived its killed parent may still write there; the next sweep finds it.
      log.warn({ err: error, path }, 'incomplete files could not be removed yet');
    }
  }

  return {
    open: (base, id) => locks.using(base.repositoryKey, () => openArea(parts, base, id)),

    remove: (id) => trash.discard(layout.area(id)),

    async sweep(keep) {
      const removed: string[] = [];
      for (const id of await ids()) {
        if (!(await isUnused(id, keep))) continue;
        try {
          await trash.discard(layout.area(id));
          removed.push(id);
        } catch (thrown) {
          // One that cannot be removed must not block the others, or a start; the next sweep tries again.
          log.warn({ area: id, err: thrown }, 'An area could not be removed.');
        }
      }
      for (const path of await leftByCrash(layout, locks)) await discard(path);
      trash.clear(await trashIn(layout));
      return removed;
    },

    async records() {
      const found = await Promise.all(
        (await ids()).map((id) => record(id).catch((thrown) => unreadable(id, thrown))),
      );
      return found.filter((each) => each !== null);
    },
  };
}

async function openArea(
  { layout, owner, trash }: AreaParts,
  base: BaseCheckout,
  id: string,
): Promise<WorkArea> {
  const area = layout.area(id);
  await trash.discard(area);
  const lowers = [...base.layers, ...(base.submodules ? [base.submodules.files] : []), base.lower];
  const allLowers = base.home === undefined ? lowers : [...lowers, base.home];
  // Named by its repository until it is complete: a sweep removes it when nobody uses that.
  const fresh = temporaryPath(layout.objects(base.repositoryKey));
  try {
    // We own the area itself, because its content is opened and written by name.
    await mkdir(fresh, { mode: 0o755 });
    for (const name of ['u', 'w', 'm', 'home']) {
      await mkdir(join(fresh, name), { mode: 0o755 });
      await chownTo(join(fresh, name), owner);
    }
    const on: AreaRecord = { repositoryKey: base.repositoryKey, lowers: allLowers };
    await writeFile(join(fresh, RECORD), JSON.stringify(on));
    await rename(fresh, area);
    await requireLowers(allLowers);
  } catch (error) {
    for (const tree of [fresh, area]) await removeTree(tree);
    throw error;
  }
  const [upper, work, merged, home] = [join(area, 'u'), join(area, 'w'), join(area, 'm'), join(area, 'home')];
  return {
    ...{ id, lowers, upper, work, merged, home },
    ...(base.home === undefined ? {} : { homeLower: base.home }),
    ...(base.tools === undefined ? {} : { tools: base.tools }),
  };
}

/** Marks each lower layer as used now, by the folder above its files. */
async function requireLowers(lowers: readonly string[]): Promise<void> {
  for (const lower of lowers) {
    if ((await exists(lower)) && (await touch(join(lower, '..')))) continue;
    throw new Fault('INTERNAL', `${lower} no longer exists; the checkout must be prepared again.`);
  }
}

/** Data that a crash or another process left partly removed. */
async function trashIn({ areas }: Layout): Promise<readonly string[]> {
  return (await namesIn(areas)).filter(isTrash).map((name) => join(areas, name));
}

/** Data that a crash left incomplete. Its age does not matter if the repository is not in use. */
async function leftByCrash(layout: Layout, locks: Locks): Promise<readonly string[]> {
  const root = join(layout.areas, '..');
  const found: string[] = [];
  for (const path of await temporaryIn(root)) {
    const at = await usedAt(path);
    if (at !== null && Date.now() - at > ABANDONED_MS) found.push(path);
  }
  const bare = [...(await temporaryIn(join(root, 'mirrors'))), ...(await temporaryIn(join(root, 'objects')))];
  const keys = new Set([
    ...(await layout.keys()),
    ...bare.flatMap((path) => keyOfTemporary(basename(path)) ?? []),
  ]);
  for (const key of keys) {
    const list = async () => [
      ...(await temporaryIn(layout.bases(key))),
      ...(await temporaryIn(layout.layers(key))),
      ...bare.filter((path) => keyOfTemporary(basename(path)) === key),
    ];
    // First look without the lock: there is hardly ever anything.
    if ((await list()).length > 0) found.push(...((await locks.alone(key, list)) ?? []));
  }
  return found;
}

async function temporaryIn(folder: string): Promise<string[]> {
  const names = await namesIn(folder);
  return names.filter(isTemporary).map((name) => join(folder, name));
}

/** Milliseconds to wait for a removal. Our default: nearly every area is gone by then, and its space is free. */
const WAIT_MS = 1_000;

/** Removes unused trees. */
interface Trash {
  /**
   * Removes a tree: its path is free when this resolves. If the removal takes long, it continues in the background. No
   * error if there is no tree.
   */
  discard(path: string): Promise<void>;
  /** Removes in the background what a crash left partly removed, except for what is already being removed. */
  clear(trash: readonly string[]): void;
  /** Resolves when nothing is left to be removed. */
  idle(): Promise<void>;
}

/**
 * Removes one tree at a time: tens of thousands of nested folders take minutes on a busy disk, and two trees in
 * parallel take longer. If the process ends earlier, the next sweep finds the rest by its name.
 */
export function openTrash(
  layout: Layout,
  log: Log,
  remove: (path: string) => Promise<void> = removeTree,
): Trash {
  const queued = new Set<string>();
  let last: Promise<void> = Promise.resolve();

  function enqueue(trash: string): Promise<void> {
    if (queued.has(trash)) return last;
    queued.add(trash);
    last = last.then(async () => {
      try {
        await remove(trash);
      } catch (error) {
        log.warn(
          { err: error, path: trash },
          'A folder that is no longer needed could not be removed; a later cleanup tries again.',
        );
      } finally {
        queued.delete(trash);
      }
    });
    return last;
  }

  return {
    async discard(path) {
      const trash = layout.trash();
      try {
        await rename(path, trash);
      } catch (error) {
        if (hasCode(error, 'ENOENT')) return;
        return remove(path);
      }
      await withinWait(enqueue(trash));
    },
    clear(trash) {
      for (const path of trash) void enqueue(path);
    },
    async idle() {
      for (let awaited: Promise<void> | null = null; awaited !== last; ) {
        awaited = last;
        await awaited;
      }
    },
  };
}

async function withinWait(work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, WAIT_MS);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}
