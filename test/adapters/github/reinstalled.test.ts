import { describe, expect, test } from 'vitest';
import { openGitHub } from '../../../src/adapters/github/index.ts';
import { newAppKey } from '../../world/app-key.ts';
import { silent } from '../../world/silent-log.ts';

const API = 'https://api.github.com';
/** As the origin of a run has it: the installation, and the name, that the repository had then. */
const HANDLE = { installationId: 2, repositoryId: 5, owner: 'o', name: 'r' };
const ISSUE = {
  number: 7,
  title: 'Broken',
  state: 'open',
  locked: false,
  labels: [],
  user: { id: 9, login: 'alice', type: 'User' },
};
const privateKey = newAppKey();

interface Now {
  /** The installation through which the App reaches the repository; null: none. */
  readonly installation: number | null;
  /** Repositories of each installation; one that is missing does not exist any more. */
  readonly repositories: Readonly<Record<number, readonly number[]>>;
  readonly fullName: string;
}

/** A GitHub where the App was installed again, or the repository moved. Counts the calls. */
function githubNow({ installation, repositories, fullName }: Now) {
  const asked: string[] = [];
  const answer = (status: number, body: unknown = { message: 'Not Found' }) =>
    Response.json(body, { status });
  const mint = (id: number, body: unknown): Response => {
    const reachable = repositories[id];
    if (!reachable) return answer(404);
    const { repository_ids: wanted } = JSON.parse(String(body)) as { repository_ids: number[] };
    return wanted.every((one) => reachable.includes(one))
      ? answer(201, { token: `ghs_${id}`, expires_at: '2099-01-01T00:00:00Z' })
      : answer(422, { message: 'It is not accessible.' });
  };
  const asInstallation = (path: string): Response => {
    const facts = { private: false, archived: false, default_branch: 'main', html_url: 'https://github.com' };
    if (path === '/repositories/5') return answer(200, { id: 5, full_name: fullName, ...facts });
    return path === `/repos/${fullName}/issues/7` ? answer(200, ISSUE) : answer(404);
  };
  const responseTo = (path: string, { headers, body }: RequestInit): Response => {
    const by = new Headers(headers).get('authorization') ?? '';
    const minting = /^\/app\/installations\/(\d+)\/access_tokens$/.exec(path)?.[1];
    if (minting !== undefined) return mint(Number(minting), body);
    if (path === '/repositories/5/installation' && by.startsWith('bearer eyJ'))
      return installation === null
        ? answer(404)
        : answer(200, { id: installation, created_at: '2026-01-01T00:00:00Z', suspended_at: null });
    return by === `token ghs_${installation}` ? asInstallation(path) : answer(401);
  };
  const github = openGitHub({
    appId: 1,
    privateKey,
    apiUrl: API,
    gitUrl: 'https://github.com',
    throttle: false,
    backOffMs: 1,
    log: silent,
    fetch: async (input, init = {}) => {
      const path = String(input).slice(API.length);
      asked.push(`${init.method} ${path}`);
      return responseTo(path, init);
    },
  });
  return { github, asked };
}

describe('a repository that an earlier run reached through another installation', () => {
  test.each([
    ['after the App was removed and installed again', { 8: [5] }, 'o/r'],
    ['after it moved to an account with the App', { 2: [4], 8: [5] }, 'other/r'],
    ['after it moved and the former account removed the App', { 8: [5, 6] }, 'other/renamed'],
  ])('is read and written %s', async (_, repositories, fullName) => {
    const { github, asked } = githubNow({ installation: 8, repositories, fullName });
    const reader = await github.reader(HANDLE);
    expect(await reader.issue(7)).toMatchObject({ number: 7, title: 'Broken' });
    const publisher = await github.publisher(HANDLE);
    await publisher.close();
    // The token is kept: a second read does not look again.
    const before = asked.length;
    await reader.issue(7);
    expect(asked.slice(before)).toEqual([`GET /repos/${fullName}/issues/7`]);
  });

  test.each([
    ['the App is installed nowhere', null, {}],
    ['its installation is the one that was refused', 2, {}],
    ['its installation is without this repository', 8, { 8: [6] }],
  ])('is refused while %s', async (_, installation, repositories) => {
    const { github } = githubNow({ installation, repositories, fullName: 'o/r' });
    const refused = { code: 'GITHUB_REFUSED', message: expect.stringContaining('give a token for o/r') };
    await expect((await github.reader(HANDLE)).issue(7)).rejects.toMatchObject(refused);
    await expect(github.publisher(HANDLE)).rejects.toMatchObject(refused);
  });
});
