import { type Command, parseCommand, replyOf } from '../core/commands/index.ts';
import { isOver } from '../core/lifecycle/index.ts';
import type { RunId } from '../core/model/index.ts';
import { acknowledge, reply, type World, waitsFor } from '../pipeline/index.ts';
import { isOnGitHub, mayChange, type OnGitHub, type Speaker } from './speaker.ts';

/** What an `issue_comment.created` delivery says, only the fields we need. */
export interface CommentEvent {
  readonly repositoryId: number;
  readonly issue: number;
  /** `createdAt`: milliseconds since 1970 UTC. */
  readonly comment: { readonly id: number; readonly body: string; readonly createdAt: number };
  /** An App wrote it, be it for a person. */
  readonly throughApp: boolean;
  readonly sender: Speaker;
}

export type Heeded =
  | { readonly kind: 'taken'; readonly runId: RunId }
  /** Somebody addressed a run that is at work, and it did nothing. */
  | { readonly kind: 'refused'; readonly runId: RunId; readonly why: string }
  | { readonly kind: 'ignored'; readonly why: string };

/** Milliseconds that GitHub's clock may be behind ours. Our default. */
const SKEW_MS = 120_000;

const ignored = (why: string): Heeded => ({ kind: 'ignored', why });

/**
 * Takes a command from a new comment. Without a run at work nothing at all is answered: a stranger must not be able to
 * make us write wherever the App is installed (I9). Otherwise one reaction tells whether it was taken.
 */
export async function commented(world: World, event: CommentEvent): Promise<Heeded> {
  if (event.sender.isBot || event.throughApp) return ignored('no person wrote it');
  const command = parseCommand(event.comment.body);
  if (!command) return ignored('it gives no command');
  const living = await world.store.livingRuns(event.repositoryId, event.issue);
  const run = living.filter(isOnGitHub).find(({ state }) => !isOver(state));
  if (!run) return ignored('no run is at work on this issue');
  if (!(await mayChange(world, run, event.sender))) {
    await acknowledge(world, run, event.comment.id, '-1');
    return { kind: 'refused', runId: run.id, why: 'the sender may not write to the repository' };
  }
  const why = await obey(world, run, event, command);
  await acknowledge(world, run, event.comment.id, why === null ? '+1' : 'confused');
  return why === null ? { kind: 'taken', runId: run.id } : { kind: 'refused', runId: run.id, why };
}

/** Null when it was taken, else why not. */
async function obey(
  world: World,
  run: OnGitHub,
  { comment, sender }: CommentEvent,
  command: Command,
): Promise<string | null> {
  const said = replyOf(command, { id: sender.id, login: sender.login }, world.clock.now());
  if (!said) return 'there is no such command';
  // A replay of an old delivery must not answer what is asked today.
  if (comment.createdAt < (waitsFor(run)?.askedAt ?? 0) - SKEW_MS) return 'it is older than the question';
  const heard = await reply(world, run.id, `comment:${comment.id}`, said);
  return heard.kind === 'taken' ? null : heard.why;
}
