import { describe, expect, test } from 'vitest';
import { openGitHubContract, type Violation } from './contract.ts';

const BASE = 'https://github.example/api/v3';

/** What the checks say about one call and its answer. */
async function judged(
  method: string,
  path: string,
  body?: unknown,
  answer: { status: number; body?: unknown } = { status: 500 },
): Promise<readonly Violation[]> {
  const contract = openGitHubContract();
  const server: typeof fetch = async () =>
    answer.body === undefined
      ? new Response(null, { status: answer.status })
      : Response.json(answer.body, { status: answer.status });
  const init = { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  await contract.watch(server, '/api/v3')(BASE + path, init);
  return contract.violations;
}

describe('requests', () => {
  test.each([
    ['GET', '/repos/a/b/issues/1/comments?per_page=100&page=2', undefined],
    ['GET', '/repos/a/b/pulls?state=all&head=a%3Ax&sort=created&direction=desc', undefined],
    ['POST', '/repos/a/b/issues/1/comments', { body: 'x' }],
    ['POST', '/repos/a/b/pulls', { head: 'x', base: 'main', title: 't', body: 'b', draft: true }],
    [
      'POST',
      '/app/installations/2/access_tokens',
      { repository_ids: [5], permissions: { contents: 'read' } },
    ],
    ['DELETE', '/installation/token', undefined],
    ['GET', '/repos/a/b/git/ref/heads%2Fa%2Fb', undefined],
    ['DELETE', '/repos/a/b/git/refs/heads%2Fa%2Fb', undefined],
  ])('%s %s fits', async (method, path, body) => {
    expect(await judged(method, path, body)).toEqual([]);
  });

  test.each([
    [
      'a value that is not listed',
      'POST',
      '/repos/a/b/issues/1/reactions',
      { content: 'thumbsup' },
      /allowed values/,
    ],
    ['a missing field', 'POST', '/repos/a/b/pulls', { head: 'x' }, /required property 'base'/],
    ['a misspelt field', 'POST', '/repos/a/b/issues/1/comments', { body: 'x', boddy: 1 }, /\(boddy\)/],
    ['another type', 'POST', '/repos/a/b/issues/1/comments', { body: 5 }, /must be string/],
    ['no body', 'POST', '/repos/a/b/issues/1/comments', undefined, /must be object/],
    ['a body where none belongs', 'DELETE', '/installation/token', { x: 1 }, /takes no body/],
    ['a number that is none', 'POST', '/repos/a/b/issues/one/comments', { body: 'x' }, /must be integer/],
    [
      'an unknown query',
      'GET',
      '/repos/a/b/issues/1/comments?perpage=3',
      undefined,
      /unknown parameter perpage/,
    ],
    [
      'a right that does not exist',
      'POST',
      '/app/installations/2/access_tokens',
      { permissions: { contents: 'admin' } },
      /allowed values/,
    ],
    ['a call that we never make', 'DELETE', '/repos/a/b', undefined, /no such operation/],
  ])('%s does not fit', async (_what, method, path, body, message) => {
    const found = await judged(method, path, body);
    expect(found.length).toBeGreaterThan(0);
    expect(found.map((violation) => violation.message).join('\n')).toMatch(message);
  });
});

describe('answers', () => {
  const permission = (status: number, body?: unknown) =>
    judged('GET', '/repos/a/b/collaborators/c/permission', undefined, {
      status,
      ...(body === undefined ? {} : { body }),
    });

  test('that fit are let through unread by the check', async () => {
    const contract = openGitHubContract();
    const body = { permission: 'read', role_name: 'read', user: null };
    const watched = contract.watch(async () => Response.json(body));
    const answer = await watched('https://api.github.com/repos/a/b/collaborators/c/permission');
    expect(await answer.json()).toEqual(body);
    expect(contract.violations).toEqual([]);
    expect([...contract.seen]).toEqual(['repos/get-collaborator-permission-level']);
  });

  test('of another shape do not fit', async () => {
    expect(await permission(200, { permission: 'read' })).toMatchObject([
      { where: 'response 200', message: expect.stringContaining("'role_name'") },
      { where: 'response 200', message: expect.stringContaining("'user'") },
    ]);
  });

  test('that list pull requests may have labels without a description, as GitHub sends them', async () => {
    const label = {
      id: 1,
      node_id: 'L',
      url: 'x',
      name: 'bug',
      description: null,
      color: 'ffffff',
      default: true,
    };
    const found = await judged('GET', '/repos/a/b/pulls', undefined, {
      status: 200,
      body: [{ labels: [label] }],
    });
    expect(found.filter(({ message }) => message.includes('labels'))).toHaveLength(0);
    expect(found).toContainEqual(expect.objectContaining({ where: 'response 200' }));
  });

  test('with a success that GitHub does not describe do not fit', async () => {
    expect(await permission(204)).toMatchObject([{ message: 'undocumented status' }]);
    expect(await permission(200)).toMatchObject([{ message: 'the answer is not JSON' }]);
  });

  test('that refuse need not be described', async () => {
    expect(await permission(403, { message: 'No.' })).toEqual([]);
  });
});

describe('webhooks', () => {
  test('of another shape, and such that we do not expect, do not fit', () => {
    const contract = openGitHubContract();
    contract.webhook('issues', { action: 'labeled' });
    contract.webhook('issues', { action: 'pinned' });
    contract.webhook('push', {});
    expect(contract.violations).toContainEqual({
      operation: 'issues-labeled',
      where: 'webhook',
      message: "/ must have required property 'issue'",
    });
    expect(contract.violations.slice(-2)).toMatchObject([
      { operation: 'issues-pinned', message: 'no such webhook in the contract' },
      { operation: 'push', message: 'no such webhook in the contract' },
    ]);
  });
});
