import { type Command, misplaced } from '../core/commands/index.ts';
import { type Alias, isOver } from '../core/model/index.ts';
import { pickable, pickOf } from '../core/ranking/index.ts';
import { explanation, helpReply, type RunView, settingsReply, unknownReply } from '../core/reports/index.ts';
import type { CommandRecord, PickRecord } from '../ports/index.ts';
import {
  applyPick,
  type CommitPorts,
  diffsOf,
  type GitHubRun,
  handleOf,
  isWaiting,
  loadOnGitHub,
  mayWrite,
  type PublishPorts,
  proposeSettings,
  refreshTally,
  releaseCi,
  requireGitHub,
  standingPicks,
  tryKeepOutcomes,
  viewOf,
  type World,
  whyNotOurs,
} from '../runs/index.ts';
import { answerRun, cancel, replyNotAccepted, replyStatus, setBudget } from './active-runs.ts';
import { STARTS } from './command-queue.ts';
import { type CancelPorts, type CommandResult, done, howToStart, isLater, refuse } from './context.ts';
import { pickOutdated } from './pages.ts';
import {
  isAdmittedAndActive,
  overtakenBy,
  runAsking,
  runsInThread,
  runWithResult,
  whyOver,
} from './runs-in-thread.ts';
import { debate, retry, type StartPorts, startOnIssue, startOnPull } from './start-runs.ts';

/** The ports needed to apply commands. */
export type CommandPorts = CancelPorts & CommitPorts & StartPorts & Pick<World, 'ceilings'>;

/** Applies a command of a person with write access. Safe to repeat: after a crash it is applied again. */
export async function applyCommand(
  world: CommandPorts,
  command: CommandRecord,
  given: Command | null,
): Promise<CommandResult> {
  if (!given) return refuse(command, 'The comment no longer contains a command.');
  if (given.name === 'help')
    return done('listed the commands', { reply: helpReply(command.place.comment).body });
  const fork = await forkRefusal(world, command);
  if (fork) return refuse(command, fork);
  const threadRuns = await runsInThread(world.store, command);
  const { runs, later } = threadRuns;
  const active = (STARTS.has(given.name) ? threadRuns.all : runs).find(isAdmittedAndActive);
  if (given.name === 'unknown') {
    if (active && isWaiting(active)) return replyNotAccepted(world, command, active, given, given.why);
    const reply = unknownReply(command.place.comment, given).body;
    return { outcome: { kind: 'refused', why: given.why }, reply };
  }
  const wrongPlace = misplaced(given.name, command.place.isPull);
  if (wrongPlace) return refuse(command, wrongPlace);
  if (given.name === 'status') return replyStatus(world, command, threadRuns.all);
  const isOvertaken = STARTS.has(given.name) || runs.length === 0;
  if (later && isOvertaken) return refuse(command, overtakenBy(later), later.id);
  return applyKnown(world, command, given, { runs, active });
}

type KnownCommand = Exclude<Command, { readonly name: 'unknown' | 'help' | 'status' }>;

async function applyKnown(
  world: CommandPorts,
  command: CommandRecord,
  given: KnownCommand,
  { runs, active }: { readonly runs: readonly GitHubRun[]; readonly active: GitHubRun | undefined },
): Promise<CommandResult> {
  const result = runWithResult(command, given.name, runs);
  switch (given.name) {
    case 'run':
      return startOnIssue(world, command, given.options, active);
    case 'retry':
      return retry(world, command, given, { runs, active });
    case 'review':
    case 'fix':
      return startOnPull(world, command, given.name, active);
    case 'debate':
      return debate(world, command, active);
    case 'cancel':
      return cancel(world, command, runs);
    case 'answer':
    case 'approve':
    case 'revise':
      return answerRun(world, command, given, runAsking(command, runs, active));
    case 'budget':
      return setBudget(world, command, given.usd, active);
    case 'pick':
      return result ? pick(world, command, result, given.alias) : refuseWithoutResult(command, runs);
    case 'vote':
      return result ? vote(world, command, result, given.alias) : refuseWithoutResult(command, runs);
    case 'explain':
      return result ? explain(world, command, result, given.alias) : refuseWithoutResult(command, runs);
    case 'settings':
      return keepCommands(world, command, runs);
    case 'ci':
      return result ? allowCi(world, command, result) : refuseWithoutResult(command, runs);
  }
}

