import { decide } from '../../core/decision/index.ts';
import type { RunId } from '../../core/model/index.ts';
import { rank } from '../../core/ranking/index.ts';
import { loadRun, loadTask } from '../task.ts';
import type { World } from '../world.ts';

/** The decision falls: from evidence alone, the same for the same evidence in any order. */
export async function judge(world: World, runId: RunId): Promise<'judged'> {
  await world.store.markStage(runId, 'judge', 'start', world.clock.now());
  const { evidence = [] } = await loadRun(world, runId);
  const { settings } = await loadTask(world, runId);
  const ranking = rank(evidence, { weights: settings.weights, strategies: ['evidence', 'judges'] });
  const decision = decide(ranking, evidence);
  await world.store.updateRun(runId, { ranking, decision }, world.clock.now());
  await world.store.markStage(runId, 'judge', 'end', world.clock.now());
  await world.store.transition(runId, 'judged', decision.because, world.clock.now());
  return 'judged';
}
