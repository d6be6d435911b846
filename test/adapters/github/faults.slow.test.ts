import nock from 'nock';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { tokenTimeError } from '../../../packages/local-github/src/emulator.ts';
import { type GitHubOptions, openGitHub } from '../../../src/adapters/github/index.ts';
import { Fault } from '../../../src/core/model/index.ts';
import type { Log } from '../../../src/ports/index.ts';
import { newAppKey } from '../../world/app-key.ts';
import { tried } from '../../world/tried.ts';

// What GitHub does on a bad day, replayed on intercepted requests: nothing here reaches a network.

const API = 'https://api.github.com';
const READ_TOKEN = 'ghs_readreadreadreadreadreadreadread0001';
const WRITE_TOKEN = 'ghs_writewritewritewritewritewrite00001';
const HANDLE = { installationId: 2, repositoryId: 5, owner: 'o', name: 'r' };
const READER_NEEDS = { contents: 'read', issues: 'read', metadata: 'read', pull_requests: 'read' };
const READER_RIGHTS = { ...READER_NEEDS, checks: 'read', statuses: 'read' };
const PUBLISHER_NEEDS = { contents: 'write', issues: 'write', pull_requests: 'write' };
const PUBLISHER_RIGHTS = { ...PUBLISHER_NEEDS, checks: 'write' };
const REPOSITORY = {
  id: 5,
  full_name: 'o/r',
  private: false,
  archived: false,
  default_branch: 'main',
  html_url: 'https://github.com/o/r',
};

const privateKey = newAppKey();

const logged: unknown[] = [];
const log: Log = {
  info: (...line) => void logged.push(line),
  warn: (...line) => void logged.push(line),
  error: (...line) => void logged.push(line),
  within: (_fields, work) => work(),
};

const open = (options: Partial<GitHubOptions> = {}) =>
  openGitHub({
    appId: 1,
    privateKey,
    apiUrl: API,
    gitUrl: 'https://github.com',
    throttle: false,
    backOffMs: 1,
    log,
    ...options,
  });

const minted = (token: string) => ({
  token,
  expires_at: new Date(Date.now() + 3_600_000).toISOString(),
  permissions: {},
});
const mints = (token: string, rights: Record<string, string>, times = 1) =>
  nock(API)
    .post('/app/installations/2/access_tokens', { repository_ids: [5], permissions: rights })
    .matchHeader('authorization', /^bearer eyJ/)
    .times(times)
    .reply(201, minted(token));

async function reader(options: Partial<GitHubOptions> = {}) {
  mints(READ_TOKEN, READER_RIGHTS);
  return open(options).reader(HANDLE);
}
async function publisher(options: Partial<GitHubOptions> = {}) {
  mints(WRITE_TOKEN, PUBLISHER_RIGHTS);
  return open(options).publisher(HANDLE);
}

const ISSUE = {
  number: 7,
  title: 'Broken',
  body: null,
  state: 'open',
  locked: false,
  labels: [],
  user: { id: 9, login: 'alice', type: 'User' },
};
const COMMENT = {
  id: 12,
  node_id: 'IC_12',
  user: { id: 99, login: 'auto-dev[bot]', type: 'Bot' },
  author_association: 'NONE',
  body: 'hello',
  html_url: 'https://github.com/o/r/issues/7#issuecomment-12',
  performed_via_github_app: { id: 1 },
  created_at: '2026-01-02T03:04:05Z',
  updated_at: '2026-01-02T03:04:05Z',
};
const ISSUE_PATH = '/repos/o/r/issues/7';
const COMMENTS_PATH = '/repos/o/r/issues/7/comments';

beforeAll(() => {
  // Another file of this process may have put back what it changes.
  if (!nock.isActive()) nock.activate();
  nock.disableNetConnect();
});
beforeEach(() => {
  logged.length = 0;
  // Whoever reads or writes asks first what the repository is called now.
  nock(API).persist().get('/repositories/5').optionally().reply(200, REPOSITORY);
  // Whoever is refused a token asks whether the App has another installation there.
  nock(API).persist().get('/repositories/5/installation').optionally().reply(404, { message: 'Not Found' });
});
afterEach(() => {
  const unused = nock.pendingMocks();
  nock.cleanAll();
  expect(unused).toEqual([]);
});
afterAll(() => {
  nock.enableNetConnect();
  nock.restore();
});

describe('an expired process', () => {
  test('writes nothing and gets no token to push with; it may still read', async () => {
    const bot = await publisher({
      fence: { check: () => Promise.reject(new Fault('EXECUTOR_EXPIRED', 'Others have taken over.')) },
    });
    // No write is expected here, so that one that went out would be another fault.
    await expect(bot.comment(7, 'hello')).rejects.toMatchObject({ code: 'EXECUTOR_EXPIRED' });
    await expect(bot.openDraftPull(PULL)).rejects.toMatchObject({ code: 'EXECUTOR_EXPIRED' });
    await expect(bot.credential()).rejects.toMatchObject({ code: 'EXECUTOR_EXPIRED' });
    nock(API).delete('/installation/token').reply(204);
    await bot.close();
  });
});

const PULL = { head: 'auto-dev/7/r1/A', base: 'main', title: 'A', body: '' };

