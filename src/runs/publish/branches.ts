import type { Alias, GitHubOrigin, RunId, Sha, Task } from '../../core/model/index.ts';
import { commitMessage } from '../../core/reports/index.ts';
import type { BaseCheckout, RunRecord, Store } from '../../ports/index.ts';
import { type RestorePorts, restoreTree } from '../base/index.ts';
import { sourceOf, type World } from '../context.ts';
import { viewOf } from '../view.ts';

/** What committing candidates takes. */
export type CommitPorts = RestorePorts & Pick<World, 'clock' | 'diskSpace' | 'github' | 'store'>;

/** The commits of all candidates whose patch is safe to keep in a repository, each one commit on the base. */
export interface Commits {
  readonly base: BaseCheckout;
  readonly byAlias: ReadonlyMap<Alias, Sha>;
  /** Those of whom neither the tree nor the patch can be read any more. */
  readonly damaged: ReadonlySet<Alias>;
}

/** Why a candidate cannot be published, for people. */
export const damagedSentence = (alias: Alias): string =>
  `What candidate ${alias} changed was stored when it was examined, and is damaged now on the machine that runs Runoff.`;

/** Of every commit that we make. */
export const AUTHOR = { name: 'Runoff', email: 'runoff@users.noreply.github.com' };

/** Writes the commits ourselves, with our message: a candidate's own commits, names and messages never leave the sandbox. */
export async function commitCandidates(
  world: CommitPorts,
  run: RunRecord,
  task: Task,
  signal: AbortSignal,
): Promise<Commits> {
  const view = await viewOf(world, run);
  const base = await world.workspaces.prepare(await sourceOf(world, task), task.base.sha);
  const byAlias = new Map<Alias, Sha>();
  const damaged = new Set<Alias>();
  for (const candidate of await world.store.candidates(run.id)) {
    const gates = run.evidence?.find((e) => e.alias === candidate.alias)?.gates ?? [];
    const safe = gates.some((gate) => gate.gate === 'safe' && gate.passed);
    if (!candidate.patch || !safe) continue;
    if ((await restoreTree(world, base, { ...candidate, patch: candidate.patch }, signal)) === 'unreadable') {
      world.log.error({ run: run.id, alias: candidate.alias }, damagedSentence(candidate.alias));
      damaged.add(candidate.alias);
      continue;
    }
    const sha = await world.workspaces.commit(base, {
      base: task.base.sha,
      tree: candidate.patch.tree,
      message: commitMessage(view, candidate.alias),
      author: AUTHOR,
      // The same second on every try, so that a repeated step writes the same commit.
      at: Math.floor(run.createdAt / 1000),
    });
    byAlias.set(candidate.alias, sha);
  }
  return { base, byAlias, damaged };
}

/** A commit of ours on top of a pull request's branch. */
export interface Head {
  readonly sha: Sha;
  /** What it was put on. */
  readonly onto: Sha;
  /** Whose tree it has. */
  readonly alias: Alias;
}

const plannedKey = (key: string): string => `advance:${key}`;
const headKey = (sha: Sha): string => `head:${sha}`;

/** The commit that is about to be pushed for this pick: after a crash it is known for ours, wherever the push got to. */
export async function storePlannedHead(store: Store, runId: RunId, key: string, head: Head): Promise<void> {
  await store.intend(runId, headKey(head.sha));
  await store.intend(runId, plannedKey(key));
  await store.fulfil(runId, plannedKey(key), head);
}

/** What was planned for this pick before a crash; null where nothing was. */
export async function plannedHead(store: Store, runId: RunId, key: string): Promise<Head | null> {
  const intent = await store.intent(runId, plannedKey(key));
  return intent?.state === 'done' ? (intent.result as Head) : null;
}

export const storeHead = (store: Store, runId: RunId, { sha, alias }: Head): Promise<void> =>
  store.fulfil(runId, headKey(sha), alias);

export async function wasPushed(store: Store, runId: RunId, sha: Sha): Promise<boolean> {
  return (await store.intent(runId, headKey(sha)))?.state === 'done';
}

/** Whether a run's branch that points there points to a commit of ours; an outage can have kept us from noting it. */
export async function isHeadOfOurs(
  store: Pick<Store, 'intent'>,
  { id, outcome }: Pick<RunRecord, 'id' | 'outcome'>,
  sha: Sha,
): Promise<boolean> {
  if (outcome?.kind !== 'pull') return false;
  if (outcome.headSha === sha) return true;
  return (await store.intent(id, headKey(sha))) !== null;
}

/** Which candidate the pull request shows: the last pick that got there, else the one it was opened with. */
export async function shownOn(
  store: Pick<Store, 'intent'>,
  { id, outcome, origin }: RunRecord & { readonly origin: GitHubOrigin },
): Promise<Alias | null> {
  if (outcome?.kind !== 'pull') return null;
  const head = await store.intent(id, headKey(outcome.headSha));
  if (head?.state === 'done') return head.result as Alias;
  const prefix = `auto-dev/${origin.issue}/${id}/`;
  return outcome.branch.startsWith(prefix) ? outcome.branch.slice(prefix.length) : null;
}
