import { type Alias, asFault } from '../../core/model/index.ts';
import { choice, comparison, noWinner, type OutcomeView, pullRequest } from '../../core/reports/index.ts';
import type { PullFacts, RunOutcome } from '../../ports/index.ts';
import { stopIfCancelled } from '../guard.ts';
import { once } from '../once.ts';
import { atDesk, branchAt, commitOf, type Desk, type Job, push, pushOthers } from './desk.ts';
import { show, showCheck, supersede, viewForPublishing } from './show.ts';

/**
 * Pushes a candidate, opens its draft pull request, then shows the comparison with every other diff on it. Where GitHub
 * would not have one (a rule, a branch of that name), the comparison goes onto the issue and says why.
 */
export function publishPull(job: Job, winner: Alias): Promise<RunOutcome> {
  return atDesk(job, async (desk) => {
    const branch = branchAt(desk, winner);
    const headSha = commitOf(desk, winner);
    const refused = await push(desk, branch, headSha);
    if (refused !== null) return tableInstead(desk, refused);
    const opened = await openPull(desk, winner, branch);
    if (typeof opened === 'string') return tableInstead(desk, opened);
    const branches = byLetter({ ...(await pushOthers(desk, winner)), [winner]: branch });
    const { number, url } = opened;
    const outcome = { kind: 'pull', number, url, branch, headSha, branches, comparisonUrl: '' } as const;
    const { view, diffs } = await viewForPublishing(desk, outcome);
    const said = await show(desk, 'comparison', number, comparison(view, diffs));
    await showCheck(desk, view, headSha);
    await supersede(desk, view);
    return { ...outcome, comparisonUrl: said.url };
  });
}

/** Evidence does not decide, or the settings leave it to a person: the comparison with boxes, and no pull request. */
export const publishChoice = (job: Job): Promise<RunOutcome> =>
  publishOnIssue(job, 'choice', async (view, diffs) => choice(view, diffs));

/** Nothing survived: an honest table on the issue, and no pull request. */
export const publishTable = (job: Job): Promise<RunOutcome> =>
  publishOnIssue(job, 'outcome', async (view, diffs) => noWinner(view, diffs));

type Write = (...matter: Parameters<typeof comparison>) => Promise<ReturnType<typeof comparison>>;

function publishOnIssue(job: Job, kind: 'choice' | 'outcome', write: Write): Promise<RunOutcome> {
  return atDesk(job, async (desk) => {
    const branches = byLetter(await pushOthers(desk, null));
    const { view, diffs } = await viewForPublishing(desk, { kind: 'table', branches });
    const said = await show(desk, kind, desk.origin.issue, await write(view, diffs));
    await supersede(desk, view);
    return { kind: 'table', comparisonUrl: said.url, branches };
  });
}

async function tableInstead(desk: Desk, unopened: string): Promise<RunOutcome> {
  const branches = byLetter(await pushOthers(desk, null));
  const outcome: OutcomeView = { kind: 'table', unopened, branches };
  const { view, diffs } = await viewForPublishing(desk, outcome);
  const said = await show(desk, 'outcome', desk.origin.issue, noWinner(view, diffs));
  await supersede(desk, view);
  return { ...outcome, comparisonUrl: said.url };
}

const byLetter = (branches: Readonly<Record<Alias, string>>): Record<Alias, string> =>
  Object.fromEntries(Object.entries(branches).toSorted(([a], [b]) => a.localeCompare(b)));

/** The pull request, or why GitHub would not have it, a sentence. */
async function openPull(desk: Desk, winner: Alias, branch: string): Promise<PullFacts | string> {
  const { world, task, reader, publisher, signal } = desk;
  const { view, diffs } = await viewForPublishing(desk, { kind: 'table', branches: { [winner]: branch } });
  const { title, body } = pullRequest(view, winner, diffs);
  try {
    return await once(world.store, task.runId, 'pull', {
      look: () => reader.pullByHead(branch),
      write() {
        stopIfCancelled(signal);
        return publisher.openDraftPull({ head: branch, base: task.base.ref, title, body });
      },
    });
  } catch (thrown) {
    const fault = asFault(thrown);
    if (fault.code !== 'GITHUB_REFUSED') throw thrown;
    // Somebody may have opened it by hand, or an answer got lost.
    const there = await reader.pullByHead(branch);
    if (!there) return fault.message;
    await world.store.fulfil(task.runId, 'pull', there);
    return there;
  }
}
