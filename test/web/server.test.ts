import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { startWeb, type WebOptions, type WebServer } from '../../src/server/index.ts';
import { silent } from '../world/silent-log.ts';

let server: WebServer;
afterEach(() => server.close(0));

const echo = async (request: Request): Promise<Response> =>
  new Response(`${request.method} ${(await request.text()).length}`);

async function start(options: Partial<WebOptions> = {}): Promise<WebServer> {
  server = await startWeb({
    host: '127.0.0.1',
    port: 0,
    webhooksPath: '/hooks',
    health: async () => ({ ok: true, detail: {} }),
    pages: { fetch: echo },
    log: silent,
    ...options,
  });
  return server;
}

test('forms reach the pages up to a limit; what is longer, or comes too slowly, is refused and not kept', async () => {
  const { url, port } = await start({ limits: { pageBodyLimitBytes: 1_000, bodyMs: 200 } });
  const send = async (bytes: number) => {
    const answer = await fetch(`${url}/runs/r1/pick`, { method: 'POST', body: 'x'.repeat(bytes) });
    return [answer.status, await answer.text()];
  };
  expect(await send(1_000)).toEqual([200, 'POST 1000']);
  expect(await send(1_001)).toEqual([413, 'The body is longer than 1000 bytes.\n']);
  const said = await new Promise<string>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () =>
      socket.write('POST /a HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nonly this'),
    );
    let text = '';
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    socket.on('close', () => resolve(text)).on('error', reject);
  });
  expect(said).toMatch(/^HTTP\/1\.1 408 /);
});

test('webhooks, health and metrics are not for the pages to answer', async () => {
  const { url } = await start();
  expect((await fetch(`${url}/hooks`, { method: 'POST', body: '{}' })).status).toBe(503);
  expect(await (await fetch(`${url}/healthz`)).json()).toMatchObject({ ok: true });
  expect(await (await fetch(`${url}/metrics`)).text()).toBe('GET 0');
});

test.each([
  ['a stream of events', 'text/event-stream', 'text/event-stream'],
  ['a stream of events that the client does not name', 'text/event-stream', '*/*'],
  ['an answer that is being sent', 'text/html', '*/*'],
])(
  '%s is not kept when deliveries need its connection; a request without an answer is',
  async (_, type, accept) => {
    const stream = (): Response => {
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode(': x\n\n')),
      });
      return new Response(body, { headers: { 'content-type': type } });
    };
    const finish = Promise.withResolvers<Response>();
    const { url } = await start({
      pages: { fetch: async (request) => (request.url.endsWith('/sent') ? stream() : finish.promise) },
      limits: { connections: 2 },
    });
    const answer = fetch(`${url}/asked`).then((given) => given.text());
    const sent = await fetch(`${url}/sent`, { headers: { accept } });
    const ended = sent.text().then(
      () => 'ended',
      () => 'cut off',
    );
    expect(await (await fetch(`${url}/healthz`)).json()).toMatchObject({ ok: true });
    expect(await Promise.race([ended, delay(10_000, 'open')])).toBe('cut off');
    finish.resolve(new Response('answered'));
    expect(await answer).toBe('answered');
  },
);

test('with an https address, browsers are told to use nothing else', async () => {
  const { url } = await start({ publicUrl: 'https://runoff.example' });
  expect((await fetch(url)).headers.get('strict-transport-security')).toBe('max-age=31536000');
});
