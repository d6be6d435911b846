import type { NewReply } from '../core/brief/index.ts';
import { type Command, parseCommand, replyOf, unrecognizedCommand } from '../core/commands/index.ts';
import { isOver, type RunId, type Task, type Usd } from '../core/model/index.ts';
import { money, statusReply } from '../core/reports/index.ts';
import type { CommandRecord } from '../ports/index.ts';
import {
  awaitedInquiry,
  cancelRun,
  endWaitForPick,
  findComment,
  type GitHubRun,
  handleOf,
  loadRun,
  questionCommentOf,
  reply,
  reportUnrecognized,
  requireGitHub,
  statusUrl,
  viewOf,
  type World,
} from '../runs/index.ts';
import { type CancelPorts, type CommandResult, done, isLater, refuse } from './context.ts';

/** The ports needed to pass a reply to the run that waits for it. */
export type ReplyPorts = Pick<World, 'clock' | 'engine' | 'github' | 'log' | 'store'>;

/** Passes an answer, approval, revision or request for a debate to the run that asks. */
export async function answerRun(
  world: ReplyPorts,
  command: CommandRecord,
  given: Extract<Command, { readonly name: 'answer' | 'approve' | 'debate' | 'revise' }>,
  run: GitHubRun | undefined,
): Promise<CommandResult> {
  if (!run) return refuse(command, 'There is no active run here to answer.');
  const newReply = replyOf(given, command.by, command.at);
  const before = await world.store.replies(run.id);
  if (newReply && before.some((one) => isSameReply(one, newReply)))
    return done('already accepted', { runId: run.id });
  const open = awaitedInquiry(run);
  if (!newReply || !open) return refuse(command, `Run \`${run.id}\` is not waiting for an answer.`, run.id);
  const early = await whyTooEarly(world, command, run, open.number);
  if (early) return replyNotAccepted(world, command, run, given, early);
  const result = await reply(world, run.id, command.id, newReply, open.number);
  if (result.kind === 'taken') return done('the run continues with it', { runId: run.id });
  return replyNotAccepted(world, command, run, given, result.why);
}

/** Whether a repeated command gave this reply. GitHub's times are whole seconds, so the content is compared, too. */
const isSameReply = (before: NewReply, { kind, option, text, by, at }: NewReply): boolean =>
  before.at === at &&
  before.by?.id === by?.id &&
  before.kind === kind &&
  before.option === option &&
  before.text === text;

const ANOTHER_QUESTION =
  'The question on your page is settled, and another one is open. Read it before you answer.';
const SETTLED_BEFORE = 'The question in which you ticked a box is settled, and another one is open.';
const WRITTEN_TOO_EARLY = 'You wrote it before the question was asked.';

/**
 * A comment written before the question cannot answer it. GitHub numbers the comments of a conversation in order, so
 * no clock is needed. Comments on lines have separate ids, so GitHub's times are compared; their resolution of a
 * second is fine enough for a question and its answer. Null if the comment came after the question.
 */
async function whyTooEarly(
  world: Pick<World, 'github' | 'store'>,
  { place, at, page, ticked }: CommandRecord,
  { id, origin }: GitHubRun,
  number: number,
): Promise<string | null> {
  // A form has no comment to compare: it says which question it showed.
  if (place.on === 'page')
    return page?.inquiry === undefined || page.inquiry === number ? null : ANOTHER_QUESTION;
  const asked = await questionCommentOf(world.store, id, number);
  if (!asked) return WRITTEN_TOO_EARLY;
  if (ticked !== undefined) return place.comment === asked.id ? null : SETTLED_BEFORE;
  if (place.on === 'conversation') return place.comment > asked.id ? null : WRITTEN_TOO_EARLY;
  const reader = await requireGitHub(world).reader(handleOf(origin));
  const question = await findComment(reader, origin.issue, (one) => one.id === asked.id);
  if (!question)
    return 'Runoff could not find out whether you wrote it after the question: comment in the conversation, not on a line of code.';
  return at > question.createdAt ? null : WRITTEN_TOO_EARLY;
}

/** Adds the reason to the comment that asks, where the person can try again; if that fails, it is a reply. */
export async function replyNotAccepted(
  world: Pick<World, 'clock' | 'github' | 'log' | 'store'>,
  command: CommandRecord,
  run: GitHubRun,
  given: Command,
  why: string,
): Promise<CommandResult> {
  const open = awaitedInquiry(run);
  // A page shows the reason itself. The comment of a refused checkbox asks nothing any more.
  if (!open || command.place.on === 'page' || command.ticked !== undefined)
    return refuse(command, why, run.id);
  const isShown = await reportUnrecognized(world, run, open, unrecognizedCommand(given, why, open));
  if (!isShown) return refuse(command, why, run.id);
  return { outcome: { kind: 'refused', why }, runId: run.id };
}

/** Cancels all active and queued runs of the thread; if there are none, ends the wait for a pick. */
export async function cancel(
  world: CancelPorts,
  command: CommandRecord,
  runs: readonly GitHubRun[],
): Promise<CommandResult> {
  const cause = `${command.by.login} cancelled it`;
  const active = runs.filter(({ state }) => !isOver(state));
  if (active.length > 0) return cancelAll(world, command, active, cause);
  const last = mainRun(runs);
  // Cancelled before a crash: the reply is the same.
  const already = runs
    .slice(0, last ? runs.indexOf(last) + 1 : 0)
    .find(({ state, updatedAt }) => updatedAt >= command.at && (state === 'cancelled' || state === 'closed'));
  if (already) return done('the run is cancelled', { runId: already.id });
  if (last?.state !== 'awaiting_pick') return refuse(command, 'There is no active run here.');
  return cancelWait(world, command, last.id, cause);
}

