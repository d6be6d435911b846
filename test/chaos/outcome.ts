import type { LocalGitHub } from '@runoff/local-github';
import { simpleGit } from 'simple-git';
import { findMarker } from '../../src/core/reports/index.ts';
import { type ChaosEnvironment, OWNER, PLACE } from './chaos-environment.ts';

/** How an issue's run ended and all that stands on GitHub of it; numbers and ids that differ from run to run are left out. */
export interface Outcome {
  readonly runs: readonly object[];
  readonly candidates: readonly string[];
  readonly labels: readonly string[];
  readonly reactions: readonly string[];
  /** Our comments by kind, on the issue and on its pull requests. */
  readonly comments: readonly string[];
  readonly pulls: readonly string[];
  readonly branches: readonly string[];
  readonly checks: readonly string[];
  /** What GitHub told everybody of: one for each comment, pull request, label and push that was made. */
  readonly made: readonly string[];
}

export async function readOutcome(environment: ChaosEnvironment, issue: number): Promise<Outcome> {
  const { github, query } = environment;
  const person = github.as(OWNER);
  const runs = await query(
    `select run.state, outcome ->> 'kind' as outcome, decision ->> 'kind' as decision,
            trouble ->> 'code' as trouble, contestant ->> 'model' as winner
       from runoff.run left join runoff.candidate on run_id = id and alias = decision ->> 'alias'
      where issue = ${issue}`,
  );
  const candidates = await query(
    `select alias, candidate.state from runoff.candidate join runoff.run on run.id = run_id where issue = ${issue} order by alias`,
  );
  const pulls = (await person.pulls(PLACE)).filter(({ head }) => head.ref.startsWith(`auto-dev/${issue}/`));
  const threads = [issue, ...pulls.map(({ number }) => number)];
  const ours = (await Promise.all(threads.map((on) => person.comments(PLACE, on)))).map((comments) =>
    comments.filter(({ user }) => user.login === github.botLogin),
  );
  const ids = new Set(ours.flat().map(({ id }) => `comments/${id}`));
  const targets = new Set([...threads.map((on) => `issues/${on}`), ...ids]);
  const checks = (await Promise.all(pulls.map(({ head }) => person.checks(PLACE, head.sha)))).flat();
  return {
    runs,
    candidates: candidates.map(({ alias, state }) => `${alias} ${state}`),
    labels: await labelsOf(github, issue),
    reactions: github.reactions
      .filter(({ target }) => targets.has(target))
      .map(({ target, content }) => `${target.split('/')[0]} ${content}`)
      .toSorted(),
    comments: ours.flatMap((comments, thread) =>
      comments
        .map(({ body }) => `${thread === 0 ? 'issue' : 'pull'} ${findMarker(body)?.kind ?? 'none'}`)
        .toSorted(),
    ),
    pulls: pulls.map(({ state, draft }) => `${state} ${draft ? 'draft' : 'ready'}`),
    branches: await branchesOf(github, issue),
    checks: checks.map(({ name, conclusion }) => `${name} ${conclusion}`),
    made: madeFor(github, threads),
  };
}

async function labelsOf(github: LocalGitHub, issue: number): Promise<readonly string[]> {
  const found = await github
    .as(OWNER)
    .request<{ readonly labels: readonly { readonly name: string }[] }>(
      'GET',
      `/repos/${PLACE.owner}/${PLACE.name}/issues/${issue}`,
    );
  return found.labels.map((label) => label.name).toSorted();
}

/** By what each changed: a second push of another commit would be a second entry of its log. */
async function branchesOf(github: LocalGitHub, issue: number): Promise<readonly string[]> {
  const git = simpleGit(github.directory(PLACE.owner, PLACE.name));
  const refs = (await git.raw('for-each-ref', '--format=%(refname)', `refs/heads/auto-dev/${issue}/`))
    .split('\n')
    .filter((ref) => ref !== '');
  return Promise.all(
    refs.map(async (ref) => {
      const entries = (await git.raw('reflog', 'show', '--format=%H', ref)).trim().split('\n');
      return `branch pushed ${entries.length} time${entries.length === 1 ? '' : 's'}`;
    }),
  );
}

interface Payload {
  readonly sender?: { readonly login?: string };
  readonly issue?: { readonly number: number };
  readonly pull_request?: { readonly number: number };
  readonly comment?: { readonly body: string };
  readonly label?: { readonly name: string };
}

/** Edits are left out: a status comment is edited as often as it takes. */
function madeFor(github: LocalGitHub, threads: readonly number[]): readonly string[] {
  return github.deliveries
    .flatMap(({ event, action, payload }) => {
      const { sender, label, comment, ...on } = payload as Payload;
      const thread = threads.indexOf((on.issue ?? on.pull_request)?.number ?? -1);
      if (sender?.login !== github.botLogin || action === 'edited' || thread < 0) return [];
      const what = label?.name ?? (comment && findMarker(comment.body)?.kind) ?? '';
      return [`${event} ${action} ${thread === 0 ? 'issue' : 'pull'} ${what}`.trim()];
    })
    .toSorted();
}

/** All of it where nobody was killed. */
export const CALM: Outcome = {
  runs: [
    {
      state: 'published',
      outcome: 'pull',
      decision: 'winner',
      trouble: null,
      winner: 'anthropic/scripted-heron',
    },
  ],
  candidates: ['A examined', 'B examined'],
  labels: ['auto-dev:done'],
  reactions: ['issues eyes', 'issues rocket'],
  comments: ['issue status', 'pull comparison'],
  pulls: ['open draft'],
  branches: ['branch pushed 1 time', 'branch pushed 1 time'],
  checks: ['auto-dev success'],
  made: [
    'issue_comment created issue status',
    'issue_comment created pull comparison',
    'issues labeled issue auto-dev:done',
    'issues labeled issue auto-dev:running',
    'issues unlabeled issue auto-dev',
    'issues unlabeled issue auto-dev:running',
    'pull_request opened pull',
  ],
};