const refuseWithoutResult = (command: CommandRecord, runs: readonly GitHubRun[]): CommandResult =>
  refuse(
    command,
    runs.length === 0
      ? `There is no run here. ${howToStart(command)}`
      : 'No run has a result here yet. For its status, comment `/auto-dev status`.',
  );

/** A fork's code is not the repository's own, so its pull requests accept no commands. */
async function forkRefusal(world: Pick<World, 'github'>, { place }: CommandRecord): Promise<string | null> {
  if (!place.isPull) return null;
  const reader = await requireGitHub(world).reader(handleOf(place));
  const pull = await reader.pull(place.thread);
  if (!pull) return `There is no pull request #${place.thread} in this repository.`;
  return pull.headRepositoryId === place.repositoryId
    ? null
    : 'This pull request comes from a fork, and Runoff only accepts commands on pull requests from this repository. Push the branch to this repository and open a pull request from it.';
}

/** Maximum voters whose permission is read again when a pick is made. */
const MAX_VOTERS = 30;

/** Stores a person's pick, with the ranking and votes at that moment, and applies it. The later comment counts. */
async function pick(
  world: CommitPorts & Pick<World, 'announcer'>,
  command: CommandRecord,
  run: GitHubRun,
  alias: Alias | null,
): Promise<CommandResult> {
  const earlier = await world.store.picks(run.id);
  const known = earlier.some(({ key }) => key === command.id);
  const view = await viewOf(world, run);
  const why = known
    ? null
    : (pickOutdated(command.page, earlier) ?? (await whyNotPicked(world, command, run, view, alias)));
  if (why) return refuse(command, why, run.id);
  await world.store.addPick(run.id, {
    alias,
    by: command.by,
    at: command.at,
    key: command.id,
    shown: await shownAtPick(world, command, run, view),
  });
  const applied = await applyPick(world, await loadOnGitHub(world, run.id));
  await tryKeepOutcomes(world, run.id);
  return applied.kind === 'done'
    ? done(applied.note, { runId: run.id })
    : refuse(command, applied.why, run.id);
}

async function whyNotPicked(
  world: Pick<World, 'github' | 'store'>,
  command: CommandRecord,
  run: GitHubRun,
  view: RunView,
  alias: Alias | null,
): Promise<string | null> {
  const unfit = alias === null ? null : whyUnfit(view, alias);
  if (unfit) return unfit;
  const last = (await standingPicks(world.store, run.id)).at(-1);
  const before = last && (await world.store.command(last.key));
  // A page that knows the earlier pick came after it, whatever the clocks of GitHub and this host say.
  if (before && command.page?.picks === undefined && isLater(before, command))
    return 'A later command has already picked a candidate.';
  const early = whyUnfinished(run);
  if (early) return early;
  const over = whyOver(run);
  if (over) return over;
  if (run.outcome?.kind !== 'pull') return null;
  const reader = await requireGitHub(world).reader(handleOf(run.origin));
  return whyNotOurs(world.store, run, await reader.pull(run.outcome.number));
}

/** The result is stored as soon as its pull request is open, before the rest of it is written (0228). */
const whyUnfinished = ({ id, state }: GitHubRun): string | null =>
  isOver(state) ? null : `Run \`${id}\` is still being published: try again in a moment.`;

function whyUnfit(view: RunView, alias: Alias): string | null {
  if (pickable(view).includes(alias)) return null;
  const choice = pickable(view).map((one) => `\`${one}\``);
  const may =
    choice.length > 0 ? `${choice.join(', ')} can be picked.` : 'No candidate of this run can be picked.';
  return view.candidates.some((one) => one.alias === alias)
    ? `Candidate \`${alias}\` failed a gate or has no patch. ${may}`
    : `Run \`${view.id}\` has no candidate \`${alias}\`. ${may}`;
}

