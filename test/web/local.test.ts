import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PageCommands } from '../../src/commands/index.ts';
import type { World } from '../../src/runs/index.ts';
import { startWeb, type WebServer } from '../../src/server/index.ts';
import { openLocalSignIn, openWeb, type WebApp } from '../../src/web/index.ts';
import { memoryStore } from '../world/memory-store.ts';
import { githubOrigin } from '../world/origin.ts';
import { partial } from '../world/partial.ts';
import { silent } from '../world/silent-log.ts';
import { openBrowser } from './browser.ts';

let server: WebServer;
let web: WebApp;
let pathTo: (to: string) => string;

beforeAll(async () => {
  server = await startWeb({
    host: '127.0.0.1',
    port: 0,
    webhooksPath: '/hooks',
    health: async () => ({ ok: true, detail: {} }),
    pages: { fetch: (asked) => web.fetch(asked) },
    log: silent,
  });
  const store = memoryStore();
  const local = { kind: 'local', path: '/home/mona/shop' } as const;
  await store.createRun({ id: 'r1', origin: local, title: 'Round up', request: {}, at: 1 });
  await store.createRun({ id: 'r2', origin: githubOrigin(), title: 'Of others', request: {}, at: 2 });
  const clock = { now: () => 3, elapsed: () => 3, sleep: async () => undefined };
  const random = { nonce: () => '0'.repeat(32) };
  const world = partial<World>({ store, clock, random, log: silent }, ['diskSpace', 'github', 'publicUrl']);
  const signIn = openLocalSignIn(server.port);
  ({ pathTo } = signIn);
  web = openWeb({
    world,
    commands: partial<PageCommands>({}),
    identify: signIn.identify,
    signIn: signIn.routes,
    origin: server.url,
    host: new URL(server.url).host,
  });
});
afterAll(() => server.close(0));

test('an address of the terminal opens the pages of local runs once, and leaves no token in it', async () => {
  const path = pathTo('/runs');
  const mine = openBrowser();
  expect((await mine.get(`${server.url}/runs`)).status).toBe(401);
  const opened = await mine.get(`${server.url}${path}`);
  expect([opened.status, opened.headers.get('location')]).toEqual([303, '/runs']);
  expect(opened.headers.getSetCookie()[0]).toMatch(/; HttpOnly; SameSite=Lax$/);
  const list = await (await mine.get(`${server.url}/runs`)).text();
  expect(list).toContain('Round up');
  expect(list).not.toContain('Of others');
  expect((await mine.get(`${server.url}/runs/r2`)).status).toBe(404);

  const other = openBrowser();
  expect((await other.get(`${server.url}${path}`)).status).toBe(403);
  expect((await other.get(`${server.url}/open?token=`)).status).toBe(403);
  expect((await other.get(`${server.url}/runs/r1`)).status).toBe(401);
});

test('a name of somebody else that leads to this machine gets nothing', async () => {
  const statusFor = (host: string, path: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      request({ host: '127.0.0.1', port: server.port, path, headers: { host } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      })
        .on('error', reject)
        .end();
    });
  const path = pathTo('/runs');
  for (const host of ['evil.test', `evil.test:${server.port}`, 'localhost', `127.0.0.1:${server.port + 1}`])
    expect(await statusFor(host, path)).toBe(421);
  expect(await statusFor(new URL(server.url).host, path)).toBe(303);
});
