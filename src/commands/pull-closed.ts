import type { World } from '../runs/index.ts';

export interface PullEvent {
  readonly repositoryId: number;
  readonly head: string;
  readonly merged: boolean;
}

/** Records what became of a run's pull request. The branch name says which run; the store says whether it is true. */
export async function pullClosed(world: World, event: PullEvent): Promise<boolean> {
  const runId = /^auto-dev\/\d+\/(r[0-9a-z]{10})\/[A-Z]$/.exec(event.head)?.[1];
  const run = runId ? await world.store.run(runId) : null;
  if (run?.state !== 'published' || run.outcome?.kind !== 'pull' || run.outcome.branch !== event.head)
    return false;
  if (run.origin.kind !== 'github' || run.origin.repositoryId !== event.repositoryId) return false;
  const cause = event.merged ? 'its pull request was merged' : 'its pull request was closed';
  await world.store.transition(run.id, event.merged ? 'merged' : 'closed', cause, world.clock.now());
  return true;
}
