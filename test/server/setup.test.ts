import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import nock from 'nock';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readAppFile } from '../../src/compose/app-file.ts';
import {
  fileCredentialStore,
  openSetup,
  type Setup,
  type SetupOptions,
  startWeb,
  type WebServer,
} from '../../src/server/index.ts';
import { newAppKey } from '../world/app-key.ts';
import { HOOKS, memoryLog } from './delivery.ts';

const PEM = newAppKey();
const APP = {
  id: 4711,
  slug: 'runoff-acme',
  name: 'Runoff <acme>',
  html_url: 'http://git.test/apps/runoff-acme',
  client_id: 'Iv1.0123456789abcdef',
  client_secret: 'CANARY-CLIENT-SECRET',
  webhook_secret: 'e340154128314309424b7c8e90325147d99fdafa',
  pem: PEM,
};

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
const json =
  (status: number, body: unknown): Answer =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };

/** What GitHub does: a code of the right form is exchanged once, after that it is unknown. */
interface GitHubSide {
  readonly apiUrl: string;
  readonly calls: readonly string[];
  answer: Answer;
  close(): Promise<void>;
}

async function startGitHub(): Promise<GitHubSide> {
  const calls: string[] = [];
  const side = { answer: json(201, APP) };
  const server = createServer((request, response) => {
    calls.push(`${request.method} ${request.url}`);
    side.answer(request, response);
    side.answer = json(404, { message: 'Not Found' });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(side, {
    apiUrl: `http://127.0.0.1:${port}/api/v3`,
    calls,
    close: () => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  });
}

let folder: string;
let github: GitHubSide;
let log: ReturnType<typeof memoryLog>;
let setup: Setup;
let web: WebServer;
let keyFile: string;
let envFile: string;

beforeAll(() => {
  // Another file of this process may have put back what it changes.
  if (!nock.isActive()) nock.activate();
});
afterAll(() => nock.restore());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runoff-setup-'));
  keyFile = join(folder, 'data', 'app.pem');
  envFile = join(folder, '.env');
  github = await startGitHub();
  log = memoryLog();
});
afterEach(async () => {
  await web.close(0);
  await github.close();
  nock.cleanAll();
  await rm(folder, { recursive: true, force: true });
});

/** What the internet leads to: Runoff behind these names, somebody else behind another, and GitHub. */
const fromOutside: typeof fetch = (input, init) => {
  const url = new URL(String(input));
  if (['runoff.example', 'box.example'].includes(url.hostname))
    return fetch(`${web.url}${url.pathname.replace(/^\/runoff/, '')}`, init);
  if (url.hostname === 'other.example') return Promise.resolve(new Response('another server'));
  if (url.hostname.endsWith('.example')) return Promise.reject(new Error('no such host'));
  return fetch(input, init);
};

async function usual(): Promise<SetupOptions> {
  const nonces = Array.from({ length: 100 }, (_, index) => `nonce${String(index).padStart(27, '0')}`);
  return {
    ...readAppFile(await readFile('app.yml', 'utf8')),
    gitUrl: 'http://git.test',
    apiUrl: github.apiUrl,
    publicUrl: 'https://runoff.example/',
    webhooksPath: HOOKS,
    credentialStore: fileCredentialStore({ dataFolder: join(folder, 'data'), envFile }),
    fetch: fromOutside,
    random: { nonce: () => nonces.shift() ?? 'spent' },
    log,
  };
}

async function begin(change: Partial<SetupOptions> = {}): Promise<void> {
  await serve({ ...(await usual()), ...change });
}

async function serve(options: SetupOptions): Promise<void> {
  setup = openSetup(options);
  const health = async () => ({ ok: false, detail: { app: 'not set up' } });
  web = await startWeb({ host: '127.0.0.1', port: 0, webhooksPath: HOOKS, health, setup: setup.pages, log });
}

const see = async (
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; html: string; headers: Headers }> => {
  const answer = await fetch(url, { headers });
  return { status: answer.status, html: await answer.text(), headers: answer.headers };
};
const readHtml = (html: string): string =>
  html
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

/** The form as a browser reads it. */
async function openForm(
  query = '',
  headers: Readonly<Record<string, string>> = {},
): Promise<{ action: URL; state: string; manifest: Record<string, unknown> }> {
  const { html } = await see(`${setup.link(web.url)}${query}`, headers);
  const action = new URL(readHtml(/<form method="post" action="([^"]*)"/.exec(html)?.[1] ?? ''));
  const manifest = JSON.parse(readHtml(/name="manifest" value="([^"]*)"/.exec(html)?.[1] ?? ''));
  return { action, state: action.searchParams.get('state') ?? '', manifest };
}
const comeBack = (state: string, code = 'a180b1a3d263c81bc6441d7b990bae27d4c10679') =>
  see(`${web.url}/setup/callback?code=${code}&state=${state}`);
