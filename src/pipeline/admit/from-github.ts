import type { GitHubOrigin, Sha } from '../../core/model/index.ts';
import type { Refusal } from '../../core/reports/index.ts';
import type { IssueFacts, RepositorySource } from '../../ports/index.ts';
import { handleOf, loadTask, requireGitHub } from '../task.ts';
import { LABEL } from '../view.ts';
import type { World } from '../world.ts';
import type { Gathered, Refused } from './index.ts';
import { noRoom, refused, repositoryFor, rulesOf, sourceFor } from './place.ts';
import type { RunRequest } from './request.ts';
import { saidBefore, writersAmong } from './writers.ts';

/** Checks that the issue still wants a run and that there is room for one, and reads the writers' comments. */
export async function fromGitHub(
  world: World,
  origin: GitHubOrigin,
  request: RunRequest,
): Promise<Gathered | Refused> {
  const reader = await requireGitHub(world).reader(handleOf(origin));
  const facts = await repositoryFor(reader, origin);
  if (facts.archived) return refused({ kind: 'archived' });
  const unfit = unfitFor(await reader.issue(origin.issue), request);
  if (unfit) return refused(unfit);
  const full = await noRoom(world, origin, request.runId);
  if (full) return refused(full);

  const source = sourceFor(facts, reader);
  const rules = await rulesOf(world, source, facts);
  if (!rules) return refused({ kind: 'repository-empty', branch: facts.defaultBranch });
  const { ref, sha } = await baseOf(world, source, request, { ref: facts.defaultBranch, sha: rules });
  if (!sha) return refused({ kind: 'base-missing', ref });
  const before = saidBefore(await reader.comments(origin.issue), request.triggeredAt);
  const writers = await writersAmong(world, reader, before);
  return {
    kind: 'gathered',
    base: { ref, sha },
    rules,
    comments: before
      .filter(({ author }) => writers.has(author.id))
      .map(({ author, body }) => ({ author: author.login, body })),
  };
}

/** Events come late and in any order: what GitHub says now decides. */
function unfitFor(issue: IssueFacts, { trigger }: RunRequest): Refusal | null {
  if (issue.isPull) return { kind: 'not-an-issue' };
  if (trigger === 'label' && !issue.labels.includes(LABEL)) return { kind: 'label-gone' };
  return issue.open ? null : { kind: 'issue-closed' };
}

/** Patches of an earlier run fit its own base commit only. */
async function baseOf(
  world: World,
  source: RepositorySource,
  { base, carry }: RunRequest,
  otherwise: { readonly ref: string; readonly sha: Sha },
): Promise<{ readonly ref: string; readonly sha: Sha | null }> {
  const earlier = carry && (await loadTask(world, carry.run)).base;
  if (earlier) return { ref: earlier.ref, sha: await world.workspaces.resolve(source, earlier.sha) };
  if (base === undefined) return otherwise;
  return { ref: base, sha: await world.workspaces.resolve(source, base) };
}
