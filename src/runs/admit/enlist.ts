import { priorityOf } from '../../core/queue/index.ts';
import type { QueueEntry } from '../../ports/index.ts';
import { loadRun, repositoryOf } from '../task.ts';
import type { World } from '../world.ts';
import type { RunRequest } from './request.ts';

/** Puts a run that may start into the line, where everybody can see it, and says where it stands in there. */
export async function enlist(world: World, request: RunRequest): Promise<QueueEntry> {
  const { origin, state } = await loadRun(world, request.runId);
  const asked = origin.kind === 'local' ? 'local' : (request.trigger ?? 'label');
  const line: QueueEntry = {
    share: repositoryOf(origin),
    priority: priorityOf(asked),
    since: request.triggeredAt,
  };
  if (origin.kind === 'github' && state === 'queued')
    await world.store.updateRun(request.runId, { line }, world.clock.now());
  return line;
}