const written = async (path: string): Promise<string | null> => readFile(path, 'utf8').catch(() => null);

describe('registering', () => {
  test('sends the whole manifest to GitHub by a form, and stores the answer for the next start', async () => {
    await writeFile(envFile, '# mine\nOPENAI_API_KEY=sk-1\nAPP_ID=\n');
    await begin();
    const { action, state, manifest } = await openForm();
    expect(`${action.origin}${action.pathname}`).toBe('http://git.test/settings/apps/new');
    expect(manifest).toMatchObject({
      name: 'Runoff',
      public: false,
      url: 'https://runoff.example',
      hook_attributes: { url: `https://runoff.example${HOOKS}` },
      redirect_url: `${web.url}/setup/callback`,
      callback_urls: ['https://runoff.example/sign-in/callback'],
      default_permissions: {
        metadata: 'read',
        contents: 'write',
        issues: 'write',
        checks: 'write',
        statuses: 'read',
        pull_requests: 'write',
      },
      default_events: ['issues', 'issue_comment', 'pull_request_review_comment', 'pull_request'],
    });

    const done = await comeBack(state);
    expect(done.status).toBe(200);
    expect(done.html).toContain('href="http://git.test/apps/runoff-acme/installations/new"');
    expect(done.html).toContain('Runoff &lt;acme&gt;');
    expect(github.calls).toEqual([
      'POST /api/v3/app-manifests/a180b1a3d263c81bc6441d7b990bae27d4c10679/conversions',
    ]);

    expect(await written(keyFile)).toBe(PEM);
    expect(await written(envFile)).toBe(
      `# mine\nOPENAI_API_KEY=sk-1\nAPP_ID=4711\nWEBHOOK_SECRET=${APP.webhook_secret}\nPRIVATE_KEY_PATH=${keyFile}\nGITHUB_CLIENT_ID=${APP.client_id}\nGITHUB_CLIENT_SECRET=${APP.client_secret}\n`,
    );
    expect([(await stat(keyFile)).mode & 0o777, (await stat(envFile)).mode & 0o777]).toEqual([0o600, 0o600]);
    await setup.done;

    expect(`${JSON.stringify(log.lines)}${done.html}`).not.toContain(APP.client_secret);
    expect(`${JSON.stringify(log.lines)}${done.html}`).not.toMatch(/PRIVATE KEY-|e340154128314309/);
  });

  test('sends the form to the settings of an organisation', async () => {
    await begin();
    const { action } = await openForm('&organization=acme-corp');
    expect(action.pathname).toBe('/organizations/acme-corp/settings/apps/new');
    const odd = await see(`${setup.link(web.url)}&organization=..%2F..%2Fevil`);
    expect([odd.status, odd.html.includes('evil')]).toEqual([400, false]);
  });

  test('sends no referrer with the token to GitHub', async () => {
    await begin();
    const { headers } = await see(setup.link(web.url));
    expect(headers.get('content-security-policy')).not.toContain('form-action');
    expect(headers.get('referrer-policy')).toBe('strict-origin');
  });

  test('keeps a backup of an earlier key', async () => {
    await begin();
    await comeBack((await openForm()).state);
    await web.close(0);
    github.answer = json(201, { ...APP, id: 4712 });
    await begin();
    await comeBack((await openForm()).state);
    expect([await written(`${keyFile}.old`), await written(keyFile)]).toEqual([PEM, PEM]);
    expect(parseEnv((await written(envFile)) ?? '')).toMatchObject({ APP_ID: '4712' });
  });

  test('works against api.github.com as it does against an Enterprise server', async () => {
    const api = nock('https://api.github.com').post('/app-manifests/abc/conversions').reply(201, APP);
    await begin({ apiUrl: 'https://api.github.com', gitUrl: 'https://github.com' });
    const { action, state } = await openForm();
    expect(action.origin).toBe('https://github.com');
    expect((await comeBack(state, 'abc')).status).toBe(200);
    expect(api.isDone()).toBe(true);
  });
});

