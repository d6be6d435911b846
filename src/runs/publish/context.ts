import {
  type Alias,
  asFault,
  Fault,
  type FaultCode,
  inParallel,
  type Sha,
  type Task,
} from '../../core/model/index.ts';
import { branchName, pushRefusal } from '../../core/reports/index.ts';
import type {
  BaseCheckout,
  GitHubReader,
  Publisher,
  PullFacts,
  RepositoryFacts,
  RunRecord,
  Store,
} from '../../ports/index.ts';
import { type GitHubRun, handleOf, requireGitHub, taskOf, type World } from '../context.ts';
import { throwIfCancelled } from '../stage.ts';
import type { Commits } from './branches.ts';

/** Dependencies of publishing a run on GitHub. */
export type PublishPorts = Pick<
  World,
  'artifacts' | 'clock' | 'diskSpace' | 'github' | 'log' | 'publicUrl' | 'store' | 'workspaces'
>;

/** Result of a command on a run's result, with a sentence for its author. */
export type Applied =
  | { readonly kind: 'done'; readonly note: string; readonly pull?: number }
  | { readonly kind: 'refused'; readonly why: string };

export const done = (note: string): Applied => ({ kind: 'done', note });
export const refused = (why: string): Applied => ({ kind: 'refused', why });

/** A run being published on GitHub, with the clients to read and write there. */
export interface PublishContext {
  readonly world: PublishPorts;
  readonly run: GitHubRun;
  readonly task: Task;
  readonly reader: GitHubReader;
  readonly publisher: Publisher;
  readonly facts: RepositoryFacts;
  readonly signal: AbortSignal;
}

/**
 * Publishes with a token that is revoked afterwards. A pick belongs to no flow, so its actions are logged and audited
 * under its run.
 */
export const withPublisher = <T>(
  world: PublishPorts,
  { run, signal }: { readonly run: GitHubRun; readonly signal: AbortSignal },
  work: (context: PublishContext) => Promise<T>,
): Promise<T> =>
  world.log.within({ run: run.id }, async () => {
    const github = requireGitHub(world);
    const reader = await github.reader(handleOf(run.origin));
    const facts = await reader.repository();
    const publisher = await github.publisher(handleOf(run.origin));
    try {
      return await work({ world, run, task: taskOf(run), reader, publisher, facts, signal });
    } finally {
      await publisher.close();
    }
  });

export const candidateBranch = ({ run }: PublishContext, alias: Alias): string =>
  branchName(run.origin.issue, run.id, alias);

/** The commit of a candidate that is to be pushed. */
export function commitOf({ byAlias }: Commits, alias: Alias): Sha {
  const sha = byAlias.get(alias);
  if (!sha) throw new Fault('INTERNAL', `Candidate ${alias} has no commit although it must be pushed.`);
  return sha;
}

interface BranchPush {
  readonly branch: string;
  readonly sha: Sha;
  /** Commit that the branch must point to; absent: the branch must not exist. */
  readonly onto?: Sha | undefined;
}

/** Pushes a commit to one of Runoff's branches. Returns null on success, else why GitHub refused it, as a sentence. */
export async function push(
  context: PublishContext,
  base: BaseCheckout,
  { branch, sha, onto }: BranchPush,
): Promise<string | null> {
  throwIfCancelled(context.signal);
  await storePushed(context.world.store, context.run.id, branch, sha);
  const result = await pushWithToken(context, base, { branch, sha, onto });
  switch (result.kind) {
    case 'pushed':
      return null;
    case 'exists':
      return result.at === null
        ? `The branch \`${branch}\` is gone.`
        : `The branch \`${branch}\` is at \`${result.at.slice(0, 10)}\`, a commit that Runoff did not push, so Runoff does not move it.`;
    case 'refused':
      return pushRefusal(branch, result.why);
  }
}

const OF_GITHUB: ReadonlySet<FaultCode> = new Set(['GITHUB_REFUSED', 'GITHUB_UNAVAILABLE']);