describe('tokens', () => {
  test('are minted for one repository with exactly the rights of the role', async () => {
    const alice = await reader();
    nock(API).get(ISSUE_PATH).matchHeader('authorization', `token ${READ_TOKEN}`).reply(200, ISSUE);
    expect(await alice.issue(7)).toMatchObject({ title: 'Broken', body: '' });

    const bot = await publisher();
    nock(API)
      .post(COMMENTS_PATH, { body: 'hello' })
      .matchHeader('authorization', `token ${WRITE_TOKEN}`)
      .reply(201, COMMENT);
    expect(await bot.comment(7, 'hello')).toEqual({ id: 12, url: COMMENT.html_url });
    nock(API).delete('/installation/token').matchHeader('authorization', `token ${WRITE_TOKEN}`).reply(204);
    await bot.close();
  });

  test('serve all readers of a repository for 50 minutes, except fetches, which get a new one', async () => {
    let now = Date.now();
    const github = open({ now: () => now });
    nock(API).get(ISSUE_PATH).times(4).reply(200, ISSUE);
    mints(READ_TOKEN, READER_RIGHTS);
    await (await github.reader(HANDLE)).issue(7);
    await (await github.reader(HANDLE)).issue(7);
    now += 49 * 60_000;
    await (await github.reader(HANDLE)).issue(7);
    now += 60_000;
    mints(READ_TOKEN, READER_RIGHTS);
    await (await github.reader(HANDLE)).issue(7);
    mints('ghs_fresh', READER_RIGHTS);
    expect(await (await github.reader(HANDLE)).credential()).toEqual({
      username: 'x-access-token',
      password: 'ghs_fresh',
    });
  });

  test('are minted anew when GitHub stops taking them, but only once; then that is an outage', async () => {
    const alice = await reader();
    nock(API).get(ISSUE_PATH).matchHeader('authorization', `token ${READ_TOKEN}`).reply(401, {
      message: 'Bad credentials',
    });
    mints('ghs_second', READER_RIGHTS);
    nock(API).get(ISSUE_PATH).matchHeader('authorization', 'token ghs_second').twice().reply(200, ISSUE);
    await alice.issue(7);
    await alice.issue(7);

    nock(API).get(ISSUE_PATH).twice().reply(401, { message: 'Bad credentials' });
    mints('ghs_third', READER_RIGHTS);
    await expect(alice.issue(7)).rejects.toMatchObject({
      code: 'GITHUB_UNAVAILABLE',
      message: 'GitHub answered 401 when asked to read issue #7: Bad credentials',
    });
  });

  test('with rights that the App lacks are rejected before anything is published', async () => {
    nock(API)
      .post('/app/installations/2/access_tokens')
      .twice()
      .reply(422, { message: 'The permissions requested are not granted to this installation.' });
    await expect(open().publisher(HANDLE)).rejects.toMatchObject({
      code: 'GITHUB_REFUSED',
      message: expect.stringContaining('not granted to this installation'),
    });
  });

  test.each([
    ['suspended', 403, 'This installation has been suspended', 'GITHUB_REFUSED'],
    ['removed', 404, 'Not Found', 'GITHUB_REFUSED'],
    // A wrong key, or GitHub cannot check keys: which of both is not known.
    ['unknown', 401, 'A JSON web token could not be decoded', 'GITHUB_UNAVAILABLE'],
  ])('of an App that is %s are rejected at once and requested once', async (_what, status, message, code) => {
    nock(API).post('/app/installations/2/access_tokens').reply(status, { message });
    const alice = await open().reader(HANDLE);
    await expect(alice.issue(7)).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
    nock(API).post('/app/installations/2/access_tokens').reply(status, { message });
    await expect(open().publisher(HANDLE)).rejects.toMatchObject({ code });
  });

  test('are requested without checks if those were never granted, which is logged once', async () => {
    const refuse = (permissions: Record<string, string>) =>
      nock(API)
        .post('/app/installations/2/access_tokens', { repository_ids: [5], permissions })
        .reply(422, { message: 'The permissions requested are not granted to this installation.' });
    const github = open();
    refuse(PUBLISHER_RIGHTS);
    mints(WRITE_TOKEN, PUBLISHER_NEEDS);
    const bot = await github.publisher(HANDLE);
    const check = { headSha: 'a'.repeat(40), externalId: 'r1', title: 'A wins', summary: '' } as const;
    await bot.showCheck({ ...check, conclusion: 'success' });
    refuse(READER_RIGHTS);
    mints(READ_TOKEN, READER_NEEDS);
    const alice = await github.reader(HANDLE);
    expect(await alice.failedChecks(check.headSha)).toEqual([]);
    nock(API).get(ISSUE_PATH).reply(200, ISSUE);
    await alice.issue(7);
    expect(logged).toEqual([[{}, expect.stringContaining('has not granted')]]);
  });

  test('of a publisher are minted anew when GitHub stops taking them, but only once; then that is an outage', async () => {
    const bot = await publisher();
    nock(API).post(COMMENTS_PATH).matchHeader('authorization', `token ${WRITE_TOKEN}`).reply(401, {
      message: 'Bad credentials',
    });
    mints('ghs_second', PUBLISHER_RIGHTS);
    nock(API).post(COMMENTS_PATH).matchHeader('authorization', 'token ghs_second').reply(201, COMMENT);
    await bot.comment(7, 'hello');

    nock(API).post(COMMENTS_PATH).twice().reply(401, { message: 'Bad credentials' });
    mints('ghs_third', PUBLISHER_RIGHTS);
    await expect(bot.comment(7, 'hello')).rejects.toMatchObject({ code: 'GITHUB_UNAVAILABLE' });
    nock(API).delete('/installation/token').times(3).reply(204);
    await bot.close();
  });

  test("are signed 30 s in the past, and once more by GitHub's clock if the local one is wrong", async () => {
    const issuedAt = (header: unknown): number => {
      const claims = Buffer.from(String(header).split('.')[1] ?? '', 'base64url').toString();
      return Number((JSON.parse(claims) as { iat: number }).iat);
    };
    const anHourAgo = Date.now() - 3_600_000;
    const seen: number[] = [];
    const mint = () =>
      nock(API, {
        reqheaders: { authorization: (value) => seen.push(issuedAt(value)) > 0 },
      }).post('/app/installations/2/access_tokens');
    mint().reply(
      401,
      {
        message:
          "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
      },
      { date: new Date(anHourAgo).toUTCString() },
    );
    mint().reply(201, minted(READ_TOKEN));
    nock(API).get(ISSUE_PATH).reply(200, ISSUE);
    await (await open().reader(HANDLE)).issue(7);
    const now = Date.now() / 1000;
    expect(now - (seen[0] ?? 0)).toBeGreaterThanOrEqual(29);
    expect(now - (seen[0] ?? 0)).toBeLessThan(60);
    expect(now - (seen.at(-1) ?? 0)).toBeGreaterThanOrEqual(3_600);
  });

  test('that cannot be revoked do not fail the run', async () => {
    const bot = await publisher();
    nock(API).delete('/installation/token').reply(500, { message: 'boom' });
    await bot.close();
    expect(logged).toHaveLength(2);
  });

  test('that have expired are not given back', async () => {
    let now = Date.now();
    const bot = await publisher({ now: () => now });
    now += 3_600_000;
    // No request is expected, and one would be logged.
    await bot.close();
    expect(logged).toEqual([]);
  });

  test('need a key that can sign', async () => {
    const alice = await open({ privateKey: 'not a key' }).reader(HANDLE);
    await expect(alice.issue(7)).rejects.toMatchObject({ code: 'ENVIRONMENT_INVALID' });
  });

  test('never appear in faults or logs', async () => {
    const bot = await publisher();
    nock(API).post(COMMENTS_PATH).reply(502, `proxy says: authorization: token ${WRITE_TOKEN}`);
    nock(API)
      .post(COMMENTS_PATH)
      .reply(422, { message: `bad ${WRITE_TOKEN}`, errors: [WRITE_TOKEN] });
    nock(API).post(COMMENTS_PATH).replyWithError(`reset while sending ${WRITE_TOKEN}`);
    for (let i = 0; i < 3; i++) {
      const fault: unknown = await bot.comment(7, 'x').catch((error: unknown) => error);
      expect(fault).toBeInstanceOf(Error);
      expect(everythingIn(fault)).not.toContain(WRITE_TOKEN);
    }
    nock(API).delete('/installation/token').replyWithError(`reset ${WRITE_TOKEN}`);
    await bot.close();
    expect(everythingIn(logged)).not.toContain(WRITE_TOKEN);
    expect(everythingIn(logged)).toContain('502');
  });
});

