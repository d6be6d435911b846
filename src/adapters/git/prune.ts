import { rename, rm, rmdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log, Pruned, Workspaces } from '../../ports/index.ts';
import type { AreaRecord, Areas, UnknownArea } from './areas.ts';
import { CLAIMS } from './candidate-store.ts';
import type { DamageMarks } from './damage.ts';
import { gitFault } from './faults.ts';
import type { Git } from './git.ts';
import { hasCode, isTemporary, keyOf, type Layout, namesIn, usedAt } from './layout.ts';
import type { Locks } from './locks.ts';
import { keyOfSource } from './sources.ts';
import { bytesOf, removeTree } from './trees.ts';

type PruneOptions = Pick<Parameters<Workspaces['prune']>[0], 'before' | 'keep'> & {
  /** Keys of repositories whose mirror stays. */
  readonly kept: ReadonlySet<string>;
};
type Counts = Omit<Pruned, 'bytes' | 'busy'>;

interface PruneParts {
  readonly git: Git;
  readonly layout: Layout;
  readonly locks: Locks;
  readonly marks: DamageMarks;
  readonly areas: Areas;
  readonly log: Log;
}

/** Result of pruning one unused repository. `trash` is removed after the lock is released. */
interface UnusedData {
  readonly counts: Counts;
  readonly trash: readonly string[];
  /** The repository's mirror is kept. */
  readonly stays: boolean;
}

const NO_COUNTS: Counts = { checkouts: 0, layers: 0, repositories: 0, patches: 0 };

/**
 * Removes data that has not been used for long. Under the lock, data is only renamed, which is fast and crash-safe; the
 * next sweep completes what a crash interrupted.
 */
export function openPruning(parts: PruneParts): Pick<Workspaces, 'prune'> {
  const { layout, locks, log } = parts;

  /** Null if somebody uses the repository. */
  async function pruneOne(key: string, options: PruneOptions): Promise<(Counts & { bytes: number }) | null> {
    const unused = await locks.alone(key, () => moveUnused(parts, key, options));
    if (!unused) return null;
    const bytes = await bytesOf(unused.trash);
    for (const path of unused.trash) await removeTree(path);
    const packed = unused.stays ? await locks.using(key, () => pack(parts, key, options, unused.counts)) : 0;
    return { ...unused.counts, bytes: bytes + packed };
  }

  return {
    async prune({ before, keep, mirrorsKept = [] }) {
      let total: Pruned = { ...NO_COUNTS, bytes: 0, busy: 0 };
      const options = { before, keep, kept: await keysOfLocal(mirrorsKept) };
      for (const key of await layout.keys()) {
        try {
          const one = await pruneOne(key, options);
          total = one ? sum(total, one) : { ...total, busy: total.busy + 1 };
        } catch (error) {
          log.warn({ err: error, repository: key }, 'unused files could not be removed');
        }
      }
      return total;
    },
  };
}

/** A repository that cannot be reached now, as on a disk that is not mounted, may come back: its path is resolved already. */
async function keysOfLocal(paths: readonly string[]): Promise<ReadonlySet<string>> {
  const keyAt = (path: string) => keyOfSource({ kind: 'local', path }).catch(() => keyOf(`local:${path}`));
  return new Set(await Promise.all(paths.map(keyAt)));
}

const sum = (total: Pruned, one: Counts & { bytes: number }): Pruned => ({
  checkouts: total.checkouts + one.checkouts,
  layers: total.layers + one.layers,
  repositories: total.repositories + one.repositories,
  patches: total.patches + one.patches,
  bytes: total.bytes + one.bytes,
  busy: total.busy,
});

