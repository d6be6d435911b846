import { type Alias, Fault, type GitHubOrigin, type Task } from '../../core/model/index.ts';
import {
  branchName,
  comparison,
  type Diffs,
  noWinner,
  pullRequest,
  type Report,
  type RunView,
} from '../../core/reports/index.ts';
import type { GitHubReader, Publisher, PullFacts, RepositoryFacts, RunOutcome } from '../../ports/index.ts';
import { stopIfCancelled } from '../guard.ts';
import { once } from '../once.ts';
import { findOwn, type OwnComment } from '../own-comment.ts';
import { handleOf, loadRun, requireGitHub } from '../task.ts';
import { diffsOf, viewOf } from '../view.ts';
import type { World } from '../world.ts';
import type { Commits } from './commits.ts';

/** What the publishing of one run needs; the publisher's token is given back at the end. */
export interface Job {
  readonly world: World;
  readonly task: Task;
  readonly origin: GitHubOrigin;
  readonly commits: Commits;
  readonly signal: AbortSignal;
}
interface Desk extends Job {
  readonly reader: GitHubReader;
  readonly publisher: Publisher;
  readonly facts: RepositoryFacts;
}

async function atDesk<T>(job: Job, work: (desk: Desk) => Promise<T>): Promise<T> {
  const github = requireGitHub(job.world);
  const reader = await github.reader(handleOf(job.origin));
  const facts = await reader.repository();
  const publisher = await github.publisher(handleOf(job.origin));
  try {
    return await work({ ...job, reader, publisher, facts });
  } finally {
    await publisher.close();
  }
}

/** Pushes the winner, opens its draft pull request, then shows the comparison with every losing diff on it. */
export function publishPull(job: Job, winner: Alias): Promise<RunOutcome> {
  return atDesk(job, async (desk) => {
    const { origin, task } = desk;
    const branch = branchName(origin.issue, task.runId, winner);
    const refused = await push(desk, winner, branch);
    if (refused) throw new Fault('GITHUB_REFUSED', refused);
    const pull = await openPull(desk, winner, branch);
    const branches = byLetter({ ...(await pushOthers(desk, winner)), [winner]: branch });
    const report = await reportWith(desk, branches, comparison);
    const said = await say(desk, 'comparison', pull.number, report);
    return { kind: 'pull', number: pull.number, url: pull.url, branch, branches, comparisonUrl: said.url };
  });
}

/** Nothing survived: an honest table on the issue, and no pull request. */
export function publishTable(job: Job): Promise<RunOutcome> {
  return atDesk(job, async (desk) => {
    const branches = await pushOthers(desk, null);
    const report = await reportWith(desk, branches, noWinner);
    const said = await say(desk, 'outcome', desk.origin.issue, report);
    return { kind: 'table', comparisonUrl: said.url, branches };
  });
}

const byLetter = (branches: Readonly<Record<Alias, string>>): Record<Alias, string> =>
  Object.fromEntries(Object.entries(branches).toSorted(([a], [b]) => a.localeCompare(b)));

/** Pushes one candidate; null when its branch is there, else why GitHub would not have it. */
async function push(desk: Desk, alias: Alias, branch: string): Promise<string | null> {
  stopIfCancelled(desk.signal);
  const sha = desk.commits.byAlias.get(alias);
  if (!sha) throw new Fault('INTERNAL', `Candidate ${alias} has no commit although it is to be pushed.`);
  const remote = { url: desk.facts.cloneUrl, credential: await desk.publisher.credential() };
  const result = await desk.world.workspaces.push(desk.commits.base, remote, branch, sha);
  switch (result.kind) {
    case 'pushed':
      return null;
    case 'exists':
      return `The branch ${branch} exists already at ${result.at} and is not ours to move.`;
    case 'refused':
      return `The push of ${branch} was refused: ${result.why}`;
  }
}

/** Every other candidate. One that GitHub refuses (a secret in its patch, a rule) stays in the comment's text only. */
async function pushOthers(desk: Desk, winner: Alias | null): Promise<Record<Alias, string>> {
  const branches: Record<Alias, string> = {};
  for (const alias of desk.commits.byAlias.keys()) {
    if (alias === winner) continue;
    const branch = branchName(desk.origin.issue, desk.task.runId, alias);
    const refused = await push(desk, alias, branch);
    if (refused) desk.world.log.warn({ run: desk.task.runId, alias }, refused);
    else branches[alias] = branch;
  }
  return branches;
}

async function openPull(desk: Desk, winner: Alias, branch: string): Promise<PullFacts> {
  const { world, task, reader, publisher, signal } = desk;
  const view = await viewOf(world, await loadRun(world, task.runId));
  const { title, body } = pullRequest(view, winner, await diffsOf(world, task.runId));
  return once(world.store, task.runId, 'pull', {
    look: () => reader.pullByHead(branch),
    write() {
      stopIfCancelled(signal);
      return publisher.openDraftPull({ head: branch, base: task.base.ref, title, body });
    },
  });
}

async function reportWith(
  desk: Desk,
  branches: Readonly<Record<Alias, string>>,
  write: (view: RunView, diffs: Diffs) => Report,
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
function say(desk: Desk, kind: 'comparison' | 'outcome', on: number, report: Report): Promise<OwnComment> {
  const { world, task, reader, publisher, signal } = desk;
  return once(world.store, task.runId, kind, {
    look: () => findOwn(requireGitHub(world), reader, on, { kind, run: task.runId }),
    write() {
      stopIfCancelled(signal);
      return publisher.comment(on, report.body);
    },
  });
}