/** All text in a value, also in properties that JSON leaves out, and in causes. */
function everythingIn(value: unknown, seen = new Set<unknown>()): string {
  if (typeof value !== 'object' || value === null) return String(value);
  if (seen.has(value)) return '';
  seen.add(value);
  const record = value as Record<string, unknown>;
  return Object.getOwnPropertyNames(value)
    .map((key) => `${key}=${everythingIn(record[key], seen)}`)
    .join(' ');
}

describe('server errors', () => {
  test('repeat a read until GitHub answers', async () => {
    const alice = await reader();
    nock(API).get(ISSUE_PATH).reply(500, { message: 'boom' });
    nock(API).get(ISSUE_PATH).reply(502, '<html>bad gateway</html>');
    nock(API)
      .get(ISSUE_PATH)
      .replyWithError(Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
    nock(API).get(ISSUE_PATH).reply(200, ISSUE);
    expect(await alice.issue(7)).toMatchObject({ number: 7 });
  });

  test('end a read after three repetitions', async () => {
    const alice = await reader();
    nock(API).get(ISSUE_PATH).times(4).reply(503, '');
    await expect(alice.issue(7)).rejects.toMatchObject({
      code: 'GITHUB_UNAVAILABLE',
      message: 'GitHub answered 503 when asked to read issue #7.',
    });
  });

  test('repeat the request of a token', async () => {
    nock(API).post('/app/installations/2/access_tokens').reply(502, '');
    const alice = await reader();
    nock(API).get(ISSUE_PATH).reply(200, ISSUE);
    expect(await alice.issue(7)).toMatchObject({ number: 7 });
  });

  // A second request would find no answer here, and be reported with another message.
  test.each([500, 502, 503, 504])('do not repeat a write that is answered %i', async (status) => {
    const bot = await publisher();
    nock(API).post(COMMENTS_PATH).reply(status, {});
    await expect(bot.comment(7, 'x')).rejects.toMatchObject({
      code: 'GITHUB_UNAVAILABLE',
      message: `GitHub answered ${status} when asked to comment on #7.`,
    });
  });

  test('do not repeat a write whose connection breaks', async () => {
    tried({
      id: 'github-connection-breaks',
      part: 'GitHub is unavailable',
      what: 'The connection breaks during a write.',
      held: 'The write is sent once; Runoff looks for its marker to see whether it took effect.',
    });
    const bot = await publisher();
    nock(API).post(COMMENTS_PATH).replyWithError('socket hang up');
    await expect(bot.comment(7, 'x')).rejects.toMatchObject({
      code: 'GITHUB_UNAVAILABLE',
      message: 'GitHub did not answer when asked to comment on #7: socket hang up.',
    });
  });
});

describe('a wrong clock of this machine', () => {
  const RealDate = Date;
  const realNow = () => RealDate.now();
  afterEach(() => {
    globalThis.Date = RealDate;
  });
  const set = (ms: number) => {
    class SetDate extends RealDate {
      constructor(...given: []) {
        super(...((given.length === 0 ? [SetDate.now()] : given) as []));
      }
      static override now() {
        return RealDate.now() + ms;
      }
    }
    globalThis.Date = SetDate as DateConstructor;
  };
  const HOUR = 60 * 60_000;

  test('that jumps an hour back, twice, and ahead does not delay calls', async () => {
    tried({
      id: 'github-clock',
      part: 'Clocks jump',
      what: 'The clock of the App’s machine jumps an hour back, two hours back and ahead again between calls to GitHub.',
      held: 'Issues are read and tokens requested at once, not an hour later.',
    });
    const github = open({ throttle: true });
    mints(READ_TOKEN, READER_RIGHTS);
    const alice = await github.reader(HANDLE);
    nock(API).get(ISSUE_PATH).times(4).reply(200, ISSUE);
    // By the clock that is set ahead the token is old.
    mints(READ_TOKEN, READER_RIGHTS);
    for (const offset of [0, -HOUR, -2 * HOUR, HOUR]) {
      set(offset);
      expect(await alice.issue(7)).toMatchObject({ number: 7 });
    }
    set(-HOUR);
    mints(WRITE_TOKEN, PUBLISHER_RIGHTS);
    const bot = await github.publisher(HANDLE);
    nock(API).post(COMMENTS_PATH).reply(201, COMMENT);
    await bot.comment(7, 'x');
  });

  test.each([
    ['ahead', HOUR],
    ['back', -HOUR],
  ])(
    "that is an hour %s makes GitHub reject a signature, which is repeated by GitHub's time",
    async (_, ms) => {
      tried({
        id: 'github-signature-clock',
        part: 'Clocks jump',
        what: 'The clock of the App’s machine is an hour ahead or behind when a token is requested.',
        held: 'GitHub rejects the signature; Runoff signs again with the time in GitHub’s answer.',
      });
      set(ms);
      const answers: number[] = [];
      const judged: typeof fetch = async (input, init) => {
        if (!String(input).endsWith('/access_tokens')) return fetch(input, init);
        const now = realNow() / 1000;
        const why = tokenTimeError(new Headers(init?.headers).get('authorization') ?? '', now);
        const [status, body] = why === null ? [201, minted(READ_TOKEN)] : [401, { message: why }];
        answers.push(status);
        return Response.json(body, { status, headers: { date: new Date(realNow()).toUTCString() } });
      };
      nock(API).get(ISSUE_PATH).reply(200, ISSUE);
      const alice = await open({ fetch: judged }).reader(HANDLE);
      expect(await alice.issue(7)).toMatchObject({ number: 7 });
      expect(answers).toEqual([401, 201]);
    },
  );
});

describe('rate limits', () => {
  const secondary = { message: 'You have exceeded a secondary rate limit.' };

  test('delay a read as long as GitHub asks, and repeat it', async () => {
    const alice = await reader({ throttle: true });
    nock(API).get(ISSUE_PATH).reply(403, secondary, { 'retry-after': '1' });
    nock(API).get(ISSUE_PATH).reply(200, ISSUE);
    expect(await alice.issue(7)).toMatchObject({ number: 7 });
  });

  test('repeat a read at most twice', async () => {
    const alice = await reader({ throttle: true });
    nock(API).get(ISSUE_PATH).times(3).reply(429, secondary, { 'retry-after': '1' });
    await expect(alice.issue(7)).rejects.toMatchObject({ code: 'GITHUB_UNAVAILABLE' });
  });

  test('do not repeat a write, and hold the next one until the time', async () => {
    const bot = await publisher({ throttle: true });
    nock(API).post(COMMENTS_PATH).reply(403, secondary, { 'retry-after': '3600' });
    const about = { code: 'GITHUB_UNAVAILABLE', message: expect.stringContaining('Try again after 20') };
    await expect(bot.comment(7, 'x')).rejects.toMatchObject(about);
    await expect(bot.comment(7, 'x')).rejects.toMatchObject(about);
  });

  test('delay a write that is requested again', async () => {
    const bot = await publisher({ throttle: true });
    nock(API).post(COMMENTS_PATH).reply(403, secondary, { 'retry-after': '1' });
    await expect(bot.comment(7, 'x')).rejects.toMatchObject({
      message: expect.stringContaining('rate limit is reached'),
    });
    nock(API).post(COMMENTS_PATH).reply(201, COMMENT);
    const from = performance.now();
    await bot.comment(7, 'x');
    // Timers may fire a little early.
    expect(performance.now() - from).toBeGreaterThan(800);
  });

  test('are reported with their end if they last an hour', async () => {
    const alice = await reader({ throttle: true });
    const reset = Math.ceil(Date.now() / 1000) + 1800;
    nock(API)
      .get(ISSUE_PATH)
      .reply(
        403,
        { message: 'API rate limit exceeded' },
        { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) },
      );
    await expect(alice.issue(7)).rejects.toMatchObject({
      code: 'GITHUB_UNAVAILABLE',
      message: expect.stringContaining(new Date(reset * 1000).toISOString()),
    });
  });
});

