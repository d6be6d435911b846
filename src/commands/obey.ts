import { type Command, misplaced } from '../core/commands/index.ts';
import { pickable, pickOf } from '../core/decision/index.ts';
import { isOver } from '../core/lifecycle/index.ts';
import type { Alias } from '../core/model/index.ts';
import { explanation, helpReply, type RunView, unknownReply } from '../core/reports/index.ts';
import type { CommandRecord, Pick } from '../ports/index.ts';
import {
  applyPick,
  diffsOf,
  handleOf,
  isWaiting,
  loadOnGitHub,
  refreshTally,
  releaseCi,
  requireGitHub,
  viewOf,
  type World,
  whyNotOurs,
} from '../runs/index.ts';
import { answerRun, cancel, sayNotTaken, setBudget, tellStatus } from './living.ts';
import { done, isLater, type Obeyed, refuse } from './obeyed.ts';
import { isOnGitHub, mayWrite, type OnGitHub } from './speaker.ts';
import { retry, startRunHere, startWork } from './start.ts';

/** Does what a person with the right to write asked for. Safe to repeat: after a crash it is done once more. */
export async function obey(world: World, command: CommandRecord, wish: Command | null): Promise<Obeyed> {
  const { repositoryId, thread } = command.place;
  if (!wish) return refuse(command, 'The comment gives no command any more.');
  if (wish.name === 'help') return done('help was given', { reply: helpReply(command.place.comment).body });
  const fork = await whyFork(world, command);
  if (fork) return refuse(command, fork);
  const runs = (await world.store.runsAt(repositoryId, thread)).filter(isOnGitHub);
  const living = runs.find(({ state, task }) => task !== undefined && !isOver(state));
  if (wish.name === 'unknown') {
    if (living && isWaiting(living)) return sayNotTaken(world, command, living, wish, wish.why);
    const reply = unknownReply(command.place.comment, wish).body;
    return { outcome: { kind: 'refused', why: wish.why }, reply };
  }
  const elsewhere = misplaced(wish.name, command.place.isPull);
  if (elsewhere) return refuse(command, elsewhere);
  return obeyKnown(world, command, wish, { runs, living });
}

type Known = Exclude<Command, { readonly name: 'unknown' | 'help' }>;

async function obeyKnown(
  world: World,
  command: CommandRecord,
  wish: Known,
  { runs, living }: { readonly runs: readonly OnGitHub[]; readonly living: OnGitHub | undefined },
): Promise<Obeyed> {
  const judged = resultMeant(command, wish.name, runs);
  switch (wish.name) {
    case 'run':
      return startRunHere(world, command, wish.wish, living);
    case 'retry':
      return retry(world, command, wish.alias, { runs, living });
    case 'review':
    case 'fix':
      return startWork(world, command, wish.name, living);
    case 'status':
      return tellStatus(world, command, runs);
    case 'cancel':
      return cancel(world, command, runs);
    case 'answer':
    case 'approve':
    case 'revise':
      return answerRun(world, command, wish, living);
    case 'budget':
      return setBudget(world, command, wish.usd, living);
    case 'pick':
      return judged ? pick(world, command, judged, wish.alias) : nothingJudged(command);
    case 'vote':
      return judged ? vote(world, command, judged, wish.alias) : nothingJudged(command);
    case 'explain':
      return judged ? explain(world, command, judged, wish.alias) : nothingJudged(command);
    case 'ci':
      return judged ? ciOf(world, command, judged) : nothingJudged(command);
  }
}

/**
 * Whose result a command speaks of. A tick: that of the run whose comparison carries the box. On a pull request of ours:
 * the run that opened it, whatever a `review` or `fix` led to there since, unless that asks for a pick in the same
 * conversation. Else the newest that has anything to pick from.
 */
function resultMeant(
  { place, ticked }: CommandRecord,
  name: Known['name'],
  runs: readonly OnGitHub[],
): OnGitHub | undefined {
  const judged = runs.filter(({ decision, outcome }) => decision !== undefined && outcome !== undefined);
  if (ticked !== undefined) return judged.find(({ id }) => id === ticked);
  const [newest] = judged;
  // A newer run in which nobody survived took no choice away.
  const waiting = judged.find(({ state }) => state === 'awaiting_pick');
  if (!place.isPull) return (newest?.decision?.kind === 'none' && waiting) || newest;
  const opened = judged.findIndex(
    ({ outcome }) => outcome?.kind === 'pull' && outcome.number === place.thread,
  );
  if (opened < 0) return newest;
  const asks = judged.slice(0, opened).find(({ state }) => state === 'awaiting_pick');
  return name === 'ci' || !asks ? judged[opened] : asks;
}

const nothingJudged = (command: CommandRecord): Obeyed =>
  refuse(command, 'There is no result of a run here yet. `/auto-dev status` tells where it stands.');

/** The code of a fork is not the repository's own: nobody steers from its pull request. */
async function whyFork(world: World, { place }: CommandRecord): Promise<string | null> {
  if (!place.isPull) return null;
  const reader = await requireGitHub(world).reader(handleOf(place));
  const pull = await reader.pull(place.thread);
  if (!pull) return `There is no pull request #${place.thread} in this repository.`;
  return pull.headRepositoryId === place.repositoryId
    ? null
    : 'This pull request comes from a fork. Runoff takes commands on pull requests of the repository itself only: push the branch there and open one from it.';
}

