import type { Misheard } from '../core/commands/index.ts';
import type { Inquiry } from '../core/dialogue/index.ts';
import type { GitHubOrigin } from '../core/model/index.ts';
import { tickIn } from '../core/reports/index.ts';
import type { RunRecord } from '../ports/index.ts';
import { findComment } from './own-comment.ts';
import { commentThatAsked, keepMisheard, questionText } from './question.ts';
import { handleOf, loadRun, requireGitHub } from './task.ts';
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

/** Which inquiry of a run this comment asked, by the id that we recorded when we wrote it; null: none (I12). */
export async function inquiryOf(world: World, run: RunRecord, comment: number): Promise<Inquiry | null> {
  for (const inquiry of run.dialogue?.inquiries ?? []) {
    const asked = await commentThatAsked(world.store, run.id, inquiry.number);
    if (asked?.id === comment) return inquiry;
  }
  return null;
}

/**
 * Edits a question of ours back to what it should say. A comment that says so already is left alone; one that is settled
 * while we write gets its last word after all.
 */
export async function restoreQuestion(
  world: World,
  run: RunRecord & { readonly origin: GitHubOrigin },
  { number }: Inquiry,
  comment: number,
): Promise<void> {
  const github = requireGitHub(world);
  const wanted = async () => {
    const now = await loadRun(world, run.id);
    const inquiry = now.dialogue?.inquiries.find((one) => one.number === number);
    return inquiry ? questionText(world, now, inquiry) : null;
  };
  const reader = await github.reader(handleOf(run.origin));
  let shown = (await findComment(reader, run.origin.issue, ({ id }) => id === comment))?.body ?? '';
  const publisher = await github.publisher(handleOf(run.origin));
  try {
    for (;;) {
      const ours = await wanted();
      if (ours === null || tickIn(ours, shown).kind === 'untouched') return;
      await publisher.editComment(comment, ours);
      shown = ours;
    }
  } finally {
    await publisher.close();
  }
}
