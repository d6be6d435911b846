import type { RunRecord } from '../ports/index.ts';
import { cancelRun, RunRequest, type World } from '../runs/index.ts';
import { endUnpicked } from './unpicked.ts';

/** The label `auto-dev:running` was taken off, or the issue or pull request was closed, deleted or moved away. */
export interface StopEvent {
  readonly repositoryId: number;
  readonly issue: number;
  /** When, milliseconds since 1970 UTC; absent where it cannot be undone. */
  readonly at?: number;
  /** One clause, for the run's record. */
  readonly cause: string;
  /** A label was taken off. It speaks of work: whoever is asked to pick is asked still. Absent: false. */
  readonly workOnly?: boolean;
}

/** Cancels the issue's living run, or ends its waiting for a pick. Stopping is always safe, so anybody whom GitHub lets do this may. */
export async function withdrawn(world: World, event: StopEvent): Promise<number> {
  let stopped = 0;
  for (const run of await world.store.livingRuns(event.repositoryId, event.issue)) {
    if (event.at !== undefined && event.at < triggeredAt(run)) continue;
    if (event.workOnly && run.state === 'awaiting_pick') continue;
    if (await end(world, run, event.cause)) stopped += 1;
  }
  return stopped;
}

/**
 * When a run was asked for by GitHub's clock, milliseconds since 1970 UTC. Deliveries come late and can be replayed: what
 * happened before does not concern the run.
 */
export function triggeredAt({ request }: RunRecord): number {
  const read = RunRequest.safeParse(request);
  return read.success ? read.data.triggeredAt : 0;
}

/** The App was uninstalled or suspended, or a repository was taken from it. */
export interface GoneEvent {
  readonly installationId: number;
  /** Absent: all of the installation's. */
  readonly repositoryIds?: readonly number[];
  /** One clause, for the run's record. */
  readonly cause: string;
}

/** Ends every run that can say nothing on GitHub any more: those at work, and those that wait for a pick. */
export async function gone(world: World, event: GoneEvent): Promise<number> {
  let stopped = 0;
  for (const run of await world.store.unfinished()) {
    const { origin } = run;
    if (origin.kind !== 'github' || origin.installationId !== event.installationId) continue;
    if (event.repositoryIds && !event.repositoryIds.includes(origin.repositoryId)) continue;
    if (await end(world, run, event.cause)) stopped += 1;
  }
  return stopped;
}

/** False where there is nothing to end: the run is over, and nobody is asked to pick. */
const end = (world: World, { id, state }: RunRecord, cause: string): Promise<boolean> =>
  state === 'awaiting_pick' ? endUnpicked(world, id, cause) : cancelRun(world, id, cause);
