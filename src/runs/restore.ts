import type { Inquiry } from '../core/dialogue/index.ts';
import type { GitHubOrigin } from '../core/model/index.ts';
import { tickIn } from '../core/reports/index.ts';
import type { RunRecord } from '../ports/index.ts';
import { findComment } from './own-comment.ts';
import { commentThatAsked, questionText } from './question.ts';
import { handleOf, loadRun, requireGitHub } from './task.ts';
import type { World } from './world.ts';

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
