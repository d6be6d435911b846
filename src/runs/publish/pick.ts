import { type Alias, asFault, Fault, OUTAGES, type RunId, type Sha } from '../../core/model/index.ts';
import { COMMIT_AUTHOR, comparison, followUpMessage, pickComment } from '../../core/reports/index.ts';
import type { BaseCheckout, PickRecord, PullDetails, RunOutcome, Store } from '../../ports/index.ts';
import { type GitHubRun, isGitHubRun, loadRun, taskOf, type World } from '../context.ts';
import { rejectPick, whyPickRejected } from '../picks.ts';
import { idempotentWrite } from '../stage.ts';
import { viewOf } from '../view.ts';
import {
  type CommitPorts,
  type Commits,
  commitCandidates,
  damagedSentence,
  type Head,
  isHeadOfOurs,
  plannedHead,
  shownOn,
  storeHead,
  storePlannedHead,
  wasPushed,
} from './branches.ts';
import { outcomeForPublishing, showCheck, showComparison, showTally, writtenComparison } from './comments.ts';
import {
  type Applied,
  done,
  type PublishContext,
  type PublishPorts,
  push,
  refused,
  withPublisher,
} from './context.ts';
import { type PullOutcome, publishPull, pullText } from './on-github.ts';

/**
 * Applies the last pick of a run: opens the pull request, or commits the picked candidate's files on top of the open
 * one. No coder runs again. Every write is idempotent.
 */
export async function applyPick(
  world: CommitPorts & Pick<World, 'announcer'>,
  run: GitHubRun,
): Promise<Applied> {
  const pick = (await world.store.picks(run.id)).at(-1);
  if (!pick) throw new Fault('INTERNAL', `Run ${run.id} has no pick to apply.`);
  const dropped = await whyPickRejected(world.store, run.id, pick);
  if (dropped !== null) return refused(dropped);
  const { outcome } = run;
  const applied = await withCommits(world, run, async (context, commits) => {
    if (pick.alias !== null && commits.damaged.has(pick.alias)) {
      const why = damagedSentence(pick.alias);
      await rejectPick(world.store, run.id, pick.key, why);
      return refused(why);
    }
    return outcome?.kind === 'pull' && !(await isHalfOpened(world.store, run, pick))
      ? pickOnPull(context, commits, outcome, pick)
      : pickFromTable(context, commits, pick.alias);
  });
  // A crash may have come between opening the pull request and this update.
  if (outcome?.kind === 'pull' && run.state === 'awaiting_pick')
    await world.store.transition(run.id, 'published', 'a person picked', world.clock.now());
  await world.announcer.finish(run.id);
  return applied;
}

/** Whether this pick opened the pull request before a crash, so that what belongs to it may not be written yet. */
const isHalfOpened = async (store: Store, run: GitHubRun, { alias }: PickRecord): Promise<boolean> =>
  run.state === 'awaiting_pick' && (await shownOn(store, run)) === alias;

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
  const now = world.clock.now();
  if (alias === null) {
    if (run.state === 'awaiting_pick')
      await world.store.transition(run.id, 'closed', 'a person picked none of the candidates', now);
    await refreshIssue(context, run.outcome);
    return done('None of the candidates was picked. No pull request was opened.');
  }
  const outcome = await publishPull(context, commits, alias);
  await world.store.updateRun(run.id, { outcome }, now);
  await world.store.transition(run.id, 'published', `a person picked candidate ${alias}`, now);
  await refreshIssue(context, outcome);
  if (outcome.kind === 'pull')
    return done(`Candidate ${alias} is the draft pull request #${outcome.number}.`);
  return refused(
    outcome.kind === 'table' && outcome.refusedBecause
      ? outcome.refusedBecause
      : 'No pull request was opened.',
  );
}

/** Replaces the checkboxes of the comparison on the issue by who picked what. */
async function refreshIssue(context: PublishContext, outcome: RunOutcome | undefined): Promise<void> {
  const { world, run } = context;
  if (!outcome || outcome.kind === 'branches') return;
  if (!(await writtenComparison(world.store, run.id, 'choice'))) return;
  const { view, diffs } = await outcomeForPublishing(context, outcome);
  await showComparison(context, 'choice', run.origin.issue, pickComment(view, diffs));
}

/** If someone else opened a pull request from Runoff's branch, its description stays theirs. */
async function describePull(
  context: PublishContext,
  outcome: PullOutcome,
  alias: Alias,
): Promise<'edited' | 'refused'> {
  const { view, diffs } = await outcomeForPublishing(context, outcome);
  const { title, body } = await pullText(context, view, alias, diffs);
  try {
    await context.publisher.editPull(outcome.number, { title, body });
    return 'edited';
  } catch (thrown) {
    if (OUTAGES.has(asFault(thrown).code)) throw thrown;
    context.world.log.warn(
      { run: context.run.id, err: thrown },
      'the description of the pull request could not be updated',
    );
    return 'refused';
  }
}

