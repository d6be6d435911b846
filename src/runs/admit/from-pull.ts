import { type PullFindings, pullTask, type ReviewRemark } from '../../core/brief/index.ts';
import type { GitHubOrigin, PullWork } from '../../core/model/index.ts';
import type { Refusal } from '../../core/reports/index.ts';
import type { GitHubReader, PullDetails, Remark } from '../../ports/index.ts';
import { handleOf, requireGitHub } from '../task.ts';
import type { World } from '../world.ts';
import type { Gathered, Refused } from './index.ts';
import { groundFor, refused } from './place.ts';
import type { RunRequest } from './request.ts';
import { openWritersWords } from './writers.ts';

export type PullOrigin = GitHubOrigin & { readonly work: PullWork };

/** Makes a task of what was said about a pull request, or of what fails in it. The run starts from its branch. */
export async function fromPull(
  world: World,
  origin: PullOrigin,
  request: RunRequest,
): Promise<Gathered | Refused> {
  const reader = await requireGitHub(world).reader(handleOf(origin));
  const pull = await reader.pull(origin.issue);
  const ground = await groundFor(world, { origin, reader, self: request.runId }, async () =>
    unfitFor(pull, origin),
  );
  if (ground.kind === 'refused') return ground;
  if (!pull) return refused({ kind: 'not-a-pull', number: origin.issue });
  const { source, rules } = ground;
  const sha = await world.workspaces.resolve(source, request.base ?? pull.headSha);
  if (!sha) return refused({ kind: 'base-missing', ref: request.base ?? pull.head });
  // What fails there now, and what reviewers see, is not what the patches that are taken over were made on.
  if (request.carry && sha !== pull.headSha) return refused({ kind: 'branch-moved', branch: pull.head });

  const said = await wordsOfWriters(reader, origin.issue, request.triggeredAt);
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

function unfitFor(pull: PullDetails | null, { repositoryId, issue }: GitHubOrigin): Refusal | null {
  if (!pull) return { kind: 'not-a-pull', number: issue };
  if (pull.state !== 'open') return { kind: 'pull-closed' };
  // What outsiders push to a fork is not ours to build on, and nothing could be offered to its branch.
  return pull.headRepositoryId === repositoryId ? null : { kind: 'from-a-fork' };
}

async function wordsOfWriters(reader: GitHubReader, number: number, triggeredAt: number) {
  const writers = openWritersWords(reader);
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
  return remarks.length > 0 ? { kind: 'remarks', remarks: remarks.map(asSaid) } : null;
}

const asSaid = ({ author, body, path, line }: Remark): ReviewRemark => ({
  author: author.login,
  body,
  ...(path === undefined ? {} : { path }),
  ...(line === undefined ? {} : { line }),
});
