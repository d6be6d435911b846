import { findMarker } from '../../src/core/reports/index.ts';
import { ALICE, type Fixture } from './publishing-world.ts';

/** All that a run left, on GitHub and in the store. What differs from run to run is put the same. */
export interface Outcome {
  readonly state: string;
  readonly outcome: string;
  readonly path: readonly string[];
  readonly labels: readonly string[];
  readonly reactions: readonly string[];
  readonly branches: readonly string[];
  readonly pulls: readonly string[];
  /** Of the issue and of its pull requests, ours only. */
  readonly comments: readonly string[];
  readonly checks: readonly string[];
}

type Labels = { readonly labels: readonly { readonly name: string }[] };

export const pullsOf = async ({ shared, issue }: Fixture) =>
  (await shared.hub.github.as(ALICE).pulls(shared.hub.repository))
    .filter(({ head }) => head.ref.startsWith(`auto-dev/${issue}/`))
    .toSorted((a, b) => a.number - b.number);

/** Closes the pull requests of a run, because later runs in the same repository would name them. */
export async function closePulls(fixture: Fixture): Promise<void> {
  const { github, repository } = fixture.shared.hub;
  for (const { number } of await pullsOf(fixture)) await github.as(ALICE).closePull(repository, number);
}

/** Our comments on an issue or pull request, oldest first. */
export const commentsOn = async ({ shared }: Fixture, on: number) =>
  (await shared.hub.github.as(ALICE).comments(shared.hub.repository, on)).filter(
    ({ user }) => user.login === shared.hub.github.botLogin,
  );

export async function labelsOf({ shared, issue }: Fixture): Promise<readonly string[]> {
  const { owner, name } = shared.hub.repository;
  const path = `/repos/${owner}/${name}/issues/${issue}`;
  const found = await shared.hub.github.as(ALICE).request<Labels>('GET', path);
  return found.labels.map((label) => label.name).toSorted();
}

type Refs = readonly { readonly ref: string; readonly object: { readonly sha: string } }[];

interface CommitFacts {
  readonly sha: string;
  readonly tree: { readonly sha: string };
  readonly parents: readonly { readonly sha: string }[];
}

/** The branches of an issue's runs; `commits` on top of the base. */
export async function branchesOf({ shared, issue }: Fixture) {
  const { owner, name } = shared.hub.repository;
  const ask = <T>(path: string) =>
    shared.hub.github.as(ALICE).request<T>('GET', `/repos/${owner}/${name}/git/${path}`);
  const refs = await ask<Refs>(`matching-refs/heads/auto-dev/${issue}/`);
  const read = (sha: string) => ask<CommitFacts>(`commits/${sha}`);
  return Promise.all(
    refs.map(async ({ ref, object: { sha } }) => {
      let commit = await read(sha);
      const tree = commit.tree.sha;
      let commits = 0;
      for (; commit.sha !== shared.base; commits++) commit = await read(commit.parents[0]?.sha ?? '');
      return { branch: ref.replace('refs/heads/', ''), sha, tree, commits };
    }),
  );
}

export async function outcomeOf(fixture: Fixture): Promise<Outcome> {
  const { shared, store, runId, issue } = fixture;
  const { github, repository } = shared.hub;
  const run = await store.run(runId);
  const pulls = await pullsOf(fixture);
  const same = sameIn(
    fixture,
    pulls.map(({ number }) => number),
  );
  const threads = [issue, ...pulls.map(({ number }) => number)];
  const comments = (await Promise.all(threads.map((on) => github.as(ALICE).comments(repository, on)))).flat();
  const targets = new Set([
    ...threads.map((on) => `issues/${on}`),
    ...comments.map(({ id }) => `comments/${id}`),
  ]);
  const checks = await Promise.all(pulls.map(({ head }) => github.as(ALICE).checks(repository, head.sha)));
  const ours = comments.filter(({ user }) => user.login === github.botLogin);
  return {
    state: run?.state ?? 'unknown',
    outcome: same(JSON.stringify(run?.outcome ?? null)),
    path: (await store.transitions(runId)).map(({ to }) => to),
    labels: await labelsOf(fixture),
    reactions: github.reactions
      .filter(({ target }) => targets.has(target))
      .map(({ target, content }) => `${target.split('/')[0]} ${content}`)
      .toSorted(),
    branches: (await branchesOf(fixture)).map(
      ({ branch, tree, commits }) => `${same(branch)} ${tree} ${commits}`,
    ),
    pulls: pulls.map(({ title, body, state, draft, base }) =>
      same([title, state, draft ? 'draft' : 'ready', base.ref, body].join('\n')),
    ),
    comments: ours.map(({ body }) => same(body)).toSorted(),
    checks: checks
      .flat()
      .map(({ name, external_id, conclusion }) => same(`${name} ${external_id} ${conclusion}`)),
  };
}

/** What stands where, in a line for each comment. */
export const kindsOf = async (fixture: Fixture, on: number) =>
  (await commentsOn(fixture, on)).map(({ body }) => findMarker(body)?.kind ?? 'none');

/** Numbers and names that differ between two runs of one story, put the same. */
function sameIn({ runId, issue }: Fixture, pulls: readonly number[]): (text: string) => string {
  return (text) => {
    const named = text
      .replaceAll(runId, 'RUN')
      .replace(/issuecomment-\d+/g, 'issuecomment-N')
      .replace(/\b[0-9a-f]{40}\b/g, 'SHA')
      .replace(/c\d{1,12}(?= -->)/g, 'cN')
      .replaceAll(`auto-dev/${issue}/`, 'auto-dev/ISSUE/');
    const numbered = (all: string, number: number, name: string) =>
      all.replace(new RegExp(`(#|issues/|pull/|"number":)${number}\\b`, 'g'), `$1${name}`);
    return pulls.reduce(
      (all, number, at) => numbered(all, number, `PULL${at}`),
      numbered(named, issue, 'ISSUE'),
    );
  };
}
