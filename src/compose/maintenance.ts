import { LAUNCH_LOCK, prepareEngineSchema } from '../adapters/engine/index.ts';
import { bytesOf } from '../adapters/git/index.ts';
import { type MovedTable, moveDatabase } from '../adapters/move/index.ts';
import { openStore } from '../adapters/store/index.ts';
import { systemRandom } from '../adapters/system/index.ts';
import type { Operator } from '../core/settings/index.ts';
import { flows, retire } from '../runs/index.ts';
import type { PrunedByHand, RuntimeNeeds } from '../shell.ts';
import { closing, disposedOnFailure, type FollowOpening, openDatabase } from './connections.ts';
import { foldersByKind } from './data-folder.ts';
import { openLog } from './instrumentation.ts';
import { openRuntime } from './runtime.ts';
import { requireServedDatabase } from './served-database.ts';
import { pruneUnused } from './upkeep.ts';

interface MoveRequest {
  readonly to: string;
  readonly dryRun: boolean;
  readonly onTable: (table: string, rows: number, of: number) => void;
}

/** Copies the database of this environment to the one at `to`; see `moveDatabase`. */
export async function moveAway(
  operator: Operator,
  request: MoveRequest,
  follow: FollowOpening,
): Promise<readonly MovedTable[]> {
  const cleanups = new AsyncDisposableStack();
  const log = openLog(operator);
  const opening = disposedOnFailure(cleanups, async () => ({
    from: await openDatabase(operator, false, log, cleanups),
    close: closing(cleanups),
  }));
  const { from, close } = await follow(opening);
  try {
    return await moveDatabase({
      ...request,
      from,
      launchLock: LAUNCH_LOCK,
      async prepare(url) {
        await (await openStore(url)).close();
        await prepareEngineSchema(url, log);
      },
    });
  } finally {
    await close();
  }
}

/**
 * Does the daily upkeep now, even while a server is running. `dry`: only counts the rows that would be removed, and
 * measures the folders.
 */
export async function pruneByHand(
  operator: Operator,
  dry: boolean,
  follow: FollowOpening = (opening) => opening,
): Promise<PrunedByHand> {
  if (!dry) await requireServedDatabase(operator);
  // An executor with a new name: it shortens the engine's records too, and has nothing to resume.
  const needs: RuntimeNeeds = dry
    ? { role: 'reader' }
    : { role: 'standalone', executor: `cli-prune-${systemRandom.runId()}`, github: true };
  const { world, close } = await follow(openRuntime(operator, needs, { prunes: false }));
  try {
    if (!dry) await world.engine.launch(flows(world));
    const retired = await retire(world, operator.keep, dry);
    return dry
      ? { retired, sizes: await sizesOf(operator.data) }
      : { retired, unused: await pruneUnused(world) };
  } finally {
    await close();
  }
}

/** Bytes on disk of a data folder by kind, the largest first. */
async function sizesOf(data: string): Promise<Readonly<Record<string, number>>> {
  const sizes: (readonly [string, number])[] = [];
  for (const [kind, folders] of Object.entries(foldersByKind(data)))
    sizes.push([kind, await bytesOf(folders)]);
  return Object.fromEntries(sizes.toSorted(([, one], [, other]) => other - one));
}
