import { type Alias, asFault, Fault, OUTAGES, type RunId } from '../../core/model/index.ts';
import { comparison, followUpMessage, pickComment } from '../../core/reports/index.ts';
import type { PickRecord, Store } from '../../ports/index.ts';
import { type GitHubRun, isGitHubRun, loadRun, taskOf, type World } from '../context.ts';
import { rejectPick, whyPickRejected } from '../picks.ts';
import { viewOf } from '../view.ts';
import { advance } from './advance.ts';
import { announceLater, leaveWait } from './announcer.ts';
import {
  type CommitPorts,
  type Commits,
  commitCandidates,
  damagedSentence,
  plannedHead,
  shownOn,
} from './branches.ts';
import {
  outcomeForPublishing,
  refreshIssue,
  showCheck,
  showComparison,
  showTally,
  writtenComparison,
} from './comments.ts';
import {
  type Applied,
  done,
  type PublishContext,
  type PublishPorts,
  refused,
  withPublisher,
} from './context.ts';
import { describeCi, describePull } from './description.ts';
import { type PullOutcome, publishPull, storeOutcome } from './on-github.ts';

/**
 * Applies the last pick of a run: opens the pull request, or commits the picked candidate's files on top of the open
 * one. No coder runs again. Every write is idempotent. A fault that no retry ends rejects the pick, unless its pull
 * request is already there.
 */
export async function applyPick(
  world: CommitPorts & Pick<World, 'announcer'>,
  run: GitHubRun,
): Promise<Applied> {
  const pick = (await world.store.picks(run.id)).at(-1);
  if (!pick) throw new Fault('INTERNAL', `Run ${run.id} has no pick to apply.`);
  const dropped = await whyPickRejected(world.store, run.id, pick);
  if (dropped !== null) return refused(dropped);
  try {
    return await applyAccepted(world, run, pick);
  } catch (thrown) {
    const { code, message } = asFault(thrown);
    if (!OUTAGES.has(code)) await settleFailed(world, await loadOnGitHub(world, run.id), pick, message);
    throw thrown;
  }
}

/** Its author reads why: either the pick no longer counts, or its pull request exists and the run waits no longer. */
async function settleFailed(
  world: Pick<World, 'announcer' | 'clock' | 'store'>,
  run: GitHubRun,
  { alias, key }: PickRecord,
  why: string,
): Promise<void> {
  const { announcer, store } = world;
  const counts = alias === null ? run.state === 'closed' : (await shownOn(store, run)) === alias;
  if (!counts) return rejectPick(store, run.id, key, why);
  if (run.state !== 'awaiting_pick') return;
  await leaveWait(world, run.id, 'published', 'a person picked');
  await announcer.finish(run.id);
}

async function applyAccepted(
  world: CommitPorts & Pick<World, 'announcer'>,
  run: GitHubRun,
  pick: PickRecord,
): Promise<Applied> {
  const { outcome } = run;
  const halfOpened = outcome?.kind === 'pull' && (await isHalfOpened(world.store, run, pick));
  const applied = await withCommits(world, run, async (context, commits) => {
    if (pick.alias !== null && !halfOpened && commits.damaged.has(pick.alias)) {
      const why = damagedSentence(pick.alias);
      await rejectPick(world.store, run.id, pick.key, why);
      return refused(why);
    }
    return outcome?.kind === 'pull' && !halfOpened
      ? pickOnPull(context, commits, outcome, pick)
      : pickFromTable(context, commits, pick.alias);
  });
  // A crash may have come between opening the pull request and this update.
  if (outcome?.kind === 'pull' && run.state === 'awaiting_pick')
    await leaveWait(world, run.id, 'published', 'a person picked');
  await world.announcer.finish(run.id);
  return applied;
}

/**
 * Whether this pick opened the pull request before a crash, so that what belongs to it may not be written yet. A pick
 * that has planned a commit found the pull request open.
 */
const isHalfOpened = async (store: Store, run: GitHubRun, { alias, key }: PickRecord): Promise<boolean> =>
  run.state === 'awaiting_pick' &&
  (await shownOn(store, run)) === alias &&
  (await plannedHead(store, run.id, key)) === null;

async function withCommits<T>(
  world: CommitPorts,
  run: GitHubRun,
  work: (context: PublishContext, commits: Commits) => Promise<T>,
): Promise<T> {
  const { signal } = new AbortController();
  const commits = await commitCandidates(world, run, taskOf(run), signal);
  return withPublisher(world, { run, signal }, (context) => work(context, commits));
}

async function pickFromTable(
  context: PublishContext,
  commits: Commits,
  alias: Alias | null,
): Promise<Applied> {
  const { world, run } = context;
  if (alias === null) {
    if (run.state === 'awaiting_pick')
      await leaveWait(world, run.id, 'closed', 'a person picked none of the candidates');
    await refreshIssue(context, run.outcome);
    return done('None of the candidates was picked. No pull request was opened.');
  }
  const outcome = await publishPull(context, commits, alias);
  await storeOutcome(world, run.id, outcome);
  await leaveWait(world, run.id, 'published', `a person picked candidate ${alias}`);
  await refreshIssue(context, outcome);
  if (outcome.kind === 'pull')
    return done(`Candidate ${alias} is the draft pull request #${outcome.number}.`);
  return refused(
    outcome.kind === 'table' && outcome.refusedBecause
      ? outcome.refusedBecause
      : 'No pull request was opened.',
  );
}