/** Why Runoff cannot update the pull request of a run, as a sentence; null if it can. */
export async function whyNotOurs(
  store: { readonly intent: Store['intent'] },
  run: { readonly id: RunId; readonly outcome?: RunOutcome },
  pull: PullDetails | null,
): Promise<string | null> {
  if (!pull) return 'The pull request no longer exists.';
  if (pull.state !== 'open')
    return `The pull request #${pull.number} is ${pull.state}. To work on the issue again, comment \`/auto-dev retry\` there.`;
  if (!(await isHeadOfOurs(store, run, pull.headSha)))
    return `Someone pushed to the branch of #${pull.number}, so Runoff no longer changes it.`;
  return null;
}

async function pickOnPull(
  context: PublishContext,
  commits: Commits,
  outcome: PullOutcome,
  pick: PickRecord,
): Promise<Applied> {
  const { alias } = pick;
  const { world, run } = context;
  if (alias === null) {
    await refreshPull(context, outcome);
    return done(`Recorded: no candidate is wanted. Close the pull request #${outcome.number} yourself.`);
  }
  const { store } = world;
  const before = await shownOn(store, run);
  // A commit that this pick pushed before a crash does not count as already published.
  const begun = (await plannedHead(store, run.id, pick.key)) !== null;
  if (before === alias && !begun) {
    await refreshPull(context, outcome);
    return done(`The pull request #${outcome.number} already shows candidate ${alias}.`);
  }
  const view = await viewOf(world, run);
  const message = followUpMessage(view, { kind: 'pick', alias, instead: before ?? '–' });
  const moved =
    before === alias
      ? outcome
      : await advance(context, commits.base, outcome, { key: pick.key, alias, message, at: pick.at });
  if (typeof moved === 'string') {
    await rejectPick(store, run.id, pick.key, moved);
    await refreshPull(context, outcome);
    return refused(moved);
  }
  await idempotentWrite(store, run.id, `text:${pick.key}`, {
    look: async () => null,
    write: () => describePull(context, moved, alias),
  });
  await refreshPull(context, moved);
  return done(`The pull request #${outcome.number} now shows candidate ${alias}.`);
}

interface Advance {
  /** Identifies the request across retries. */
  readonly key: string;
  readonly alias: Alias;
  readonly message: string;
  /** Milliseconds since 1970 UTC. */
  readonly at: number;
}

/**
 * Commits the tree of a candidate on top of a pull request's branch, unless someone else has pushed to it. Returns the
 * new outcome, or a sentence that explains why not.
 */
async function advance(
  context: PublishContext,
  base: BaseCheckout,
  outcome: PullOutcome,
  next: Advance,
): Promise<PullOutcome | string> {
  const { run, world } = context;
  const { store } = world;
  const pull = await context.reader.pull(outcome.number);
  const why = await whyNotOurs(store, run, pull);
  if (why !== null || !pull) return why ?? 'The pull request no longer exists.';
  const planned = await plannedHead(store, run.id, next.key);
  if (planned && pull.headSha !== planned.sha && (await wasPushed(store, run.id, planned.sha))) {
    // Applied before a crash; someone has picked again since.
    return outcome;
  }
  const head = await headFor(context, base, { at: pull.headSha, planned, next });
  if (pull.headSha !== head.sha) {
    await storePlannedHead(store, run.id, next.key, head);
    const refusal = await push(context, base, { branch: outcome.branch, sha: head.sha, onto: head.onto });
    if (refusal !== null) return refusal;
  }
  const moved = { ...outcome, headSha: head.sha };
  await storeHead(store, run.id, head);
  await store.updateRun(run.id, { outcome: moved }, world.clock.now());
  return moved;
}

/** The commit planned before a crash if it still fits, else a new commit on the current head. */
async function headFor(
  { world, run }: PublishContext,
  base: BaseCheckout,
  { at, planned, next }: { readonly at: Sha; readonly planned: Head | null; readonly next: Advance },
): Promise<Head> {
  if (planned && (planned.sha === at || planned.onto === at)) return planned;
  const { alias, message } = next;
  const patch = (await world.store.candidates(run.id)).find((one) => one.alias === alias)?.patch;
  if (!patch) throw new Fault('INTERNAL', `Candidate ${alias} has no patch although it was picked.`);
  const spec = { base: at, tree: patch.tree, message, author: COMMIT_AUTHOR, at: Math.floor(next.at / 1000) };
  return { sha: await world.workspaces.commit(base, spec), onto: at, alias };
}

async function refreshPull(context: PublishContext, outcome: PullOutcome): Promise<void> {
  const { view, diffs } = await outcomeForPublishing(context, outcome);
  await showComparison(context, 'comparison', outcome.number, comparison(view, diffs));
  await showCheck(context, view, outcome.headSha);
  await refreshIssue(context, outcome);
}

/**
 * Writes the comparison of a run that waits for no pick any more without checkboxes. In all its comments: in blind mode it
 * has the names now (decision 160), and so other places for its diffs.
 */
export async function closeComparison(world: PublishPorts, run: GitHubRun): Promise<void> {
  await withPublisher(world, { run, signal: new AbortController().signal }, (context) =>
    refreshIssue(context, run.outcome),
  );
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
    const moved = await advance(context, commits.base, outcome, { ...request, alias, message });
    if (typeof moved === 'string') return refused(moved);
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
