import type { Origin, RunId } from '../../core/model/index.ts';
import { type Refusal, refusalComment, refusalWords } from '../../core/reports/index.ts';
import { once } from '../once.ts';
import { handleOf, requireGitHub } from '../task.ts';
import type { World } from '../world.ts';

/**
 * Records why a run may not start, and says it. To somebody without the right to start one we answer with a reaction
 * only: a stranger must not be able to make us write (I4, I9).
 */
export async function sayRefused(
  world: World,
  runId: RunId,
  origin: Origin,
  refusal: Refusal,
): Promise<void> {
  const { message, advice } = refusalWords(refusal);
  await world.store.updateRun(runId, { trouble: { code: 'REFUSED', message, advice } }, world.clock.now());
  if (origin.kind === 'github') {
    const publisher = await requireGitHub(world).publisher(handleOf(origin));
    try {
      await once(world.store, runId, 'refusal', {
        look: async () => null,
        async write() {
          await publisher.react({ issue: origin.issue }, 'confused');
          if (refusal.kind !== 'no-permission')
            await publisher.comment(origin.issue, refusalComment(runId, refusal).body);
          return true;
        },
      });
    } finally {
      await publisher.close();
    }
  }
  await world.store.transition(runId, 'refused', message, world.clock.now());
}
