import { type Command, misheard, parseCommand, replyOf } from '../core/commands/index.ts';
import { isOver } from '../core/lifecycle/index.ts';
import type { Usd } from '../core/model/index.ts';
import { dollars, statusReply } from '../core/reports/index.ts';
import type { CommandRecord } from '../ports/index.ts';
import {
  cancelRun,
  commentThatAsked,
  findComment,
  handleOf,
  loadRun,
  reply,
  requireGitHub,
  sayMisheard,
  statusUrl,
  viewOf,
  type World,
  waitsFor,
} from '../runs/index.ts';
import { done, isLater, type Obeyed, refuse } from './obeyed.ts';
import type { OnGitHub } from './speaker.ts';
import { endUnpicked } from './unpicked.ts';

/** A reply to what the run asks. */
export async function answerRun(
  world: World,
  command: CommandRecord,
  wish: Extract<Command, { readonly name: 'answer' | 'approve' | 'revise' }>,
  run: OnGitHub | undefined,
): Promise<Obeyed> {
  if (!run) return refuse(command, 'No run is at work here that could be answered.');
  const said = replyOf(wish, command.by, command.at);
  const before = await world.store.replies(run.id);
  if (before.some(({ at, by }) => at === command.at && by?.id === command.by.id))
    return done('it was taken before', { runId: run.id });
  const open = waitsFor(run);
  if (!said || !open) return refuse(command, `Run \`${run.id}\` waits for no answer.`, run.id);
  const early = await whyTooEarly(world, command, run, open.number);
  if (early) return sayNotTaken(world, command, run, wish, early);
  const heard = await reply(world, run.id, command.id, said, open.number);
  if (heard.kind === 'taken') return done('the run goes on with it', { runId: run.id });
  return sayNotTaken(world, command, run, wish, heard.why);
}

const BEFORE = 'It was written before this was asked.';

/**
 * Whoever wrote before we asked has not seen what is asked. GitHub numbers the comments of a conversation in their order:
 * no clock is needed. Those on lines have numbers of their own: its times tell, and within one second nobody reads a
 * question and answers it. Null where the comment came after the question.
 */
async function whyTooEarly(
  world: World,
  { place, at }: CommandRecord,
  { id, origin }: OnGitHub,
  number: number,
): Promise<string | null> {
  const asked = await commentThatAsked(world.store, id, number);
  if (!asked) return BEFORE;
  if (place.on === 'conversation') return place.comment > asked.id ? null : BEFORE;
  const reader = await requireGitHub(world).reader(handleOf(origin));
  const question = await findComment(reader, origin.issue, (one) => one.id === asked.id);
  if (!question)
    return 'When this was asked could not be found out: write the answer in the conversation, not on a line.';
  return at > question.createdAt ? null : BEFORE;
}

/** Why it was not taken stands in the comment that asks, where the next try is made. */
export async function sayNotTaken(
  world: World,
  command: CommandRecord,
  run: OnGitHub,
  wish: Command,
  why: string,
): Promise<Obeyed> {
  const open = waitsFor(run);
  if (!open) return refuse(command, why, run.id);
  await sayMisheard(world, run, open, misheard(wish, why, open));
  return { outcome: { kind: 'refused', why }, runId: run.id };
}

/** Stops the run that is at work, or else one that waits for its turn, or ends the waiting for a pick. */
export async function cancel(
  world: World,
  command: CommandRecord,
  runs: readonly OnGitHub[],
): Promise<Obeyed> {
  const cause = `${command.by.login} cancelled it`;
  const living = newest(runs.filter(({ state }) => !isOver(state)));
  if (living) {
    await cancelRun(world, living.id, cause);
    return done('the run is cancelled', { runId: living.id });
  }
  const last = newest(runs);
  // Done before a crash: said as such.
  const already = runs
    .slice(0, last ? runs.indexOf(last) + 1 : 0)
    .find(({ state, updatedAt }) => updatedAt >= command.at && (state === 'cancelled' || state === 'closed'));
  if (already) return done('the run is cancelled', { runId: already.id });
  if (last?.state !== 'awaiting_pick') return refuse(command, 'No run is at work here.');
  await endUnpicked(world, last.id, cause);
  return done('nobody is asked to pick any more', { runId: last.id });
}

/** The newest that was admitted: one that was refused, or waits for its turn, says nothing about those before it. */
const newest = (runs: readonly OnGitHub[]): OnGitHub | undefined =>
  runs.find(({ task }) => task !== undefined) ?? runs[0];

/** Raises or lowers what the run may cost in all; the operator's ceiling stands. */
export async function setBudget(
  world: World,
  command: CommandRecord,
  usd: Usd,
  run: OnGitHub | undefined,
): Promise<Obeyed> {
  if (!run?.task) return refuse(command, 'No run is at work here whose budget could be changed.');
  const most = world.ceilings.budgetRun;
  if (usd > most) {
    return refuse(
      command,
      `The operator of this Runoff allows at most ${dollars(most)} dollars a run (MAX_BUDGET_RUN).`,
      run.id,
    );
  }
  if (await isOvertaken(world, command, run))
    return refuse(command, 'A later command has set the budget already, and that one stands.', run.id);
  const { task } = await loadRun(world, run.id);
  if (!task) return refuse(command, 'The run has just ended.', run.id);
  const budget = { ...task.settings.budget, run: usd };
  await world.store.updateRun(
    run.id,
    { task: { ...task, settings: { ...task.settings, budget } } },
    world.clock.now(),
  );
  world.gateway.capRun(run.id, usd);
  world.announcer.soon(run.id);
  return done(`the budget of the run is ${dollars(usd)} dollars`, { runId: run.id });
}

/** Commands of a repository that are looked through for a later budget. Our default: many times what is said at once. */
const RECENT = 50;

/** Deliveries come in any order: of two budgets of a run, the one that GitHub dates later stands. */
async function isOvertaken(world: World, command: CommandRecord, run: OnGitHub): Promise<boolean> {
  const recent = await world.store.commands(command.place.repositoryId, RECENT);
  return recent.some(
    (one) =>
      one.runId === run.id &&
      one.outcome?.kind === 'done' &&
      isLater(one, command) &&
      parseCommand(one.text)?.name === 'budget',
  );
}

/** A short comment with the way to the status comment, which is brought up to date as well. */
export async function tellStatus(
  world: World,
  command: CommandRecord,
  runs: readonly OnGitHub[],
): Promise<Obeyed> {
  const run = newest(runs);
  if (!run) return done('no run is known', { reply: statusReply(command.place.comment, null, null).body });
  if (run.task) world.announcer.soon(run.id);
  const view = await viewOf(world, run);
  const body = statusReply(command.place.comment, view, await statusUrl(world.store, run.id)).body;
  return done(`the run is ${run.state}`, { reply: body, runId: run.id });
}