/** Retries with a new token if the first is rejected, since it may have expired or been revoked meanwhile. */
async function pushWithToken(
  { world, facts, publisher }: PublishContext,
  base: BaseCheckout,
  { branch, sha, onto }: BranchPush,
) {
  const pushOnce = async () => {
    const remote = { url: facts.cloneUrl, credential: await publisher.credential() };
    return world.workspaces.push(base, remote, branch, sha, onto);
  };
  try {
    return await pushOnce();
  } catch (thrown) {
    if (!OF_GITHUB.has(asFault(thrown).code)) throw thrown;
    return refusalOr(pushOnce);
  }
}

/** Refused with a valid token too: the refusal is the result, and the comparison can report it. */
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

/** Pushes at a time. Our default: they wait for the remote, and a run rarely has more candidates. */
const PUSHES_AT_ONCE = 4;

/**
 * Pushes every candidate but one. A candidate that GitHub refuses (a secret in its patch, a rule) is only shown in the
 * comment.
 */
export async function pushOthers(
  context: PublishContext,
  commits: Commits,
  but: Alias | null,
): Promise<Record<Alias, string>> {
  const branches: Record<Alias, string> = {};
  const others = [...commits.byAlias.keys()].filter((alias) => alias !== but).toSorted();
  await inParallel(PUSHES_AT_ONCE, others, async (alias) => {
    const branch = candidateBranch(context, alias);
    const refused = await push(context, commits.base, { branch, sha: commitOf(commits, alias) });
    if (refused) context.world.log.warn({ run: context.run.id, alias }, refused);
    else branches[alias] = branch;
  });
  return branches;
}

/** Key of the intent that holds the run's pull request once it is open. */
export const OPENED_PULL = 'pull';

const pushedKey = (branch: string): string => `pushed:${branch}`;

/** Stored before the push, so that after a crash it is known which branches may be Runoff's. */
async function storePushed(
  store: Pick<Store, 'intend' | 'fulfil'>,
  runId: string,
  branch: string,
  sha: Sha,
): Promise<void> {
  await store.intend(runId, pushedKey(branch));
  await store.fulfil(runId, pushedKey(branch), sha);
}

interface PushedBranch {
  readonly branch: string;
  readonly sha: Sha;
}

/**
 * Branches of a run's candidates, except the one of its pull request, each with the commit that was pushed. By what was
 * stored before each push: a run that fails or is cancelled after it has no result that would name them.
 */
async function branchesToDelete(
  store: Pick<Store, 'candidates' | 'intent'>,
  run: GitHubRun,
): Promise<readonly PushedBranch[]> {
  const shown = await pullBranch(store, run);
  const pushed: PushedBranch[] = [];
  for (const { alias } of await store.candidates(run.id)) {
    const branch = branchName(run.origin.issue, run.id, alias);
    const intent = branch === shown ? null : await store.intent(run.id, pushedKey(branch));
    if (intent?.state === 'done') pushed.push({ branch, sha: intent.result as Sha });
  }
  return pushed;
}

/** The branch that a pull request was opened from, even if the run ended before that became its result. */
async function pullBranch(store: Pick<Store, 'intent'>, { id, outcome }: RunRecord): Promise<string | null> {
  if (outcome?.kind === 'pull') return outcome.branch;
  const opened = await store.intent(id, OPENED_PULL);
  return opened?.state === 'done' ? (opened.result as PullFacts).head : null;
}

/**
 * Deletes branches of a run's candidates that are unchanged since the push, except that of its pull request. Returns the
 * number deleted and the fault that prevented the rest, so that the caller can retry.
 */
export async function deleteUnusedBranches(
  { store, log, github }: Pick<World, 'store' | 'log' | 'github'>,
  run: GitHubRun,
): Promise<{ readonly deleted: number; readonly stopped?: Fault | 'no App' }> {
  const pushed = await branchesToDelete(store, run);
  if (pushed.length === 0) return { deleted: 0 };
  if (!github) return { deleted: 0, stopped: 'no App' };
  let deleted = 0;
  let publisher: Publisher | undefined;
  try {
    publisher = await github.publisher(handleOf(run.origin));
    for (const { branch, sha } of pushed) {
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
