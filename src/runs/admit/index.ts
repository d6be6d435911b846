import { type PullFindings, pullTask, type ReviewRemark } from '../../core/brief/index.ts';
import { writesConventionalCommits } from '../../core/learning/index.ts';
import {
  Fault,
  type GitHubOrigin,
  hasLabel,
  isOver,
  type Origin,
  type PullWork,
  type Sha,
  type Task,
} from '../../core/model/index.ts';
import { visibleTask } from '../../core/prompts/index.ts';
import type { Refusal } from '../../core/reports/index.ts';
import type { GitHubReader, IssueFacts, PullDetails, Remark, RunRecord } from '../../ports/index.ts';
import { handleOf, recordSandbox, requireGitHub, sourceOf, type World } from '../context.ts';
import { LABEL } from '../view.ts';
import { readEarlierRuns } from './earlier-runs.ts';
import { fromLocal, requireTrust, resolveSettings, type SettingsPorts } from './exposure.ts';
import { reportRefusal } from './refuse.ts';
import {
  type GatheredTask,
  type RefusedRun,
  type RunRequest,
  refused,
  repositoryAccess,
  reserveCapacity,
} from './request.ts';
import { openWriterComments, whyNotPermitted } from './writers.ts';

export { detectedRecipe } from './detected.ts';
export {
  checksAt,
  type Exposure,
  exposureOf,
  exposureOfLocal,
  fromLocal,
  mayBeSuggested,
  requireNamed,
} from './exposure.ts';
export { Overrides } from './overrides.ts';
export { enqueue, RunRequest } from './request.ts';
export { isLikelyWriter, MAY_WRITE, mayWrite, permit } from './writers.ts';

export type AdmitPorts = SettingsPorts &
  GitHubTaskPorts &
  Pick<World, 'announcer' | 'artifacts' | 'log' | 'sandbox'>;

/** Decides whether a run may start: freezes its task, base commit and settings, or refuses with a reason. */
export async function admit(
  world: AdmitPorts,
  run: RunRecord,
  request: RunRequest,
): Promise<'go' | 'refused'> {
  if (run.state !== 'queued') return isOver(run.state) ? 'refused' : 'go';
  await world.store.markStage(run.id, 'admit', 'start', world.clock.now());

  const gathered = await gather(world, run.origin, request);
  if (gathered.kind === 'refused') return recordRefusal(world, request, run.origin, gathered.refusal);
  const text = gathered.text ?? (await readTaskText(world, request));

  const source = await sourceOf(world, run);
  const earlier = await readEarlierRuns(world, { ...run, ...text });
  const at = { base: gathered.base.sha, rules: gathered.rules };
  const settled = await resolveSettings(world, source, at, request, earlier.chooseField);
  if (settled.kind === 'refused') return recordRefusal(world, request, run.origin, settled.refusal);
  if (run.origin.kind === 'local') await requireTrust(world, run.origin, request, settled);
  const full = run.origin.kind === 'github' ? await reserveCapacity(world, run.origin, run.id) : null;
  if (full) return recordRefusal(world, request, run.origin, full);

  const task: Task = {
    runId: run.id,
    origin: run.origin,
    ...text,
    comments: gathered.comments,
    base: gathered.base,
    settings: earlier.orderField(settled.settings),
    lowered: settled.lowered,
    ...earlier.learned(),
    ...((await hasConventionalTitles(world, source, gathered.base.sha)) ? { conventionalTitles: true } : {}),
    ...(gathered.leftOut.length > 0 ? { leftOut: gathered.leftOut } : {}),
    ...(settled.instructions ? { instructions: settled.instructions } : {}),
  };
  // Tell people what models will not read.
  const { leftOut } = visibleTask(task);
  const shownTask = { ...task, ...(leftOut ? { leftOut } : {}) };
  await world.store.updateRun(run.id, { task: shownTask, checks: settled.checks }, world.clock.now());
  await recordSandbox(world, run.id);
  await world.store.markStage(run.id, 'admit', 'end', world.clock.now());
  await world.store.transition(run.id, 'admitted', 'the run may start', world.clock.now());
  world.announcer.soon(run.id);
  return 'go';
}

