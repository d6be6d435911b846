import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { startWeb, type WebLimits, type WebServer } from '../../src/server/index.ts';
import { delivery, HOOKS, labelled, memoryLog, probotMiddleware, SECRET, sign } from '../server/delivery.ts';

const KIB = 1_024;

let web: WebServer | undefined;
let sockets: Socket[] = [];
let titles: string[] = [];
let log = memoryLog();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await web?.close(0);
  [web, sockets, titles, log] = [undefined, [], [], memoryLog()];
});

async function start(limits: Partial<WebLimits> = {}, take = onTitle): Promise<WebServer> {
  web = await startWeb({
    host: '127.0.0.1',
    port: 0,
    webhook: { secret: SECRET, take: await probotMiddleware(take) },
    webhooksPath: HOOKS,
    health: async () => ({ ok: true, detail: {} }),
    // On a machine that is busy a process may stand still for long.
    limits: { headersMs: 120_000, bodyMs: 120_000, ...limits },
    log,
  });
  return web;
}
const onTitle = (title: string): void | Promise<void> => void titles.push(title);

/** A connection of somebody who writes what they like; `answer` is all that has come back. */
function open(port: number, text: string | Buffer = '') {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  const closed = Promise.withResolvers<void>();
  const state = { answer: '', socket, closed: closed.promise };
  socket.setEncoding('utf8').on('data', (part: string) => {
    state.answer += part;
  });
  // A reset is one way to be refused.
  socket.on('error', () => undefined).on('close', () => closed.resolve());
  if (text.length > 0) socket.write(text);
  return state;
}

