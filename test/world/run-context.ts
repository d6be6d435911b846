import type { RunId } from '../../src/core/model/index.ts';
import { loadRun } from '../../src/runs/context.ts';
import type { World } from '../../src/runs/index.ts';
import type { RunContext } from '../../src/runs/stage.ts';

/** A run as a stage that begins now is given it. */
export const contextOf = async (
  world: Pick<World, 'store'>,
  runId: RunId,
  signal: AbortSignal = new AbortController().signal,
): Promise<RunContext> => ({ run: await loadRun(world, runId), signal });
