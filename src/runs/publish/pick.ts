import {
  type Alias,
  asFault,
  Fault,
  type GitHubOrigin,
  type RunId,
  type Sha,
} from '../../core/model/index.ts';
import { advanceMessage, choice, comparison, pullRequest } from '../../core/reports/index.ts';
import type { Pick, PullDetails, RunOutcome, RunRecord, Store } from '../../ports/index.ts';
import { OUTAGES } from '../guard.ts';
import { once } from '../once.ts';
import { dropPick, whyDropped } from '../picks.ts';
import { loadRun, loadTask } from '../task.ts';
import { viewOf } from '../view.ts';
import type { World } from '../world.ts';
import { AUTHOR, commitCandidates } from './commits.ts';
import { atDesk, type Desk, type Job, push } from './desk.ts';
import { type Head, isHeadOfOurs, keepHead, planHead, plannedHead, shownOn, wasPushed } from './heads.ts';
import { publishPull } from './on-github.ts';
import { show, showCheck, showTally, viewForPublishing, writtenComparison } from './show.ts';

export type OnGitHubRun = RunRecord & { readonly origin: GitHubOrigin };
type PullOutcome = Extract<RunOutcome, { readonly kind: 'pull' }>;

/** What came of a command on a result: a sentence for whoever gave it. */
export type Applied =
  | { readonly kind: 'done'; readonly note: string }
  | { readonly kind: 'refused'; readonly why: string };

const done = (note: string): Applied => ({ kind: 'done', note });
const refused = (why: string): Applied => ({ kind: 'refused', why });

/**
 * Brings the last pick of a run to where its users look: opens the pull request, or puts the picked candidate's files on
 * top of the one that is open. Nobody codes again. Every write is made once, however often this is repeated.
 */
export async function applyPick(world: World, run: OnGitHubRun): Promise<Applied> {
  const pick = (await world.store.picks(run.id)).at(-1);
  if (!pick) throw new Fault('INTERNAL', `Run ${run.id} has no pick to apply.`);
  const dropped = await whyDropped(world.store, run.id, pick);
  if (dropped !== null) return refused(dropped);
  const job = await jobOf(world, run);
  const { outcome } = run;
  const applied =
    outcome?.kind === 'pull'
      ? await pickOnPull(job, run, outcome, pick)
      : await pickFromTable(job, run.state, pick.alias);
  // A crash may have come between the pull request and this.
  if (outcome?.kind === 'pull' && run.state === 'awaiting_pick')
    await world.store.transition(run.id, 'published', 'a person picked', world.clock.now());
  await world.announcer.finish(run.id);
  return applied;
}

async function jobOf(world: World, run: OnGitHubRun): Promise<Job> {
  const task = await loadTask(world, run.id);
  const { signal } = new AbortController();
  const commits = await commitCandidates(world, task, signal);
  return { world, task, origin: run.origin, commits, signal };
}

async function pickFromTable(job: Job, state: RunRecord['state'], alias: Alias | null): Promise<Applied> {
  const { world, task } = job;
  const now = world.clock.now();
  if (alias === null) {
    if (state === 'awaiting_pick')
      await world.store.transition(task.runId, 'closed', 'a person picked none of the candidates', now);
    await atDesk(job, (desk) => refreshIssue(desk));
    return done('None of the candidates was picked. No pull request was opened.');
  }
  const outcome = await publishPull(job, alias);
  await world.store.updateRun(task.runId, { outcome }, now);
  await world.store.transition(task.runId, 'published', `a person picked candidate ${alias}`, now);
  await atDesk(job, (desk) => refreshIssue(desk));
  if (outcome.kind === 'pull')
    return done(`Candidate ${alias} is the draft pull request #${outcome.number}.`);
  return refused(
    outcome.kind === 'table' && outcome.unopened ? outcome.unopened : 'No pull request was opened.',
  );
}

