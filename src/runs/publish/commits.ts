import type { Alias, Sha, Task } from '../../core/model/index.ts';
import { commitMessage, type RunView } from '../../core/reports/index.ts';
import type { BaseCheckout, RunRecord } from '../../ports/index.ts';
import { rebuild } from '../rebuild.ts';
import { loadRun, sourceOf } from '../task.ts';
import { viewOf } from '../view.ts';
import type { World } from '../world.ts';

/** The commits of all candidates whose patch is safe to keep in a repository, each one commit on the base. */
export interface Commits {
  readonly base: BaseCheckout;
  readonly byAlias: ReadonlyMap<Alias, Sha>;
}

/** Of every commit that we make. */
export const AUTHOR = { name: 'Runoff', email: 'runoff@users.noreply.github.com' };

/** Writes the commits ourselves, with our message: a candidate's own commits, names and messages never leave the sandbox. */
export async function commitCandidates(world: World, task: Task, signal: AbortSignal): Promise<Commits> {
  const run = await loadRun(world, task.runId);
  const view = signedBy(run, await viewOf(world, run));
  const base = await world.workspaces.prepare(await sourceOf(world, task), task.base.sha);
  const byAlias = new Map<Alias, Sha>();
  for (const candidate of await world.store.candidates(task.runId)) {
    const gates = run.evidence?.find((e) => e.alias === candidate.alias)?.gates ?? [];
    const safe = gates.some((gate) => gate.gate === 'safe' && gate.passed);
    if (!candidate.patch || !safe) continue;
    await rebuild(world, base, { ...candidate, patch: candidate.patch }, signal);
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
  return { base, byAlias };
}

/** A run that an older version began has commits without a co-author, which may be pushed already: the same again. */
function signedBy({ request }: RunRecord, view: RunView): RunView {
  const { trigger } = (request ?? {}) as { readonly trigger?: unknown };
  if (trigger !== undefined) return view;
  const { requestedBy: _, ...unsigned } = view;
  return unsigned;
}