async function pickOnPull(
  context: PublishContext,
  commits: Commits,
  outcome: PullOutcome,
  pick: PickRecord,
): Promise<Applied> {
  const { alias } = pick;
  const { world, run } = context;
  const told = async (now: PullOutcome, note: string): Promise<Applied> => {
    await describePull(context, now, pick);
    await refreshPull(context, now);
    return done(note);
  };
  if (alias === null) {
    const note = `Recorded: no candidate is wanted. Close the pull request #${outcome.number} yourself.`;
    return told(outcome, note);
  }
  const { store } = world;
  const before = await shownOn(store, run);
  // A commit that this pick pushed before a crash does not count as already published.
  const begun = (await plannedHead(store, run.id, pick.key)) !== null;
  if (before === alias && !begun)
    return told(outcome, `The pull request #${outcome.number} already shows candidate ${alias}.`);
  const view = await viewOf(world, run);
  const message = followUpMessage(view, { kind: 'pick', alias, instead: before ?? '–' });
  const next = { key: pick.key, alias, message, startsCi: false, at: pick.at };
  const moved = before === alias ? outcome : await advance(context, commits.base, outcome, next);
  if (typeof moved === 'string') {
    await rejectPick(store, run.id, pick.key, moved);
    await refreshPull(context, outcome);
    return refused(moved);
  }
  return told(moved, `The pull request #${outcome.number} now shows candidate ${alias}.`);
}

async function refreshPull(context: PublishContext, outcome: PullOutcome): Promise<void> {
  const { view, diffs } = await outcomeForPublishing(context, outcome);
  await showComparison(context, 'comparison', outcome.number, comparison(view, diffs));
  await showCheck(context, view, outcome.headSha);
  await refreshIssue(context, outcome);
}

/**
 * Closes a run that waits for a pick; its comparison stays, without checkboxes. Returns false if the run does not wait
 * for one, or a pick has opened its pull request, which is about to be completed (0228).
 */
export async function endWaitForPick(
  world: PublishPorts & Pick<World, 'announcer'>,
  runId: RunId,
  cause: string,
): Promise<boolean> {
  const run = await loadOnGitHub(world, runId);
  if (run.state !== 'awaiting_pick' || run.outcome?.kind === 'pull') return false;
  await leaveWait(world, runId, 'closed', cause);
  await announceEnding(world, runId);
  return true;
}

/** Announces the end of a run, also in the comparison that asked for a pick; upkeep repeats what an outage prevented. */
export async function announceEnding(
  world: PublishPorts & Pick<World, 'announcer'>,
  runId: RunId,
): Promise<void> {
  const isClosed = await tryToCloseComparison(world, runId);
  await world.announcer.finish(runId);
  if (!isClosed) await announceLater(world.store, runId);
}

/**
 * Writes the comparison of a run that waits for no pick any more without checkboxes. In all its comments: in blind mode it
 * has the names now (decision 160), and so other places for its diffs. Returns false during an outage.
 */
async function tryToCloseComparison(world: PublishPorts, runId: RunId): Promise<boolean> {
  try {
    if (!(await writtenComparison(world.store, runId, 'choice'))) return true;
    const run = await loadOnGitHub(world, runId);
    if (run.state === 'awaiting_pick') return true;
    await withPublisher(world, { run, signal: new AbortController().signal }, (context) =>
      refreshIssue(context, run.outcome),
    );
    return true;
  } catch (thrown) {
    // The issue may have been deleted with the comment; the run waits no longer in any case.
    world.log.warn({ run: runId, err: thrown }, 'the comparison still asks for a pick');
    return !OUTAGES.has(asFault(thrown).code);
  }
}

/** Updates the vote tally in the comparison with as few writes as possible. */
export async function refreshTally(world: PublishPorts, run: GitHubRun): Promise<void> {
  const { outcome, origin } = run;
  if (!outcome || outcome.kind === 'branches') return;
  await withPublisher(world, { run, signal: new AbortController().signal }, async (context) => {
    const { view, diffs } = await outcomeForPublishing(context, outcome);
    if (outcome.kind === 'pull')
      await showTally(context, 'comparison', outcome.number, comparison(view, diffs));
    await showTally(context, 'choice', origin.issue, pickComment(view, diffs));
  });
}

/** Pushes an empty commit without the skip marker to the pull request, so that the repository's own workflows start. */
export async function releaseCi(
  world: CommitPorts,
  run: GitHubRun,
  request: { readonly key: string; readonly at: number },
): Promise<Applied> {
  const { outcome } = run;
  if (outcome?.kind !== 'pull') return refused('This run has no pull request, so there is no CI to start.');
  return withCommits(world, run, async (context, commits) => {
    const alias = await shownOn(world.store, run);
    if (alias === null) return refused('It is unknown which candidate the pull request shows.');
    if (commits.damaged.has(alias)) return refused(damagedSentence(alias));
    const message = followUpMessage(await viewOf(world, run), { kind: 'ci' });
    const next = { ...request, alias, message, startsCi: true };
    const moved = await advance(context, commits.base, outcome, next);
    if (typeof moved === 'string') return refused(moved);
    if (moved.ciStarted) await describeCi(context, moved);
    const { view } = await outcomeForPublishing(context, moved);
    await showCheck(context, view, moved.headSha);
    return done(
      `A commit without the skip marker was pushed to #${moved.number}, so the repository's workflows start now.`,
    );
  });
}

/** Loads the run if it came from GitHub. */
export async function loadOnGitHub(world: Pick<World, 'store'>, runId: RunId): Promise<GitHubRun> {
  const run = await loadRun(world, runId);
  if (!isGitHubRun(run)) throw new Fault('INTERNAL', `Run ${runId} did not come from GitHub.`);
  return run;
}
