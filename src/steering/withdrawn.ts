import { cancelRun, type World } from '../pipeline/index.ts';

/** The label was taken off, or the issue was closed, deleted or moved away. */
export interface StopEvent {
  readonly repositoryId: number;
  readonly issue: number;
  /** One clause, for the run's record. */
  readonly cause: string;
}

/** Cancels the issue's living run. Stopping is always safe, so anybody whom GitHub lets do this may. */
export async function withdrawn(world: World, event: StopEvent): Promise<number> {
  let stopped = 0;
  for (const run of await world.store.livingRuns(event.repositoryId, event.issue)) {
    if (await cancelRun(world, run.id, event.cause)) stopped += 1;
  }
  return stopped;
}
