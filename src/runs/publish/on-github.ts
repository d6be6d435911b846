import { type Alias, asFault, type RunId } from '../../core/model/index.ts';
import {
  comparison,
  type Diffs,
  type OutcomeView,
  outcomeComment,
  pickComment,
  pullRequest,
  type RunView,
} from '../../core/reports/index.ts';
import type { PullFacts, RunOutcome } from '../../ports/index.ts';
import type { World } from '../context.ts';
import { type CompareWithOpenPulls, readOpenPulls } from '../overlaps.ts';
import { idempotentWrite, throwIfCancelled } from '../stage.ts';
import { type Commits, damagedSentence } from './branches.ts';
import { showCheck, showComparison, supersede, viewForPublishing, withLinks } from './comments.ts';
import { candidateBranch, commitOf, OPENED_PULL, type PublishContext, push, pushOthers } from './context.ts';

/**
 * Pushes a candidate, opens its draft pull request, then posts the comparison with all other diffs on it. If GitHub
 * refuses the pull request (a rule, an existing branch), posts the comparison on the issue with the reason.
 */
export async function publishPull(
  context: PublishContext,
  commits: Commits,
  winner: Alias,
): Promise<RunOutcome> {
  const { run, world } = context;
  const branch = candidateBranch(context, winner);
  // Opened before an outage or a crash. Its branch may have moved since, so it is not pushed again.
  if (run.outcome?.kind === 'pull' && run.outcome.branch === branch)
    return completePull(context, commits, await viewForPublishing(context, 'shown'), run.outcome, winner);
  const headSha = commitOf(commits, winner);
  const { published, opened } = await openWithBranch(context, commits, winner, branch);
  if (typeof opened === 'string') return tableInstead(context, commits, published, opened);
  const { number, url } = opened;
  const branches = { [winner]: branch };
  const pull: PullOutcome = { kind: 'pull', number, url, branch, headSha, branches, comparisonUrl: url };
  await world.store.updateRun(run.id, { outcome: pull }, world.clock.now());
  return completePull(context, commits, published, pull, winner);
}

/** Pushes a candidate and opens its pull request; a sentence says why GitHub refused either. */
async function openWithBranch(
  context: PublishContext,
  commits: Commits,
  winner: Alias,
  branch: string,
): Promise<{ readonly published: Published; readonly opened: PullFacts | string }> {
  const needed = new AbortController();
  const reading = viewForPublishing(context, 'shown');
  // A failure counts once the push has ended.
  reading.catch(() => undefined);
  const comparing = readOpenPulls(context.world, context.run, needed.signal);
  try {
    const refused = await push(context, commits.base, { branch, sha: commitOf(commits, winner) });
    const published = await reading;
    if (refused !== null) return { published, opened: refused };
    const text = { ...published, compare: await comparing };
    return { published, opened: await openPull(context, text, winner, branch) };
  } finally {
    needed.abort();
  }
}

/**
 * Writes what belongs to an open pull request. That is the result of the run as soon as it exists, so it is already
 * stored, and a cancel comes too late from here on: it would leave the rest unwritten (0228).
 */
async function completePull(
  cancellable: PublishContext,
  commits: Commits,
  published: Published,
  opened: PullOutcome,
  winner: Alias,
): Promise<RunOutcome> {
  const context = { ...cancellable, signal: new AbortController().signal };
  const others = await pushOthers(context, commits, winner);
  const branches = byLetter({ ...others, ...opened.branches });
  const outcome = { ...opened, branches };
  const view = { ...published.view, outcome };
  const text = comparison(view, withLinks(context, published.diffs, branches));
  const shown = await showComparison(context, 'comparison', outcome.number, text);
  await showCheck(context, view, outcome.headSha);
  await supersede(context, view);
  return { ...outcome, comparisonUrl: shown.url };
}

/** Stores the result of a run; a commit that `ci` has added to its pull request meanwhile stays on record. */
export const storeOutcome = (
  { clock, store }: Pick<World, 'clock' | 'store'>,
  runId: RunId,
  outcome: RunOutcome,
): Promise<void> =>
  store.updateRun(
    runId,
    ({ outcome: stored }) => ({
      outcome: outcome.kind === 'pull' && stored?.kind === 'pull' ? withHeadOf(stored, outcome) : outcome,
    }),
    clock.now(),
  );

const withHeadOf = ({ headSha, ciStarted }: PullOutcome, outcome: PullOutcome): PullOutcome => ({
  ...outcome,
  headSha,
  ...(ciStarted ? { ciStarted } : {}),
});

