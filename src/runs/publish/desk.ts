import {
  type Alias,
  asFault,
  Fault,
  type GitHubOrigin,
  type Sha,
  type Task,
} from '../../core/model/index.ts';
import { branchName } from '../../core/reports/index.ts';
import type { GitHubReader, Publisher, RepositoryFacts, RunRecord, Store } from '../../ports/index.ts';
import { stopIfCancelled } from '../guard.ts';
import { handleOf, requireGitHub } from '../task.ts';
import type { World } from '../world.ts';
import type { Commits } from './commits.ts';

/** What it takes to say something about a run on GitHub. */
export interface Errand {
  readonly world: World;
  readonly task: Task;
  readonly origin: GitHubOrigin;
  readonly signal: AbortSignal;
}
/** What it takes to push as well. */
export interface Job extends Errand {
  readonly commits: Commits;
}

interface Means {
  readonly reader: GitHubReader;
  readonly publisher: Publisher;
  readonly facts: RepositoryFacts;
}
/** With the means to do it; the publisher's token is given back at the end. */
export type Counter = Errand & Means;
export type Desk = Job & Means;

/** A pick comes from no flow: whatever is done at a desk, and audited, is done for its run. */
export const atDesk = <J extends Errand, T>(job: J, work: (desk: J & Means) => Promise<T>): Promise<T> =>
  job.world.log.within({ run: job.task.runId }, async () => {
    const github = requireGitHub(job.world);
    const reader = await github.reader(handleOf(job.origin));
    const facts = await reader.repository();
    const publisher = await github.publisher(handleOf(job.origin));
    try {
      return await work({ ...job, reader, publisher, facts });
    } finally {
      await publisher.close();
    }
  });

export const branchAt = ({ origin, task }: Job, alias: Alias): string =>
  branchName(origin.issue, task.runId, alias);

/** The commit of a candidate that is to be pushed. */
export function commitOf({ commits }: Job, alias: Alias): Sha {
  const sha = commits.byAlias.get(alias);
  if (!sha) throw new Fault('INTERNAL', `Candidate ${alias} has no commit although it is to be pushed.`);
  return sha;
}

/** Pushes a commit to a branch of ours; null when it is there, else why GitHub would not have it, a sentence. */
export async function push(desk: Desk, branch: string, sha: Sha, onto?: Sha): Promise<string | null> {
  stopIfCancelled(desk.signal);
  await keepPushed(desk.world.store, desk.task.runId, branch, sha);
  const result = await pushWithToken(desk, { branch, sha, onto });
  switch (result.kind) {
    case 'pushed':
      return null;
    case 'exists':
      return result.at === null
        ? `The branch \`${branch}\` is gone.`
        : `The branch \`${branch}\` is at \`${result.at.slice(0, 10)}\`, which Runoff did not push, and is not ours to move.`;
    case 'refused':
      return `The push of \`${branch}\` was refused: ${result.why}`;
  }
}

interface Pushed {
  readonly branch: string;
  readonly sha: Sha;
  readonly onto: Sha | undefined;
}

/** Once more with a new token where the first is not taken: it may have run out, or been revoked, on the way. */
async function pushWithToken({ world, facts, publisher, commits }: Desk, { branch, sha, onto }: Pushed) {
  const once = async () => {
    const remote = { url: facts.cloneUrl, credential: await publisher.credential() };
    return world.workspaces.push(commits.base, remote, branch, sha, onto);
  };
  try {
    return await once();
  } catch (thrown) {
    if (asFault(thrown).code !== 'GITHUB_REFUSED') throw thrown;
    return refusalOr(once);
  }
}

/** Refused with a good token as well: that is an answer, and the comparison can say it. */
async function refusalOr<T>(
  push: () => Promise<T>,
): Promise<T | { readonly kind: 'refused'; readonly why: string }> {
  try {
    return await push();
  } catch (thrown) {
    const { code, message } = asFault(thrown);
    if (code !== 'GITHUB_REFUSED') throw thrown;
    return { kind: 'refused', why: message };
  }
}

/** Every candidate but one. One that GitHub refuses (a secret in its patch, a rule) stays in the comment's text only. */
export async function pushOthers(desk: Desk, but: Alias | null): Promise<Record<Alias, string>> {
  const branches: Record<Alias, string> = {};
  for (const alias of [...desk.commits.byAlias.keys()].toSorted()) {
    if (alias === but) continue;
    const branch = branchAt(desk, alias);
    const refused = await push(desk, branch, commitOf(desk, alias));
    if (refused) desk.world.log.warn({ run: desk.task.runId, alias }, refused);
    else branches[alias] = branch;
  }
  return branches;
}

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
