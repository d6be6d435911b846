import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startWeb, type WebOptions, type WebServer } from '../../src/server/index.ts';
import { delivery, HOOKS, labelled, memoryLog, probotMiddleware, SECRET, sign } from './delivery.ts';

let web: WebServer | undefined;
let titles: string[];
let log: ReturnType<typeof memoryLog>;

beforeEach(() => {
  titles = [];
  log = memoryLog();
});
afterEach(async () => {
  await web?.close(0);
  web = undefined;
});

async function start(options: Partial<WebOptions> = {}): Promise<WebServer> {
  web = await startWeb({
    host: '127.0.0.1',
    port: 0,
    webhook: { secret: SECRET, take: await probotMiddleware((title) => void titles.push(title)) },
    webhooksPath: HOOKS,
    health: async () => ({ ok: true, detail: { database: 'reachable' } }),
    log,
    ...options,
  });
  return web;
}

interface RawConnection {
  /** Resolves when something has come back. */
  readonly answered: Promise<void>;
  /** Resolves with all that came back, when the server has closed the connection. */
  readonly closed: Promise<string>;
}

function openRaw(port: number, text: string): RawConnection {
  const answered = Promise.withResolvers<void>();
  const closed = new Promise<string>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let received = '';
    socket.setEncoding('utf8').on('data', (part: string) => {
      received += part;
      answered.resolve();
    });
    socket.on('error', reject).on('close', () => resolve(received));
  });
  return { answered: answered.promise, closed };
}

describe('deliveries', () => {
  test('reach Probot when they are signed, whatever their characters', async () => {
    const { url } = await start();
    const answer = await fetch(`${url}${HOOKS}`, delivery(labelled('Größe “5 €” 🦊 is wrong')));
    expect([answer.status, titles]).toEqual([200, ['Größe “5 €” 🦊 is wrong']]);
  });

  test('are rejected with a flipped byte, a missing signature or a wrong content type', async () => {
    const { url } = await start();
    const body = labelled('x');
    const flipped = await fetch(
      `${url}${HOOKS}`,
      delivery(body, { 'x-hub-signature-256': sign(`${body} `) }),
    );
    const unsigned = await fetch(`${url}${HOOKS}`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    });
    const plain = await fetch(`${url}${HOOKS}`, delivery(body, { 'content-type': 'text/plain' }));
    expect([flipped.status, unsigned.status, plain.status]).toEqual([400, 400, 415]);
    expect(titles).toEqual([]);
  });

  test('are accepted at exactly the size limit, and get 413 for one byte more', async () => {
    const empty = labelled('x').length;
    const { url } = await start({ limits: { bodyLimitBytes: 100_000 } });
    const fits = await fetch(`${url}${HOOKS}`, delivery(labelled('x', 'p'.repeat(100_000 - empty))));
    const over = await fetch(`${url}${HOOKS}`, delivery(labelled('x', 'p'.repeat(100_001 - empty))));
    expect([fits.status, over.status, titles]).toEqual([200, 413, ['x']]);
    expect(over.headers.get('connection')).toBe('close');
  });

  test('cannot exceed the limit without a declared length', async () => {
    const { url } = await start({ limits: { bodyLimitBytes: 1_000_000 } });
    const part = new Uint8Array(64 * 1024).fill(97);
    let left = 160;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (left-- > 0) controller.enqueue(part);
        else controller.close();
      },
    });
    const sent = { ...delivery(''), body, duplex: 'half' } as RequestInit;
    expect((await fetch(`${url}${HOOKS}`, sent)).status).toBe(413);
    expect(titles).toEqual([]);
  });

  test('have a default limit of 5 MiB', async () => {
    const { url } = await start();
    const answer = await fetch(`${url}${HOOKS}`, delivery('x'.repeat(5 * 2 ** 20 + 1)));
    expect([answer.status, await answer.text()]).toEqual([413, 'The body is longer than 5242880 bytes.\n']);
  });

  test('have the limit also with a trailing slash in the path', async () => {
    const { url } = await start({ limits: { bodyLimitBytes: 1_000 } });
    expect((await fetch(`${url}${HOOKS}/`, delivery('x'.repeat(2_000)))).status).toBe(413);
  });

  test('get 500 when a handler fails, and nothing of the body is logged', async () => {
    const { url } = await start({
      webhook: {
        secret: SECRET,
        take: () => {
          throw new Error('no room');
        },
      },
    });
    const secret = labelled('CANARY-IN-THE-BODY');
    expect((await fetch(`${url}${HOOKS}?code=CANARY-IN-THE-QUERY`, delivery(secret))).status).toBe(500);
    expect(log.lines).toMatchObject([{ level: 'error', fields: { method: 'POST', path: HOOKS } }]);
    expect(JSON.stringify(log.lines)).not.toContain('CANARY');
  });

  test('get 503 while the App is not set up', async () => {
    web = await startWeb({
      host: '127.0.0.1',
      port: 0,
      webhooksPath: HOOKS,
      health: async () => ({ ok: false, detail: {} }),
      log,
    });
    expect((await fetch(`${web.url}${HOOKS}`, delivery(labelled('x')))).status).toBe(503);
  });
});

