import { createHash } from 'node:crypto';
import { Hono } from 'hono';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type GitHubWorld, openGitHubWorld } from '../../packages/local-github/test/github-world.ts';
import type { PageCommands } from '../../src/commands/index.ts';
import type { GitHub } from '../../src/ports/index.ts';
import type { World } from '../../src/runs/index.ts';
import { startWeb, type WebServer } from '../../src/server/index.ts';
import type { WebEnv } from '../../src/web/context.ts';
import { openSignIn, openWeb, type WebApp } from '../../src/web/index.ts';
import { appGitHub } from '../world/app-github.ts';
import { memoryStore } from '../world/memory-store.ts';
import { partial } from '../world/partial.ts';
import { silent } from '../world/silent-log.ts';
import { type Browser, fieldOf, openBrowser, signIn } from './browser.ts';

const DAY_MS = 86_400_000;
let world: GitHubWorld;
let github: GitHub;
/** Statuses of GitHub's answers about rights. */
const answers: number[] = [];
let server: WebServer;
let web: WebApp;
let url: string;
let now: number;
let store: ReturnType<typeof memoryStore>;
/** The error with which GitHub answers the next code. */
let codeError: string | null = null;
const logged: unknown[] = [];
const warned: unknown[] = [];

beforeAll(async () => {
  world = await openGitHubWorld({ private: true });
  github = appGitHub(world, {
    fetch: async (input, init) => {
      const answer = await world.fetch(input, init);
      if (/\/permission$/.test(String(input))) answers.push(answer.status);
      return answer;
    },
  });
  server = await startWeb({
    host: '127.0.0.1',
    port: 0,
    webhooksPath: '/hooks',
    health: async () => ({ ok: true, detail: {} }),
    pages: { fetch: (request) => web.fetch(request) },
    log: silent,
  });
  url = server.url;
});
afterAll(async () => {
  await server.close(0);
  expect(world.contract.violations).toEqual([]);
  await world.close();
});
beforeEach(async () => {
  now = Date.UTC(2026, 0, 1);
  store = memoryStore();
  logged.length = 0;
  warned.length = 0;
  const parts = worldOf();
  const { apiUrl, url: gitUrl, userFlow } = world.github;
  const { identify, routes } = openSignIn({
    world: parts,
    github: { apiUrl, gitUrl },
    fetch: async (input, init) => {
      const error = codeError;
      codeError = null;
      return error === null ? fetch(input, init) : Response.json({ error });
    },
    settings: {
      publicUrl: url,
      signIn: userFlow,
      lacks: [],
      operators: ['alice'],
      publicRepositories: false,
    },
  });
  const commands = partial<PageCommands>({});
  web = openWeb({ world: parts, commands, identify, signIn: routes, origin: url });
  const handle = world.github.handle('alice', 'demo');
  const requestedBy = { id: 1, login: 'alice' };
  const origin = { kind: 'github', ...handle, issue: 1, requestedBy } as const;
  await store.createRun({ id: 'r111111111', origin, title: 'Fix add()', request: {}, at: now });
});

function worldOf(): World {
  const clock = { now: () => now, elapsed: () => now, sleep: async () => undefined };
  const random = { nonce: () => '0'.repeat(32) };
  const log = {
    ...silent,
    error: (fields: object) => void logged.push(fields),
    warn: (fields: object) => void warned.push(fields),
  };
  return partial<World>({ store, github, clock, random, log }, ['diskSpace']);
}
const csrfIn = async (browser: Browser): Promise<string> =>
  fieldOf(await (await browser.get(`${url}/runs`)).text(), 'csrf');
const sessionOf = (browser: Browser): string | undefined =>
  browser.cookies.get(`${new URL(url).host} runoff-session`);
const isSignedIn = async (browser: Browser): Promise<boolean> =>
  (await browser.get(`${url}/runs`)).status === 200;

