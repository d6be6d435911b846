import { asFault, type Fault, type GitHubOrigin, type Sha } from '../../core/model/index.ts';
import type { Publisher, RunRecord, Store } from '../../ports/index.ts';
import { handleOf } from '../task.ts';
import type { World } from '../world.ts';

const pushedKey = (branch: string): string => `pushed:${branch}`;

/** Kept before the push: after a crash it is known what may stand there and be ours. */
export async function keepPushed(
  store: Pick<Store, 'intend' | 'fulfil'>,
  runId: string,
  branch: string,
  sha: Sha,
): Promise<void> {
  await store.intend(runId, pushedKey(branch));
  await store.fulfil(runId, pushedKey(branch), sha);
}

interface Loser {
  readonly branch: string;
  readonly sha: Sha;
}

/** Branches of candidates that the pull request is not made from, with the commits that we pushed there, as far as they were kept. */
async function losersOf(store: Pick<Store, 'intent'>, run: RunRecord): Promise<readonly Loser[]> {
  const { outcome } = run;
  if (outcome?.kind !== 'pull' && outcome?.kind !== 'table') return [];
  const shown = outcome.kind === 'pull' ? outcome.branch : null;
  const losers: Loser[] = [];
  for (const branch of Object.values(outcome.branches)) {
    const intent = branch === shown ? null : await store.intent(run.id, pushedKey(branch));
    if (intent?.state === 'done') losers.push({ branch, sha: intent.result as Sha });
  }
  return losers;
}

/** What it takes to delete branches on GitHub; without `github` nobody can. */
export type Parts = Pick<World, 'store' | 'log' | 'github'>;

/**
 * Deletes the branches of a run's losing candidates that are as we pushed them. Returns how many went, and the fault that
 * stood in the way of the rest: whoever asks may come back.
 */
export async function deleteLosers(
  { store, log, github }: Parts,
  run: RunRecord & { readonly origin: GitHubOrigin },
): Promise<{ readonly deleted: number; readonly stopped?: Fault | 'no App' }> {
  const losers = await losersOf(store, run);
  if (losers.length === 0) return { deleted: 0 };
  if (!github) return { deleted: 0, stopped: 'no App' };
  let deleted = 0;
  let publisher: Publisher | undefined;
  try {
    publisher = await github.publisher(handleOf(run.origin));
    for (const { branch, sha } of losers) {
      const { deleteBranch } = publisher;
      const became = await log.within({ run: run.id }, () => deleteBranch(branch, sha));
      if (became === 'deleted') deleted += 1;
    }
    return { deleted };
  } catch (thrown) {
    const fault = asFault(thrown);
    if (fault.code !== 'GITHUB_UNAVAILABLE' && fault.code !== 'GITHUB_REFUSED') throw thrown;
    return { deleted, stopped: fault };
  } finally {
    await publisher?.close();
  }
}