describe('pages', () => {
  test('/healthz distinguishes healthy from unhealthy', async () => {
    const states = [true, false];
    const { url } = await start({
      health: async () => ({ ok: states.shift() === true, detail: { database: 'said' } }),
    });
    const well = await fetch(`${url}/healthz`);
    const unwell = await fetch(`${url}/healthz`);
    expect([well.status, await well.json()]).toEqual([200, { ok: true, detail: { database: 'said' } }]);
    expect([unwell.status, await unwell.json()]).toEqual([503, { ok: false, detail: { database: 'said' } }]);
  });

  test('a failed health check is unhealthy, and its reason is only logged', async () => {
    const { url } = await start({ health: () => Promise.reject(new Error('postgres://user:pw@host')) });
    const answer = await fetch(`${url}/healthz`);
    expect(answer.status).toBe(503);
    expect(await answer.text()).not.toContain('postgres');
    expect(log.lines).toMatchObject([{ level: 'error', message: 'the health check failed' }]);
  });

  test('/ describes the server; every other address is 404', async () => {
    const { url } = await start();
    const front = await fetch(url);
    expect([front.status, await front.text()]).toEqual([200, expect.stringContaining('<h1>Runoff</h1>')]);
    const paths = ['/nothing', '/api/github', '/setup', '/setup/callback', '/healthz/x', '/..%2f.env'];
    const statuses = await Promise.all(paths.map(async (path) => (await fetch(`${url}${path}`)).status));
    expect(statuses).toEqual(paths.map(() => 404));
    expect((await fetch(url, { method: 'POST', body: 'x' })).status).toBe(404);
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  test('every answer forbids scripts, frames, sniffing and caching', async () => {
    const { url } = await start();
    const answers = [
      await fetch(url),
      await fetch(`${url}/healthz`),
      await fetch(`${url}${HOOKS}`, delivery(labelled('x'))),
    ];
    for (const { headers } of answers) {
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cache-control')).toBe('no-store');
    }
  });

  test('a request target that is not a URL is a bad request', async () => {
    const { port } = await start();
    const answer = await openRaw(port, 'GET http://[ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
      .closed;
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('stopping', () => {
  test('lets an active delivery be answered, and then closes its connection', async () => {
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const webhook = await probotMiddleware(async (title) => {
      reached.resolve();
      await goOn.promise;
      titles.push(title);
    });
    const { url, port, close } = await start({ webhook: { secret: SECRET, take: webhook } });
    const answer = fetch(`${url}${HOOKS}`, delivery(labelled('late')));
    await reached.promise;
    const closed = close(20_000);
    await expect(openRaw(port, '').closed).rejects.toThrow('ECONNREFUSED');
    goOn.resolve();
    expect([(await answer).status, titles]).toEqual([200, ['late']]);
    await closed;
  });

  test('is not delayed by an idle keep-alive connection', async () => {
    const { port, close } = await start();
    const idle = openRaw(port, 'GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await idle.answered;
    await close(20_000);
    expect(await idle.closed).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('cuts requests that exceed the grace period', async () => {
    const reached = Promise.withResolvers<void>();
    const { url, close } = await start({
      webhook: {
        secret: SECRET,
        take: () => {
          reached.resolve();
          return new Promise<boolean>(() => undefined);
        },
      },
    });
    const answer = fetch(`${url}${HOOKS}`, delivery(labelled('never'))).then(String, () => 'cut off');
    await reached.promise;
    await close(50);
    expect(await answer).toBe('cut off');
  });

  test('can be requested twice', async () => {
    const { close } = await start();
    await close(1_000);
    await close(1_000);
  });
});

test('a taken port is a fault that names it', async () => {
  const { port } = await start();
  const options = {
    host: '127.0.0.1',
    port,
    webhooksPath: HOOKS,
    health: async () => ({ ok: true, detail: {} }),
    log,
  };
  await expect(startWeb(options)).rejects.toMatchObject({
    code: 'ENVIRONMENT_INVALID',
    message: `Cannot listen on 127.0.0.1, port ${port} (HOST, PORT): another program listens there.`,
  });
});

test('the displayed address can be opened by a browser on this machine', async () => {
  const { url, port } = await start({ host: '0.0.0.0' });
  expect(url).toBe(`http://127.0.0.1:${port}`);
});