describe('signing in', () => {
  test('shows a person what they may read on GitHub, and keeps no token', async () => {
    const [bob, mallory] = [openBrowser(), openBrowser()];
    expect((await bob.get(`${url}/runs/r111111111`)).status).toBe(401);
    const { response } = await signIn(bob, url, 'bob', '/runs/r111111111');
    expect([response.status, response.headers.get('location')]).toEqual([303, '/runs/r111111111']);
    const cookie = response.headers.getSetCookie().find((line) => line.startsWith('runoff-session'));
    expect(cookie).toMatch(/HttpOnly; SameSite=Lax/);
    expect(await (await bob.get(`${url}/runs`)).text()).toContain('Fix add()');
    expect((await bob.get(`${url}/runs/r111111111`)).status).toBe(200);

    await signIn(mallory, url, 'mallory');
    expect(await (await mallory.get(`${url}/runs`)).text()).not.toContain('Fix add()');
    const hidden = await mallory.get(`${url}/runs/r111111111`);
    const missing = await mallory.get(`${url}/runs/r000000000`);
    expect([hidden.status, missing.status]).toEqual([404, 404]);
    expect(await hidden.text()).toBe(await missing.text());
  });

  test('asks GitHub each minute what a person may do, for free while it is the same', async () => {
    const bob = openBrowser();
    await signIn(bob, url, 'bob', '/runs/r111111111');
    const status = async () => (await bob.get(`${url}/runs/r111111111`)).status;
    expect(await status()).toBe(200);
    answers.length = 0;
    for (let minutes = 0; minutes < 3; minutes += 1) {
      now += 61_000;
      expect(await status()).toBe(200);
    }
    expect(answers).toEqual([304, 304, 304]);
    const repository = { owner: 'alice', name: 'demo' };
    await world.github.setRole(repository, 'bob', null);
    now += 61_000;
    expect(await status()).toBe(404);
    expect(answers.slice(3)).toEqual([200]);
    await world.github.setRole(repository, 'bob', 'push');
  });

  test('ends the session that the browser had before, and begins one that nobody could know', async () => {
    const browser = openBrowser();
    await signIn(browser, url, 'bob');
    const before = sessionOf(browser) ?? '';
    await signIn(browser, url, 'alice');
    expect(sessionOf(browser)).not.toBe(before);
    const old = openBrowser();
    old.cookies.set(`${new URL(url).host} runoff-session`, before);
    expect(await isSignedIn(old)).toBe(false);
    // An id that somebody planted is never taken over.
    const planted = openBrowser();
    planted.cookies.set(`${new URL(url).host} runoff-session`, 'A'.repeat(43));
    await signIn(planted, url, 'bob');
    expect(sessionOf(planted)).not.toBe('A'.repeat(43));
  });

  test('works once for each return, and only in the browser that began it', async () => {
    const browser = openBrowser();
    const { back } = await signIn(browser, url, 'bob');
    expect((await browser.get(back)).status).toBe(403);

    // Somebody lets a victim follow the address that ends their own sign-in.
    const attacker = openBrowser();
    const start = await attacker.get(`${url}/sign-in`);
    const authorize = new URL(start.headers.get('location') ?? '');
    const fields = Object.fromEntries(authorize.searchParams);
    const given = await attacker.post(`${authorize.origin}/login/oauth/authorize`, {
      ...fields,
      login: 'mallory',
    });
    const victim = openBrowser();
    expect((await victim.get(given.headers.get('location') ?? '')).status).toBe(403);
    await victim.get(`${url}/sign-in`);
    expect((await victim.get(given.headers.get('location') ?? '')).status).toBe(403);
    expect(await isSignedIn(victim)).toBe(false);
  });

  test('accepts no code of another sign-in, no used code and none without its verifier', async () => {
    const other = openBrowser();
    const start = await other.get(`${url}/sign-in`);
    const authorize = new URL(start.headers.get('location') ?? '');
    expect(authorize.searchParams.get('code_challenge_method')).toBe('S256');
    const fields = Object.fromEntries(authorize.searchParams);
    const given = await other.post(`${authorize.origin}/login/oauth/authorize`, {
      ...fields,
      login: 'alice',
    });
    const stolen = new URL(given.headers.get('location') ?? '').searchParams.get('code') ?? '';

    const browser = openBrowser();
    const own = new URL((await browser.get(`${url}/sign-in`)).headers.get('location') ?? '');
    const state = own.searchParams.get('state') ?? '';
    expect(
      (await browser.get(`${url}/sign-in/callback?${new URLSearchParams({ state, code: stolen })}`)).status,
    ).toBe(403);
    expect(await isSignedIn(browser)).toBe(false);
  });

  test('leads to pages of this server only', async () => {
    const places = [
      'https://evil.test/',
      '//evil.test/',
      '/\\evil.test',
      '/\t/evil.test',
      'javascript:alert(1)',
      '/sign-in?to=/',
      `/${'a'.repeat(600)}`,
    ];
    for (const to of places) {
      const { response } = await signIn(openBrowser(), url, 'bob', to);
      expect([to, response.headers.get('location')]).toEqual([to, '/runs']);
    }
  });

  test('says so when the person refuses, and when GitHub is away', async () => {
    const browser = openBrowser();
    const start = new URL((await browser.get(`${url}/sign-in`)).headers.get('location') ?? '');
    const state = start.searchParams.get('state') ?? '';
    const refused = await browser.get(`${url}/sign-in/callback?state=${state}&error=access_denied`);
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('did not agree')]);
    world.github.faults.add({ method: 'POST', path: /access_token$/, status: 502 });
    const { response } = await signIn(browser, url, 'bob');
    expect(response.status).toBe(503);
    expect(await isSignedIn(browser)).toBe(false);
  });

  test('tells a person what only they can do, and the operator what only they can', async () => {
    const browser = openBrowser();
    codeError = 'unverified_user_email';
    const unverified = (await signIn(browser, url, 'bob')).response;
    expect([unverified.status, await unverified.text()]).toEqual([
      403,
      expect.stringContaining('Verify yours in the settings of your account'),
    ]);
    expect(logged).toEqual([]);
    for (const error of ['redirect_uri_mismatch', 'application_suspended']) {
      const start = new URL((await browser.get(`${url}/sign-in`)).headers.get('location') ?? '');
      const back = new URLSearchParams({ error, state: start.searchParams.get('state') ?? '' });
      const returned = await browser.get(`${url}/sign-in/callback?${back}`);
      expect([returned.status, await returned.text()]).toEqual([
        500,
        expect.stringContaining('Signing in is not set up correctly'),
      ]);
      expect([logged, warned.splice(0)]).toEqual([[], [{ why: error }]]);
    }
    codeError = 'incorrect_client_credentials';
    expect((await signIn(browser, url, 'bob')).response.status).toBe(500);
    expect(logged.splice(0)).toEqual([{ why: 'incorrect_client_credentials' }]);
    expect(await isSignedIn(browser)).toBe(false);
  });

  test('is said to be impossible, with what the operator must set, where it is not set up', async () => {
    const settings = {
      lacks: ['PUBLIC_URL', 'GITHUB_CLIENT_SECRET'],
      operators: [],
      publicRepositories: false,
    };
    const { apiUrl, url: gitUrl } = world.github;
    const parts = worldOf();
    const { identify, routes } = openSignIn({ world: parts, github: { apiUrl, gitUrl }, fetch, settings });
    web = openWeb({ world: parts, commands: partial<PageCommands>({}), identify, signIn: routes });
    const page = await openBrowser().get(`${url}/sign-in`);
    expect([page.status, await page.text()]).toEqual([
      503,
      expect.stringContaining('PUBLIC_URL, GITHUB_CLIENT_SECRET'),
    ]);
  });
});

