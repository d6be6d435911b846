import {
  type Alias,
  type GitHubOrigin,
  inParallel,
  type RunId,
  type Sha,
  type Task,
} from '../../core/model/index.ts';
import { branchPrefix, COMMIT_AUTHOR, commitMessage } from '../../core/reports/index.ts';
import type { BaseCheckout, RunRecord, Store } from '../../ports/index.ts';
import { type RestorePorts, restoreTree } from '../base/index.ts';
import { sourceOf, type World } from '../context.ts';
import { viewOf } from '../view.ts';

/** Dependencies of committing candidates. */
export type CommitPorts = RestorePorts &
  Pick<World, 'clock' | 'diskSpace' | 'github' | 'publicUrl' | 'store'>;

/** Commits of all candidates whose patch is safe to store in a repository, each one commit on the base. */
export interface Commits {
  readonly base: BaseCheckout;
  readonly byAlias: ReadonlyMap<Alias, Sha>;
  /** Candidates of which neither the tree nor the patch is readable. */
  readonly damaged: ReadonlySet<Alias>;
}

/** Explains why a candidate cannot be published. */
export const damagedSentence = (alias: Alias): string =>
  `What candidate ${alias} changed was stored when it was examined, and is damaged now on the machine that runs Runoff.`;

/** Commits made at a time. Our default: each is a few short programs of git. */
const COMMITS_AT_ONCE = 4;

/**
 * Creates the commits with Runoff's own message and author: a candidate's commits, names and messages never leave the
 * sandbox.
 */
export async function commitCandidates(
  world: CommitPorts,
  run: RunRecord,
  task: Task,
  signal: AbortSignal,
): Promise<Commits> {
  const view = await viewOf(world, run);
  const base = await world.workspaces.prepare(await sourceOf(world, task), task.base.sha);
  const candidates = (await world.store.candidates(run.id)).flatMap(({ patch, ...candidate }) => {
    const gates = run.evidence?.find(({ alias }) => alias === candidate.alias)?.gates ?? [];
    const isSafe = gates.some(({ gate, passed }) => gate === 'safe' && passed);
    return patch && isSafe ? [{ ...candidate, patch }] : [];
  });
  const made = new Map<Alias, Sha | null>();
  await inParallel(COMMITS_AT_ONCE, candidates, async (candidate) => {
    const { alias, patch } = candidate;
    if ((await restoreTree(world, base, candidate, signal)) === 'unreadable') {
      world.log.error({ run: run.id, alias }, damagedSentence(alias));
      made.set(alias, null);
      return;
    }
    const sha = await world.workspaces.commit(base, {
      base: task.base.sha,
      tree: patch.tree,
      message: commitMessage(view, alias),
      author: COMMIT_AUTHOR,
      // The time is fixed, so that a repeated step creates the same commit.
      at: Math.floor(run.createdAt / 1000),
    });
    made.set(alias, sha);
  });
  // In the order of candidates, whichever commit was made first.
  const inOrder = candidates.map(({ alias }) => [alias, made.get(alias) ?? null] as const);
  return {
    base,
    byAlias: new Map(inOrder.flatMap(([alias, sha]) => (sha === null ? [] : [[alias, sha]]))),
    damaged: new Set(inOrder.flatMap(([alias, sha]) => (sha === null ? [alias] : []))),
  };
}

/** A commit by Runoff on top of a pull request's branch. */
export interface Head {
  readonly sha: Sha;
  /** Its parent. */
  readonly onto: Sha;
  /** The candidate whose tree it has. */
  readonly alias: Alias;
}

const plannedKey = (key: string): string => `advance:${key}`;
const headKey = (sha: Sha): string => `head:${sha}`;

/**
 * Stores the commit to be pushed for this pick, so that after a crash it is recognised as Runoff's, whether or not the
 * push succeeded.
 */
export async function storePlannedHead(store: Store, runId: RunId, key: string, head: Head): Promise<void> {
  await store.intend(runId, headKey(head.sha));
  await store.intend(runId, plannedKey(key));
  await store.fulfil(runId, plannedKey(key), head);
}

/** The commit planned for this pick before a crash; null if there is none. */
export async function plannedHead(store: Store, runId: RunId, key: string): Promise<Head | null> {
  const intent = await store.intent(runId, plannedKey(key));
  return intent?.state === 'done' ? (intent.result as Head) : null;
}

export const storeHead = (store: Store, runId: RunId, { sha, alias }: Head): Promise<void> =>
  store.fulfil(runId, headKey(sha), alias);

export async function wasPushed(store: Store, runId: RunId, sha: Sha): Promise<boolean> {
  return (await store.intent(runId, headKey(sha)))?.state === 'done';
}

/** Whether a run's branch at this commit was pushed by Runoff; an outage may have prevented recording it. */
export async function isHeadOfOurs(
  store: Pick<Store, 'intent'>,
  { id, outcome }: Pick<RunRecord, 'id' | 'outcome'>,
  sha: Sha,
): Promise<boolean> {
  if (outcome?.kind !== 'pull') return false;
  if (outcome.headSha === sha) return true;
  return (await store.intent(id, headKey(sha))) !== null;
}

/** The candidate that the pull request shows: the last pick that was applied, else the one it was opened with. */
export async function shownOn(
  store: Pick<Store, 'intent'>,
  { id, outcome, origin }: RunRecord & { readonly origin: GitHubOrigin },
): Promise<Alias | null> {
  if (outcome?.kind !== 'pull') return null;
  const head = await store.intent(id, headKey(outcome.headSha));
  if (head?.state === 'done') return head.result as Alias;
  const prefix = branchPrefix(origin.issue, id);
  return outcome.branch.startsWith(prefix) ? outcome.branch.slice(prefix.length) : null;
}
