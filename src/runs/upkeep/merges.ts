import {
  type CandidateOutcome,
  type CommitMessage,
  editedShare,
  effectOn,
  type MergeFacts,
  revertedAt,
  revertsNamed,
} from '../../core/learning/index.ts';
import { asFault, OUTAGES, type Sha } from '../../core/model/index.ts';
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
import { unlessDamaged } from '../stage.ts';

export type SettlePorts = Pick<World, 'artifacts' | 'clock' | 'github' | 'log' | 'store' | 'workspaces'>;

/** The outcome of a candidate whose change was merged. */
export type Merge = CandidateOutcome & { readonly pull: NonNullable<CandidateOutcome['pull']> };

type PullOutcome = Extract<NonNullable<GitHubRun['outcome']>, { readonly kind: 'pull' }>;
type PullRun = GitHubRun & { readonly outcome: PullOutcome };

export const pullOf = async (world: Pick<World, 'github'>, run: GitHubRun): Promise<PullDetails | null> =>
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
export function openMerges(world: SettlePorts, since: number): (merge: Merge) => Promise<void> {
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
    if (merge.pull.merged && run.updatedAt < since) return;
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