/** Period whose commit messages show how a repository writes titles. Our default. */
const TITLE_HISTORY_MS = 365 * 24 * 3_600_000;

/** Titles are a courtesy: a history that cannot be read stops no run. */
async function hasConventionalTitles(
  { workspaces, clock, log }: Pick<World, 'clock' | 'log' | 'workspaces'>,
  source: Awaited<ReturnType<typeof sourceOf>>,
  sha: Sha,
): Promise<boolean> {
  try {
    return writesConventionalCommits(await workspaces.messages(source, sha, clock.now() - TITLE_HISTORY_MS));
  } catch (thrown) {
    log.warn({ err: thrown }, 'the history could not be read for its titles');
    return false;
  }
}

/** The task's text as of the trigger. */
async function readTaskText(
  world: Pick<World, 'artifacts'>,
  { text }: RunRequest,
): Promise<Pick<Task, 'title' | 'body'>> {
  const body = await world.artifacts.get(text.body);
  if (`${text.title}${body}`.trim() === '') throw new Fault('PROMPT_EMPTY', 'The task has no text.');
  return { title: text.title, body };
}

async function gather(
  world: GitHubTaskPorts,
  origin: Origin,
  request: RunRequest,
): Promise<GatheredTask | RefusedRun> {
  if (origin.kind === 'local') return fromLocal(world, origin, request);
  const reader = await requireGitHub(world).reader(handleOf(origin));
  // Access may have been lost while the run was queued (I4).
  const denied = await whyNotPermitted(reader, origin);
  if (denied) return refused(denied);
  const { work } = origin;
  return work
    ? fromPull(world, reader, { ...origin, work }, request)
    : fromGitHub(world, reader, origin, request);
}

async function recordRefusal(
  world: Pick<World, 'announcer' | 'clock' | 'github' | 'log' | 'store'>,
  request: RunRequest,
  origin: Origin,
  refusal: Refusal,
): Promise<'refused'> {
  await reportRefusal(world, request, origin, refusal);
  // The status comment that showed the position in the queue needs a final state too.
  await world.announcer.finish(request.runId);
  return 'refused';
}

/** Dependencies of reading a task and its repository on GitHub. */
type GitHubTaskPorts = Pick<World, 'ceilings' | 'clock' | 'github' | 'store' | 'workspaces'>;

/**
 * Checks that the issue still requests a run and that the limits allow one, and reads comments by people with write
 * access.
 */
async function fromGitHub(
  world: GitHubTaskPorts,
  reader: GitHubReader,
  origin: GitHubOrigin,
  request: RunRequest,
): Promise<GatheredTask | RefusedRun> {
  const access = await repositoryAccess(world, { origin, reader, self: request.runId }, async () =>
    unfitIssue(await reader.issue(origin.issue), request),
  );
  if (access.kind === 'refused') return access;
  const { source, defaultBranch, rules } = access;
  const sha = request.base === undefined ? rules : await world.workspaces.resolve(source, request.base);
  if (!sha) return refused({ kind: 'base-missing', ref: request.base ?? defaultBranch });
  const ref = (await branchOf(world, reader, origin, request)) ?? defaultBranch;
  const writers = openWriterComments(reader);
  const comments = await writers.among(reader.commentPages(origin.issue), request.triggeredAt);
  return {
    kind: 'gathered',
    base: { ref, sha },
    rules,
    comments: comments.map(({ author, body }) => ({ author: author.login, body })),
    leftOut: writers.leftOut(),
  };
}

/**
 * The branch that a pull request can target: the named one. Null for a tag, a commit, or no name. A retry uses the
 * target of the earlier run.
 */
async function branchOf(
  world: Pick<World, 'store'>,
  reader: GitHubReader,
  { repositoryId }: GitHubOrigin,
  { base, carry }: RunRequest,
): Promise<string | null> {
  const earlier = carry ? await world.store.run(carry.run) : null;
  const { origin, task } = earlier ?? {};
  if (task && origin?.kind === 'github' && origin.repositoryId === repositoryId) return task.base.ref;
  return base !== undefined && (await reader.branchHead(base)) !== null ? base : null;
}