/** The comparison on the issue no longer asks: it says who picked what. */
async function refreshIssue(desk: Desk): Promise<void> {
  const { world, task, origin } = desk;
  if (!(await writtenComparison(world.store, task.runId, 'choice'))) return;
  const run = await loadRun(world, task.runId);
  if (!run.outcome) return;
  const { view, diffs } = await viewForPublishing(desk, run.outcome);
  await show(desk, 'choice', origin.issue, choice(view, diffs));
}

/** A pull request that somebody opened from our branch before us is theirs to describe. */
async function tellInPull(desk: Desk, outcome: PullOutcome, alias: Alias): Promise<'edited' | 'refused'> {
  const { view, diffs } = await viewForPublishing(desk, outcome);
  const { title, body } = pullRequest(view, alias, diffs);
  try {
    await desk.publisher.editPull(outcome.number, { title, body });
    return 'edited';
  } catch (thrown) {
    if (OUTAGES.has(asFault(thrown).code)) throw thrown;
    desk.world.log.warn(
      { run: desk.task.runId, err: thrown },
      'the pull request could not be described anew',
    );
    return 'refused';
  }
}

/** What stands in the way of going on with the pull request of a run: a sentence; null where nothing does. */
export async function whyNotOurs(
  store: { readonly intent: Store['intent'] },
  run: { readonly id: RunId; readonly outcome?: RunOutcome },
  pull: PullDetails | null,
): Promise<string | null> {
  if (!pull) return 'The pull request is not there any more.';
  if (pull.state !== 'open')
    return `The pull request #${pull.number} is ${pull.state}. To work on the issue again, comment \`/auto-dev retry\` there.`;
  if (!(await isHeadOfOurs(store, run, pull.headSha)))
    return `Somebody has pushed to the branch of #${pull.number}, so Runoff leaves it alone from now on.`;
  return null;
}

async function pickOnPull(job: Job, run: OnGitHubRun, outcome: PullOutcome, pick: Pick): Promise<Applied> {
  const { alias } = pick;
  return atDesk(job, async (desk) => {
    if (alias === null) {
      await refreshPull(desk, outcome);
      return done(`It is noted that none is wanted. The pull request #${outcome.number} is yours to close.`);
    }
    const { store } = desk.world;
    const before = await shownOn(store, run);
    // What this very pick has pushed before a crash is not there already for whoever picked.
    const begun = (await plannedHead(store, run.id, pick.key)) !== null;
    if (before === alias && !begun) {
      await refreshPull(desk, outcome);
      return done(`The pull request #${outcome.number} shows candidate ${alias} already.`);
    }
    const view = await viewOf(desk.world, run);
    const message = advanceMessage(view, { kind: 'pick', alias, instead: before ?? '–' });
    const moved =
      before === alias
        ? outcome
        : await advance(desk, run, outcome, { key: pick.key, alias, message, at: pick.at });
    if (typeof moved === 'string') {
      await dropPick(store, run.id, pick.key, moved);
      await refreshPull(desk, outcome);
      return refused(moved);
    }
    await once(store, run.id, `text:${pick.key}`, {
      look: async () => null,
      write: () => tellInPull(desk, moved, alias),
    });
    await refreshPull(desk, moved);
    return done(`The pull request #${outcome.number} shows candidate ${alias} now.`);
  });
}

interface Advance {
  /** The same for the same wish, however often it is tried. */
  readonly key: string;
  readonly alias: Alias;
  readonly message: string;
  /** Milliseconds since 1970 UTC. */
  readonly at: number;
}

/**
 * Puts a commit with the tree of a candidate on top of the branch of a pull request, where nobody else has pushed to it.
 * The new outcome, or a sentence that says why not.
 */
