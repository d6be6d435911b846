import { type GitHubOrigin, hasLabel } from '../../core/model/index.ts';
import type { Refusal } from '../../core/reports/index.ts';
import type { GitHubReader, IssueFacts } from '../../ports/index.ts';
import { handleOf, requireGitHub } from '../task.ts';
import { LABEL } from '../view.ts';
import type { World } from '../world.ts';
import type { Gathered, Refused } from './index.ts';
import { groundFor, refused } from './place.ts';
import type { RunRequest } from './request.ts';
import { openWritersWords } from './writers.ts';

/** Checks that the issue still wants a run and that there is room for one, and reads the writers' comments. */
export async function fromGitHub(
  world: World,
  origin: GitHubOrigin,
  request: RunRequest,
): Promise<Gathered | Refused> {
  const reader = await requireGitHub(world).reader(handleOf(origin));
  const ground = await groundFor(world, { origin, reader, self: request.runId }, async () =>
    unfitFor(await reader.issue(origin.issue), request),
  );
  if (ground.kind === 'refused') return ground;
  const { source, defaultBranch, rules } = ground;
  const sha = request.base === undefined ? rules : await world.workspaces.resolve(source, request.base);
  if (!sha) return refused({ kind: 'base-missing', ref: request.base ?? defaultBranch });
  const ref = (await branchOf(world, reader, origin, request)) ?? defaultBranch;
  const writers = openWritersWords(reader);
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
  world: World,
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
function unfitFor(issue: IssueFacts, { trigger }: RunRequest): Refusal | null {
  if (issue.isPull) return { kind: 'not-an-issue' };
  if (trigger === 'label' && !hasLabel(issue.labels, LABEL)) return { kind: 'label-gone' };
  return issue.open ? null : { kind: 'issue-closed' };
}
