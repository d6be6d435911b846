import { asFault, type RunId } from '../core/model/index.ts';
import { noteReply } from '../core/reports/index.ts';
import type { CommandOutcome, CommandPlace, CommandRecord } from '../ports/index.ts';
import {
  closeUnpicked,
  type GitHubRun,
  handleOf,
  loadOnGitHub,
  mayWrite,
  type PublishPorts,
  refreshTally,
  requireGitHub,
  type World,
} from '../runs/index.ts';

/** What ending a run takes, or its wait for a pick. */
export type CancelPorts = PublishPorts & Pick<World, 'announcer' | 'engine'>;

/** A delivery about a new comment: only the fields that we need. */
export interface CommentEvent {
  readonly place: CommandPlace;
  readonly body: string;
  /** Text of the issue or pull request at that moment. */
  readonly issue: { readonly title: string; readonly body: string };
  /** When it was written, milliseconds since 1970 UTC. */
  readonly at: number;
  /** Written through an App, even for a person. */
  readonly throughApp: boolean;
  /** GitHub's `author_association`; absent: not known. */
  readonly association?: string;
  readonly actor: EventActor;
}

export type IntakeResult =
  | { readonly kind: 'recorded'; readonly command: string }
  | { readonly kind: 'ignored'; readonly why: string };

export const ignored = (why: string): IntakeResult => ({ kind: 'ignored', why });

/** Who caused a delivery: GitHub's `sender`. */
export interface EventActor {
  readonly id: number;
  readonly login: string;
  readonly isBot: boolean;
}

/**
 * Whether a person may change a run by a checkbox (I4). A checkbox of a question is not stored as a command that could
 * wait for GitHub: while GitHub does not answer, the checkbox is not accepted, and can be ticked again.
 */
export async function mayChange(
  world: Pick<World, 'github' | 'log'>,
  run: GitHubRun,
  { id, login }: EventActor,
): Promise<boolean> {
  try {
    const reader = await requireGitHub(world).reader(handleOf(run.origin));
    return await mayWrite(reader, { id, login });
  } catch (thrown) {
    if (asFault(thrown).code !== 'GITHUB_UNAVAILABLE') throw thrown;
    world.log.warn(
      { run: run.id, user: id, err: thrown },
      'a checkbox was not accepted: GitHub did not answer',
    );
    return false;
  }
}

/** The outcome of a command and the reply to its author; plain JSON, so that it survives a crash. */
export interface CommandResult {
  readonly outcome: Exclude<CommandOutcome, { readonly kind: 'ignored' }>;
  /** Body of a comment in the same thread; absent where a reaction is enough. */
  readonly reply?: string;
  readonly runId?: RunId;
}

/** Scope of the intents of a command, which may concern no run. */
export const intentScope = ({ id }: CommandRecord): string => `command:${id}`;

/**
 * Whether GitHub dates `one` after `other`. Its times are whole seconds: within one second the numbers of the comments
 * decide, which GitHub counts apart for comments on lines and all others.
 */
export const isLater = (one: CommandRecord, other: CommandRecord): boolean =>
  one.at === other.at
    ? one.place.on === other.place.on && one.place.comment > other.place.comment
    : one.at > other.at;

export const done = (note: string, more: Pick<CommandResult, 'reply' | 'runId'> = {}): CommandResult => ({
  outcome: { kind: 'done', note },
  ...more,
});

/** `why`: sentences for the command's author. */
export const refuse = (command: CommandRecord, why: string, runId?: RunId): CommandResult => ({
  outcome: { kind: 'refused', why },
  reply: noteReply(command.place.comment, why).body,
  ...(runId ? { runId } : {}),
});

/** Ends a run's wait for a pick, and takes the checkboxes off its comparison. False when the run did not wait. */
export async function endWaitForPick(
  world: PublishPorts & Pick<World, 'announcer'>,
  runId: RunId,
  cause: string,
): Promise<boolean> {
  if (!(await closeUnpicked(world, runId, cause))) return false;
  try {
    await refreshTally(world, await loadOnGitHub(world, runId));
  } catch (thrown) {
    // The issue may be gone with the comment; the run is closed all the same.
    world.log.warn({ run: runId, err: thrown }, 'the comparison still asks for a pick');
  }
  return true;
}
