import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GitHubWorld, openGitHubWorld } from '../../packages/local-github/test/github-world.ts';
import { classifyChanges, type HistoryChange } from '../../src/core/mining/index.ts';
import type { GitHub } from '../../src/ports/index.ts';
import { openIssues, stateTask } from '../../src/runs/arena/issue-text.ts';
import { appGitHub } from '../world/app-github.ts';

let world: GitHubWorld;
let github: GitHub;
let issues: Record<'list' | 'duration' | 'vague', number>;
/** Merged pull requests, with the commits that they were merged as. */
let closing: { readonly number: number; readonly sha: string };
let describing: { readonly number: number; readonly sha: string };

const BODY = 'An empty list prints "nothing to do".\n\n<!-- The tests call it nothingToDo. -->';

beforeAll(async () => {
  world = await openGitHubWorld({ private: true });
  const { github: server, repository: at } = world;
  const alice = server.as('alice');
  issues = {
    list: await alice.openIssue(at, { title: 'Empty lists print nothing', body: BODY }),
    duration: await alice.openIssue(at, { title: 'Durations need a unit', body: 'Read `5` as seconds.' }),
    vague: await alice.openIssue(at, { title: 'bug', body: '' }),
  };
  const merged = async (head: string, body: string) => {
    await world.push(head, { [`src/${head}.js`]: head }, server.token('alice'));
    const number = await alice.openPull(at, { head, base: 'main', title: `Do ${head}`, body });
    await alice.mergePull(at, number);
    const pull = await alice.request<{ merge_commit_sha: string }>(
      'GET',
      `/repos/alice/demo/pulls/${number}`,
    );
    return { number, sha: pull.merge_commit_sha };
  };
  closing = await merged('empty', `<!-- Fixes #${issues.vague} -->\nFixes #${issues.list}`);
  describing = await merged('units', 'Adds a branch for numbers, and calls `seconds` there.');
  github = appGitHub(world);
});
afterAll(() => world.close());

const change = (message: string, commit = 'a'.repeat(40)): HistoryChange => ({
  commit,
  parents: ['0'.repeat(40)],
  message,
  at: 0,
  files: [
    { path: 'src/list.js', status: 'M' },
    { path: 'test/list.test.js', status: 'A' },
  ],
});
const origin = () => `${world.github.url}/Alice/demo.git`;

/** What says the task of a change. */
async function stated(
  message: string,
  { commit, app = github, remote = origin() }: { commit?: string; app?: GitHub | null; remote?: string } = {},
) {
  const one = change(message, commit);
  const ports = { githubUrl: world.github.url, ...(app ? { github: app } : {}) };
  const access = await openIssues(ports, remote, [one]);
  const [found] = classifyChanges([one], access.kind === 'open' ? access.repository : null);
  if (found?.kind !== 'found') return found?.why;
  const result = await stateTask(access, found.found);
  if (result.kind === 'unstated') return result.why;
  const { statement, title, issue } = result.mined;
  return { source: result.source, statement, title, issue };
}

const LIST = 'Empty lists print nothing\n\nAn empty list prints "nothing to do".\n\n(…)';

test('the issue that a commit closes says the task, as people see it', async () => {
  const text = { source: 'issue', statement: LIST, title: 'Empty lists print nothing' };
  expect(await stated(`fix\n\nFixes #${issues.list}`)).toEqual({ ...text, issue: `#${issues.list}` });
  expect(await stated(`List: add a branch (#${issues.list})`)).toMatchObject(text);
});

test('the issue that the pull request closes says the task, and its own text never does', async () => {
  const { number, sha: commit } = closing;
  const title = `Merge pull request #${number} from alice/empty`;
  expect(await stated(title, { commit })).toMatchObject({ source: 'issue', issue: `#${issues.list}` });
  const message = `Durations without a unit are seconds (#${describing.number})`;
  expect(await stated(message, { commit: describing.sha })).toEqual({
    source: 'message',
    statement: 'Durations without a unit are seconds',
    title: 'Durations without a unit are seconds',
    issue: `#${describing.number}`,
  });
});

test('several issues say one task together, too many do not', async () => {
  const both = `Lists and durations\n\nFixes #${issues.list}, fixes #${issues.duration}`;
  expect(await stated(both)).toMatchObject({
    source: 'issue',
    statement: `${LIST}\n\nDurations need a unit\n\nRead \`5\` as seconds.`,
    issue: `#${issues.list}, #${issues.duration}`,
  });
  const many = 'Lists print something\n\nFixes #1, fixes #2, fixes #3, fixes #4';
  expect(await stated(many)).toMatchObject({
    source: 'too-many',
    statement: expect.stringMatching(/^Lists/),
  });
});

test.each([
  ['unreadable', 'Empty lists print something\n\nFixes #999'],
  ['message', 'Empty lists print something\n\nFixes other/demo#1'],
  ['message', 'Empty lists print something'],
])('%s: %j is stated by its message', async (source, message) => {
  expect(await stated(message)).toMatchObject({ source, title: 'Empty lists print something' });
});

test('a number that means a pull request of another change is not followed', async () => {
  const message = `Empty lists print something (#${closing.number})`;
  expect(await stated(message)).toMatchObject({ source: 'other-pull' });
  const closes = `Empty lists print something\n\nFixes #${closing.number}`;
  expect(await stated(closes)).toMatchObject({ source: 'message' });
});

test('a message and an issue that both say nothing make no task', async () => {
  expect(await stated(`fix\n\nFixes #${issues.vague}`)).toBe(
    'The message says nothing about the task, and the text of the issue says nothing.',
  );
  expect(await stated('Fixes #999')).toBe(
    'The message says nothing about the task, and the issue is gone, or may not be read.',
  );
});

test('without an App, without access and on another server the message says the task', async () => {
  const message = `Empty lists print something\n\nFixes #${issues.list}`;
  expect(await stated(message, { app: null })).toMatchObject({ source: 'no-app' });
  expect(await stated(`Fixes #${issues.list}`, { app: null })).toBe('no-statement');
  const elsewhere = await stated(message, { remote: `${world.github.url}/alice/other.git` });
  expect(elsewhere).toMatchObject({ source: 'no-access' });
  expect(await stated(message, { remote: 'https://gitlab.com/alice/demo.git' })).toMatchObject({
    source: 'message',
  });
  world.github.faults.add({ method: 'GET', path: /^\/app\/installations/, status: 403, times: 5 });
  expect(await stated(message)).toMatchObject({ source: 'no-access' });
  world.github.faults.clear();
});

test('a GitHub that does not answer is no reason to take the message', async () => {
  const message = `Empty lists print something\n\nFixes #${issues.list}`;
  world.github.faults.add({ method: 'GET', path: /\/issues\/\d+$/, status: 502, times: 20 });
  await expect(stated(message)).rejects.toMatchObject({ code: 'GITHUB_UNAVAILABLE' });
  world.github.faults.clear();
  expect(await stated(message)).toMatchObject({ source: 'issue' });
});

test('GitHub is not asked if no message names an issue', async () => {
  const broken = { ...github, repositories: () => Promise.reject(new Error('asked')) };
  expect(await stated('Empty lists print something', { app: broken })).toMatchObject({ source: 'message' });
});

test("no request broke GitHub's own descriptions", () => {
  expect(world.contract.violations).toEqual([]);
});
