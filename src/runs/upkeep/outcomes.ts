import {
  type CandidateOutcome,
  type CommitMessage,
  editedShare,
  effectOn,
  type MergeFacts,
  revertedAt,
  revertsNamed,
} from '../../core/learning/index.ts';
import { asFault, OUTAGES, type RunId, type Sha } from '../../core/model/index.ts';
import { type Patch, parsePatch } from '../../core/patches/index.ts';
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
import { keepOutcomes } from '../outcomes.ts';
import type { CommitPorts } from '../publish/index.ts';
import { unlessDamaged } from '../stage.ts';
import { completePicks, followPull } from './pulls.ts';

/** Runs whose outcomes are kept in one pass; our default, far more than end between two passes. */
const MAX_DUE = 500;
/** How long after a merge its revert is looked for, and a closed pull request may be reopened unseen; our default. */
const FOLLOWED_FOR_MS = 90 * 86_400_000;

/**
 * Keeps the outcomes of runs that changed while nobody kept them: after a crash, or by an earlier version. `among`: of all
 * of these and no others. Returns the runs for which that failed.
 */
export async function keepDueOutcomes(
  world: Pick<World, 'artifacts' | 'clock' | 'log' | 'store'>,
  among?: readonly RunId[],
): Promise<readonly RunId[]> {
  const failed: RunId[] = [];
  for (const runId of await world.store.outcomesDue(among?.length ?? MAX_DUE, among)) {
    if (!(await unlessFails(world, runId, () => keepOutcomes(world, runId)))) failed.push(runId);
  }
  return failed;
}

/**
 * Finds out how pull requests of runs ended whose webhook never arrived, how much people changed before a merge, and
 * what was reverted later. What cannot be read now is looked at next time.
 */
export async function settleOutcomes(
  world: CommitPorts & SettlePorts & Pick<World, 'announcer'>,
): Promise<void> {
  if (!world.github) return;
  await completePicks(world);
  for (const run of await runsWithPulls(world)) {
    await unlessFails(world, run.id, async () => {
      const pull = await pullOf(world, run);
      if (pull) await followPull(world, run, pull.state);
    });
  }
  await keepDueOutcomes(world);
  const since = world.clock.now() - FOLLOWED_FOR_MS;
  const merges = (await world.store.mergesSince(since)).filter((one): one is Merge => one.pull !== null);
  for (const own of Map.groupBy(merges, ({ repository }) => repository).values()) {
    const settle = openMerges(world, since);
    for (const merge of new Map(own.map((one) => [one.runId, one])).values())
      await unlessFails(world, merge.runId, () => settle(merge));
  }
}

/** One failure does not stop the look at others. Returns false if the work failed. */
async function unlessFails(
  { log }: Pick<World, 'log'>,
  runId: RunId,
  work: () => Promise<void>,
): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (thrown) {
    if (asFault(thrown).code === 'DATABASE_UNAVAILABLE') throw thrown;
    log.warn({ run: runId, err: thrown }, 'what became of a run could not be found out');
    return false;
  }
}

/**
 * Runs whose pull request is open as far as is known, also by a pick that is not complete, or was closed in the last 90
 * days and may be open again.
 */
async function runsWithPulls({ clock, store }: SettlePorts): Promise<readonly GitHubRun[]> {
  const since = clock.now() - FOLLOWED_FOR_MS;
  const found: GitHubRun[] = [];
  for (const id of await store.idsIn(['published', 'closed', 'awaiting_pick'])) {
    const run = await store.run(id);
    if (!run || !isGitHubRun(run) || run.outcome?.kind !== 'pull') continue;
    if (run.state !== 'closed' || run.updatedAt >= since) found.push(run);
  }
  return found;
}

type SettlePorts = Pick<World, 'artifacts' | 'clock' | 'github' | 'log' | 'store' | 'workspaces'>;

/** The outcome of a candidate whose change was merged. */
type Merge = CandidateOutcome & { readonly pull: NonNullable<CandidateOutcome['pull']> };

type PullOutcome = Extract<NonNullable<GitHubRun['outcome']>, { readonly kind: 'pull' }>;
type PullRun = GitHubRun & { readonly outcome: PullOutcome };

const pullOf = async (world: Pick<World, 'github'>, run: GitHubRun): Promise<PullDetails | null> =>
  (await requireGitHub(world).reader(handleOf(run.origin))).pull((run.outcome as PullOutcome).number);

