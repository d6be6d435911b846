import type { Misheard } from '../core/commands/index.ts';
import type { Inquiry } from '../core/dialogue/index.ts';
import type { GitHubOrigin } from '../core/model/index.ts';
import type { RunRecord } from '../ports/index.ts';
import { commentThatAsked, keepMisheard } from './question.ts';
import { restoreQuestion } from './restore.ts';
import type { World } from './world.ts';

/**
 * Says in the comment that asks why a command was not taken: the last one stands, until the question is settled. For people
 * with the right to answer only (I9). Never rejects: the reaction tells the most of it.
 */
export async function sayMisheard(
  world: World,
  run: RunRecord & { readonly origin: GitHubOrigin },
  inquiry: Inquiry,
  misheard: Misheard,
): Promise<void> {
  try {
    const asked = await commentThatAsked(world.store, run.id, inquiry.number);
    if (!asked) return;
    await keepMisheard(world.store, run.id, inquiry.number, misheard);
    await restoreQuestion(world, run, inquiry, asked.id);
  } catch (thrown) {
    world.log.warn({ run: run.id, err: thrown }, 'why a command was not taken could not be said');
  }
}