describe('a renamed repository', () => {
  const called = (fullName: string, times = 1) =>
    nock(API)
      .get('/repositories/5')
      .times(times)
      .reply(200, { ...REPOSITORY, full_name: fullName });
  const moved = { message: 'Moved Permanently', url: `${API}/repositories/5/issues/7` };

  beforeEach(() => nock.cleanAll());

  test('is found by its id', async () => {
    const alice = await reader();
    called('new-owner/new-name');
    nock(API).get('/repos/new-owner/new-name/issues/7').reply(200, ISSUE);
    expect(await alice.issue(7)).toMatchObject({ number: 7 });
  });

  test.each([301, 302, 307, 308, 404])('is found when the old name is answered %i', async (status) => {
    const alice = await reader();
    called('o/r');
    nock(API).get(ISSUE_PATH).reply(status, moved, { location: moved.url });
    called('o/new');
    nock(API).get('/repos/o/new/issues/7').reply(200, ISSUE);
    expect(await alice.issue(7)).toMatchObject({ number: 7 });
  });

  test('is written to once, under the new name', async () => {
    const bot = await publisher();
    called('o/r');
    nock(API)
      .post(COMMENTS_PATH)
      .reply(307, moved, { location: `${API}/repositories/5/issues/7/comments` });
    called('o/new');
    nock(API).post('/repos/o/new/issues/7/comments').reply(201, COMMENT);
    expect(await bot.comment(7, 'hello')).toMatchObject({ id: 12 });
  });

  test('that is gone is refused', async () => {
    const alice = await reader();
    nock(API).get('/repositories/5').twice().reply(404, { message: 'Not Found' });
    await expect(alice.issue(7)).rejects.toMatchObject({ code: 'GITHUB_REFUSED' });
    await expect(alice.findIssue(7)).rejects.toMatchObject({ code: 'GITHUB_REFUSED' });
  });

  test('that redirects in circles is rejected', async () => {
    const alice = await reader();
    called('o/r', 2);
    nock(API).get(ISSUE_PATH).reply(301, moved, { location: moved.url });
    await expect(alice.issue(7)).rejects.toMatchObject({ code: 'GITHUB_REFUSED' });
  });

  test('is looked up again after 10 minutes, because another repository may have taken the old name', async () => {
    let now = Date.now();
    const alice = await reader({ now: () => now });
    called('o/r');
    nock(API).get(ISSUE_PATH).reply(200, ISSUE);
    await alice.issue(7);
    now += 11 * 60_000;
    called('o/new');
    nock(API)
      .get('/repos/o/new/issues/7')
      .reply(200, { ...ISSUE, title: 'Ours' });
    expect(await alice.issue(7)).toMatchObject({ title: 'Ours' });
  });
});