test('an operator given by id is that person, and nobody whose login looks like the id', async () => {
  const { apiUrl, url: gitUrl, userFlow } = world.github;
  const settings = {
    publicUrl: url,
    signIn: userFlow,
    lacks: [],
    operators: ['583231', 'alice'],
    publicRepositories: false,
  };
  const { identify } = openSignIn({ world: worldOf(), github: { apiUrl, gitUrl }, fetch, settings });
  const pages = new Hono<WebEnv>();
  pages.get('/', async (c) => c.json((await identify(c))?.viewer ?? null));
  const isOperator = async (userId: number, login: string): Promise<unknown> => {
    const id = `${userId}`.padStart(43, 'x');
    const hash = createHash('sha256').update(id).digest('base64url');
    await store.addSession({ hash, userId, login, createdAt: now, expiresAt: now + DAY_MS });
    const answer = await pages.request(`${url}/`, { headers: { cookie: `runoff-session=${id}` } });
    return ((await answer.json()) as { operator?: unknown }).operator;
  };
  expect(await isOperator(583231, 'octocat')).toBe(true);
  expect(await isOperator(999, '583231')).toBe(false);
  expect(await isOperator(7, 'Alice')).toBe(true);
  expect(await isOperator(8, 'bob')).toBe(false);
});

