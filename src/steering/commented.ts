import { type Command, misheard, parseCommand, replyOf } from '../core/commands/index.ts';
import { isOver } from '../core/lifecycle/index.ts';
import type { RunId } from '../core/model/index.ts';
import {
  acknowledge,
  commentThatAsked,
  isAcknowledged,
  reply,
  sayMisheard,
  type World,
  waitsFor,
} from '../pipeline/index.ts';
import { isOnGitHub, mayChange, type OnGitHub, type Speaker } from './speaker.ts';

/** What an `issue_comment.created` delivery says, only the fields we need. */
export interface CommentEvent {
  readonly repositoryId: number;
  readonly issue: number;
  readonly comment: { readonly id: number; readonly body: string };
  /** An App wrote it, be it for a person. */
  readonly throughApp: boolean;
  readonly sender: Speaker;
}

export type Heeded =
  | { readonly kind: 'taken'; readonly runId: RunId }
  /** Somebody addressed a run that is at work, and it did nothing. */
  | { readonly kind: 'refused'; readonly runId: RunId; readonly why: string }
  | { readonly kind: 'ignored'; readonly why: string };

const ignored = (why: string): Heeded => ({ kind: 'ignored', why });

/**
 * Takes a command from a new comment. Only somebody with the right to write is answered, and only by a run that has asked
 * something: a stranger must not be able to make us write, nor cost more than one look at the permission (I4, I9). One
 * reaction tells whether the command was taken; why not stands in the comment that asks.
 */
export async function commented(world: World, event: CommentEvent): Promise<Heeded> {
  if (event.sender.isBot || event.throughApp) return ignored('no person wrote it');
  const command = parseCommand(event.comment.body);
  if (!command) return ignored('it gives no command');
  const living = await world.store.livingRuns(event.repositoryId, event.issue);
  const run = living.filter(isOnGitHub).find(({ state, task }) => task !== undefined && !isOver(state));
  if (!run) return ignored('no run is at work on this issue');
  if (!run.dialogue?.inquiries.length) return ignored('the run has asked nothing');
  if (await isAcknowledged(world, run.id, event.comment.id)) return ignored('it was answered before');
  if (!(await mayChange(world, run, event.sender))) {
    return { kind: 'refused', runId: run.id, why: 'the sender may not write to the repository' };
  }
  const why = await obey(world, run, event, command);
  await acknowledge(world, run, event.comment.id, why === null ? '+1' : 'confused');
  if (why === null) return { kind: 'taken', runId: run.id };
  const open = waitsFor(run);
  if (open) await sayMisheard(world, run, open, misheard(command, why, open));
  return { kind: 'refused', runId: run.id, why };
}

/** Null when it was taken, else why not: a sentence. */
async function obey(
  world: World,
  run: OnGitHub,
  { comment, sender }: CommentEvent,
  command: Command,
): Promise<string | null> {
  if (command.name === 'unknown') return command.why;
  const said = replyOf(command, { id: sender.id, login: sender.login }, world.clock.now());
  const open = waitsFor(run);
  if (!said || !open) return 'The run waits for nobody.';
  // Whoever wrote before we asked has not seen what is asked. GitHub numbers comments in their order: no clock is needed.
  const asked = await commentThatAsked(world.store, run.id, open.number);
  if (!asked || comment.id <= asked.id) return 'It was written before this was asked.';
  const heard = await reply(world, run.id, `comment:${comment.id}`, said, open.number);
  return heard.kind === 'taken' ? null : heard.why;
}
