import { systemRandom } from '../adapters/system/index.ts';
import type { PrunedByHand } from '../cli/index.ts';
import type { Operator } from '../core/policy/index.ts';
import { flows, retire } from '../runs/index.ts';
import { openRuntime } from './runtime.ts';
import { pruneUnused } from './upkeep.ts';

/** What upkeep does once a day, now; beside a server, too. `dry`: only says which rows would go. */
export async function pruneByHand(operator: Operator, dry: boolean): Promise<PrunedByHand> {
  // An executor of its own name: the engine's record is to be shortened, too, and there is nothing to take up.
  const needs = dry ? {} : { executor: `cli-prune-${systemRandom.runId()}`, github: true };
  const { world, close } = await openRuntime(operator, needs, { prunes: false });
  try {
    if (!dry) await world.engine.launch(flows(world));
    const retired = await retire(world, operator.keep, dry);
    return dry ? { retired } : { retired, unused: await pruneUnused(world) };
  } finally {
    await close();
  }
}
