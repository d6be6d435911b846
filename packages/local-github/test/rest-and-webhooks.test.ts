import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Delivery } from '../src/index.ts';
import { type GitHubWorld, openGitHubWorld } from './github-world.ts';

interface Received {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

let world: GitHubWorld;
let stop: () => Promise<void>;
let hookUrl: string;
const received: Received[] = [];
let answerWith = 200;

beforeAll(async () => {
  const server = createServer((request, answer) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(parts).toString() });
      answer.writeHead(answerWith).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  hookUrl = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/`;
  stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  world = await openGitHubWorld();
  world.deliverTo(hookUrl);
});
afterAll(async () => {
  await world.close();
  await stop();
});

/** The webhooks that an action causes, once all have been delivered. */
async function caused(action: () => Promise<unknown>): Promise<readonly Delivery[]> {
  await world.github.settled();
  const before = world.github.deliveries.length;
  await action();
  await world.github.settled();
  return world.github.deliveries.slice(before);
}
const names = (deliveries: readonly Delivery[]): string[] =>
  deliveries.map(({ event, action }) => `${event}.${action}`).sort();

describe('webhooks', () => {
  test('tell of a label that is put on an issue and taken off', async () => {
    const alice = world.github.as('alice');
    const issue = await alice.openIssue(world.repository, { title: 'Broken', body: 'It is.' });
    const [on, ...more] = await caused(() => alice.addLabel(world.repository, issue, 'auto-dev'));
    expect(more).toEqual([]);
    expect(on).toMatchObject({
      event: 'issues',
      action: 'labeled',
      status: 200,
      redelivery: false,
      payload: {
        label: { name: 'auto-dev', id: expect.any(Number) },
        issue: { number: issue, title: 'Broken', body: 'It is.', labels: [{ name: 'auto-dev' }] },
        repository: { id: world.github.handle('alice', 'demo').repositoryId, full_name: 'alice/demo' },
        sender: { login: 'alice', id: expect.any(Number), type: 'User' },
        installation: { id: world.github.installationId },
      },
    });
    const off = await caused(() => alice.removeLabel(world.repository, issue, 'auto-dev'));
    expect(off).toMatchObject([
      { event: 'issues', action: 'unlabeled', payload: { label: { name: 'auto-dev' } } },
    ]);
  });

  test('of a new issue with labels come one by one', async () => {
    const labels = ['bug', 'auto-dev'];
    const all = await caused(() =>
      world.github.as('bob').openIssue(world.repository, { title: 'x', labels }),
    );
    expect(names(all)).toEqual(['issues.labeled', 'issues.labeled', 'issues.opened']);
  });

  test('tell who commented, and on what', async () => {
    const issue = await world.github.as('alice').openIssue(world.repository, { title: 'Talk' });
    const [comment] = await caused(() =>
      world.github.as('mallory').comment(world.repository, issue, '/auto-dev cancel'),
    );
    expect(comment).toMatchObject({
      event: 'issue_comment',
      action: 'created',
      payload: {
        comment: { body: '/auto-dev cancel', author_association: 'NONE', performed_via_github_app: null },
        issue: { number: issue },
        sender: { login: 'mallory', type: 'User' },
      },
    });
    expect(comment?.payload.issue).not.toHaveProperty('pull_request');
  });

  test('of an edited comment tell what it said before', async () => {
    const alice = world.github.as('alice');
    const issue = await alice.openIssue(world.repository, { title: 'Talk' });
    const id = await alice.comment(world.repository, issue, 'first');
    const path = `/repos/alice/demo/issues/comments/${id}`;
    const [edited] = await caused(() => alice.request('PATCH', path, { body: 'second' }));
    expect(edited).toMatchObject({
      action: 'edited',
      payload: { comment: { body: 'second' }, changes: { body: { from: 'first' } } },
    });
  });

  test('follow the life of a pull request', async () => {
    const { github, repository } = world;
    const bob = github.as('bob');
    await world.push('feature', { 'feature.txt': '1' }, github.token('bob'));
    const body = { title: 'Feature', head: 'feature', base: 'main', body: 'text' };
    const [opened] = await caused(() => bob.request('POST', '/repos/alice/demo/pulls', body));
    expect(opened).toMatchObject({ event: 'pull_request', action: 'opened' });
    const number = Number(opened?.payload.number);

    const labelled = await caused(() => bob.addLabel(repository, number, 'auto-dev'));
    expect(names(labelled)).toEqual(['pull_request.labeled']);

    const [comment] = await caused(() => bob.comment(repository, number, 'On the pull request.'));
    expect(comment?.payload).toMatchObject({
      issue: { number, pull_request: { html_url: expect.any(String) } },
    });

    const [closed] = await caused(() => bob.closePull(repository, number));
    expect(closed).toMatchObject({
      event: 'pull_request',
      action: 'closed',
      payload: { number, pull_request: { merged: false, state: 'closed', head: { ref: 'feature' } } },
    });
  });

  test('are signed over the exact bytes, with the headers that GitHub sends', async () => {
    received.length = 0;
    const [delivery] = await caused(() =>
      world.github.as('alice').openIssue(world.repository, { title: 'Ünïcödé 🎉' }),
    );
    const [request] = received;
    const mac = createHmac('sha256', world.github.webhookSecret)
      .update(request?.body ?? '')
      .digest('hex');
    expect(request?.headers).toMatchObject({
      'x-hub-signature-256': `sha256=${mac}`,
      'x-github-event': 'issues',
      'x-github-delivery': delivery?.guid,
      'content-type': 'application/json',
    });
    expect(delivery?.guid).toMatch(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(request?.headers['user-agent']).toMatch(/^GitHub-Hookshot\//);
  });

  test('are sent again under the same GUID, and only on request', async () => {
    answerWith = 500;
    const [delivery] = await caused(() =>
      world.github.as('alice').openIssue(world.repository, { title: 'Lost' }),
    );
    answerWith = 200;
    received.length = 0;
    const again = await world.github.redeliver(delivery?.guid ?? '');
    expect(delivery).toMatchObject({ status: 500 });
    expect(again).toMatchObject({ guid: delivery?.guid, status: 200, redelivery: true });
    expect(received.map(({ headers }) => headers['x-github-delivery'])).toEqual([delivery?.guid]);
  });

  test('to an App that does not respond are recorded without an answer', async () => {
    world.deliverTo('http://127.0.0.1:9/');
    const [delivery] = await caused(() =>
      world.github.as('alice').openIssue(world.repository, { title: 'Nobody home' }),
    );
    world.deliverTo(hookUrl);
    expect(delivery).toMatchObject({ event: 'issues', status: 0 });
  });

  test('of a burst of writes are all delivered when it has settled', async () => {
    const alice = world.github.as('alice');
    const issue = await alice.openIssue(world.repository, { title: 'Burst' });
    const texts = Array.from({ length: 40 }, (_, i) => `comment ${i}`);
    const all = await caused(() =>
      Promise.all(texts.map((text) => alice.comment(world.repository, issue, text))),
    );
    const bodies = all.map(({ payload }) => (payload as { comment?: { body?: string } }).comment?.body);
    expect(bodies.sort()).toEqual([...texts].sort());
    expect(new Set(all.map(({ guid }) => guid)).size).toBe(texts.length);
  });
});

describe('rights', () => {
  test.each(['nonsense', 'ghs_unknown', 'eyJhbGciOiJub25lIn0.e30.'])(
    'the token %s identifies nobody',
    async (token) => {
      const headers = { authorization: `bearer ${token}` };
      for (const path of ['/repos/alice/demo', '/user', '/app']) {
        expect((await fetch(world.github.apiUrl + path, { headers })).status).toBe(401);
      }
    },
  );

  test('an outsider cannot label, and labels they open an issue with are dropped', async () => {
    const mallory = world.github.as('mallory');
    const issue = await mallory.openIssue(world.repository, { title: 'Me too', labels: ['auto-dev'] });
    const path = `/repos/alice/demo/issues/${issue}`;
    expect(await mallory.request('GET', path)).toMatchObject({ labels: [] });
    const labelling = mallory.addLabel(world.repository, issue, 'auto-dev');
    await expect(labelling).rejects.toMatchObject({ status: 403 });
    await world.github.as('tess').addLabel(world.repository, issue, 'auto-dev');
  });

  test("an outsider cannot edit others' comments or close their pull requests", async () => {
    const alice = world.github.as('alice');
    const mallory = world.github.as('mallory');
    const issue = await alice.openIssue(world.repository, { title: 'Mine' });
    const comment = await alice.comment(world.repository, issue, 'mine');
    const path = `/repos/alice/demo/issues/comments/${comment}`;
    await expect(mallory.request('PATCH', path, { body: 'theirs' })).rejects.toMatchObject({ status: 403 });
    await expect(mallory.closeIssue(world.repository, issue)).rejects.toMatchObject({ status: 403 });
  });

  test('a request under another host name gets nothing', async () => {
    const { request } = await import('node:http');
    const { port } = new URL(world.github.url);
    const status = await new Promise((resolve, reject) => {
      const options = {
        host: '127.0.0.1',
        port,
        path: '/repos/alice/demo',
        headers: { host: 'evil.example' },
      };
      request(options, (answer) => resolve(answer.resume().statusCode))
        .on('error', reject)
        .end();
    });
    expect(status).toBe(403);
  });

  test('nobody can post events for the App to believe', async () => {
    const forged = await fetch(`${world.github.url}/_hooks`, {
      method: 'POST',
      body: '{"action":"labeled"}',
    });
    expect(forged.status).toBe(404);
  });
});

describe('lists', () => {
  test('link to their next page under the base path that was asked', async () => {
    const alice = world.github.as('alice');
    const issue = await alice.openIssue(world.repository, { title: 'Pages' });
    for (const text of ['a', 'b', 'c']) await alice.comment(world.repository, issue, text);
    const headers = { authorization: `token ${world.github.token('alice')}` };
    const first = `${world.github.apiUrl}/repos/alice/demo/issues/${issue}/comments?per_page=2`;
    const link = (await fetch(first, { headers })).headers.get('link');
    const next = /<([^>]+)>; rel="next"/.exec(link ?? '')?.[1] ?? '';
    expect(next).toContain('/api/v3/repos/');
    expect(await (await fetch(next, { headers })).json()).toMatchObject([{ body: 'c' }]);
  });
});

describe('a read that is repeated', () => {
  const read = (who: string, path: string, known?: string) =>
    world.fetch(`${world.github.apiUrl}${path}`, {
      headers: {
        authorization: `token ${world.github.token(who)}`,
        ...(known === undefined ? {} : { 'if-none-match': known }),
      },
    });

  test('answers 304 without a body until something changes, and to the token that it was made for only', async () => {
    const path = '/repos/alice/demo/collaborators/tess/permission';
    const first = await read('alice', path);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^W\/"\w+"$/);
    const again = await read('alice', path, `"other", ${etag}`);
    expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, etag, '']);
    expect((await read('bob', path, etag)).status).toBe(200);

    await world.github.setRole(world.repository, 'tess', 'push');
    const changed = await read('alice', path, etag);
    expect([changed.status, ((await changed.json()) as { permission: string }).permission]).toEqual([
      200,
      'write',
    ]);
    await world.github.setRole(world.repository, 'tess', 'triage');
    expect((await read('alice', path, etag)).status).toBe(304);
  });

  test('is refused as before: only a success can have stayed the same', async () => {
    const missing = await read('alice', '/repos/alice/demo/issues/4711', 'W/"x"');
    expect([missing.status, missing.headers.get('etag')]).toEqual([404, null]);
  });
});

describe('pages', () => {
  const page = async (path: string) => {
    const answer = await fetch(world.github.url + path);
    return { answer, text: await answer.text() };
  };

  test('show an issue with what was said, as text', async () => {
    const alice = world.github.as('alice');
    const title = '<script>alert(1)</script>';
    const issue = await alice.openIssue(world.repository, {
      title,
      body: '<img src=x onerror=alert(2)> & "quotes"',
      labels: ['</style><b>'],
    });
    await world.github.as('mallory').comment(world.repository, issue, "</pre><a href='javascript:x'>");
    const { answer, text } = await page(`/alice/demo/issues/${issue}`);
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(text).toContain('&lt;img src=x onerror=alert(2)&gt; &amp; &quot;quotes&quot;');
    expect(text).toContain('&lt;/pre&gt;&lt;a href=&#39;javascript:x&#39;&gt;');
    expect(text.match(/<(?:script|img|b)\b/)).toBeNull();
  });

  test('lead from the repository to its issues and pull requests', async () => {
    const issue = await world.github.as('alice').openIssue(world.repository, { title: 'Find me' });
    await world.push('shown', { 'shown.txt': '1' }, world.github.token('bob'));
    const pull = await world.github.as('bob').request('POST', '/repos/alice/demo/pulls', {
      title: 'Show me',
      head: 'shown',
      base: 'main',
      draft: true,
    });
    const number = (pull as { number: number }).number;
    expect((await page('/')).text).toContain('href="/alice/demo"');
    const { text } = await page('/alice/demo');
    expect(text).toContain(`href="/alice/demo/issues/${issue}">#${issue} Find me`);
    expect(text).toContain(`href="/alice/demo/pull/${number}">#${number} Show me`);
    expect((await page(`/alice/demo/pull/${number}`)).text).toContain('draft open shown → main');
  });

  test('of what is not there are not found', async () => {
    expect((await page('/alice/demo/issues/4711')).answer.status).toBe(404);
    expect((await page('/alice/other')).answer.status).toBe(404);
  });
});

test("all requests, answers and webhooks match GitHub's own descriptions", async () => {
  await world.github.settled();
  expect(world.contract.violations).toEqual([]);
});