describe('GraphQL', () => {
  const own = () => nock(API).get('/repos/o/r/issues/comments/12').reply(200, COMMENT);

  test('folds a comment by its GraphQL id', async () => {
    const bot = await publisher();
    own();
    nock(API)
      .post(
        '/graphql',
        ({ variables }) => variables.subjectId === 'IC_12' && variables.classifier === 'OUTDATED',
      )
      .reply(200, { data: { minimizeComment: { minimizedComment: { isMinimized: true } } } });
    await bot.minimise(12);
  });

  test('reports errors in an answer that claims success', async () => {
    const bot = await publisher();
    own();
    nock(API)
      .post('/graphql')
      .reply(200, { data: null, errors: [{ type: 'FORBIDDEN', message: 'Resource not accessible' }] });
    await expect(bot.minimise(12)).rejects.toMatchObject({
      code: 'GITHUB_REFUSED',
      message: 'GitHub refused to fold our comment: Resource not accessible',
    });
  });

  test('has rate limits too', async () => {
    const bot = await publisher();
    own();
    nock(API)
      .post('/graphql')
      .reply(200, { errors: [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded' }] });
    await expect(bot.minimise(12)).rejects.toMatchObject({ code: 'GITHUB_UNAVAILABLE' });
  });

  test('of GitHub Enterprise has an address of its own', async () => {
    nock('https://git.example.com')
      .post('/api/v3/app/installations/2/access_tokens')
      .reply(201, minted(WRITE_TOKEN))
      .get('/api/v3/repositories/5')
      .reply(200, REPOSITORY)
      .get('/api/v3/repos/o/r/issues/comments/12')
      .reply(200, COMMENT)
      .post('/api/graphql')
      .reply(200, { data: { minimizeComment: { minimizedComment: { isMinimized: true } } } });
    const github = open({ apiUrl: 'https://git.example.com/api/v3', gitUrl: 'https://git.example.com' });
    await (await github.publisher(HANDLE)).minimise(12);
  });
});

describe('refusals', () => {
  test("repeat GitHub's reason", async () => {
    const bot = await publisher();
    nock(API)
      .post('/repos/o/r/pulls', { head: 'auto-dev/7/A', base: 'main', title: 't', body: 'b', draft: true })
      .reply(422, {
        message: 'Validation Failed',
        errors: [
          { resource: 'PullRequest', code: 'custom', message: 'A pull request already exists for o:x.' },
        ],
        documentation_url: 'https://docs.github.com/rest',
      });
    const pull = { head: 'auto-dev/7/A', base: 'main', title: 't', body: 'b' };
    await expect(bot.openDraftPull(pull)).rejects.toMatchObject({
      code: 'GITHUB_REFUSED',
      message:
        'GitHub refused to open a draft pull request from auto-dev/7/A (422): Validation Failed; A pull request already exists for o:x.',
    });
  });

  test.each([403, 404, 410, 422])('do not repeat a read that is answered %i', async (status) => {
    const alice = await reader();
    nock(API).get(ISSUE_PATH).reply(status, { message: 'No.' });
    await expect(alice.issue(7)).rejects.toMatchObject({ code: 'GITHUB_REFUSED' });
  });

  test.each([301, 404, 410])('say with %i that an issue is gone', async (status) => {
    const alice = await reader();
    nock(API).get(ISSUE_PATH).reply(status, { message: 'No.' });
    expect(await alice.findIssue(7)).toBeNull();
  });

  test.each([
    [403, 'GITHUB_REFUSED'],
    [451, 'GITHUB_REFUSED'],
    [502, 'GITHUB_UNAVAILABLE'],
  ])('do not say with %i that an issue is gone', async (status, code) => {
    const alice = await reader();
    nock(API).get(ISSUE_PATH).times(4).optionally().reply(status, { message: 'No.' });
    await expect(alice.findIssue(7)).rejects.toMatchObject({ code });
    nock.cleanAll();
  });

  test('do not stop at a label that appeared in between', async () => {
    const bot = await publisher();
    nock(API).get('/repos/o/r/labels/auto-dev%3Arunning').reply(404, { message: 'Not Found' });
    nock(API).post('/repos/o/r/labels').reply(422, { message: 'Validation Failed' });
    nock(API)
      .post('/repos/o/r/issues/7/labels', { labels: ['auto-dev:running'] })
      .reply(200, []);
    await bot.setLabels(7, { add: ['auto-dev:running'], remove: [] });
  });

  test.each([
    ['another App', { ...COMMENT, performed_via_github_app: { id: 2 } }],
    ['a person', { ...COMMENT, performed_via_github_app: null }],
    ['nobody that GitHub names', { ...COMMENT, performed_via_github_app: undefined }],
  ])('protect a comment by %s from edits', async (_who, comment) => {
    const bot = await publisher();
    nock(API).get('/repos/o/r/issues/comments/12').reply(200, comment);
    await expect(bot.editComment(12, 'x')).rejects.toMatchObject({ code: 'INTERNAL' });
  });
});

describe('odd answers', () => {
  test.each([
    ['another shape', JSON.stringify({ hello: 1 })],
    ['a number for a title', JSON.stringify({ ...ISSUE, title: 5 })],
    ['a list', '[]'],
    ['half of it', '{"number": 7, "tit'],
    ['nothing', ''],
  ])('%s instead of an issue is a fault', async (_what, body) => {
    const alice = await reader();
    nock(API).get(ISSUE_PATH).reply(200, body, { 'content-type': 'application/json' });
    await expect(alice.issue(7)).rejects.toMatchObject({ code: 'GITHUB_UNAVAILABLE' });
  });

  test('an HTML page instead of an issue is a fault', async () => {
    const alice = await reader();
    nock(API).get(ISSUE_PATH).reply(200, '<html>', { 'content-type': 'text/html' });
    await expect(alice.issue(7)).rejects.toMatchObject({ code: 'GITHUB_UNAVAILABLE' });
  });

  test('a deleted author is shown as GitHub shows them', async () => {
    const alice = await reader();
    nock(API)
      .get(ISSUE_PATH)
      .reply(200, { ...ISSUE, user: null });
    expect((await alice.issue(7)).author).toEqual({ id: 0, login: 'ghost' });
  });

  test("a pull request from another repository is not taken for Runoff's", async () => {
    const alice = await reader();
    const pull = {
      number: 3,
      html_url: 'https://github.com/o/r/pull/3',
      draft: true,
      body: '',
      head: { ref: 'auto-dev/7/A', sha: 'a'.repeat(40), repo: { id: 5 } },
      base: { ref: 'main' },
    };
    nock(API)
      .get('/repos/o/r/pulls')
      .query(true)
      .reply(200, [
        { ...pull, number: 1, head: { ...pull.head, ref: 'other' } },
        { ...pull, number: 2, head: { ...pull.head, repo: { id: 6 } } },
        pull,
      ]);
    expect(await alice.pullByHead('auto-dev/7/A')).toMatchObject({ number: 3 });
    nock(API)
      .get('/repos/o/r/pulls')
      .query(true)
      .reply(200, [{ ...pull, head: { ...pull.head, repo: null } }]);
    expect(await alice.pullByHead('auto-dev/7/A')).toBeNull();
  });
});

describe('open pull requests', () => {
  const PULLS = '/repos/o/r/pulls';
  const FILES = `${PULLS}/3/files`;
  const listed = { number: 3, html_url: 'https://github.com/o/r/pull/3', draft: false, body: '' };
  const pull = {
    ...listed,
    head: { ref: 'topic', sha: 'a'.repeat(40), repo: { id: 5 } },
    base: { ref: 'main' },
  };
  const files = (count: number) => Array.from({ length: count }, (_, at) => ({ filename: `src/${at}.js` }));

  test('and their files cost none of the hour’s requests while nothing has changed', async () => {
    const github = await reader();
    nock(API).get(PULLS).query(true).reply(200, [pull], { etag: 'W/"1"' });
    nock(API).get(FILES).query(true).reply(200, files(2), { etag: 'W/"2"' });
    const read = async () => [await github.openPulls(), await github.pullFiles(3)];
    const first = await read();
    expect(first).toEqual([
      [{ number: 3, head: 'topic', headRepositoryId: 5 }],
      { files: ['src/0.js', 'src/1.js'], hasMore: false },
    ]);
    nock(API).get(PULLS).query(true).matchHeader('if-none-match', 'W/"1"').reply(304);
    nock(API).get(FILES).query(true).matchHeader('if-none-match', 'W/"2"').reply(304);
    expect(await read()).toEqual(first);
  });

  test('have more files only if GitHub names another page: a full page may be the last one', async () => {
    const github = await reader();
    nock(API).get(FILES).query(true).reply(200, files(100));
    expect(await github.pullFiles(3)).toMatchObject({ hasMore: false });
    const link = `<${API}${FILES}?page=2>; rel="next", <${API}${FILES}?page=3>; rel="last"`;
    nock(API).get(FILES).query(true).reply(200, files(100), { link });
    expect(await github.pullFiles(3)).toMatchObject({ hasMore: true });
  });
});

describe('permission', () => {
  const alice = { id: 9, login: 'alice' };
  const user = { id: 9, login: 'alice', type: 'User' };
  const asks = (answer: unknown, status = 200) =>
    nock(API)
      .get('/repos/o/r/collaborators/alice/permission')
      .reply(status, answer as nock.Body);

  test.each([
    [{ permission: 'admin', role_name: 'admin', user }, 'admin'],
    [{ permission: 'write', role_name: 'maintain', user }, 'maintain'],
    [{ permission: 'write', role_name: 'write', user }, 'write'],
    [{ permission: 'write', role_name: 'release-crew', user }, 'write'],
    [{ permission: 'write', user }, 'write'],
    [{ permission: 'read', role_name: 'triage', user }, 'triage'],
    [{ permission: 'read', role_name: 'read', user }, 'read'],
    // A role of an organisation may be called anything; the base permission decides.
    [{ permission: 'read', role_name: 'admin', user }, 'read'],
    [{ permission: 'none', role_name: 'admin', user }, 'none'],
    [{ permission: 'superuser', role_name: 'admin', user }, 'none'],
    [{ permission: 'admin', role_name: 'admin', user: { ...user, id: 10 } }, 'none'],
    [{ permission: 'admin', role_name: 'admin', user: { ...user, type: 'Bot' } }, 'none'],
    [{ permission: 'admin', role_name: 'admin', user: { ...user, type: 'Organization' } }, 'none'],
    [{ permission: 'admin', role_name: 'admin', user: null }, 'none'],
    [{ permission: 'admin', role_name: 'admin' }, 'none'],
  ])('%j is %s', async (answer, permission) => {
    const github = await reader();
    asks(answer);
    expect(await github.permission(alice)).toBe(permission);
  });

  test.each([
    [500, {}],
    [404, { message: 'alice is not a user' }],
    [403, { message: 'Resource not accessible by integration' }],
    [200, { permission: 5 }],
    [200, 'yes'],
  ])('an answer %i %j is never a permission', async (status, answer) => {
    const github = await reader();
    const times = status === 500 ? 4 : 1;
    for (let i = 0; i < times; i++) asks(answer, status);
    await expect(github.permission(alice)).rejects.toThrow();
  });

  describe('asked again', () => {
    const PATH = '/repos/o/r/collaborators/alice/permission';
    const level = (permission: string, id = 9) => ({
      permission,
      role_name: permission,
      user: { ...user, id },
    });
    const asksWith = (etag: string, token = READ_TOKEN) =>
      nock(API).get(PATH).matchHeader('if-none-match', etag).matchHeader('authorization', `token ${token}`);
    const asksAnew = (token = READ_TOKEN) =>
      nock(API, { badheaders: ['if-none-match'] })
        .get(PATH)
        .matchHeader('authorization', `token ${token}`);

    test('costs none of the hour’s requests while nothing has changed, also for another reader', async () => {
      mints(READ_TOKEN, READER_RIGHTS);
      const github = open();
      const right = async () => (await github.reader(HANDLE)).permission(alice);
      asksAnew().reply(200, level('write'), { etag: 'W/"1"' });
      expect(await right()).toBe('write');
      asksWith('W/"1"').twice().reply(304);
      expect([await right(), await right()]).toEqual(['write', 'write']);
      // What is kept is GitHub's answer, not what followed from it for one person.
      asksWith('W/"1"').reply(304);
      expect(await (await github.reader(HANDLE)).permission({ id: 10, login: 'alice' })).toBe('none');
      asksWith('W/"1"').reply(200, level('read'), { etag: 'W/"2"' });
      expect(await right()).toBe('read');
      asksWith('W/"2"').reply(404, { message: 'alice is not a user' });
      await expect(right()).rejects.toMatchObject({ code: 'GITHUB_REFUSED' });
    });

    test('with another token, is read anew: an ETag is good for one token only', async () => {
      const github = await reader();
      asksAnew().reply(200, level('write'), { etag: 'W/"1"' });
      expect(await github.permission(alice)).toBe('write');
      asksWith('W/"1"').reply(401, { message: 'Bad credentials' });
      mints('ghs_next', READER_RIGHTS);
      asksAnew('ghs_next').reply(200, level('read'), { etag: 'W/"2"' });
      expect(await github.permission(alice)).toBe('read');
      asksWith('W/"2"', 'ghs_next').reply(304);
      expect(await github.permission(alice)).toBe('read');
    });

    test('is never answered from what was known before: an error and a 304 that nobody asked for give no right', async () => {
      const github = await reader();
      asksAnew().reply(200, level('write'));
      expect(await github.permission(alice)).toBe('write');
      asksAnew().reply(304);
      await expect(github.permission(alice)).rejects.toMatchObject({ code: 'GITHUB_UNAVAILABLE' });
      asksAnew().reply(200, level('write'), { etag: 'W/"1"' });
      expect(await github.permission(alice)).toBe('write');
      asksWith('W/"1"').times(4).reply(502);
      await expect(github.permission(alice)).rejects.toMatchObject({ code: 'GITHUB_UNAVAILABLE' });
    });
  });

  test.each(['auto-dev[bot]', '../../evil', 'a/b', '', 'ａｌｉｃｅ', 'a b'])(
    'is denied without a request for %j',
    async (login) => {
      expect(await (await open().reader(HANDLE)).permission({ id: 9, login })).toBe('none');
    },
  );
});

describe('a repository that is asked about again', () => {
  const PATH = '/repositories/5';
  const unasked = () => nock(API, { badheaders: ['if-none-match'] }).get(PATH);
  const asks = (etag: string) => nock(API).get(PATH).matchHeader('if-none-match', etag);
  // The one that every other test here may read.
  beforeEach(() => nock.cleanAll());

  test('costs none of the hour’s requests while nothing has changed, and is private as soon as GitHub says so', async () => {
    const github = await reader();
    unasked().reply(200, REPOSITORY, { etag: 'W/"1"' });
    expect(await github.repository()).toMatchObject({ private: false });
    asks('W/"1"').reply(304);
    expect(await github.repository()).toMatchObject({ private: false, fullName: 'o/r' });
    asks('W/"1"').reply(200, { ...REPOSITORY, private: true }, { etag: 'W/"2"' });
    expect(await github.repository()).toMatchObject({ private: true });
    asks('W/"2"').reply(404, { message: 'Not Found' });
    await expect(github.repository()).rejects.toMatchObject({ code: 'GITHUB_REFUSED' });
  });
});

describe('servers', () => {
  test("keep GitHub Enterprise's base path, also for git", async () => {
    nock('https://git.example.com')
      .post('/api/v3/app/installations/2/access_tokens')
      .reply(201, minted(READ_TOKEN))
      .get('/api/v3/repositories/5')
      .reply(200, {
        ...REPOSITORY,
        private: true,
        default_branch: 'trunk',
        html_url: 'https://git.example.com/o/r',
        clone_url: 'https://evil.example.com/o/r.git',
      });
    const github = open({ apiUrl: 'https://git.example.com/api/v3/', gitUrl: 'https://git.example.com/' });
    expect(await (await github.reader(HANDLE)).repository()).toMatchObject({
      private: true,
      defaultBranch: 'trunk',
      cloneUrl: 'https://git.example.com/o/r.git',
    });
  });

  test.each(['http://api.github.com', 'https://user:pass@github.com', 'ftp://x', 'nonsense', ''])(
    'are rejected at the address %j',
    (apiUrl) => {
      expect(() => open({ apiUrl })).toThrow(expect.objectContaining({ code: 'ENVIRONMENT_INVALID' }));
      expect(() => open({ gitUrl: apiUrl })).toThrow(
        expect.objectContaining({ code: 'ENVIRONMENT_INVALID' }),
      );
    },
  );

  test.each(['http://127.0.0.1:3000/api/v3', 'http://localhost:3000', 'http://[::1]:80'])(
    'may be plain HTTP at %j, which is this machine',
    (apiUrl) => {
      expect(open({ apiUrl, gitUrl: apiUrl }).appId).toBe(1);
    },
  );
});
