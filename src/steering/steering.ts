import { type Command, parseCommand } from '../core/commands/index.ts';
import type { RunId } from '../core/model/index.ts';
import type { World } from '../pipeline/index.ts';
import type { CommandPlace, CommandRecord, NewCommand } from '../ports/index.ts';
import { attend } from './attend.ts';
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
  readonly sender: Speaker;
}

export type Heeded =
  | { readonly kind: 'heard'; readonly command: string }
  | { readonly kind: 'ignored'; readonly why: string };

/** What may start a run: it works on the words of the moment in which it was asked for, whatever its turn (I5). */
const STARTS: ReadonlySet<Command['name']> = new Set(['run', 'retry', 'review', 'fix']);

/** UTF-16 units of a comment that are kept: more than any command can need. */
const MOST_TEXT = 8_000;

/**
 * What people say to runs. A command is stored before anything is done about it, and obeyed in the background, one at a
 * time for each repository, in the order of GitHub's own times and numbers of those that wait here.
 */
export interface Steering {
  /** Takes a command from a new comment; a second delivery of it changes nothing (I8). */
  heard(event: CommentEvent): Promise<Heeded>;
  /** Takes a tick in a comment of ours. */
  ticked(event: EditEvent): Promise<Heeded>;
  /** Takes up commands that nothing has become of yet: a crash, or an outage of GitHub, came in between. */
  recover(): Promise<void>;
  /** Waits for the commands that are being obeyed, and for edited comparisons that are being restored. */
  idle(): Promise<void>;
}

const ignored = (why: string): Heeded => ({ kind: 'ignored', why });

export function openSteering(world: World): Steering {
  const lanes = openLanes((command) => attend(world, command));
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
    async heard({ place, body, issue, at, throughApp, sender }) {
      if (sender.isBot || throughApp) return ignored('no person wrote it');
      const wish = parseCommand(body);
      if (!wish) return ignored('it gives no command');
      const { id, login } = sender;
      const scope = place.on === 'line' ? 'line' : 'comment';
      const text = body.slice(0, MOST_TEXT).toWellFormed();
      const command = { id: `${scope}:${place.comment}`, place, by: { id, login }, text, at };
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

interface Lane {
  readonly waiting: CommandRecord[];
  working: Promise<void> | null;
}

/** `attend` never rejects. */
function openLanes(attendTo: (command: CommandRecord) => Promise<void>) {
  const lanes = new Map<number, Lane>();
  const known = new Set<string>();

  async function work(repository: number, lane: Lane): Promise<void> {
    for (let next = first(lane); next; next = first(lane)) {
      await attendTo(next);
      known.delete(next.id);
    }
    lanes.delete(repository);
  }

  return {
    add(command: CommandRecord): void {
      if (known.has(command.id)) return;
      known.add(command.id);
      const { repositoryId } = command.place;
      const lane = lanes.get(repositoryId) ?? { waiting: [], working: null };
      lanes.set(repositoryId, lane);
      lane.waiting.push(command);
      lane.working ??= work(repositoryId, lane);
    },
    async idle(): Promise<void> {
      while (lanes.size > 0) await Promise.all([...lanes.values()].map(({ working }) => working));
    },
  };
}

/** By GitHub's own times and numbers, whatever the order in which deliveries come. */
function first({ waiting }: Lane): CommandRecord | undefined {
  waiting.sort((one, other) => one.at - other.at || one.place.comment - other.place.comment);
  return waiting.shift();
}