/** Events arrive late and in any order: the current state on GitHub decides. */
function unfitIssue(issue: IssueFacts, request: RunRequest): Refusal | null {
  if (issue.isPull) return { kind: 'not-an-issue' };
  const unfit = unfitThread(issue, request);
  if (unfit || issue.open) return unfit;
  const { command } = request;
  return {
    kind: 'issue-closed',
    ...(command && command.thread !== issue.number ? { number: issue.number } : {}),
  };
}

type PullOrigin = GitHubOrigin & { readonly work: PullWork };

/**
 * Builds a task from a review of a pull request or its failing checks. The run starts from the pull request's branch.
 */
async function fromPull(
  world: GitHubTaskPorts,
  reader: GitHubReader,
  origin: PullOrigin,
  request: RunRequest,
): Promise<GatheredTask | RefusedRun> {
  const pull = await reader.pull(origin.issue);
  const access = await repositoryAccess(
    world,
    { origin, reader, self: request.runId },
    async () => unfitPull(pull, origin) ?? unfitThread(await reader.issue(origin.issue), request),
  );
  if (access.kind === 'refused') return access;
  if (!pull) return refused({ kind: 'not-a-pull', number: origin.issue });
  const { source, rules } = access;
  const sha = await world.workspaces.resolve(source, request.base ?? pull.headSha);
  if (!sha) return refused({ kind: 'base-missing', ref: request.base ?? pull.head });
  // If the branch has moved, the patches to be reused were made on a different commit than the current checks and
  // reviews refer to.
  if (request.carry && sha !== pull.headSha) return refused({ kind: 'branch-moved', branch: pull.head });

  const discussion = await writerComments(reader, origin.issue, request.triggeredAt);
  const findings = await findingsOf(reader, origin.work, pull, discussion.remarks);
  if (!findings) return refused({ kind: 'nothing-to-do', work: origin.work });
  return {
    kind: 'gathered',
    base: { ref: pull.head, sha },
    rules,
    comments: discussion.comments,
    leftOut: discussion.leftOut,
    text: pullTask(pull, findings),
  };
}

function unfitPull(pull: PullDetails | null, { repositoryId, issue }: GitHubOrigin): Refusal | null {
  if (!pull) return { kind: 'not-a-pull', number: issue };
  if (pull.state !== 'open') return { kind: 'pull-closed' };
  // A fork's branch contains code by people without write access, and Runoff cannot push to it.
  return pull.headRepositoryId === repositoryId ? null : { kind: 'from-a-fork' };
}

/** As for an issue, the label may have been removed since. GitHub has labels and lock of a pull request at its issue. */
function unfitThread({ labels, locked }: IssueFacts, { trigger }: RunRequest): Refusal | null {
  if (trigger === 'label' && !hasLabel(labels, LABEL)) return { kind: 'label-gone' };
  return locked ? { kind: 'locked' } : null;
}

async function writerComments(reader: GitHubReader, number: number, triggeredAt: number) {
  const writers = openWriterComments(reader);
  const reviews = await writers.among(reader.remarkPages(number, 'reviews'), triggeredAt);
  const lines = await writers.among(reader.remarkPages(number, 'lines'), triggeredAt);
  const comments = await writers.among(reader.commentPages(number), triggeredAt);
  return {
    remarks: [...reviews, ...lines]
      .filter(({ body }) => body.trim() !== '')
      .toSorted((one, other) => one.createdAt - other.createdAt),
    comments: comments.map(({ author, body }) => ({ author: author.login, body })),
    leftOut: writers.leftOut(),
  };
}

async function findingsOf(
  reader: GitHubReader,
  work: PullWork,
  pull: PullDetails,
  remarks: readonly Remark[],
): Promise<PullFindings | null> {
  const checks = work === 'fix' ? await reader.failedChecks(pull.headSha) : [];
  if (checks.length > 0) return { kind: 'checks', checks };
  return remarks.length > 0 ? { kind: 'remarks', remarks: remarks.map(quotedRemark) } : null;
}

const quotedRemark = ({ author, body, path, line }: Remark): ReviewRemark => ({
  author: author.login,
  body,
  ...(path === undefined ? {} : { path }),
  ...(line === undefined ? {} : { line }),
});
