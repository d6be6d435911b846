import {
  type CandidateOutcome,
  type CommitMessage,
  type MergeFacts,
  revertedAt,
} from '../../core/learning/index.ts';
import { asFault, OUTAGES, type RunId, type Sha } from '../../core/model/index.ts';
import type { PullDetails, RepositorySource } from '../../ports/index.ts';
import {
  type GitHubRun,
  handleOf,
  isGitHubRun,
  readPatch,
  requireGitHub,
  sourceOf,
  type World,
} from '../context.ts';
import { keepOutcomes, repositoryNameOf } from '../outcomes.ts';
import { unlessDamaged } from '../stage.ts';

/** Runs whose outcomes are kept in one pass; our default, far more than end between two passes. */
const MAX_DUE = 500;
/** Runs that a pass reads of each repository; our default. */
const MAX_RUNS = 2_000;
/** How long after a merge its revert is looked for; our default. */
const REVERTS_FOR_MS = 90 * 86_400_000;

type SettlePorts = Pick<World, 'artifacts' | 'clock' | 'github' | 'log' | 'store' | 'workspaces'>;

/** Keeps the outcomes of runs that changed while nobody kept them: after a crash, or by an earlier version. */
export async function keepDueOutcomes(
  world: Pick<World, 'artifacts' | 'clock' | 'log' | 'store'>,
): Promise<void> {
  for (const runId of await world.store.outcomesDue(MAX_DUE)) {
    await unlessFails(world, runId, () => keepOutcomes(world, runId));
  }
}

/**
 * Finds out how pull requests of runs ended whose webhook never arrived, how much people changed before a merge, and
 * what was reverted later. What cannot be read now is looked at next time.
 */
export async function settleOutcomes(world: SettlePorts): Promise<void> {
  if (!world.github) return;
  for (const run of (await world.store.unfinished()).filter(isGitHubRun)) {
    if (run.state === 'published' && run.outcome?.kind === 'pull')
      await unlessFails(world, run.id, () => findMissedEnd(world, run));
  }
  await keepDueOutcomes(world);
  const merges = (await world.store.outcomes({ runs: MAX_RUNS })).filter(
    (one): one is Merge => one.shown && one.pull?.state === 'merged',
  );
  for (const own of Map.groupBy(merges, ({ repository }) => repository).values()) {
    await settleMerges(world, own);
  }
}

/** One failure does not stop the look at others. */
async function unlessFails(
  { log }: Pick<World, 'log'>,
  runId: RunId,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    if (asFault(thrown).code === 'DATABASE_UNAVAILABLE') throw thrown;
    log.warn({ run: runId, err: thrown }, 'what became of a run could not be found out');
  }
}

type PullOutcome = Extract<NonNullable<GitHubRun['outcome']>, { readonly kind: 'pull' }>;

const pullOf = async (world: SettlePorts, run: GitHubRun): Promise<PullDetails | null> =>
  (await requireGitHub(world).reader(handleOf(run.origin))).pull((run.outcome as PullOutcome).number);

async function findMissedEnd(world: SettlePorts, run: GitHubRun): Promise<void> {
  const pull = await pullOf(world, run);
  if (pull === null || pull.state === 'open') return;
  const cause = `its pull request was ${pull.state}, as GitHub says`;
  await world.store.transition(run.id, pull.state, cause, world.clock.now());
}

type Merge = CandidateOutcome & { readonly pull: NonNullable<CandidateOutcome['pull']> };

/** Looks at the merges of one repository; reads the history of each branch that they went to once. */
async function settleMerges(world: SettlePorts, merges: readonly Merge[]): Promise<void> {
  const commits = new Map<string, readonly CommitMessage[]>();
  const since = world.clock.now() - REVERTS_FOR_MS;
  for (const merge of new Map(merges.map((one) => [one.runId, one])).values()) {
    await unlessFails(world, merge.runId, async () => {
      const run = await world.store.run(merge.runId);
      // Where its repository is reached is known as long as the run itself.
      if (!run || !isGitHubRun(run) || run.outcome?.kind !== 'pull') return;
      if (merge.pull.merged && run.updatedAt < since) return;
      const source = await sourceOf(world, run);
      const facts = merge.pull.merged
        ? { ...merge.pull, merged: merge.pull.merged }
        : await mergeFacts(world, { ...run, outcome: run.outcome }, merge.alias, source);
      if (!facts) return;
      const { merged, edited } = facts;
      const known =
        commits.get(merged.base) ?? (await historyOf(world, source, { base: merged.base, since }));
      commits.set(merged.base, known);
      await world.store.keepMerge(run.id, {
        edited,
        merged,
        revertedAt: revertedAt({ ...merged, repository: repositoryNameOf(run) }, known),
      });
    });
  }
}

/** Messages on a branch, oldest first; empty if there is no such branch. */
async function historyOf(
  { workspaces }: Pick<World, 'workspaces'>,
  source: RepositorySource,
  { base, since }: { readonly base: string; readonly since: number },
): Promise<readonly CommitMessage[]> {
  const tip = await workspaces.resolve(source, base);
  return tip === null ? [] : workspaces.messages(source, tip, since);
}

async function mergeFacts(
  world: SettlePorts,
  run: GitHubRun & { readonly outcome: PullOutcome },
  alias: string,
  source: RepositorySource,
): Promise<Pick<MergeFacts, 'edited' | 'merged'> | null> {
  const pull = await pullOf(world, run);
  if (!pull) return null;
  const { number, base, headSha, mergeSha } = pull;
  const edited = await editedShare(world, run, { alias, source, head: headSha });
  const shas = [headSha, ...(mergeSha === undefined ? [] : [mergeSha])];
  return { edited, merged: { number, base, shas } };
}

/**
 * Lines that people changed between the commit that Runoff pushed and the head at the merge, in the files that the
 * candidate changed, as a share of the candidate's lines; at most 1. Null if it cannot be known.
 */
async function editedShare(
  world: SettlePorts,
  { id, outcome }: GitHubRun & { readonly outcome: PullOutcome },
  { alias, source, head }: { readonly alias: string; readonly source: RepositorySource; readonly head: Sha },
): Promise<number | null> {
  if (head === outcome.headSha) return 0;
  const patch = (await world.store.candidates(id)).find((one) => one.alias === alias)?.patch;
  const parsed = patch && (await unlessDamaged(readPatch(world.artifacts, patch)));
  if (parsed?.kind !== 'patch') return null;
  const files = new Set(parsed.patch.files.map(({ path }) => path));
  const changed = await changedLines(world, source, { from: outcome.headSha, to: head });
  if (changed === null) return null;
  const lines = changed.filter(({ path }) => files.has(path)).reduce((sum, one) => sum + one.lines, 0);
  const own = parsed.patch.files.reduce((sum, one) => sum + one.additions + one.deletions, 0);
  return Math.min(1, lines / Math.max(1, own));
}

/** Null if a commit is gone, as after a forced push. */
async function changedLines(
  world: SettlePorts,
  source: RepositorySource,
  { from, to }: { readonly from: Sha; readonly to: Sha },
) {
  try {
    return await world.workspaces.changedLines(source, from, to);
  } catch (thrown) {
    if (OUTAGES.has(asFault(thrown).code)) throw thrown;
    return null;
  }
}