const head = (fields: Readonly<Record<string, string | number>>, method = `POST ${HOOKS}`): string =>
  `${method} HTTP/1.1\r\n${Object.entries({ host: 'x', ...fields })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;
/** The headers of a delivery, which anybody can write. */
const PLAUSIBLE = {
  'content-type': 'application/json',
  'x-github-event': 'issues',
  'x-github-delivery': 'a6b7c8d9-0000-4000-8000-000000000001',
  'x-hub-signature-256': sign('something else'),
};
const honest = (url: string, title: string) => fetch(`${url}${HOOKS}`, delivery(labelled(title)));

test('the oldest of many slow bodies are dropped, and a delivery gets through at once', async () => {
  const { url, port } = await start({ bodiesLimitBytes: 1_024 * KIB });
  const slow = Array.from({ length: 40 }, () =>
    open(port, head({ ...PLAUSIBLE, 'content-length': 200 * KIB }) + 'x'.repeat(100 * KIB)),
  );
  // 128 KiB each, since they grow by doubling: eight have room.
  await expect.poll(() => slow.filter(({ answer }) => answer !== '').length).toBe(32);
  for (const { answer } of slow.filter((one) => one.answer !== '')) {
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer).toMatch(/^retry-after: 10\r$/im);
    expect(answer).toContain('Too many requests are in progress, so this one was dropped.');
  }
  for (const n of [1, 2, 3]) expect((await honest(url, `honest ${n}`)).status).toBe(200);
  expect(titles).toEqual(['honest 1', 'honest 2', 'honest 3']);
  // One line for all of them: a flood does not fill the log.
  expect(log.lines.filter(({ message }) => message === 'a delivery was refused')).toHaveLength(1);
});

test('a delivery gets a Retry-After while complete bodies fill the memory', async () => {
  const go = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const { url } = await start({ bodiesLimitBytes: 64 * KIB }, async (title) => {
    reached.resolve();
    await go.promise;
    titles.push(title);
  });
  const first = fetch(`${url}${HOOKS}`, delivery(labelled('first', 'p'.repeat(50 * KIB))));
  await reached.promise;
  const second = await honest(url, 'second');
  expect([second.status, second.headers.get('retry-after')]).toEqual([503, '10']);
  go.resolve();
  expect((await first).status).toBe(200);
  await expect.poll(async () => (await honest(url, 'second')).status).toBe(200);
  expect(titles).toEqual(['first', 'second']);
});

test.each<[string, number, Record<string, string | number>]>([
  ['no signature', 400, { 'x-hub-signature-256': '' }],
  ['a signature of another kind', 400, { 'x-hub-signature-256': 'sha1=0123' }],
  ['no event', 400, { 'x-github-event': '' }],
  ['no delivery id', 400, { 'x-github-delivery': '' }],
  ['a delivery id of blanks', 400, { 'x-github-delivery': 'a b' }],
  ['a form', 415, { 'content-type': 'application/x-www-form-urlencoded' }],
  ['too long', 413, { 'content-length': 5 * 1_024 * KIB + 1 }],
  ['too long for a number', 413, { 'content-length': '9007199254740990' }],
])('a request is rejected before its body is sent: %s', async (_what, status, fields) => {
  const { port } = await start();
  const asked = open(
    port,
    head({ ...PLAUSIBLE, 'content-length': 1_000, expect: '100-continue', ...fields }),
  );
  await expect.poll(() => asked.answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  await asked.closed;
  expect(asked.answer).not.toContain('100 Continue');
});

test('an expected body is answered with 100 Continue', async () => {
  const { port } = await start();
  const body = labelled('asked first');
  const fields = { ...PLAUSIBLE, 'x-hub-signature-256': sign(body), 'content-length': body.length };
  const asked = open(port, head({ ...fields, expect: '100-continue', connection: 'close' }));
  await expect.poll(() => asked.answer).toContain('HTTP/1.1 100 Continue');
  asked.socket.write(body);
  await asked.closed;
  expect([asked.answer.includes('HTTP/1.1 200 OK'), titles]).toEqual([true, ['asked first']]);
});

test('a body in chunks of one byte uses only its size in memory', async () => {
  const { port } = await start({ bodiesLimitBytes: 512 * KIB });
  const body = labelled('in parts', 'p'.repeat(100 * KIB));
  const fields = { ...PLAUSIBLE, 'x-hub-signature-256': sign(body), 'transfer-encoding': 'chunked' };
  const parts = [...body].map((one) => `1\r\n${one}\r\n`).join('');
  const sent = open(port, `${head({ ...fields, connection: 'close' })}${parts}0\r\n\r\n`);
  await sent.closed;
  expect([sent.answer.slice(0, 15), titles]).toEqual(['HTTP/1.1 200 OK', ['in parts']]);
});

test('a body that does not end in time is rejected', async () => {
  const { port } = await start({ bodyMs: 100 });
  const late = open(port, `${head({ ...PLAUSIBLE, 'content-length': 1_000 })}{"a"`);
  await late.closed;
  expect(late.answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(late.answer).toContain('The body did not arrive within 0.1 seconds.');
});

test('a body with a wrong signature reaches nobody', async () => {
  const reached: string[] = [];
  const { url } = await start({}, (title) => void reached.push(title));
  const forged = await fetch(
    `${url}${HOOKS}`,
    delivery(labelled('forged'), { 'x-hub-signature-256': sign(labelled('other')) }),
  );
  expect([forged.status, await forged.text()]).toEqual([400, 'The signature does not match the body.\n']);
  expect(reached).toEqual([]);
});

test('a complete body with a wrong signature releases its memory at once', async () => {
  const { url, port } = await start({ bodiesLimitBytes: 64 * KIB });
  const forged = open(port, head({ ...PLAUSIBLE, 'content-length': 50 * KIB }) + 'x'.repeat(50 * KIB));
  await expect.poll(() => forged.answer).toContain('The signature does not match the body.');
  expect((await honest(url, 'honest')).status).toBe(200);
  expect(titles).toEqual(['honest']);
});

test('idle connections give way to new ones, and an active one is kept', async () => {
  const go = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const { url, port } = await start({ connections: 20 }, async (title) => {
    reached.resolve();
    if (title === 'kept') await go.promise;
    titles.push(title);
  });
  const body = labelled('kept');
  const fields = { ...PLAUSIBLE, 'x-hub-signature-256': sign(body), 'content-length': body.length };
  const kept = open(port, `${head({ ...fields, connection: 'close' })}${body}`);
  await reached.promise;
  const idle = Array.from({ length: 100 }, () => open(port));
  await Promise.all(idle.slice(0, 80).map(({ closed }) => closed));
  expect((await honest(url, 'honest')).status).toBe(200);
  go.resolve();
  await kept.closed;
  expect([kept.answer.slice(0, 15), titles]).toEqual(['HTTP/1.1 200 OK', ['honest', 'kept']]);
});

test('headers that never end are cut off', async () => {
  const { port } = await start({ headersMs: 500 });
  const slow = open(port, `POST ${HOOKS} HTTP/1.1\r\nhost: x\r\nx-a: `);
  const large = open(port, `POST ${HOOKS} HTTP/1.1\r\nhost: x\r\nx-a: ${'a'.repeat(20 * KIB)}\r\n\r\n`);
  await large.closed;
  expect(large.answer).toMatch(/^HTTP\/1\.1 431 /);
  await slow.closed;
  expect(slow.answer).toMatch(/^HTTP\/1\.1 408 /);
});

test('a connection with many requests and unread answers delays nobody', async () => {
  const { url, port } = await start();
  const page = head({}, 'GET /');
  const greedy = open(port);
  greedy.socket.pause();
  greedy.socket.write(page.repeat(20_000));
  expect((await honest(url, 'honest')).status).toBe(200);
  const stuck = Array.from({ length: 30 }, () => open(port, page.repeat(100)));
  for (const { socket } of stuck) socket.pause();
  expect((await honest(url, 'again')).status).toBe(200);
  expect(titles).toEqual(['honest', 'again']);
});

test('upgrades and unexpected bodies end the connection', async () => {
  const { port } = await start();
  const upgrade = { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-key': 'eA==' };
  const asked = open(port, head(upgrade, 'GET /'));
  await expect.poll(() => asked.answer).toMatch(/^HTTP\/1\.1 200 /);
  const hook = open(port, head(upgrade, `GET ${HOOKS}`));
  await expect.poll(() => hook.answer).toMatch(/^HTTP\/1\.1 405 /);
  const tunnel = open(port, head({}, 'CONNECT example.com:443'));
  await tunnel.closed;
  expect(tunnel.answer).toBe('');
  const elsewhere = open(port, head({ 'content-length': 10_000_000 }, 'POST /setup'));
  await elsewhere.closed;
  expect(elsewhere.answer).toMatch(/^HTTP\/1\.1 404 /);
});
