import type { Inquiry, NewReply } from '../core/dialogue/index.ts';
import { type Tick, tickIn } from '../core/reports/index.ts';
import {
  firstQuestionText,
  inquiryOf,
  questionText,
  reply,
  restoreQuestion,
  type World,
  waitsFor,
} from '../pipeline/index.ts';
import type { Heeded } from './commented.ts';
import { isOnGitHub, mayChange, type OnGitHub, type Speaker } from './speaker.ts';

/** What an `issue_comment.edited` delivery says, only the fields we need. */
export interface EditEvent {
  readonly repositoryId: number;
  readonly issue: number;
  readonly comment: { readonly id: number; readonly body: string; readonly performedByAppId: number | null };
  readonly sender: Speaker;
}

const ignored = (why: string): Heeded => ({ kind: 'ignored', why });

/**
 * Takes a tick in one of our questions as a reply of whoever ticked: GitHub lets people edit our comment, the right to
 * answer is read from the API all the same (I4). The comment is known by its recorded id and what it should say by our
 * own record, never by its text (I12); every other edit is undone.
 */
export async function ticked(world: World, event: EditEvent): Promise<Heeded> {
  const { comment, sender } = event;
  if (sender.isBot) return ignored('no person edited it');
  if (!world.github || comment.performedByAppId !== world.github.appId)
    return ignored('it is not our comment');
  for (const run of await world.store.livingRuns(event.repositoryId, event.issue)) {
    const inquiry = await inquiryOf(world, run, comment.id);
    if (inquiry && isOnGitHub(run)) return heed(world, run, inquiry, event);
  }
  return ignored('it asks nothing for a run of this issue');
}

async function heed(world: World, run: OnGitHub, inquiry: Inquiry, event: EditEvent): Promise<Heeded> {
  const tick = await tickOf(world, run, inquiry, event.comment.body);
  if (tick.kind === 'untouched') return ignored('nothing is ticked');
  const why =
    tick.kind === 'ticked'
      ? await answer(world, run, inquiry, tick.box, event.sender)
      : 'more than one tick was changed';
  if (why === null) return { kind: 'taken', runId: run.id };
  await restoreQuestion(world, run, inquiry, event.comment.id);
  return { kind: 'refused', runId: run.id, why };
}

async function tickOf(world: World, run: OnGitHub, inquiry: Inquiry, edited: string): Promise<Tick> {
  const tick = tickIn(await questionText(world, run, inquiry), edited);
  if (tick.kind !== 'other') return tick;
  const before = tickIn(await firstQuestionText(world, run, inquiry), edited);
  return before.kind === 'ticked' ? before : tick;
}

/** Null when it was taken, else why not. */
async function answer(
  world: World,
  run: OnGitHub,
  inquiry: Inquiry,
  box: number,
  sender: Speaker,
): Promise<string | null> {
  if (waitsFor(run)?.number !== inquiry.number) return 'the question is closed';
  if (!(await mayChange(world, run, sender))) return 'the sender may not write to the repository';
  const by = { id: sender.id, login: sender.login };
  const at = world.clock.now();
  const said: NewReply =
    inquiry.kind === 'approval'
      ? { kind: 'approve', text: '', by, at }
      : { kind: 'answer', option: box, text: '', by, at };
  const heard = await reply(world, run.id, `tick:${inquiry.number}:${box}`, said, inquiry.number);
  return heard.kind === 'taken' ? null : heard.why;
}