/**
 * Posts the comparison with checkboxes on the issue and opens no pull request: the evidence is inconclusive, or the
 * settings require a person to choose.
 */
export const publishChoice = async (context: PublishContext, commits: Commits): Promise<RunOutcome> =>
  publishOnIssue(context, commits, 'choice', await viewForPublishing(context));

/** Posts a table on the issue and opens no pull request: no candidate survived. */
export const publishTable = async (context: PublishContext, commits: Commits): Promise<RunOutcome> =>
  publishOnIssue(context, commits, 'outcome', await viewForPublishing(context, 'shown'));

/** Posts the table on the issue: the winner's patch was damaged after its examination. */
export const publishTableOfDamaged = async (
  context: PublishContext,
  commits: Commits,
  winner: Alias,
): Promise<RunOutcome> =>
  publishOnIssue(context, commits, 'outcome', await viewForPublishing(context, 'shown'), {
    refusedBecause: damagedSentence(winner),
    isDamaged: true,
  });

export type PullOutcome = Extract<RunOutcome, { readonly kind: 'pull' }>;
type Published = Awaited<ReturnType<typeof viewForPublishing>>;

const tableInstead = (
  context: PublishContext,
  commits: Commits,
  published: Published,
  refusedBecause: string,
): Promise<RunOutcome> => publishOnIssue(context, commits, 'outcome', published, { refusedBecause });

/** Why a winner has no pull request. */
type Unopened = Pick<Extract<OutcomeView, { kind: 'table' }>, 'refusedBecause' | 'isDamaged'>;

async function publishOnIssue(
  context: PublishContext,
  commits: Commits,
  kind: 'choice' | 'outcome',
  published: Published,
  unopened: Unopened = {},
): Promise<RunOutcome> {
  const branches = byLetter(await pushOthers(context, commits, null));
  const outcome: OutcomeView = { kind: 'table', ...unopened, branches };
  const view = { ...published.view, outcome };
  const { run, world } = context;
  // GitHub may refuse the comment, as on a locked issue: the run has its result, and people can pick from it (0236).
  if (run.outcome === undefined) await world.store.updateRun(run.id, { outcome }, world.clock.now());
  const write = kind === 'choice' ? pickComment : outcomeComment;
  const text = write(view, withLinks(context, published.diffs, branches));
  const shown = await showComparison(context, kind, run.origin.issue, text);
  await supersede(context, view);
  return { ...outcome, comparisonUrl: shown.url };
}

const byLetter = (branches: Readonly<Record<Alias, string>>): Record<Alias, string> =>
  Object.fromEntries(Object.entries(branches).toSorted(([a], [b]) => a.localeCompare(b)));

/** Title and body of the run's pull request, with the open ones that change the same files as it was written. */
export async function pullText(
  context: PublishContext,
  view: RunView,
  alias: Alias,
  diffs: Diffs,
): Promise<{ readonly title: string; readonly body: string }> {
  return pullTextWith(await readOpenPulls(context.world, context.run), view, alias, diffs);
}

function pullTextWith(compare: CompareWithOpenPulls, view: RunView, alias: Alias, diffs: Diffs) {
  const overlaps = compare((diffs[alias]?.patch.files ?? []).map(({ path }) => path));
  return pullRequest({ ...view, overlaps }, alias, diffs);
}

/** Opens the pull request; returns why GitHub refused it, as a sentence, if it did. */
async function openPull(
  context: PublishContext,
  { view, diffs, compare }: Published & { readonly compare: CompareWithOpenPulls },
  winner: Alias,
  branch: string,
): Promise<PullFacts | string> {
  const { world, run, task, reader, publisher, signal } = context;
  const linked = withLinks(context, diffs, { [winner]: branch });
  const { title, body } = pullTextWith(compare, view, winner, linked);
  try {
    return await idempotentWrite(world.store, run.id, OPENED_PULL, {
      look: () => reader.pullByHead(branch),
      write() {
        throwIfCancelled(signal);
        return publisher.openDraftPull({ head: branch, base: task.base.ref, title, body });
      },
    });
  } catch (thrown) {
    const fault = asFault(thrown);
    if (fault.code !== 'GITHUB_REFUSED') throw thrown;
    // Someone may have opened it by hand, or the response was lost.
    const there = await reader.pullByHead(branch);
    if (!there) return fault.message;
    await world.store.fulfil(run.id, OPENED_PULL, there);
    return there;
  }
}