/** What is needed to compare commits with the merged candidate. */
interface Merged {
  readonly source: RepositorySource;
  /** Null: its patch can no longer be read. */
  readonly files: Patch['files'] | null;
}

/**
 * Looks at merges of one repository: how much people changed before, and whether it was reverted. `since`: how far
 * back, milliseconds since 1970 UTC. Reads the history of each branch that they went to once.
 */
function openMerges(world: SettlePorts, since: number): (merge: Merge) => Promise<void> {
  const histories = new Map<string, Promise<readonly CommitMessage[]>>();
  const historyOf = (source: RepositorySource, base: string) => {
    const known = histories.get(base) ?? readHistory(world, source, { base, since });
    histories.set(base, known);
    return known;
  };
  return async (merge) => {
    const run = await world.store.run(merge.runId);
    // Where its repository is reached is known as long as the run itself.
    if (!run || !isGitHubRun(run) || run.outcome?.kind !== 'pull') return;
    const merged = {
      source: await sourceOf(world, run),
      files: await filesOf(world, run, merge.alias),
    };
    const facts = merge.pull.merged
      ? { edited: merge.pull.edited, merged: merge.pull.merged }
      : await mergeFacts(world, { ...run, outcome: run.outcome }, merged);
    if (!facts) return;
    const named = revertsNamed(facts.merged, await historyOf(merged.source, facts.merged.base));
    const steps = [];
    for (const { sha, at } of named) {
      const changed = await changeOf(world, merged, { merge: sha, head: sha });
      const effect = changed && merged.files && effectOn(merged.files, changed, facts.edited);
      steps.push({ at, effect });
    }
    await world.store.keepMerge(run.id, {
      ...facts,
      revertedAt: revertedAt(merge.pull.revertedAt, steps),
    });
  };
}

/** Messages on a branch, oldest first; empty if there is no such branch. */
async function readHistory(
  { workspaces }: Pick<World, 'workspaces'>,
  source: RepositorySource,
  { base, since }: { readonly base: string; readonly since: number },
): Promise<readonly CommitMessage[]> {
  const tip = await workspaces.resolve(source, base);
  return tip === null ? [] : workspaces.messages(source, tip, since);
}

async function filesOf(
  world: Pick<World, 'artifacts' | 'store'>,
  { id }: GitHubRun,
  alias: string,
): Promise<Merged['files']> {
  const patch = (await world.store.candidates(id)).find((one) => one.alias === alias)?.patch;
  const parsed = patch && (await unlessDamaged(readPatch(world.artifacts, patch)));
  return parsed?.kind === 'patch' ? parsed.patch.files : null;
}

async function mergeFacts(
  world: SettlePorts,
  run: PullRun,
  merged: Merged,
): Promise<Pick<MergeFacts, 'edited' | 'merged'> | null> {
  const pull = await pullOf(world, run);
  if (!pull) return null;
  const { number, base, headSha: head, mergeSha } = pull;
  const own = run.outcome.headSha;
  const shas = [...new Set([own, head, ...(mergeSha === undefined ? [] : [mergeSha])])];
  const facts = { number, base, shas };
  if (head === own) return { edited: 0, merged: facts };
  // Merged without a commit of its own: Runoff's commit is on what the base was.
  const merge = mergeSha === undefined || mergeSha === head ? own : mergeSha;
  const changed = await changeOf(world, merged, { merge, head });
  return { edited: changed && merged.files && editedShare(merged.files, changed), merged: facts };
}

/**
 * What `head` changes in the candidate's files against its merge base with the first parent of `merge`; null if it
 * cannot be known, as when a commit is gone after a forced push.
 */
async function changeOf(
  { workspaces }: Pick<World, 'workspaces'>,
  { source, files }: Merged,
  { merge, head }: { readonly merge: Sha; readonly head: Sha },
): Promise<Patch['files'] | null> {
  if (files === null) return null;
  try {
    const base = await workspaces.forkPoint(source, merge, head);
    if (base === null) return null;
    const paths = files.map(({ path }) => path);
    const diff = await workspaces.diff(source, base, head, paths);
    const parsed = diff && parsePatch(diff.raw, diff.text);
    return parsed?.kind === 'patch' ? parsed.patch.files : null;
  } catch (thrown) {
    if (OUTAGES.has(asFault(thrown).code)) throw thrown;
    return null;
  }
}
