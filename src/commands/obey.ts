import { type Command, misplaced } from '../core/commands/index.ts';
import { isOver } from '../core/lifecycle/index.ts';
import { helpReply, unknownReply } from '../core/reports/index.ts';
import type { CommandRecord } from '../ports/index.ts';
import { handleOf, isWaiting, requireGitHub, type World } from '../runs/index.ts';
import { answerRun, cancel, sayNotTaken, setBudget, tellStatus } from './living.ts';
import { done, type Obeyed, refuse } from './obeyed.ts';
import { ciOf, explain, pick, vote } from './result.ts';
import { isOnGitHub, type OnGitHub } from './speaker.ts';
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