/** People whose right to vote is looked up again when a pick is made; more do not vote on one change. */
const MOST_VOTERS = 30;

/** A person decides. Kept for the leaderboard with what they saw; of two, the one in the later comment stands. */
export async function pick(
  world: World,
  command: CommandRecord,
  run: OnGitHub,
  alias: Alias | null,
): Promise<Obeyed> {
  const earlier = await world.store.picks(run.id);
  const known = earlier.some(({ key }) => key === command.id);
  const view = await viewOf(world, run);
  const why = known ? null : await whyNotPicked(world, command, run, view, alias);
  if (why) return refuse(command, why, run.id);
  await world.store.addPick(run.id, {
    alias,
    by: command.by,
    at: command.at,
    key: command.id,
    shown: await shownIn(world, command, run, view),
  });
  const applied = await applyPick(world, await loadOnGitHub(world, run.id));
  return applied.kind === 'done'
    ? done(applied.note, { runId: run.id })
    : refuse(command, applied.why, run.id);
}

async function whyNotPicked(
  world: World,
  command: CommandRecord,
  run: OnGitHub,
  view: RunView,
  alias: Alias | null,
): Promise<string | null> {
  const unfit = alias === null ? null : whyUnfit(view, alias);
  if (unfit) return unfit;
  const last = (await world.store.picks(run.id)).at(-1);
  const before = last && (await world.store.command(last.key));
  if (before && isLater(before, command)) return 'A later command has picked already, and that pick stands.';
  if (!isOver(run.state)) return `Run \`${run.id}\` is still being published: pick again in a moment.`;
  if (run.state !== 'awaiting_pick' && run.state !== 'published')
    return `The run is over (${run.state}). To work on the issue again, comment \`/auto-dev retry\` there.`;
  if (run.outcome?.kind !== 'pull') return null;
  const reader = await requireGitHub(world).reader(handleOf(run.origin));
  return whyNotOurs(world.store, run, await reader.pull(run.outcome.number));
}

function whyUnfit(view: RunView, alias: Alias): string | null {
  if (pickable(view).includes(alias)) return null;
  const choice = pickable(view).map((one) => `\`${one}\``);
  const may = choice.length > 0 ? `${choice.join(', ')} may be picked.` : 'None of this run may be picked.';
  return view.candidates.some((one) => one.alias === alias)
    ? `Candidate \`${alias}\` did not pass every gate, or left no patch. ${may}`
    : `There is no candidate \`${alias}\` in run \`${view.id}\`. ${may}`;
}

async function shownIn(
  world: World,
  command: CommandRecord,
  run: OnGitHub,
  view: RunView,
): Promise<Pick['shown']> {
  return {
    aliases: view.ranking.map(({ alias }) => alias),
    first: pickOf(view.decision),
    votes: await countedVotes(world, command, run),
  };
}

/** Votes of those who may write now, whoever might when they voted. */
async function countedVotes(
  world: World,
  command: CommandRecord,
  run: OnGitHub,
): Promise<Record<Alias, number>> {
  const reader = await requireGitHub(world).reader(handleOf(command.place));
  const votes: Record<Alias, number> = {};
  for (const { by, alias } of (await world.store.votes(run.id)).slice(0, MOST_VOTERS)) {
    if (await mayWrite(reader, by)) votes[alias] = (votes[alias] ?? 0) + 1;
  }
  return votes;
}

/** One vote for each person; the tally stands in the comparison. */
export async function vote(
  world: World,
  command: CommandRecord,
  run: OnGitHub,
  alias: Alias,
): Promise<Obeyed> {
  const unfit = whyUnfit(await viewOf(world, run), alias);
  if (unfit) return refuse(command, unfit, run.id);
  await world.store.vote(run.id, { by: command.by, alias, at: command.at });
  await refreshTally(world, run);
  return done(`the vote for ${alias} counts`, { runId: run.id });
}

/** Everything that is known of one candidate, as a comment. */
export async function explain(
  world: World,
  command: CommandRecord,
  run: OnGitHub,
  alias: Alias,
): Promise<Obeyed> {
  const view = await viewOf(world, run);
  if (!view.candidates.some((one) => one.alias === alias)) {
    const all = view.candidates.map((one) => `\`${one.alias}\``).join(', ');
    return refuse(command, `There is no candidate \`${alias}\` in run \`${run.id}\`; it has ${all}.`, run.id);
  }
  const { body } = explanation(view, await diffsOf(world, run.id), alias, command.place.comment);
  return done(`candidate ${alias} was explained`, { reply: body, runId: run.id });
}

/** Lets the repository's own workflows run on the pull request. */
export async function ciOf(world: World, command: CommandRecord, run: OnGitHub): Promise<Obeyed> {
  if (run.task?.settings.ci === 'run')
    return refuse(command, 'CI is not held in this repository (`ci: run`): every push starts it.', run.id);
  const applied = await releaseCi(world, run, { key: command.id, at: command.at });
  return applied.kind === 'done'
    ? done(applied.note, { runId: run.id })
    : refuse(command, applied.why, run.id);
}
