import { type Inquiry, matchReply, openInquiry } from '../../core/brief/index.ts';
import type { UnrecognizedCommand } from '../../core/commands/index.ts';
import { asFault, type GitHubOrigin, isOver, type RunId } from '../../core/model/index.ts';
import {
  checkboxEdit,
  findMarker,
  type Marker,
  questionComment,
  type UnansweredPolicy,
} from '../../core/reports/index.ts';
import type {
  Clock,
  CommentFacts,
  GitHub,
  GitHubReader,
  Publisher,
  RunRecord,
  Store,
} from '../../ports/index.ts';
import { handleOf, loadRun, requireGitHub, type World } from '../context.ts';
import { idempotentWrite } from '../stage.ts';
import { viewOf } from '../view.ts';

const questionKey = (number: number): string => `question:${number}`;

/** What happens to a question that is not answered in time, according to the run's settings. */
export const defaultOutcomeOf = (run: RunRecord): UnansweredPolicy =>
  run.task?.settings.answer.otherwise ?? 'stop';

/** Current text of an inquiry's comment. */
export async function questionText(
  world: { store: Store; clock: Clock },
  run: RunRecord,
  inquiry: Inquiry,
): Promise<string> {
  const unrecognizedCommand = await unrecognizedIn(world.store, run.id, inquiry.number);
  const ticked = await acceptedBox(world, run, inquiry);
  const view = await viewOf(world, run);
  return questionComment(view, inquiry, defaultOutcomeOf(run), unrecognizedCommand, ticked).body;
}

/**
 * The box, 1-based, of the reply that was accepted for an inquiry; null if there is none, or none with a box. It stays
 * ticked until the run reads the reply: the run first needs a slot, and the question would look unanswered meanwhile.
 */
export async function acceptedBox(
  { store }: { readonly store: Store },
  { id, dialogue }: RunRecord,
  { number }: Inquiry,
): Promise<number | null> {
  const open = dialogue && openInquiry(dialogue);
  if (!open || open.number !== number) return null;
  const unread = (await store.replies(id)).filter((one) => one.number > dialogue.lastReply);
  const reply = unread.find((one) => matchReply(open, one).kind === 'fits');
  return reply?.kind === 'approve' ? 1 : (reply?.option ?? null);
}

/** The text before any unrecognised command was noted in it: a box may have been ticked during that edit. */
export async function firstQuestionText(
  world: { store: Store; clock: Clock },
  run: RunRecord,
  inquiry: Inquiry,
): Promise<string> {
  return questionComment(await viewOf(world, run), inquiry, defaultOutcomeOf(run)).body;
}

const unrecognizedKey = (number: number): string => `unrecognizedCommand:${number}`;

/** Stores the latest unrecognised reply to an inquiry, replacing an earlier one. */
async function storeUnrecognized(
  store: Store,
  runId: RunId,
  number: number,
  unrecognizedCommand: UnrecognizedCommand,
): Promise<void> {
  await store.intend(runId, unrecognizedKey(number));
  await store.fulfil(runId, unrecognizedKey(number), unrecognizedCommand);
}

async function unrecognizedIn(
  store: Store,
  runId: RunId,
  number: number,
): Promise<UnrecognizedCommand | null> {
  const intent = await store.intent(runId, unrecognizedKey(number));
  return intent?.state === 'done' ? (intent.result as UnrecognizedCommand) : null;
}

/** Posts the question as a comment on the issue. */
export async function postQuestion(
  world: Pick<World, 'clock' | 'github' | 'store'>,
  run: RunRecord,
  origin: GitHubOrigin,
  inquiry: Inquiry,
): Promise<void> {
  const github = requireGitHub(world);
  const { number } = inquiry;
  const body = await questionText(world, run, inquiry);
  const publisher = await github.publisher(handleOf(origin));
  try {
    await idempotentWrite(world.store, run.id, questionKey(number), {
      look: async () => {
        const reader = await github.reader(handleOf(origin));
        return findOwnComment(github, reader, origin.issue, { kind: 'question', run: run.id, number });
      },
      write: () => publisher.comment(origin.issue, body),
    });
  } finally {
    await publisher.close();
  }
}

/** The comment with the question, as recorded when it was written; null if there is none. */
export async function questionCommentOf(
  store: Store,
  runId: RunId,
  number: number,
): Promise<OwnComment | null> {
  const intent = await store.intent(runId, questionKey(number));
  return intent?.state === 'done' ? (intent.result as OwnComment) : null;
}

/**
 * Edits the comments of settled inquiries: shows who settled each, and removes the checkboxes. Once per comment, even
 * if GitHub refuses, since it may have been deleted.
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
    await idempotentWrite(parts.store, run.id, `closed:${questionKey(inquiry.number)}`, {
      look: async () => null,
      write: async () => {
        const asked = await questionCommentOf(parts.store, run.id, inquiry.number);
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

/**
 * Explains in the question's comment why a command was rejected; the latest explanation is shown until the question is
 * settled. Only for people who may answer (I9). Returns whether the comment shows it. Never rejects.
 */
export async function reportUnrecognized(
  world: Pick<World, 'clock' | 'github' | 'log' | 'store'>,
  run: RunRecord & { readonly origin: GitHubOrigin },
  inquiry: Inquiry,
  unrecognizedCommand: UnrecognizedCommand,
): Promise<boolean> {
  try {
    const asked = await questionCommentOf(world.store, run.id, inquiry.number);
    if (!asked) return false;
    await storeUnrecognized(world.store, run.id, inquiry.number, unrecognizedCommand);
    await restoreQuestion(world, run, inquiry, asked.id);
    return true;
  } catch (thrown) {
    world.log.warn({ run: run.id, err: thrown }, 'the reason why a command was rejected could not be posted');
    return false;
  }
}

/** The inquiry of a run to which this comment belongs, by its recorded id; null if there is none (I12). */
export async function inquiryOf(
  world: Pick<World, 'store'>,
  run: RunRecord,
  comment: number,
): Promise<Inquiry | null> {
  for (const inquiry of run.dialogue?.inquiries ?? []) {
    const asked = await questionCommentOf(world.store, run.id, inquiry.number);
    if (asked?.id === comment) return inquiry;
  }
  return null;
}

/**
 * Restores the text of a question's comment. Skips a comment that is already correct; updates it once more if the
 * question is settled meanwhile.
 */
export async function restoreQuestion(
  world: Pick<World, 'clock' | 'github' | 'store'>,
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
      if (ours === null || checkboxEdit(ours, shown).kind === 'untouched') return;
      await publisher.editComment(comment, ours);
      shown = ours;
    }
  } finally {
    await publisher.close();
  }
}

export interface OwnComment {
  readonly id: number;
  readonly url: string;
}

/** Finds a comment that was written before a crash but not recorded, by its marker and the App's own id (I12). */
export async function findOwnComment(
  github: GitHub,
  reader: GitHubReader,
  on: number,
  wanted: Marker,
): Promise<OwnComment | null> {
  const found = await findComment(reader, on, (comment) => {
    const marker = findMarker(comment.body);
    return (
      comment.performedByAppId === github.appId &&
      marker?.kind === wanted.kind &&
      marker.run === wanted.run &&
      marker.number === wanted.number
    );
  });
  return found ? { id: found.id, url: found.url } : null;
}

/** The newest comment of this kind, however many other comments follow it. */
export async function findComment(
  reader: GitHubReader,
  on: number,
  wanted: (comment: CommentFacts) => boolean,
): Promise<CommentFacts | null> {
  for await (const page of reader.commentPages(on)) {
    const found = page.findLast(wanted);
    if (found) return found;
  }
  return null;
}