describe('a session', () => {
  test('is over after three days without use, and after fourteen in any case', async () => {
    const browser = openBrowser();
    await signIn(browser, url, 'bob');
    now += 3 * DAY_MS;
    expect(await isSignedIn(browser)).toBe(false);
    await signIn(browser, url, 'bob');
    for (let day = 0; day < 13; day += 2) {
      expect(await isSignedIn(browser)).toBe(true);
      now += 2 * DAY_MS;
    }
    expect(await isSignedIn(browser)).toBe(false);
  });

  test('ends here or everywhere, by a form of these pages only', async () => {
    const [one, other] = [openBrowser(), openBrowser()];
    await signIn(one, url, 'bob');
    await signIn(other, url, 'bob');
    const csrf = await csrfIn(one);
    const forged: [Record<string, string>, Record<string, string>][] = [
      [{}, {}],
      [{ csrf: 'x' }, {}],
      [{ csrf: await csrfIn(other) }, {}],
      [{ csrf }, { origin: 'https://evil.test' }],
      [{ csrf }, { origin: 'null', 'sec-fetch-site': 'cross-site' }],
      [{ csrf }, { 'sec-fetch-site': 'same-site' }],
      [{ csrf }, { 'content-type': 'multipart/form-data' }],
    ];
    for (const [fields, headers] of forged)
      expect((await one.post(`${url}/sign-out`, fields, headers)).status).toBe(403);
    expect(await isSignedIn(one)).toBe(true);

    const kept = sessionOf(one) ?? '';
    // What Chromium sends with a form of a page that sends no referrer.
    const sent = { origin: 'null', 'sec-fetch-site': 'same-origin' };
    expect((await one.post(`${url}/sign-out`, { csrf }, sent)).status).toBe(303);
    expect([await isSignedIn(one), await isSignedIn(other)]).toEqual([false, true]);
    one.cookies.set(`${new URL(url).host} runoff-session`, kept);
    expect(await isSignedIn(one)).toBe(false);

    await signIn(one, url, 'bob');
    await one.post(`${url}/sign-out`, { csrf: await csrfIn(one), everywhere: 'yes' });
    expect([await isSignedIn(one), await isSignedIn(other)]).toEqual([false, false]);
  });
});

test('with https, cookies are of this host alone, whatever Host a request names', async () => {
  const { apiUrl, url: gitUrl, userFlow } = world.github;
  const parts = worldOf();
  const publicUrl = 'https://runoff.example';
  const settings = { publicUrl, signIn: userFlow, lacks: [], operators: [], publicRepositories: false };
  const { identify, routes } = openSignIn({ world: parts, github: { apiUrl, gitUrl }, fetch, settings });
  web = openWeb({
    world: parts,
    commands: partial<PageCommands>({}),
    identify,
    signIn: routes,
    origin: publicUrl,
  });
  const [cookie = ''] = (
    await openBrowser().get(`${url}/sign-in`, { host: 'evil.test' })
  ).headers.getSetCookie();
  expect(cookie).toMatch(/^__Host-runoff-sign-in=.*; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
});
