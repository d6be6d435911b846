import { type PullFindings, pullTask, type ReviewRemark } from '../../core/brief/index.ts';
import { type GitHubOrigin, hasLabel, type PullWork } from '../../core/model/index.ts';
import type { Refusal } from '../../core/reports/index.ts';
import type { GitHubReader, IssueFacts, PullDetails, Remark } from '../../ports/index.ts';
import { handleOf, requireGitHub, type World } from '../context.ts';
import { LABEL } from '../view.ts';
import { refused, repositoryAccess } from './caps.ts';
import type { Gathered, Refused, RunRequest } from './request.ts';
import { openWriterComments } from './writers.ts';

/** What reading a task on GitHub and its repository takes. */
export type GitHubTaskPorts = Pick<World, 'ceilings' | 'clock' | 'github' | 'store' | 'workspaces'>;

/** Checks that the issue still wants a run and that there is room for one, and reads the writers' comments. */
export async function fromGitHub(
  world: GitHubTaskPorts,
  origin: GitHubOrigin,
  request: RunRequest,
): Promise<Gathered | Refused> {
  const reader = await requireGitHub(world).reader(handleOf(origin));
  const ground = await repositoryAccess(world, { origin, reader, self: request.runId }, async () =>
    unfitIssue(await reader.issue(origin.issue), request),
  );
  if (ground.kind === 'refused') return ground;
  const { source, defaultBranch, rules } = ground;
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
 * The branch that a pull request can go into: the one that was named. Null for a tag, a commit, and where none was named.
 * A run that carries on another goes where that went.
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

/** Events come late and in any order: what GitHub says now decides. */
function unfitIssue(issue: IssueFacts, { trigger }: RunRequest): Refusal | null {
  if (issue.isPull) return { kind: 'not-an-issue' };
  if (trigger === 'label' && !hasLabel(issue.labels, LABEL)) return { kind: 'label-gone' };
  return issue.open ? null : { kind: 'issue-closed' };
}

type PullOrigin = GitHubOrigin & { readonly work: PullWork };

/** Makes a task of what was said about a pull request, or of what fails in it. The run starts from its branch. */
export async function fromPull(
  world: GitHubTaskPorts,
  origin: PullOrigin,
  request: RunRequest,
): Promise<Gathered | Refused> {
  const reader = await requireGitHub(world).reader(handleOf(origin));
  const pull = await reader.pull(origin.issue);
  const ground = await repositoryAccess(world, { origin, reader, self: request.runId }, async () =>
    unfitPull(pull, origin),
  );
  if (ground.kind === 'refused') return ground;
  if (!pull) return refused({ kind: 'not-a-pull', number: origin.issue });
  const { source, rules } = ground;
  const sha = await world.workspaces.resolve(source, request.base ?? pull.headSha);
  if (!sha) return refused({ kind: 'base-missing', ref: request.base ?? pull.head });
  // What fails there now, and what reviewers see, is not what the patches that are taken over were made on.
  if (request.carry && sha !== pull.headSha) return refused({ kind: 'branch-moved', branch: pull.head });

  const said = await writerComments(reader, origin.issue, request.triggeredAt);
  const findings = await findingsOf(reader, origin.work, pull, said.remarks);
  if (!findings) return refused({ kind: 'nothing-to-do', work: origin.work });
  return {
    kind: 'gathered',
    base: { ref: pull.head, sha },
    rules,
    comments: said.comments,
    leftOut: said.leftOut,
    text: pullTask(pull, findings),
  };
}

function unfitPull(pull: PullDetails | null, { repositoryId, issue }: GitHubOrigin): Refusal | null {
  if (!pull) return { kind: 'not-a-pull', number: issue };
  if (pull.state !== 'open') return { kind: 'pull-closed' };
  // What outsiders push to a fork is not ours to build on, and nothing could be offered to its branch.
  return pull.headRepositoryId === repositoryId ? null : { kind: 'from-a-fork' };
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
