import type { Inquiry } from '../core/brief/index.ts';
import type { RunId } from '../core/model/index.ts';
import { type CheckboxEdit, checkboxEdit, pickOptions } from '../core/reports/index.ts';
import type { CommandPlace, NewCommand } from '../ports/index.ts';
import {
  acceptedBox,
  choiceTexts,
  firstQuestionText,
  type GitHubRun,
  handleOf,
  inquiryOf,
  isGitHubRun,
  questionText,
  requireGitHub,
  restoreQuestion,
  viewOf,
  type World,
  writtenComparison,
} from '../runs/index.ts';
import type { EventActor } from './context.ts';

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

/** An edit of a comment with checkboxes: a comparison in which people pick, or a question. */
interface BoxEdit {
  readonly run: RunId;
  /** Null unless exactly one checkbox was ticked; the edit is then only undone. */
  readonly command: NewCommand | null;
}

/**
 * The command of an edited comparison or question; null if it is neither or no checkbox changed. The comment is
 * identified by its recorded id, and compared with the recorded text (I12). Only reads: the command is stored before
 * anything is written.
 */
export const commandOfEdit = async (world: BoxPorts, event: EditEvent): Promise<BoxEdit | null> =>
  isOurs(world, event) ? ((await editOfChoice(world, event)) ?? editOfQuestion(world, event)) : null;

type BoxPorts = Pick<World, 'artifacts' | 'clock' | 'diskSpace' | 'github' | 'store'>;

async function editOfChoice(world: BoxPorts, event: EditEvent): Promise<BoxEdit | null> {
  const run = await runOfComparison(world, event);
  const texts = run ? await choiceTexts(world, run.id) : [];
  const ticks = texts.map((text) => checkboxIn(world, text, event.body));
  if (!run || ticks.length === 0 || ticks.some(({ kind }) => kind === 'untouched')) return null;
  const tick = ticks.find(({ kind }) => kind === 'ticked');
  const alias = tick?.kind === 'ticked' ? pickOptions(await viewOf(world, run))[tick.box - 1] : undefined;
  if (tick?.kind !== 'ticked' || alias === undefined) return { run: run.id, command: null };
  return { run: run.id, command: tickIn(event, run.id, tick.box, `pick ${alias ?? 'none'}`) };
}

const tickIn = ({ place, actor, at }: EditEvent, run: RunId, box: number, says: string): NewCommand => ({
  id: `tick:${place.comment}:${box}:${at}`,
  place,
  by: { id: actor.id, login: actor.login },
  text: `/auto-dev ${says}`,
  at,
  ticked: run,
});

async function runOfComparison(world: Pick<World, 'store'>, { place }: EditEvent): Promise<GitHubRun | null> {
  for (const run of await world.store.activeRuns(place.repositoryId, place.thread)) {
    const written = await writtenComparison(world.store, run.id, 'choice');
    if (written?.id === place.comment && isGitHubRun(run)) return run;
  }
  return null;
}

/**
 * Restores the comment's last text, and again if that text changes in the meantime. For a question that is after
 * `applied`, because an accepted box stays ticked until the run reads it. For a pick it is at once, because an accepted
 * one rewrites the comment, and may take long. Never rejects: a checkbox counts whatever the comment shows.
 */
export const restoreBoxes = (
  world: Pick<World, 'artifacts' | 'clock' | 'github' | 'log' | 'store'>,
  place: CommandPlace,
  runId: RunId,
  applied: Promise<void>,
): Promise<void> =>
  world.log.within({ run: runId, command: undefined, delivery: undefined }, () =>
    restoreText(world, place, runId, applied),
  );

async function restoreText(
  world: Pick<World, 'artifacts' | 'clock' | 'github' | 'log' | 'store'>,
  place: CommandPlace,
  runId: RunId,
  applied: Promise<void>,
): Promise<void> {
  try {
    const run = await world.store.run(runId);
    const inquiry = run && (await inquiryOf(world, run, place.comment));
    if (inquiry && isGitHubRun(run)) {
      await applied;
      await restoreQuestion(world, run, inquiry, place.comment);
    } else await restoreChoice(world, place, runId);
  } catch (thrown) {
    world.log.warn({ err: thrown }, 'an edited comment with checkboxes could not be written again');
  }
}

async function restoreChoice(
  world: Pick<World, 'artifacts' | 'github' | 'store'>,
  place: CommandPlace,
  runId: RunId,
): Promise<void> {
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
}

/** A tick answers the question of its comment, or approves the plan there. */
async function editOfQuestion(world: BoxPorts, event: EditEvent): Promise<BoxEdit | null> {
  const { place } = event;
  for (const run of await world.store.activeRuns(place.repositoryId, place.thread)) {
    const inquiry = await inquiryOf(world, run, place.comment);
    if (!inquiry || !isGitHubRun(run)) continue;
    const tick = await checkboxOf(world, run, inquiry, event.body);
    if (tick.kind === 'untouched') return null;
    if (tick.kind !== 'ticked') return { run: run.id, command: null };
    const says = inquiry.kind === 'approval' ? 'approve' : `answer ${tick.box}`;
    return { run: run.id, command: tickIn(event, run.id, tick.box, says) };
  }
  return null;
}

async function checkboxOf(
  world: Pick<World, 'clock' | 'github' | 'store'>,
  run: GitHubRun,
  inquiry: Inquiry,
  edited: string,
): Promise<CheckboxEdit> {
  const tick = checkboxIn(world, await questionText(world, run, inquiry), edited);
  if (tick.kind === 'untouched') return tick;
  // The question is answered: the run takes the first reply that fits.
  if ((await acceptedBox(world, run, inquiry)) !== null) return { kind: 'other' };
  if (tick.kind === 'ticked') return tick;
  const before = checkboxIn(world, await firstQuestionText(world, run, inquiry), edited);
  return before.kind === 'ticked' ? before : tick;
}