/** Requires the exclusive lock, so that no area of the repository is opened and nothing is created in it meanwhile. */
async function moveUnused(
  { layout, areas }: PruneParts,
  key: string,
  options: PruneOptions,
): Promise<UnusedData> {
  const all = await areas.records();
  const records = all.filter((record) => !isUnknown(record) && record.repositoryKey === key);
  const unused = { before: Math.min(options.before, ...all.filter(isUnknown).map(beforeOpening)) };
  const trash: string[] = [];
  const move = async (path: string): Promise<void> => {
    const name = layout.trash();
    await rename(path, name);
    trash.push(name);
  };
  /** Returns how many were moved and how many are left. */
  const moveOld = async (folder: string) => {
    let [moved, left] = [0, 0];
    for (const name of await namesIn(folder)) {
      const path = join(folder, name);
      const old = !isTemporary(name) && !isLowerOf(records, path) && (await isOld(path, unused));
      if (old) await move(path);
      if (old) moved += 1;
      else left += 1;
    }
    if (left === 0) await removeEmpty(folder);
    return { moved, left };
  };
  const [bases, layers] = [await moveOld(layout.bases(key)), await moveOld(layout.layers(key))];
  const [mirror, store] = [layout.mirror(key), layout.objects(key)];
  const claims = await dropClaims(store, options);
  const isUnused = records.length + bases.left + layers.left + claims.left === 0;
  const goes =
    isUnused && !options.kept.has(key) && (await isOld(mirror, options)) && (await isOld(store, options));
  // The store borrows objects from the mirror, so it goes first.
  for (const path of goes ? [store, mirror] : []) if ((await usedAt(path)) !== null) await move(path);
  const counts: Counts = {
    checkouts: bases.moved,
    layers: layers.moved,
    patches: claims.dropped,
    repositories: goes ? 1 : 0,
  };
  return { counts, trash, stays: !goes };
}

const isUnknown = (record: AreaRecord | UnknownArea): record is UnknownArea => 'since' in record;

/** Times of files are up to some milliseconds behind the clock. */
const beforeOpening = ({ since }: UnknownArea): number => since - 1_000;

const isLowerOf = (records: readonly (AreaRecord | UnknownArea)[], folder: string): boolean =>
  records.some((one) => !isUnknown(one) && one.lowers.some((lower) => lower.startsWith(`${folder}/`)));

/** True also if it does not exist. */
async function isOld(path: string, options: Pick<PruneOptions, 'before'>): Promise<boolean> {
  return ((await usedAt(path)) ?? 0) < options.before;
}

async function dropClaims(store: string, options: PruneOptions): Promise<{ dropped: number; left: number }> {
  let [dropped, left] = [0, 0];
  for (const areaId of await namesIn(join(store, CLAIMS))) {
    const ref = join(store, CLAIMS, areaId);
    if (options.keep(areaId) || !(await isOld(ref, options))) {
      left += 1;
      continue;
    }
    await rm(ref, { force: true });
    dropped += 1;
  }
  return { dropped, left };
}

async function removeEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    if (!hasCode(error, 'ENOENT') && !hasCode(error, 'ENOTEMPTY')) throw error;
  }
}

/** The age of a claim is the time of its file, so claims must stay files. */
const AS_FILES = { 'gc.packRefs': 'false', 'gc.cruftPacks': 'false' } as const;
/**
 * Many small fetches leave many small packs. These are git's own defaults, which our git on the host disables
 * otherwise.
 */
const WHEN_NEEDED = { 'gc.auto': '6700', 'gc.autoPackLimit': '50', 'gc.autoDetach': 'false' } as const;

/**
 * Packs live objects and drops those that no claim references any more; returns the bytes freed. Git keeps objects
 * newer than the given time, so that candidates can be collected concurrently.
 */
async function pack(
  { git, layout, locks, marks }: PruneParts,
  key: string,
  options: PruneOptions,
  counts: Counts,
): Promise<number> {
  const [mirror, store] = [layout.mirror(key), layout.objects(key)];
  const before = await bytesOf([mirror, store]);
  const collectGarbage = async (
    cwd: string,
    args: readonly string[],
    config: Readonly<Record<string, string>>,
  ) => {
    const used = await usedAt(cwd);
    if (used === null) return;
    const done = await git({ cwd, args: ['gc', '-q', ...args], config: { ...AS_FILES, ...config } });
    if (done.exitCode !== 0) throw gitFault('Packing objects', done);
    // Packing does not count as use.
    await utimes(cwd, new Date(used), new Date(used));
  };
  // A fetch removes what it takes for the rest of a crash, such as the pack that git is writing here.
  await locks.fetching(key, async () => {
    const whole = await marks.isAsMarked(mirror);
    await collectGarbage(mirror, ['--auto'], WHEN_NEEDED);
    // Else the next fetch reads all of it, as after any other change.
    if (whole) await marks.mark(mirror);
  });
  const date = `${new Date(options.before).toISOString().slice(0, 19)}Z`;
  if (counts.patches > 0) await collectGarbage(store, [`--prune=${date}`], {});
  return Math.max(0, before - (await bytesOf([mirror, store])));
}