/**
 * Nobody can tell from outside which of several runs has been admitted. The newest come first: one that waits behind
 * another would otherwise begin when that one ends.
 */
async function cancelAll(
  world: CancelPorts,
  command: CommandRecord,
  active: readonly GitHubRun[],
  cause: string,
): Promise<CommandResult> {
  const cancelled: RunId[] = [];
  for (const { id } of active) if (await cancelRun(world, id, cause)) cancelled.push(id);
  const main = mainRun(active);
  if (main && !cancelled.includes(main.id)) return cancelWait(world, command, main.id, cause);
  const names = cancelled.toReversed().map((id) => `\`${id}\``);
  const note =
    names.length === 1
      ? 'the run is cancelled'
      : `the runs ${names.slice(0, -1).join(', ')} and ${names.at(-1)} are cancelled`;
  return done(note, main ? { runId: main.id } : {});
}

/** Ends the wait for a pick, unless the run ended, or its pull request was opened, just before the cancel. */
async function cancelWait(
  world: CancelPorts,
  command: CommandRecord,
  runId: RunId,
  cause: string,
): Promise<CommandResult> {
  if (await endWaitForPick(world, runId, cause))
    return done('the run no longer waits for a choice', { runId });
  const { state, outcome } = await loadRun(world, runId);
  if (state === 'cancelled') return done('the run is cancelled', { runId });
  const why =
    outcome?.kind === 'pull'
      ? `Its draft pull request #${outcome.number} is open. If you do not want it, close it.`
      : 'It had just ended. For its result, comment `/auto-dev status`.';
  return refuse(command, `Run \`${runId}\` could not be cancelled. ${why}`, runId);
}

/**
 * The run that a command about one run means: the newest admitted one, since a refused or queued run does not replace
 * earlier ones; otherwise the queued one that is admitted first.
 */
const mainRun = (runs: readonly GitHubRun[]): GitHubRun | undefined =>
  runs.find(({ task }) => task !== undefined) ?? runs.findLast(({ state }) => !isOver(state)) ?? runs[0];

/** Changes the budget of the whole run, up to the operator's limit. */
export async function setBudget(
  world: Pick<World, 'announcer' | 'ceilings' | 'clock' | 'store'>,
  command: CommandRecord,
  usd: Usd,
  run: GitHubRun | undefined,
): Promise<CommandResult> {
  if (!run?.task) return refuse(command, 'There is no active run here, so there is no budget to change.');
  const max = world.ceilings.budgetRun;
  if (usd > max) {
    return refuse(
      command,
      `The operator of this server allows at most ${money(max)} per run (MAX_BUDGET_RUN).`,
      run.id,
    );
  }
  const { usd: spent } = await world.store.usage(run.id);
  if (usd <= spent) {
    // The next whole cent; a sum of cents is not exact.
    const least = (Math.floor(Math.round(spent * 1e6) / 1e4) + 1) / 100;
    const enough = least > max ? 'and its budget cannot be lower' : `so the least is ${money(least)}`;
    return refuse(
      command,
      `The run has already spent ${money(spent)}, ${enough}. To stop it, comment \`/auto-dev cancel\`.`,
      run.id,
    );
  }
  if (await isSuperseded(world, command, run))
    return refuse(command, 'A later command has already set the budget.', run.id);
  await world.store.updateRun(
    run.id,
    ({ task }) => (task ? { task: withRunBudget(task, usd) } : {}),
    world.clock.now(),
  );
  world.announcer.soon(run.id);
  return done(`the budget of the run is now ${money(usd)}`, { runId: run.id });
}

const withRunBudget = ({ settings, ...task }: Task, run: Usd): Task => ({
  ...task,
  settings: { ...settings, budget: { ...settings.budget, run } },
});

/**
 * Maximum commands of a repository that are searched for a later budget. Default: many times what is usually open at
 * once.
 */
const MAX_RECENT_COMMANDS = 50;

/** Deliveries arrive in any order: of two budgets for a run, the one with the later GitHub time counts. */
async function isSuperseded(
  world: Pick<World, 'store'>,
  command: CommandRecord,
  run: GitHubRun,
): Promise<boolean> {
  const recent = await world.store.commands(command.place.repositoryId, MAX_RECENT_COMMANDS);
  return recent.some(
    (one) =>
      one.runId === run.id &&
      one.outcome?.kind === 'done' &&
      isLater(one, command) &&
      parseCommand(one.text)?.name === 'budget',
  );
}

/** Replies with a link to the status comment, and updates that comment. */
export async function replyStatus(
  world: Pick<World, 'announcer' | 'clock' | 'diskSpace' | 'publicUrl' | 'store'>,
  command: CommandRecord,
  runs: readonly GitHubRun[],
): Promise<CommandResult> {
  const run = mainRun(runs);
  if (!run) return done('there is no run', { reply: statusReply(command.place.comment, null, null).body });
  if (run.task) world.announcer.soon(run.id);
  const view = await viewOf(world, run);
  const body = statusReply(command.place.comment, view, await statusUrl(world.store, run.id)).body;
  return done(`the run is ${run.state}`, { reply: body, runId: run.id });
}
