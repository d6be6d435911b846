import type { Inquiry, NewReply } from '../core/brief/index.ts';
import type { RunId } from '../core/model/index.ts';
import { type CheckboxEdit, checkboxEdit, pickOptions } from '../core/reports/index.ts';
import type { CommandPlace, NewCommand } from '../ports/index.ts';
import {
  awaitedInquiry,
  choiceTexts,
  firstQuestionText,
  type GitHubRun,
  handleOf,
  inquiryOf,
  isGitHubRun,
  questionText,
  reply,
  requireGitHub,
  restoreQuestion,
  viewOf,
  type World,
  writtenComparison,
} from '../runs/index.ts';
import type { ReplyPorts } from './active-runs.ts';
import { type EventActor, type IntakeResult, ignored, mayChange } from './context.ts';

/** An `issue_comment.edited` delivery, with the required fields only. */
export interface EditEvent {
  readonly place: CommandPlace;
  readonly body: string;
  readonly performedByAppId: number | null;
  /** When it was edited, milliseconds since 1970 UTC. */
  readonly at: number;
  readonly actor: EventActor;
}

/** The checkbox ticked by an edit of Runoff's text. On GitHub the text contains no folders of this host. */
const checkboxIn = (world: Pick<World, 'github'>, ours: string, edited: string): CheckboxEdit =>
  checkboxEdit(requireGitHub(world).asPublished(ours), edited);

const isOurs = (world: Pick<World, 'github'>, { performedByAppId, actor }: EditEvent): boolean =>
  !actor.isBot && world.github !== undefined && performedByAppId === world.github.appId;

/** An edit of a comparison in which people pick by checkboxes. */
interface ChoiceEdit {
  readonly run: RunId;
  /** Null unless exactly one checkbox was ticked; the edit is then only undone. */
  readonly command: NewCommand | null;
}

/**
 * The command of an edited comparison; null if it is not a comparison or no checkbox changed. The comment is
 * identified by its recorded id, and compared with the recorded text (I12). Only reads: the command is stored before
 * anything is written.
 */
export async function editOfChoice(
  world: Pick<World, 'artifacts' | 'clock' | 'diskSpace' | 'github' | 'store'>,
  event: EditEvent,
): Promise<ChoiceEdit | null> {
  const { place, actor: sender, at } = event;
  if (!isOurs(world, event)) return null;
  const run = await runOfComparison(world, event);
  const texts = run ? await choiceTexts(world, run.id) : [];
  const ticks = texts.map((text) => checkboxIn(world, text, event.body));
  if (!run || ticks.length === 0 || ticks.some(({ kind }) => kind === 'untouched')) return null;
  const tick = ticks.find(({ kind }) => kind === 'ticked');
  const alias = tick?.kind === 'ticked' ? pickOptions(await viewOf(world, run))[tick.box - 1] : undefined;
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

async function runOfComparison(world: Pick<World, 'store'>, { place }: EditEvent): Promise<GitHubRun | null> {
  for (const run of await world.store.activeRuns(place.repositoryId, place.thread)) {
    const written = await writtenComparison(world.store, run.id, 'choice');
    if (written?.id === place.comment && isGitHubRun(run)) return run;
  }
  return null;
}

/**
 * Restores the comment's last text, whether or not the checkbox was accepted, and again if that text changes in the
 * meantime. Never rejects: a checkbox counts whatever the comment shows, and an accepted pick rewrites it.
 */
export const restoreChoice = (
  world: Pick<World, 'artifacts' | 'github' | 'log' | 'store'>,
  place: CommandPlace,
  runId: RunId,
): Promise<void> =>
  world.log.within({ run: runId, command: undefined, delivery: undefined }, () =>
    restoreText(world, place, runId),
  );

async function restoreText(
  world: Pick<World, 'artifacts' | 'github' | 'log' | 'store'>,
  place: CommandPlace,
  runId: RunId,
): Promise<void> {
  try {
    const publisher = await requireGitHub(world).publisher(handleOf(place));
    const wanted = async () => (await choiceTexts(world, runId))[0] ?? '';
    try {
      for (let shown = '', body = await wanted(); body !== '' && shown !== body; body = await wanted()) {
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
 * Handles a checkbox in a question as an answer of the person who ticked it. GitHub lets people with write access
 * edit the comment, but the permission is still read from the API (I4). The comment is identified by its recorded id,
 * and compared with the recorded text, never trusted as it is now (I12); every other edit is undone.
 */
export async function onQuestionEdit(world: ReplyPorts, event: EditEvent): Promise<IntakeResult> {
  const { place } = event;
  if (!isOurs(world, event)) return ignored('no person edited a comment of ours');
  for (const run of await world.store.activeRuns(place.repositoryId, place.thread)) {
    const inquiry = await inquiryOf(world, run, place.comment);
    if (inquiry && isGitHubRun(run))
      return world.log.within({ run: run.id }, () => answerByCheckbox(world, run, inquiry, event));
  }
  return ignored('it asks nothing for a run of this issue');
}

async function answerByCheckbox(
  world: ReplyPorts,
  run: GitHubRun,
  inquiry: Inquiry,
  event: EditEvent,
): Promise<IntakeResult> {
  const tick = await checkboxOf(world, run, inquiry, event.body);
  if (tick.kind === 'untouched') return ignored('nothing is ticked');
  const key = `tick:${inquiry.number}:${tick.kind === 'ticked' ? tick.box : 0}`;
  const why =
    tick.kind === 'ticked'
      ? await applyAnswer(world, run, inquiry, { box: tick.box, key, sender: event.actor })
      : 'more than one tick was changed';
  if (why === null) return { kind: 'recorded', command: key };
  await restoreQuestion(world, run, inquiry, event.place.comment);
  return ignored(why);
}

async function checkboxOf(
  world: Pick<World, 'clock' | 'github' | 'store'>,
  run: GitHubRun,
  inquiry: Inquiry,
  edited: string,
): Promise<CheckboxEdit> {
  const tick = checkboxIn(world, await questionText(world, run, inquiry), edited);
  if (tick.kind !== 'other') return tick;
  const before = checkboxIn(world, await firstQuestionText(world, run, inquiry), edited);
  return before.kind === 'ticked' ? before : tick;
}

/** Null if accepted, otherwise the reason for the refusal. */
async function applyAnswer(
  world: ReplyPorts,
  run: GitHubRun,
  inquiry: Inquiry,
  { box, key, sender }: { readonly box: number; readonly key: string; readonly sender: EventActor },
): Promise<string | null> {
  if (awaitedInquiry(run)?.number !== inquiry.number) return 'the question is closed';
  if (!(await mayChange(world, run, sender))) return 'the author has no write access to the repository';
  const by = { id: sender.id, login: sender.login };
  const at = world.clock.now();
  const given: NewReply =
    inquiry.kind === 'approval'
      ? { kind: 'approve', text: '', by, at }
      : { kind: 'answer', option: box, text: '', by, at };
  const result = await reply(world, run.id, key, given, inquiry.number);
  return result.kind === 'taken' ? null : result.why;
}