async function shownAtPick(
  world: Pick<World, 'github' | 'store'>,
  command: CommandRecord,
  run: GitHubRun,
  view: RunView,
): Promise<PickRecord['shown']> {
  return {
    aliases: view.ranking.map(({ alias }) => alias),
    first: pickOf(view.decision),
    votes: await countedVotes(world, command, run),
  };
}

/** Votes of people who have write access now, whether or not they had it when they voted. */
async function countedVotes(
  world: Pick<World, 'github' | 'store'>,
  command: CommandRecord,
  run: GitHubRun,
): Promise<Record<Alias, number>> {
  const reader = await requireGitHub(world).reader(handleOf(command.place));
  const votes: Record<Alias, number> = {};
  for (const { by, alias } of (await world.store.votes(run.id)).slice(0, MAX_VOTERS)) {
    if (await mayWrite(reader, by)) votes[alias] = (votes[alias] ?? 0) + 1;
  }
  return votes;
}

/** One vote for each person; the comparison shows the counts. */
async function vote(
  world: PublishPorts,
  command: CommandRecord,
  run: GitHubRun,
  alias: Alias,
): Promise<CommandResult> {
  const unfit = whyUnfit(await viewOf(world, run), alias) ?? whyUnfinished(run) ?? whyOver(run);
  if (unfit) return refuse(command, unfit, run.id);
  await world.store.vote(run.id, { by: command.by, alias, at: command.at });
  await refreshTally(world, run);
  return done(`recorded the vote for ${alias}`, { runId: run.id });
}

/** All facts about one candidate, as a comment. */
async function explain(
  world: Pick<World, 'artifacts' | 'clock' | 'diskSpace' | 'store'>,
  command: CommandRecord,
  run: GitHubRun,
  alias: Alias,
): Promise<CommandResult> {
  const view = await viewOf(world, run);
  if (!view.candidates.some((one) => one.alias === alias)) {
    const all = view.candidates.map((one) => `\`${one.alias}\``).join(', ');
    return refuse(command, `Run \`${run.id}\` has no candidate \`${alias}\`; it has ${all}.`, run.id);
  }
  const { body } = explanation(view, await diffsOf(world, run.id), alias, command.place.comment);
  return done(`explained candidate ${alias}`, { reply: body, runId: run.id });
}

/** Lets the repository's own workflows run on the pull request. */
async function allowCi(world: CommitPorts, command: CommandRecord, run: GitHubRun): Promise<CommandResult> {
  if (run.task?.settings.ci === 'run')
    return refuse(command, 'CI is not on hold in this repository (`ci: run`): every push starts it.', run.id);
  const early = whyUnfinished(run);
  if (early) return refuse(command, early, run.id);
  const applied = await releaseCi(world, run, { key: command.id, at: command.at });
  return applied.kind === 'done'
    ? done(applied.note, { runId: run.id })
    : refuse(command, applied.why, run.id);
}

/** Opens a draft pull request with the commands that the newest run found. */
async function keepCommands(
  world: CommitPorts,
  command: CommandRecord,
  runs: readonly GitHubRun[],
): Promise<CommandResult> {
  const run = runs.find(({ checks }) => checks?.settled === true);
  if (!run)
    return refuse(
      command,
      runs.length === 0
        ? `There is no run here. ${howToStart(command)}`
        : 'No run has found commands that work here yet. For its status, comment `/auto-dev status`.',
    );
  const applied = await proposeSettings(world, run, command.at);
  if (applied.kind === 'refused') return refuse(command, applied.why, run.id);
  const { note, pull } = applied;
  const reply = pull === undefined ? {} : { reply: settingsReply(command.place.comment, pull).body };
  return done(note, { ...reply, runId: run.id });
}
