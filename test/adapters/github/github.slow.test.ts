import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Violation } from '@runoff/local-github/contract';
import { expect, test } from 'vitest';
import { type GitHubWorld, git, openGitHubWorld } from '../../../packages/local-github/test/github-world.ts';
import type { ReactionTarget } from '../../../src/ports/index.ts';
import { type GitHubBench, githubContract } from '../../contracts/github.suite.ts';
import { appGitHub } from '../../world/app-github.ts';

const seen = new Set<string>();
const violations: Violation[] = [];

async function openBench(isPrivate: boolean): Promise<GitHubBench> {
  const world = await openGitHubWorld({ private: isPrivate });
  const { github: server, repository: at } = world;
  const alice = server.as('alice');
  let place = at;
  const account = async (login: string) => {
    const found = await alice.request('GET', `/users/${encodeURIComponent(login)}`);
    const { id } = found as { id: number };
    return { id, login };
  };
  const list = <T>(path: string) =>
    alice.request<readonly T[]>('GET', `/repos/${at.owner}/${at.name}${path}`);
  return {
    github: appGitHub(world),
    repository: server.handle(at.owner, at.name),
    isPrivate,
    cloneUrl: `${server.url}/alice/demo.git`,
    account,
    bot: () => account(server.botLogin),
    openIssue: (issue) => alice.openIssue(at, issue),
    comment: (login, issue, body) => server.as(login).comment(at, issue, body),
    labels: async (issue) =>
      (await list<{ name: string }>(`/issues/${issue}/labels`)).map(({ name }) => name),
    reactions: async (target) => {
      return (await list<{ content: string }>(`${pathOf(target)}/reactions`)).map(({ content }) => content);
    },
    push: (branch) => world.push(branch, { 'fix.txt': branch }, server.token('alice')),
    closePull: (number) => alice.closePull(at, number),
    mergePull: (number) => alice.mergePull(at, number),
    openPull: (head) =>
      server.as('bob').openPull(at, { head, base: 'main', title: `From ${head}`, body: 'By hand.' }),
    openForkPull: async () => {
      if (isPrivate) return null;
      const mallory = server.as('mallory');
      await mallory.push(await mallory.fork(at), { branch: 'gift', files: { 'gift.txt': 'x' } });
      return mallory.openPull(at, { head: 'mallory:gift', base: 'main', title: 'A gift' });
    },
    review: async (login, pull, body) => void (await server.as(login).review(at, pull, body)),
    commentOnLine: (login, pull, where, body) => server.as(login).commentOnLine(at, pull, { ...where, body }),
    check: async (sha, check) => void (await alice.check(at, sha, check)),
    status: (sha, status) => alice.status(at, sha, status),
    ownChecks: async (sha) =>
      (await alice.checks(at, sha)).flatMap((run) =>
        run.app?.id === server.appId
          ? [{ externalId: run.external_id, conclusion: run.conclusion, title: run.output.title }]
          : [],
      ),
    minimised: () => server.minimised.map(({ comment }) => comment),
    label: (login, issue, label) => server.as(login).addLabel(at, issue, label),
    unlabel: (issue, label) => alice.removeLabel(at, issue, label),
    closeIssue: (issue) => alice.closeIssue(at, issue),
    rename: async (name) => {
      await server.rename(place, name);
      place = { ...at, name };
    },
    archive: (archived) => server.setArchived(at, archived),
    suspend: (suspended) => (suspended ? server.suspend() : server.unsuspend()),
    install: (installed) => server.setInstalled(at, installed),
    setRole: (login, role) => server.setRole(at, login, role),
    tries: (password) => triesGit(world, password),
    close: async () => {
      await server.settled();
      violations.push(...world.contract.violations);
      for (const operation of world.contract.seen) seen.add(operation);
      await world.close();
    },
  };
}

const pathOf = (target: ReactionTarget): string => {
  if ('issue' in target) return `/issues/${target.issue}`;
  return 'comment' in target
    ? `/issues/comments/${target.comment}`
    : `/pulls/comments/${target.reviewComment}`;
};

async function triesGit(world: GitHubWorld, token: string) {
  const folder = await mkdtemp(join(tmpdir(), 'tries-'));
  const succeeds = (work: Promise<unknown>): Promise<boolean> =>
    work.then(
      () => true,
      () => false,
    );
  const remote = `${world.github.url}/alice/demo.git`;
  const fetch = await succeeds(git(folder, ['ls-remote', remote], token));
  const push = await succeeds(world.push(`auto-dev/try/${randomUUID()}`, { 'try.txt': 'x' }, token));
  await rm(folder, { recursive: true, force: true });
  return { fetch, push };
}

githubContract('a public repository on the local GitHub', () => openBench(false));
githubContract('a private repository on the local GitHub', () => openBench(true));

// The tests below come after both suites, so that nothing they did is left out.
test("no request, answer or webhook broke GitHub's own descriptions", () => {
  expect(violations).toEqual([]);
});

test('the checks saw every kind of call that the adapter makes', () => {
  expect([...seen]).toEqual(
    expect.arrayContaining([
      'apps/create-installation-access-token',
      'apps/get-authenticated',
      'apps/list-installations',
      'apps/list-repos-accessible-to-installation',
      'apps/revoke-installation-access-token',
      'checks/create',
      'checks/list-for-ref',
      'checks/update',
      'git/get-ref',
      'graphql/minimize-comment',
      'issues/add-labels',
      'issues/create-comment',
      'issues/create-label',
      'issues/get',
      'issues/get-comment',
      'issues/get-label',
      'issues/list-comments',
      'issues/list-events',
      'issues/list-for-repo',
      'issues/remove-label',
      'issues/update-comment',
      'pulls/create',
      'pulls/get',
      'pulls/list',
      'pulls/list-review-comments',
      'pulls/list-reviews',
      'pulls/update',
      'reactions/create-for-issue',
      'reactions/create-for-issue-comment',
      'reactions/create-for-pull-request-review-comment',
      'repos/get',
      'repos/get-collaborator-permission-level',
      'repos/get-combined-status-for-ref',
    ]),
  );
});
