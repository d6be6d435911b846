import { type Alias, Fault, type GitHubOrigin, type Sha, type Task } from '../../core/model/index.ts';
import {
  branchName,
  comparison,
  findMarker,
  noWinner,
  pullRequest,
  type Report,
} from '../../core/reports/index.ts';
import type { GitHubReader, Publisher, PullFacts, RepositoryFacts, RunOutcome } from '../../ports/index.ts';
import { once } from '../once.ts';
import { handleOf, loadRun, requireGitHub } from '../task.ts';
import { diffsOf, viewOf } from '../view.ts';
import type { World } from '../world.ts';
import type { Commits } from './commits.ts';

/** Everything that the writes of one run need; the publisher's token is given back at the end. */
interface Desk {
  readonly world: World;
  readonly task: Task;
  readonly origin: GitHubOrigin;
  readonly reader: GitHubReader;
  readonly publisher: Publisher;
  readonly facts: RepositoryFacts;
  readonly commits: Commits;
}

async function atDesk<T>(
  world: World,
  task: Task,
  origin: GitHubOrigin,
  commits: Commits,
  work: (desk: Desk) => Promise<T>,
): Promise<T> {
  const github = requireGitHub(world);
  const reader = await github.reader(handleOf(origin));
  const facts = await reader.repository();
  const publisher = await github.publisher(handleOf(origin));
  try {
    return await work({ world, task, origin, reader, publisher, facts, commits });
  } finally {
    await publisher.close();
  }
}

/** Pushes the winner, opens its draft pull request, then shows the comparison with every losing diff on it. */
export function publishPull(
  world: World,
  task: Task,
  origin: GitHubOrigin,
  commits: Commits,
  winner: Alias,
): Promise<RunOutcome> {
  return atDesk(world, task, origin, commits, async (desk) => {
    const branch = branchName(origin.issue, task.runId, winner);
    await push(desk, winner, branch);
    const pull = await openPull(desk, winner, branch);
    const branches = await pushOthers(desk, winner);
    const report = await reportWith(desk, branches, (view, diffs) => comparison(view, diffs));
    const said = await say(desk, 'comparison', pull.number, report);
    return { kind: 'pull', number: pull.number, url: pull.url, branch, branches, comparisonUrl: said.url };
  });
}

/** Nothing survived: an honest table on the issue, and no pull request. */
export function publishTable(
  world: World,
  task: Task,
  origin: GitHubOrigin,
  commits: Commits,
): Promise<RunOutcome> {
  return atDesk(world, task, origin, commits, async (desk) => {
    const branches = await pushOthers(desk, null);
    const report = await reportWith(desk, branches, (view, diffs) => noWinner(view, diffs));
    const said = await say(desk, 'outcome', origin.issue, report);
    return { kind: 'table', comparisonUrl: said.url, branches };
  });
}

async function push(desk: Desk, alias: Alias, branch: string): Promise<void> {
  const sha = desk.commits.byAlias.get(alias) as Sha;
  const remote = { url: desk.facts.cloneUrl, credential: await desk.publisher.credential() };
  const result = await desk.world.workspaces.push(desk.commits.base, remote, branch, sha);
  if (result.kind === 'exists') {
    throw new Fault(
      'GITHUB_REFUSED',
      `The branch ${branch} exists already at ${result.at} and is not ours to move.`,
    );
  }
  if (result.kind === 'refused')
    throw new Fault('GITHUB_REFUSED', `The push of ${branch} was refused: ${result.why}`);
}

/** Every other candidate's branch, and the winner's that was pushed before. */
async function pushOthers(desk: Desk, winner: Alias | null): Promise<Record<Alias, string>> {
  const branches: Record<Alias, string> = {};
  for (const alias of desk.commits.byAlias.keys()) {
    const branch = branchName(desk.origin.issue, desk.task.runId, alias);
    if (alias !== winner) await push(desk, alias, branch);
    branches[alias] = branch;
  }
  return branches;
}

async function openPull(desk: Desk, winner: Alias, branch: string): Promise<PullFacts> {
  const { world, task, reader, publisher } = desk;
  const view = await viewOf(world, await loadRun(world, task.runId));
  const { title, body } = pullRequest(view, winner, await diffsOf(world, task.runId));
  return once(world.store, task.runId, 'pull', {
    look: () => reader.pullByHead(branch),
    write: () => publisher.openDraftPull({ head: branch, base: task.base.ref, title, body }),
  });
}

async function reportWith(
  desk: Desk,
  branches: Readonly<Record<Alias, string>>,
  write: (view: Awaited<ReturnType<typeof viewOf>>, diffs: Awaited<ReturnType<typeof diffsOf>>) => Report,
): Promise<Report> {
  const { world, task, facts } = desk;
  const view = await viewOf(world, await loadRun(world, task.runId));
  const diffs = await diffsOf(world, task.runId, (alias) => {
    const branch = branches[alias];
    return branch ? `${facts.htmlUrl}/compare/${task.base.sha}...${branch}` : undefined;
  });
  return write(view, diffs);
}

/** One comment of ours, found again by its marker if a crash cut us off. */
function say(
  desk: Desk,
  kind: 'comparison' | 'outcome',
  on: number,
  report: Report,
): Promise<{ id: number; url: string }> {
  const { world, task, reader, publisher } = desk;
  const appId = requireGitHub(world).appId;
  return once(world.store, task.runId, kind, {
    async look() {
      const ours = (await reader.comments(on)).filter((comment) => comment.performedByAppId === appId);
      const found = ours.find((c) => {
        const marker = findMarker(c.body);
        return marker?.kind === kind && marker.run === task.runId;
      });
      return found ? { id: found.id, url: found.url } : null;
    },
    write: () => publisher.comment(on, report.body),
  });
}
