import { parseCommand } from '../core/commands/index.ts';
import type { RunId } from '../core/model/index.ts';
import type { CommandPlace, NewCommand } from '../ports/index.ts';
import { isLikelyWriter, type World } from '../runs/index.ts';
import { openAuthorLimits } from './author-limits.ts';
import { type EditEvent, editOfChoice, onQuestionEdit, restoreChoice } from './checkboxes.ts';
import { openCommandQueue, STARTS } from './command-queue.ts';
import { type CommentEvent, type IntakeResult, ignored } from './context.ts';
import { type LabelEvent, type LabelResult, startFromLabel } from './events.ts';
import { isAllowed, isAtWork, processCommand } from './process-commands.ts';

/** UTF-16 units of a comment that are stored: more than any command needs. */
const MAX_TEXT = 8_000;

/**
 * Takes commands from GitHub. A command is stored first, and applied in the background: one at a time for each
 * repository, in the order of GitHub's own times and numbers. `cancel` does not wait for the others, and nobody waits for
 * people who are not known to have write access. Of such people only so many commands are stored, and none for a minute
 * after GitHub has said that they have no write access.
 */
export interface CommandIntake {
  /** Records the command of a new comment; a second delivery of it changes nothing (I8). */
  onComment(event: CommentEvent): Promise<IntakeResult>;
  /** Handles an edit of one of our comments: somebody may have ticked a checkbox. */
  onEdit(event: EditEvent): Promise<IntakeResult>;
  /** Starts a run for a label. */
  onLabel(event: LabelEvent): Promise<LabelResult>;
  /** Queues commands without an outcome: a crash, or an outage of GitHub, came in between. */
  recover(): Promise<void>;
  /** Waits for the commands that are being applied, and for edited comparisons that are being restored. */
  idle(): Promise<void>;
}

export function openCommandIntake(world: World): CommandIntake {
  const limits = openAuthorLimits(world);
  const queue = openCommandQueue({
    // Only people with write access can edit a comment of ours, and so tick a checkbox in it.
    isLikelyAllowed: ({ association, ticked, place, by }) =>
      ticked !== undefined || isLikelyWriter(association) || limits.isRecentWriter(place, by),
    check: (command) => isAllowed(world, limits, command),
    isAtWork: (command) => isAtWork(world, command),
    process: (command) => processCommand(world, limits, command),
  });
  const restoring = new Set<Promise<void>>();

  /** In the background: the webhook is answered at once, and a second checkbox does not wait for a pick. */
  function restore(place: CommandPlace, runId: RunId): void {
    const work = restoreChoice(world, place, runId).finally(() => restoring.delete(work));
    restoring.add(work);
  }

  async function record(command: NewCommand): Promise<IntakeResult> {
    if (!(await world.store.recordCommand(command))) return ignored('it was recorded before');
    queue.add(command);
    return { kind: 'recorded', command: command.id };
  }

  return {
    async onComment({ place, body, issue, at, throughApp, association, actor: sender }) {
      if (sender.isBot || throughApp) return ignored('no person wrote it');
      const given = parseCommand(body);
      if (!given) return ignored('it gives no command');
      const { id, login } = sender;
      if (!limits.mayStore(place, { id, login })) {
        limits.noteDropped(place);
        return ignored('the author has no write access to the repository, or sends too many commands');
      }
      const scope = place.on === 'line' ? 'line' : 'comment';
      const text = body.slice(0, MAX_TEXT).toWellFormed();
      const likely = association === undefined ? {} : { association: association.slice(0, 40) };
      const command = { id: `${scope}:${place.comment}`, place, by: { id, login }, text, at, ...likely };
      if (!STARTS.has(given.name)) return record(command);
      const said = { title: issue.title, body: await world.artifacts.put(issue.body) };
      return record({ ...command, issue: said });
    },
    async onEdit(event) {
      const edit = await editOfChoice(world, event);
      if (!edit) return onQuestionEdit(world, event);
      // Stored first: once the checkbox is restored in the comment, nothing else shows that it was ticked.
      const result = edit.command ? await record(edit.command) : ignored('no box alone was ticked');
      restore(event.place, edit.run);
      return result;
    },
    onLabel: (event) => startFromLabel(world, event, limits),
    async recover() {
      for (const command of await world.store.unsettledCommands()) {
        queue.add(command);
        if (command.ticked !== undefined) restore(command.place, command.ticked);
      }
    },
    async idle() {
      await Promise.all([queue.idle(), ...restoring]);
    },
  };
}