async function advance(
  desk: Desk,
  run: OnGitHubRun,
  outcome: PullOutcome,
  next: Advance,
): Promise<PullOutcome | string> {
  const { store } = desk.world;
  const pull = await desk.reader.pull(outcome.number);
  const why = await whyNotOurs(store, run, pull);
  if (why !== null || !pull) return why ?? 'The pull request is not there any more.';
  const planned = await plannedHead(store, run.id, next.key);
  if (planned && pull.headSha !== planned.sha && (await wasPushed(store, run.id, planned.sha))) {
    // Done before a crash, and somebody has picked again since.
    return outcome;
  }
  const head = await headFor(desk, run, { at: pull.headSha, planned, next });
  if (pull.headSha !== head.sha) {
    await planHead(store, run.id, next.key, head);
    const refusal = await push(desk, outcome.branch, head.sha, head.onto);
    if (refusal !== null) return refusal;
  }
  const moved = { ...outcome, headSha: head.sha };
  await keepHead(store, run.id, head);
  await store.updateRun(run.id, { outcome: moved }, desk.world.clock.now());
  return moved;
}

/** What was planned before a crash, where it still fits; else a commit on what is there. */
async function headFor(
  { world, commits }: Desk,
  run: OnGitHubRun,
  { at, planned, next }: { readonly at: Sha; readonly planned: Head | null; readonly next: Advance },
): Promise<Head> {
  if (planned && (planned.sha === at || planned.onto === at)) return planned;
  const { alias, message } = next;
  const patch = (await world.store.candidates(run.id)).find((one) => one.alias === alias)?.patch;
  if (!patch) throw new Fault('INTERNAL', `Candidate ${alias} has no patch although it was picked.`);
  const spec = { base: at, tree: patch.tree, message, author: AUTHOR, at: Math.floor(next.at / 1000) };
  return { sha: await world.workspaces.commit(commits.base, spec), onto: at, alias };
}

async function refreshPull(desk: Desk, outcome: PullOutcome): Promise<void> {
  const { view, diffs } = await viewForPublishing(desk, outcome);
  await show(desk, 'comparison', outcome.number, comparison(view, diffs));
  await showCheck(desk, view, outcome.headSha);
  await refreshIssue(desk);
}

/** Votes have changed: shows the tally where the comparison is, by as few writes as can be. */
export async function refreshTally(world: World, run: OnGitHubRun): Promise<void> {
  const { outcome, origin } = run;
  if (!outcome || outcome.kind === 'branches') return;
  const task = await loadTask(world, run.id);
  await atDesk({ world, task, origin, signal: new AbortController().signal }, async (desk) => {
    const { view, diffs } = await viewForPublishing(desk, outcome);
    if (outcome.kind === 'pull') await showTally(desk, 'comparison', outcome.number, comparison(view, diffs));
    await showTally(desk, 'choice', origin.issue, choice(view, diffs));
  });
}

/** An empty commit without the skip marker on top of the pull request: the repository's own workflows start. */
export async function releaseCi(
  world: World,
  run: OnGitHubRun,
  wish: { readonly key: string; readonly at: number },
): Promise<Applied> {
  const { outcome } = run;
  if (outcome?.kind !== 'pull') return refused('This run has no pull request whose CI could start.');
  const job = await jobOf(world, run);
  return atDesk(job, async (desk) => {
    const alias = await shownOn(desk.world.store, run);
    if (alias === null) return refused('Which candidate the pull request shows is not known.');
    const message = advanceMessage(await viewOf(world, run), { kind: 'ci' });
    const moved = await advance(desk, run, outcome, { ...wish, alias, message });
    if (typeof moved === 'string') return refused(moved);
    const { view } = await viewForPublishing(desk, moved);
    await showCheck(desk, view, moved.headSha);
    return done(
      `A commit without the skip marker was pushed to #${moved.number}: the repository's workflows start now.`,
    );
  });
}

/** The run as it is now, if it came from GitHub. */
export async function loadOnGitHub(world: World, runId: RunId): Promise<OnGitHubRun> {
  const run = await loadRun(world, runId);
  if (run.origin.kind !== 'github') throw new Fault('INTERNAL', `Run ${runId} did not come from GitHub.`);
  return { ...run, origin: run.origin };
}
