import { LAUNCH_LOCK, prepareEngineSchema } from '../adapters/engine/index.ts';
import { type MovedTable, moveDatabase } from '../adapters/move/index.ts';
import { openStore } from '../adapters/store/index.ts';
import type { Operator } from '../core/policy/index.ts';
import { closedOnFailure, openClosers } from './closers.ts';
import { openLog } from './log.ts';
import { openDatabase } from './runtime.ts';

export interface MoveWish {
  readonly to: string;
  readonly dryRun: boolean;
  readonly onTable: (table: string, rows: number, of: number) => void;
}

/** From the database of this environment to the one at `to`; see `moveDatabase`. */
export async function moveAway(operator: Operator, wish: MoveWish): Promise<readonly MovedTable[]> {
  const closers = openClosers();
  const log = openLog(operator);
  const moved = await closedOnFailure(closers, async () => {
    const from = await openDatabase(operator, false, log, closers.later);
    return moveDatabase({
      ...wish,
      from,
      launchLock: LAUNCH_LOCK,
      async prepare(url) {
        await (await openStore(url)).close();
        await prepareEngineSchema(url, log);
      },
    });
  });
  await closers.close();
  return moved;
}
