import type { RunId } from '../core/model/index.ts';
import { closeUnpicked, loadOnGitHub, refreshTally, type World } from '../runs/index.ts';

/** Ends a run's waiting for a pick; the comparison says so, and its boxes are gone. False when it did not wait. */
export async function endUnpicked(world: World, runId: RunId, cause: string): Promise<boolean> {
  if (!(await closeUnpicked(world, runId, cause))) return false;
  try {
    await refreshTally(world, await loadOnGitHub(world, runId));
  } catch (thrown) {
    // The issue may be gone with the comment; the run is closed all the same.
    world.log.warn({ run: runId, err: thrown }, 'the comparison still asks for a pick');
  }
  return true;
}
