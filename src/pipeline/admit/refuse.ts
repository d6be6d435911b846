import type { GitHubOrigin, Origin, RunId } from '../../core/model/index.ts';
import { type Refusal, refusalComment, refusalWords } from '../../core/reports/index.ts';
import { once } from '../once.ts';
import { findOwn } from '../own-comment.ts';
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
  if (origin.kind === 'github') await sayOnGitHub(world, runId, origin, refusal);
  await world.store.transition(runId, 'refused', message, world.clock.now());
}

async function sayOnGitHub(
  world: World,
  runId: RunId,
  origin: GitHubOrigin,
  refusal: Refusal,
): Promise<void> {
  const github = requireGitHub(world);
  const publisher = await github.publisher(handleOf(origin));
  try {
    await publisher.react({ issue: origin.issue }, 'confused').catch((thrown: unknown) => {
      world.log.warn({ run: runId, err: thrown }, 'the reaction to a refused run could not be set');
    });
    if (refusal.kind === 'no-permission') return;
    await once(world.store, runId, 'refusal', {
      look: async () => {
        const reader = await github.reader(handleOf(origin));
        return findOwn(github, reader, origin.issue, { kind: 'refusal', run: runId });
      },
      write: () => publisher.comment(origin.issue, refusalComment(runId, refusal).body),
    });
  } finally {
    await publisher.close();
  }
}
