import type { Command } from '../core/commands/index.ts';
import { isOver, type RunState } from '../core/model/index.ts';
import type { CommandRecord } from '../ports/index.ts';
import { type GitHubRun, isGitHubRun, type World } from '../runs/index.ts';
import { isRequestedAfter } from './context.ts';

/** Runs of a command's thread, newest first. */
interface ThreadRuns {
  readonly all: readonly GitHubRun[];
  /** Those that the command can mean. */
  readonly runs: readonly GitHubRun[];
  /** The newest one that was requested, by somebody who may, after the command was written. */
  readonly later: GitHubRun | undefined;
}

/**
 * Finds the runs that a command can mean. A page shows one run, and its buttons mean that run, whatever came after it. A
 * checkbox names its run, too. A comment cannot mean a run that was requested later: deliveries may be late, or sent
 * again when its author has long written the command a second time.
 */
export async function runsInThread(
  store: Pick<World['store'], 'run' | 'runsAt'>,
  command: CommandRecord,
): Promise<ThreadRuns> {
  const { at, place, page, ticked } = command;
  const listed = (await store.runsAt(place.repositoryId, place.thread)).filter(isGitHubRun);
  const all = await withNamed(store, listed, command);
  if (page) return { all, runs: all.filter(({ id }) => id === page.run), later: undefined };
  if (place.on === 'page' || ticked !== undefined) return { all, runs: all, later: undefined };
  const later = all.filter((run) => isRequestedAfter(run, at));
  return { all, runs: all.filter((run) => !later.includes(run)), later: later.find(isPermitted) };
}

/** A run that the command names counts even if the thread has too many runs to list it. */
async function withNamed(
  store: Pick<World['store'], 'run'>,
  listed: readonly GitHubRun[],
  { place, page, ticked }: CommandRecord,
): Promise<readonly GitHubRun[]> {
  const named = page?.run ?? ticked;
  if (named === undefined || listed.some(({ id }) => id === named)) return listed;
  const run = await store.run(named);
  // The author's write access is to the repository of the place.
  const isHere = run !== null && isGitHubRun(run) && run.origin.repositoryId === place.repositoryId;
  return isHere ? [...listed, run] : listed;
}

/** A run joins the queue when its requester's write access is known. */
const isPermitted = ({ state, task, queueEntry }: GitHubRun): boolean =>
  state !== 'refused' && (task !== undefined || queueEntry !== undefined);

export const isAdmittedAndActive = ({ state, task }: GitHubRun): boolean =>
  task !== undefined && !isOver(state);

/** The run that a reply is for: a checkbox names the run of its question. */
export const runAsking = (
  { ticked }: CommandRecord,
  runs: readonly GitHubRun[],
  active: GitHubRun | undefined,
): GitHubRun | undefined => (ticked === undefined ? active : runs.find(({ id }) => id === ticked));

export const overtakenBy = ({ id }: GitHubRun): string =>
  `Run \`${id}\` was requested after this comment was written. If you mean that run, or want another one, write the command again.`;

/**
 * The run with a result that a command refers to. For a checkbox: the run whose comparison contains it. On a pull request that
 * Runoff opened: the run that opened it, even after a later `review` or `fix`, unless that one asks for a pick in the
 * same thread. Otherwise the newest run with candidates to pick from.
 */
export function runWithResult(
  { place, ticked }: CommandRecord,
  name: Command['name'],
  runs: readonly GitHubRun[],
): GitHubRun | undefined {
  const withResult = runs.filter(({ decision, outcome }) => decision !== undefined && outcome !== undefined);
  if (ticked !== undefined) return withResult.find(({ id }) => id === ticked);
  const [newest] = withResult;
  // A newer run without survivors does not end the wait for a pick.
  const waiting = withResult.find(({ state }) => state === 'awaiting_pick');
  if (!place.isPull) return (newest?.decision?.kind === 'none' && waiting) || newest;
  const opened = withResult.findIndex(
    ({ outcome }) => outcome?.kind === 'pull' && outcome.number === place.thread,
  );
  if (opened < 0) return newest;
  const asks = withResult.slice(0, opened).find(({ state }) => state === 'awaiting_pick');
  return name === 'ci' || !asks ? withResult[opened] : asks;
}

/** Why nobody can choose a candidate of this run any more, in sentences; null while people can. */
export function whyOver({ state, outcome }: GitHubRun): string | null {
  if (state === 'awaiting_pick' || state === 'published') return null;
  if (state === 'merged')
    return 'Its pull request is merged, so the choice is made. For further changes, open a new issue.';
  return `${howOver(state, outcome !== undefined && outcome.kind === 'pull')} To start again, comment \`/auto-dev retry\` on the issue.`;
}

function howOver(state: RunState, hasPull: boolean): string {
  if (state === 'cancelled') return 'The run was cancelled.';
  if (state === 'failed') return 'The run has failed.';
  return hasPull ? 'Its pull request is closed.' : 'The run has ended without a pull request.';
}
