import type { Actor, GitHubOrigin, RunId, Task } from '../../core/model/index.ts';
import type { CommentFacts, GitHubReader, Permission } from '../../ports/index.ts';
import { handleOf, requireGitHub, sourceOf } from '../task.ts';
import type { World } from '../world.ts';
import type { Gathered, Refused } from './index.ts';
import type { RunRequest } from './request.ts';

/** Authors whose permission is looked up; a longer thread is cut, newest kept. */
const MOST_AUTHORS = 20;
const MAY_STEER: ReadonlySet<Permission> = new Set(['admin', 'maintain', 'write']);

/** Checks that a writer asked for this run on an open issue that has no other run, and reads the writers' comments. */
export async function fromGitHub(
  world: World,
  origin: GitHubOrigin,
  request: RunRequest,
): Promise<Gathered | Refused> {
  const reader = await requireGitHub(world).reader(handleOf(origin));
  if (!(await maySteer(world, reader, origin.requestedBy))) {
    return refused({ kind: 'no-permission', login: origin.requestedBy.login });
  }
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

/** An error means no (I4). */
async function maySteer(world: World, reader: GitHubReader, actor: Actor): Promise<boolean> {
  try {
    return MAY_STEER.has(await reader.permission(actor));
  } catch (thrown) {
    world.log.warn({ user: actor.id, err: thrown }, 'permission could not be read; taken as none');
    return false;
  }
}

/** The oldest living run of the issue goes on; a younger one is refused. */
async function livingRun(world: World, origin: GitHubOrigin, self: RunId): Promise<RunId | null> {
  const [oldest] = await world.store.livingRuns(origin.repositoryId, origin.issue);
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