describe('access to registration', () => {
  test('requires the token of the terminal', async () => {
    await begin();
    for (const query of ['', '?token=', '?token=nonce', `?token=${'0'.repeat(32)}`]) {
      const answer = await see(`${web.url}/setup${query}`);
      expect([answer.status, answer.html.includes('<form')]).toEqual([403, false]);
    }
  });

  test('requires a state that was issued', async () => {
    await begin();
    await openForm();
    for (const state of ['', 'guess', new URL(setup.link(web.url)).searchParams.get('token') ?? '']) {
      expect((await comeBack(state)).status).toBe(403);
    }
    expect([github.calls, await written(envFile)]).toEqual([[], null]);
  });

  test('an endless response of GitHub is cut off', async () => {
    await begin();
    github.answer = json(201, { ...APP, description: 'x'.repeat(2 ** 20) });
    const { status, html } = await comeBack((await openForm()).state);
    expect([status, html.includes('sent more than 256 KiB')]).toEqual([502, true]);
    expect(await written(envFile)).toBeNull();
  });

  test('allows one answer per state, also when two arrive at once', async () => {
    await begin();
    github.answer = json(500, {});
    const { state } = await openForm();
    const both = await Promise.all([comeBack(state), comeBack(state)]);
    expect(both.map(({ status }) => status).sort()).toEqual([403, 502]);
    expect(github.calls).toHaveLength(1);
  });

  test('ends after a registration', async () => {
    await begin();
    const [first, second] = [await openForm(), await openForm()];
    expect((await comeBack(first.state)).status).toBe(200);
    expect([(await comeBack(second.state)).status, (await see(setup.link(web.url))).status]).toEqual([
      410, 410,
    ]);
    expect(github.calls).toHaveLength(1);
  });

  test('logs neither the token nor a code', async () => {
    await begin();
    github.answer = json(500, {});
    await comeBack((await openForm()).state, 'CANARY-CODE');
    expect(log.lines).toHaveLength(1);
    expect(JSON.stringify(log.lines)).not.toMatch(/CANARY-CODE|nonce0/);
  });
});

