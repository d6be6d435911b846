import { parseCommand } from '../core/commands/index.ts';
import type { RunId } from '../core/model/index.ts';
import type { CommandPlace, NewCommand } from '../ports/index.ts';
import { isLikelyWriter, type World } from '../runs/index.ts';
import { attend, isAllowed, isAtWork } from './attend.ts';
import { type LabelEvent, labelled, type Taken } from './labelled.ts';
import { openLanes, STARTS } from './lanes.ts';
import { openSenders } from './senders.ts';
import type { Speaker } from './speaker.ts';
import { type EditEvent, editOfChoice, restoreChoice, tickedQuestion } from './ticked.ts';

/** What a delivery about a new comment says, only the fields we need. */
export interface CommentEvent {
  readonly place: CommandPlace;
  readonly body: string;
  /** What the issue or pull request said at that moment. */
  readonly issue: { readonly title: string; readonly body: string };
  /** When it was written, milliseconds since 1970 UTC. */
  readonly at: number;
  /** An App wrote it, be it for a person. */
  readonly throughApp: boolean;
  /** GitHub's word for the writer's relation to the repository; absent: not known. */
  readonly association?: string;
  readonly sender: Speaker;
}

export type Heeded =
  | { readonly kind: 'heard'; readonly command: string }
  | { readonly kind: 'ignored'; readonly why: string };

/** UTF-16 units of a comment that are kept: more than any command can need. */
const MOST_TEXT = 8_000;

/**
 * What people say to runs. A command is stored before anything is done about it, and obeyed in the background, one at a
 * time for each repository, in the order of GitHub's own times and numbers of those that wait here; `cancel` does not wait
 * for the others, and nobody waits for people who are not known to be writers. What such people send is stored up to a
 * number, and not at all for a minute after GitHub said that they may not write.
 */
export interface Steering {
  /** Takes a command from a new comment; a second delivery of it changes nothing (I8). */
  heard(event: CommentEvent): Promise<Heeded>;
  /** Takes a tick in a comment of ours. */
  ticked(event: EditEvent): Promise<Heeded>;
  /** Takes a label as a wish for a run. */
  labelled(event: LabelEvent): Promise<Taken>;
  /** Takes up commands that nothing has become of yet: a crash, or an outage of GitHub, came in between. */
  recover(): Promise<void>;
  /** Waits for the commands that are being obeyed, and for edited comparisons that are being restored. */
  idle(): Promise<void>;
}

const ignored = (why: string): Heeded => ({ kind: 'ignored', why });

export function openSteering(world: World): Steering {
  const senders = openSenders(world);
  const lanes = openLanes({
    // Only people who may write can edit a comment of ours, and so tick a box in it.
    isLikelyAllowed: ({ association, ticked, place, by }) =>
      ticked !== undefined || isLikelyWriter(association) || senders.wasWriter(place, by),
    check: (command) => isAllowed(world, senders, command),
    isAtWork: (command) => isAtWork(world, command),
    attend: (command) => attend(world, senders, command),
  });
  const restoring = new Set<Promise<void>>();

  /** In the background: the webhook is answered at once, and whoever ticks again does not wait for a pick. */
  function restore(place: CommandPlace, runId: RunId): void {
    const work = restoreChoice(world, place, runId).finally(() => restoring.delete(work));
    restoring.add(work);
  }

  async function take(command: NewCommand): Promise<Heeded> {
    if (!(await world.store.hearCommand(command))) return ignored('it was heard before');
    lanes.add(command);
    return { kind: 'heard', command: command.id };
  }

  return {
    async heard({ place, body, issue, at, throughApp, association, sender }) {
      if (sender.isBot || throughApp) return ignored('no person wrote it');
      const wish = parseCommand(body);
      if (!wish) return ignored('it gives no command');
      const { id, login } = sender;
      if (!senders.admits(place, { id, login })) {
        senders.dropped(place);
        return ignored('the sender may not write to the repository, or sends too much');
      }
      const scope = place.on === 'line' ? 'line' : 'comment';
      const text = body.slice(0, MOST_TEXT).toWellFormed();
      const likely = association === undefined ? {} : { association: association.slice(0, 40) };
      const command = { id: `${scope}:${place.comment}`, place, by: { id, login }, text, at, ...likely };
      if (!STARTS.has(wish.name)) return take(command);
      const said = { title: issue.title, body: await world.artifacts.put(issue.body) };
      return take({ ...command, issue: said });
    },
    async ticked(event) {
      const edit = await editOfChoice(world, event);
      if (!edit) return tickedQuestion(world, event);
      // A row first: once the tick is gone from the comment, nothing else tells of it.
      const heeded = edit.command ? await take(edit.command) : ignored('no box alone was ticked');
      restore(event.place, edit.run);
      return heeded;
    },
    labelled: (event) => labelled(world, event, senders),
    async recover() {
      for (const command of await world.store.openCommands()) {
        lanes.add(command);
        if (command.ticked !== undefined) restore(command.place, command.ticked);
      }
    },
    async idle() {
      await Promise.all([lanes.idle(), ...restoring]);
    },
  };
}
