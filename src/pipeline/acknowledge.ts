import type { GitHubOrigin, RunId } from '../core/model/index.ts';
import type { Reaction } from '../ports/index.ts';
import { once } from './once.ts';
import { handleOf, requireGitHub } from './task.ts';
import type { World } from './world.ts';

const keyOf = (comment: number): string => `reaction:${comment}`;

/** Whether a comment was answered before: its delivery came again. */
export async function isAcknowledged(world: World, runId: RunId, comment: number): Promise<boolean> {
  return (await world.store.intent(runId, keyOf(comment)))?.state === 'done';
}

/** A reaction to a comment on the run's issue: the first one stands. Never rejects: what it answers is done already. */
export async function acknowledge(
  world: World,
  run: { readonly id: RunId; readonly origin: GitHubOrigin },
  comment: number,
  reaction: Reaction,
): Promise<void> {
  try {
    await once(world.store, run.id, keyOf(comment), {
      look: async () => null,
      write: async () => {
        const publisher = await requireGitHub(world).publisher(handleOf(run.origin));
        try {
          await publisher.react({ comment }, reaction);
        } finally {
          await publisher.close();
        }
        return reaction;
      },
    });
  } catch (thrown) {
    world.log.warn({ run: run.id, comment, err: thrown }, 'the reaction to a comment could not be set');
  }
}
