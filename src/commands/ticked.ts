import type { Inquiry, NewReply } from '../core/dialogue/index.ts';
import type { RunId } from '../core/model/index.ts';
import { choicesOf, type Tick, tickIn } from '../core/reports/index.ts';
import type { CommandPlace, NewCommand } from '../ports/index.ts';
import {
  choiceTexts,
  firstQuestionText,
  handleOf,
  inquiryOf,
  questionText,
  reply,
  requireGitHub,
  restoreQuestion,
  viewOf,
  type World,
  waitsFor,
  writtenComparison,
} from '../runs/index.ts';
import { isOnGitHub, mayChange, type OnGitHub, type Speaker } from './speaker.ts';
import type { Heeded } from './steering.ts';

/** What an `issue_comment.edited` delivery says, only the fields we need. */
export interface EditEvent {
  readonly place: CommandPlace;
  readonly body: string;
  readonly performedByAppId: number | null;
  /** When it was edited, milliseconds since 1970 UTC. */
  readonly at: number;
  readonly sender: Speaker;
}

const ignored = (why: string): Heeded => ({ kind: 'ignored', why });

/** What an edit did to a text of ours, which stands on GitHub without folders of this host. */
const tickOnGitHub = (world: World, ours: string, edited: string): Tick =>
  tickIn(requireGitHub(world).asPublished(ours), edited);

const isOurs = (world: World, { performedByAppId, sender }: EditEvent): boolean =>
  !sender.isBot && world.github !== undefined && performedByAppId === world.github.appId;

/** An edit of a comparison that lets people pick. */
export interface ChoiceEdit {
  readonly run: RunId;
  /** Null where no box alone was ticked: the edit is to be undone, nothing else. */
  readonly command: NewCommand | null;
}

/**
 * What an edit of a comparison stands for; null where it is none, or changes nothing. The comment is known by its recorded
 * id and what it should say by our own record (I12). Reads only: a tick is a row before anything is written about it.
 */
export async function editOfChoice(world: World, event: EditEvent): Promise<ChoiceEdit | null> {
  const { place, sender, at } = event;
  if (!isOurs(world, event)) return null;
  const run = await chooser(world, event);
  const texts = run ? await choiceTexts(world, run.id) : [];
  const ticks = texts.map((text) => tickOnGitHub(world, text, event.body));
  if (!run || ticks.length === 0 || ticks.some(({ kind }) => kind === 'untouched')) return null;
  const tick = ticks.find(({ kind }) => kind === 'ticked');
  const alias = tick?.kind === 'ticked' ? choicesOf(await viewOf(world, run))[tick.box - 1] : undefined;
  if (tick?.kind !== 'ticked' || alias === undefined) return { run: run.id, command: null };
  const command: NewCommand = {
    id: `tick:${place.comment}:${tick.box}:${at}`,
    place,
    by: { id: sender.id, login: sender.login },
    text: `/auto-dev pick ${alias ?? 'none'}`,
    at,
    ticked: run.id,
  };
  return { run: run.id, command };
}

async function chooser(world: World, { place }: EditEvent): Promise<OnGitHub | null> {
  for (const run of await world.store.livingRuns(place.repositoryId, place.thread)) {
    const written = await writtenComparison(world.store, run.id, 'choice');
    if (written?.id === place.comment && isOnGitHub(run)) return run;
  }
  return null;
}

/**
 * Taken or not, the comment says again what we wrote last; written again where that changes meanwhile. Never rejects: a
 * tick counts however the comment looks, and a pick that is taken writes it anew.
 */
export const restoreChoice = (world: World, place: CommandPlace, runId: RunId): Promise<void> =>
  world.log.within({ run: runId, command: undefined, delivery: undefined }, () =>
    writeAgain(world, place, runId),
  );

async function writeAgain(world: World, place: CommandPlace, runId: RunId): Promise<void> {
  try {
    const publisher = await requireGitHub(world).publisher(handleOf(place));
    const wanted = async () => (await choiceTexts(world, runId))[0] ?? '';
    try {
      for (let shown = '', body = await wanted(); shown !== body; body = await wanted()) {
        await publisher.editComment(place.comment, body);
        shown = body;
      }
    } finally {
      await publisher.close();
    }
  } catch (thrown) {
    world.log.warn({ err: thrown }, 'an edited comparison could not be written again');
  }
}

/**
 * Takes a tick in one of our questions as a reply of whoever ticked: GitHub lets people edit our comment, the right to
 * answer is read from the API all the same (I4). The comment is known by its recorded id and what it should say by our
 * own record, never by its text (I12); every other edit is undone.
 */
export async function tickedQuestion(world: World, event: EditEvent): Promise<Heeded> {
  const { place } = event;
  if (!isOurs(world, event)) return ignored('no person edited a comment of ours');
  for (const run of await world.store.livingRuns(place.repositoryId, place.thread)) {
    const inquiry = await inquiryOf(world, run, place.comment);
    if (inquiry && isOnGitHub(run))
      return world.log.within({ run: run.id }, () => heed(world, run, inquiry, event));
  }
  return ignored('it asks nothing for a run of this issue');
}

async function heed(world: World, run: OnGitHub, inquiry: Inquiry, event: EditEvent): Promise<Heeded> {
  const tick = await tickOf(world, run, inquiry, event.body);
  if (tick.kind === 'untouched') return ignored('nothing is ticked');
  const key = `tick:${inquiry.number}:${tick.kind === 'ticked' ? tick.box : 0}`;
  const why =
    tick.kind === 'ticked'
      ? await answer(world, run, inquiry, { box: tick.box, key, sender: event.sender })
      : 'more than one tick was changed';
  if (why === null) return { kind: 'heard', command: key };
  await restoreQuestion(world, run, inquiry, event.place.comment);
  return ignored(why);
}

async function tickOf(world: World, run: OnGitHub, inquiry: Inquiry, edited: string): Promise<Tick> {
  const tick = tickOnGitHub(world, await questionText(world, run, inquiry), edited);
  if (tick.kind !== 'other') return tick;
  const before = tickOnGitHub(world, await firstQuestionText(world, run, inquiry), edited);
  return before.kind === 'ticked' ? before : tick;
}

/** Null when it was taken, else why not. */
async function answer(
  world: World,
  run: OnGitHub,
  inquiry: Inquiry,
  { box, key, sender }: { readonly box: number; readonly key: string; readonly sender: Speaker },
): Promise<string | null> {
  if (waitsFor(run)?.number !== inquiry.number) return 'the question is closed';
  if (!(await mayChange(world, run, sender))) return 'the sender may not write to the repository';
  const by = { id: sender.id, login: sender.login };
  const at = world.clock.now();
  const said: NewReply =
    inquiry.kind === 'approval'
      ? { kind: 'approve', text: '', by, at }
      : { kind: 'answer', option: box, text: '', by, at };
  const heard = await reply(world, run.id, key, said, inquiry.number);
  return heard.kind === 'taken' ? null : heard.why;
}
