import type { Misheard } from '../core/commands/index.ts';
import { type Inquiry, openInquiry } from '../core/dialogue/index.ts';
import { isOver } from '../core/lifecycle/index.ts';
import { asFault, type GitHubOrigin, type RunId } from '../core/model/index.ts';
import { type Otherwise, questionComment } from '../core/reports/index.ts';
import type { Clock, Publisher, RunRecord, Store } from '../ports/index.ts';
import { once } from './once.ts';
import { findOwn, type OwnComment } from './own-comment.ts';
import { handleOf, requireGitHub } from './task.ts';
import { viewOf } from './view.ts';
import type { World } from './world.ts';

const keyOf = (number: number): string => `question:${number}`;

/** What becomes of a question that nobody answers in time, as the run's settings say. */
export const otherwiseOf = (run: RunRecord): Otherwise => run.task?.settings.answer.otherwise ?? 'stop';

/** The comment of an inquiry as it should stand on GitHub now. */
export async function questionText(
  world: { store: Store; clock: Clock },
  run: RunRecord,
  inquiry: Inquiry,
): Promise<string> {
  const misheard = await misheardOf(world.store, run.id, inquiry.number);
  return questionComment(await viewOf(world, run), inquiry, otherwiseOf(run), misheard).body;
}

/** The same before anybody said something in vain: a tick may have been set while that was being added. */
export async function firstQuestionText(
  world: { store: Store; clock: Clock },
  run: RunRecord,
  inquiry: Inquiry,
): Promise<string> {
  return questionComment(await viewOf(world, run), inquiry, otherwiseOf(run)).body;
}

const misheardKey = (number: number): string => `misheard:${number}`;

/** Keeps what was said in vain to an inquiry, in place of what was kept before. */
export async function keepMisheard(
  store: Store,
  runId: RunId,
  number: number,
  misheard: Misheard,
): Promise<void> {
  await store.intend(runId, misheardKey(number));
  await store.fulfil(runId, misheardKey(number), misheard);
}

async function misheardOf(store: Store, runId: RunId, number: number): Promise<Misheard | null> {
  const intent = await store.intent(runId, misheardKey(number));
  return intent?.state === 'done' ? (intent.result as Misheard) : null;
}

/** Asks on the issue, by a comment of its own. */
export async function postQuestion(
  world: World,
  run: RunRecord,
  origin: GitHubOrigin,
  inquiry: Inquiry,
): Promise<void> {
  const github = requireGitHub(world);
  const { number } = inquiry;
  const body = await questionText(world, run, inquiry);
  const publisher = await github.publisher(handleOf(origin));
  try {
    await once(world.store, run.id, keyOf(number), {
      look: async () => {
        const reader = await github.reader(handleOf(origin));
        return findOwn(github, reader, origin.issue, { kind: 'question', run: run.id, number });
      },
      write: () => publisher.comment(origin.issue, body),
    });
  } finally {
    await publisher.close();
  }
}

/** The comment that asked, as we recorded it when we wrote it; null where none was written. */
export async function commentThatAsked(
  store: Store,
  runId: RunId,
  number: number,
): Promise<OwnComment | null> {
  const intent = await store.intent(runId, keyOf(number));
  return intent?.state === 'done' ? (intent.result as OwnComment) : null;
}

/**
 * Edits the comments of inquiries that wait no longer: who settled each, and no boxes. Once for each, also where GitHub
 * does not let us, since somebody may have deleted it.
 */
export async function closeQuestions(
  parts: { readonly store: Store; readonly clock: Clock },
  publisher: Publisher,
  run: RunRecord,
): Promise<void> {
  const { dialogue } = run;
  if (!dialogue) return;
  const open = isOver(run.state) ? null : openInquiry(dialogue);
  for (const inquiry of dialogue.inquiries) {
    if (inquiry === open) continue;
    await once(parts.store, run.id, `closed:${keyOf(inquiry.number)}`, {
      look: async () => null,
      write: async () => {
        const asked = await commentThatAsked(parts.store, run.id, inquiry.number);
        return asked
          ? editUnlessRefused(publisher, asked, await questionText(parts, run, inquiry))
          : 'unasked';
      },
    });
  }
}

async function editUnlessRefused(publisher: Publisher, { id }: OwnComment, body: string) {
  try {
    await publisher.editComment(id, body);
    return 'edited';
  } catch (thrown) {
    if (asFault(thrown).code !== 'GITHUB_REFUSED') throw thrown;
    return 'refused';
  }
}