describe('a failed registration', () => {
  const cases: readonly { name: string; answer: Answer; status: number; says: RegExp }[] = [
    {
      name: 'an expired or used code',
      answer: json(404, { message: 'Not Found' }),
      status: 410,
      says: /already used or is older than one hour/,
    },
    {
      name: 'a failing GitHub',
      answer: json(500, {}),
      status: 502,
      says: /refused the code with status 500/,
    },
    {
      name: 'an answer without a key',
      answer: json(201, { ...APP, pem: '' }),
      status: 502,
      says: /lacks required fields \(pem\)/,
    },
    {
      name: 'an App without a webhook secret',
      answer: json(201, { ...APP, webhook_secret: null }),
      status: 502,
      says: /lacks .*\(webhook_secret\)/,
    },
    {
      name: 'an address that a browser would run',
      answer: json(201, { ...APP, html_url: 'javascript:alert(1)' }),
      status: 502,
      says: /lacks .*\(html_url\)/,
    },
    {
      name: 'an answer that is no JSON',
      answer: (_, response) => void response.writeHead(201).end('<html>'),
      status: 502,
      says: /returned an unexpected response/,
    },
    {
      name: 'a redirect',
      answer: (_, response) => void response.writeHead(302, { location: 'http://git.test/' }).end(),
      status: 502,
      says: /returned an unexpected response/,
    },
    {
      name: 'a broken connection',
      answer: (request) => void request.socket.destroy(),
      status: 502,
      says: /returned an unexpected response/,
    },
  ];
  test.each(cases)(
    '($name) writes nothing, gives a message, and can be repeated',
    async ({ answer, status, says }) => {
      await begin();
      github.answer = answer;
      const failed = await comeBack((await openForm()).state);
      expect(failed.status).toBe(status);
      expect(readHtml(failed.html)).toMatch(says);
      expect([await written(envFile), await written(keyFile)]).toEqual([null, null]);
      github.answer = json(201, APP);
      expect((await comeBack((await openForm()).state)).status).toBe(200);
    },
  );

  test('does not send an invalid or missing code to GitHub', async () => {
    await begin();
    const odd = await comeBack((await openForm()).state, '..%2F..%2Fuser');
    const none = await see(`${web.url}/setup/callback?state=${(await openForm()).state}`);
    expect([odd.status, none.status, github.calls]).toEqual([400, 400, []]);
  });

  test('asks for a missing public address, and continues with it', async () => {
    const { publicUrl: _, ...rest } = await usual();
    await serve(rest);
    const asking = await see(setup.link(web.url));
    expect([asking.status, asking.html.includes('method="post"')]).toEqual([200, false]);
    expect(asking.html).toContain('name="publicUrl"');
    const { manifest } = await openForm('&publicUrl=https%3A%2F%2Fbox.example%2Frunoff%2F%3Fx');
    expect(manifest).toMatchObject({ hook_attributes: { url: `https://box.example/runoff${HOOKS}` } });
  });

  test.each(['box.example', 'ftp://box.example', 'https://me:pw@box.example', 'javascript:alert(1)'])(
    'rejects the address %s',
    async (address) => {
      await begin();
      const answer = await see(`${setup.link(web.url)}&publicUrl=${encodeURIComponent(address)}`);
      expect([answer.status, answer.html.includes('method="post"')]).toEqual([400, false]);
    },
  );

  test('suggests the address that the browser used, and takes it only when a person has confirmed it', async () => {
    const { publicUrl: _, ...rest } = await usual();
    await serve(rest);
    const proxied = { 'x-forwarded-host': 'runoff.example, inner', 'x-forwarded-proto': 'https' };
    const asking = await see(setup.link(web.url), proxied);
    expect(asking.html).toContain('value="https://runoff.example"');
    expect(asking.html).not.toContain('method="post"');
    const { manifest } = await openForm('&publicUrl=https%3A%2F%2Frunoff.example', proxied);
    // The browser comes back where it is.
    expect(manifest).toMatchObject({ redirect_url: 'https://runoff.example/setup/callback' });
  });

  test.each([
    ['another host', { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }],
    ['another host in its text', { 'x-forwarded-host': '127.0.0.1.evil.example' }],
    ['a host that begins like this machine', { 'x-forwarded-host': 'localhost.evil.example' }],
    ['a host with a login', { 'x-forwarded-host': 'localhost@evil.example' }],
    ['a host with markup', { 'x-forwarded-host': '"><script>' }],
    ['another scheme', { 'x-forwarded-host': '127.0.0.1', 'x-forwarded-proto': 'javascript' }],
  ])('sends the code of GitHub to no %s that a request claims', async (_, headers) => {
    await begin();
    const { manifest } = await openForm('', headers);
    expect(manifest.redirect_url).toBe('https://runoff.example/setup/callback');
    const { publicUrl: __, ...rest } = await usual();
    await web.close(0);
    await serve(rest);
    const { html } = await see(setup.link(web.url), headers);
    expect(html).not.toMatch(/<script|@evil|javascript/);
  });

  test('says why it asks for each permission', async () => {
    await begin();
    const { html } = await see(setup.link(web.url));
    expect(html).toContain('<code>metadata</code>: read. GitHub requires it.');
    expect(html).toContain(
      '<code>contents</code>: write. Reads the code; pushes candidates to branches under',
    );
    expect([...html.matchAll(/<li><code>\w+<\/code>: (?:read|write)\. [A-Z][^<]{30,}<\/li>/g)]).toHaveLength(
      6,
    );
  });

  test.each([
    ['https://other.example', 'another server answers there'],
    ['https://gone.example', 'no such host'],
  ])('%s: says that it does not reach itself there', async (address, why) => {
    await begin();
    const { html } = await see(`${setup.link(web.url)}&publicUrl=${encodeURIComponent(address)}`);
    expect(readHtml(html)).toContain(`Runoff does not reach itself at ${address}: ${why}.`);
    const right = await see(setup.link(web.url));
    expect(right.html).not.toContain('does not reach itself');
  });

  test('warns about an address of this machine', async () => {
    await begin({ publicUrl: 'http://localhost:3000' });
    expect((await see(setup.link(web.url))).html).toContain('only works on this machine');
  });

  test('reports unwritable folders before GitHub is contacted', async () => {
    await writeFile(join(folder, 'file'), '');
    await begin({
      credentialStore: fileCredentialStore({ dataFolder: join(folder, 'file', 'data'), envFile }),
    });
    const answer = await see(setup.link(web.url));
    expect([answer.status, answer.html.includes('cannot be written')]).toEqual([500, true]);
  });

  test('says how to replace a key that is lost after registration', async () => {
    const credentialStore = {
      check: async () => null,
      keep: () => Promise.reject(new Error('no space left on device')),
    };
    await begin({ credentialStore });
    const answer = await comeBack((await openForm()).state);
    expect(answer.status).toBe(500);
    expect(answer.html).toContain('no space left on device');
    expect(answer.html).toContain('href="http://git.test/apps/runoff-acme"');
  });
});
