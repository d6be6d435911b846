import { isOver } from '../../core/lifecycle/index.ts';
import type { Actor, GitHubOrigin, RunId, Task } from '../../core/model/index.ts';
import type { CommentFacts, GitHubReader } from '../../ports/index.ts';
import { handleOf, requireGitHub, sourceOf } from '../task.ts';
import type { World } from '../world.ts';
import type { Gathered, Refused } from './index.ts';
import { maySteer } from './permit.ts';
import type { RunRequest } from './request.ts';

/** Authors whose permission is looked up; a longer thread is cut, newest kept. */
const MOST_AUTHORS = 20;

/** Checks that the issue is open and has no other run at work, and reads the writers' comments. */
export async function fromGitHub(
  world: World,
  origin: GitHubOrigin,
  request: RunRequest,
): Promise<Gathered | Refused> {
  const reader = await requireGitHub(world).reader(handleOf(origin));
  const issue = await reader.issue(origin.issue);
  if (issue.isPull) return refused({ kind: 'not-an-issue' });
  if (!issue.open) return refused({ kind: 'issue-closed' });
  const other = await livingRun(world, origin, request.runId);
  if (other) return refused({ kind: 'already-running', run: other });

  const facts = await reader.repository();
  const ref = request.base ?? facts.defaultBranch;
  const source = await sourceOf(world, { origin });
  const sha = await world.workspaces.resolve(source, ref);
  if (!sha) return refused({ kind: 'base-missing', ref });
  return {
    kind: 'gathered',
    base: { ref, sha },
    comments: await writersComments(world, reader, origin.issue, request.triggeredAt),
  };
}

const refused = (refusal: Refused['refusal']): Refused => ({ kind: 'refused', refusal });

/** The oldest run that is at work on the issue goes on; a younger one is refused. */
async function livingRun(world: World, origin: GitHubOrigin, self: RunId): Promise<RunId | null> {
  const living = await world.store.livingRuns(origin.repositoryId, origin.issue);
  const oldest = living.find((run) => !isOver(run.state));
  return oldest && oldest.id !== self ? oldest.id : null;
}

async function writersComments(
  world: World,
  reader: GitHubReader,
  issue: number,
  triggeredAt: number,
): Promise<Task['comments']> {
  const before = (await reader.comments(issue)).filter((c) => !c.authorIsBot && c.updatedAt <= triggeredAt);
  const trusted = new Set<number>();
  for (const author of newestAuthors(before)) {
    if (await maySteer(world, reader, author)) trusted.add(author.id);
  }
  return before
    .filter((c) => trusted.has(c.author.id))
    .map((c) => ({ author: c.author.login, body: c.body }));
}

function newestAuthors(comments: readonly CommentFacts[]): readonly Actor[] {
  const byId = new Map<number, Actor>();
  for (const { author } of comments.toReversed()) {
    if (byId.size < MOST_AUTHORS) byId.set(author.id, author);
  }
  return [...byId.values()];
}
