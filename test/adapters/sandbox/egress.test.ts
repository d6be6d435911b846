import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { upstreamFor } from '../../../src/adapters/sandbox/egress/dial.ts';
import {
  type Dialler,
  type EgressProxy,
  openEgress,
  parseTarget,
  publicInternet,
} from '../../../src/adapters/sandbox/egress/index.ts';
import { openWorkbench, script, shell, type Workbench } from './workbench.ts';

/** Names lead to this machine, except those that stand for a trap. */
const local: Dialler = {
  resolve: async (host) => {
    if (host === 'gone.test') throw Object.assign(new Error('no answer'), { code: 'EAI_AGAIN' });
    if (host === 'absent.test') throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    if (host === 'metadata.test') return ['169.254.169.254'];
    if (host === 'mirror.test') return ['127.0.0.2'];
    return host === 'inside.test' ? ['10.0.0.7', '::ffff:127.0.0.1'] : ['127.0.0.1'];
  },
  mayDial: (address) => address === '127.0.0.1',
};

describe('a proxy for one command', () => {
  let bench: Workbench;
  let registry: Server;
  let port: number;
  let proxy: EgressProxy;
  beforeAll(async () => {
    bench = await openWorkbench({ dialler: local });
    registry = createTcpServer((socket) => socket.on('data', (data) => socket.end(`registry got ${data}`)));
    await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
    port = (registry.address() as AddressInfo).port;
    const allowed = ['Registry.test', 'inside.test', 'gone.test'].map((host) => `${host}:${port}`);
    proxy = await opened({ egress: allowed, registries: [`mirror.test:${port}`, `metadata.test:${port}`] });
  });
  afterAll(async () => {
    await proxy.close();
    registry.close();
    bench.close();
  });

  const opened = async (spec: Parameters<typeof openEgress>[0], dialler = local): Promise<EgressProxy> => {
    const proxy = await openEgress(spec, bench.folder(), bench.owner, dialler);
    if (proxy === null) throw new Error('There is no proxy.');
    return proxy;
  };
  const ask = (
    path: string,
    { method = 'CONNECT', socketPath = proxy.socket }: { method?: string; socketPath?: string } = {},
  ) =>
    new Promise<{ status: number | undefined; headers: IncomingHttpHeaders; body: string }>(
      (resolve, reject) => {
        const call = request({ socketPath, method, path, headers: { host: 'x' } });
        call.on('error', reject);
        call.on('response', (response) => {
          resolve({ status: response.statusCode, headers: response.headers, body: '' });
          response.resume();
        });
        call.on('connect', (response, socket) => {
          let body = '';
          socket.setEncoding('utf8').on('data', (text: string) => {
            body += text;
          });
          socket.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body }));
          if (response.statusCode === 200) socket.write('hello');
        });
        call.end();
      },
    );

  test('closes what was idle longest for a client that opens a connection for each package', async () => {
    const echo = createTcpServer((socket) =>
      socket.on('data', (data) => String(data) === 'silence' || socket.write(String(data).repeat(4_000))),
    );
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
    const host = `registry.test:${(echo.address() as AddressInfo).port}`;
    const own = await opened({ egress: [host] });
    const open = (): Promise<Socket> =>
      new Promise((resolve, reject) => {
        const call = request({ socketPath: own.socket, method: 'CONNECT', path: host, headers: { host } });
        call.on('error', reject);
        call.on('response', ({ statusCode }) => reject(new Error(`refused: ${statusCode}`)));
        call.on('connect', (_response, socket) => resolve(socket.on('error', () => {}) as Socket));
        call.end();
      });
    /** A connection whose client has not gone on since it was sent certificates, which are longer than other handshakes. */
    const greeted = async (): Promise<Socket> => {
      const socket = await open();
      socket.write('?');
      await once(socket, 'data');
      return socket;
    };
    /** A connection on which a request was answered. */
    const used = async (): Promise<Socket> => {
      const socket = await greeted();
      socket.write('?');
      await once(socket, 'data');
      return socket;
    };
    const sockets: Socket[] = [];
    try {
      const [owed, busy, slow] = [await open(), await open(), await greeted()];
      const idle = await used();
      sockets.push(owed, busy, slow.resume(), idle.resume());
      // The host has not answered this one when others have been idle for long enough.
      owed.write('silence');
      const traffic = setInterval(() => busy.write('.'), 100);
      for (let nth = 0; nth < 3 * 90; nth += 90)
        sockets.push(...(await Promise.all(Array.from({ length: 90 }, used))));
      clearInterval(traffic);
      await expect.poll(() => idle.closed, { timeout: 10_000 }).toBe(true);
      expect([owed.destroyed, slow.closed]).toEqual([false, false]);
      busy.write('!');
      for (;;) if (String(await once(busy, 'data')).includes('!')) break;
    } finally {
      for (const socket of sockets) socket.destroy();
      await own.close();
      echo.close();
    }
  });

  test('answers a client that is too busy to ask so that it tries again', async () => {
    const host = `registry.test:${port}`;
    const own = await openEgress({ egress: [host] }, bench.folder(), bench.owner, local, { headersMs: 300 });
    const socket = connect({ path: own?.socket ?? '' });
    socket.write(`CONNECT ${host} HTTP/1.1\r\n`);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 408 /);
    await own?.close();
  });

  test('resolves a name once for the many connections of a package manager, and again if that failed', async () => {
    const asked: string[] = [];
    const first = new Set<string>();
    const dialler: Dialler = {
      ...local,
      async resolve(host) {
        asked.push(host);
        if (host === 'lost.test' && !first.has(host)) {
          first.add(host);
          throw Object.assign(new Error('no answer'), { code: 'EAI_AGAIN' });
        }
        return local.resolve(host);
      },
    };
    const own = await opened({ egress: [`registry.test:${port}`, `lost.test:${port}`] }, dialler);
    try {
      const status = async (name: string) =>
        (await ask(`${name}:${port}`, { socketPath: own.socket })).status;
      const many = await Promise.all(Array.from({ length: 40 }, () => status('registry.test')));
      expect(new Set(many)).toEqual(new Set([200]));
      expect([await status('lost.test'), await status('lost.test')]).toEqual([502, 200]);
      expect(asked).toEqual(['registry.test', 'lost.test', 'lost.test']);
    } finally {
      await own.close();
    }
  });

  test('takes no more descriptors of Runoff than a command needs, however many connections it opens', async () => {
    const own = await opened({ egress: [`registry.test:${port}`] });
    const clients = Array.from({ length: 1_500 }, () => connect(own.socket).on('error', () => undefined));
    const closed = () => clients.filter((client) => client.closed).length;
    try {
      await expect.poll(closed, { timeout: 20_000 }).toBeGreaterThan(900);
      for (const client of clients) client.destroy();
      await expect
        .poll(() => ask(`registry.test:${port}`, { socketPath: own.socket }).catch(() => null), {
          timeout: 20_000,
        })
        .toMatchObject({ status: 200 });
    } finally {
      for (const client of clients) client.destroy();
      await own.close();
    }
  });

  test('ends although a client that it refused stays', async () => {
    const own = await opened({ egress: [`registry.test:${port}`] });
    const client = connect({ path: own.socket, allowHalfOpen: true });
    client.write('CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n');
    expect(String((await once(client, 'data'))[0])).toContain('403 Forbidden');
    await own.close();
    client.destroy();
  });

  test('reaches the allowed host', async () => {
    expect(await ask(`registry.test:${port}`)).toMatchObject({ status: 200, body: 'registry got hello' });
    expect(await ask(`REGISTRY.test:${port}`)).toMatchObject({ status: 200 });
  });

  test('reaches nothing else', async () => {
    const refused = [
      `other.test:${port}`,
      'registry.test:443',
      `registry.test.:${port}`,
      `registry.test.evil.test:${port}`,
      `evilregistry.test:${port}`,
      `a.registry.test:${port}`,
      `127.0.0.1:${port}`,
      `[::1]:${port}`,
      `2130706433:${port}`,
      `0x7f000001:${port}`,
      `127.1:${port}`,
      `user@registry.test:${port}`,
      'registry.test',
      'registry.test:0',
      'registry.test:99999',
    ];
    for (const authority of refused)
      expect([authority, (await ask(authority)).status]).toEqual([authority, 403]);
  });

  test('does not follow an allowed name to a private address', async () => {
    const { status, headers } = await ask(`inside.test:${port}`);
    expect([status, headers['x-refused']]).toEqual([403, 'the name leads to a private address']);
  });

  test('follows a registry that the operator uses to a private address, but never to one of the own link', async () => {
    registry.close();
    registry.listen(port, '0.0.0.0');
    expect(await ask(`mirror.test:${port}`)).toMatchObject({ status: 200, body: 'registry got hello' });
    expect(await ask(`metadata.test:${port}`)).toMatchObject({ status: 403 });
  });

  test('is not there for a command that may reach nothing', async () => {
    expect(await openEgress({ egress: [], registries: [] }, bench.folder(), bench.owner, local)).toBeNull();
  });

  test('tells the result which hosts it refused', async () => {
    const line = 'for i in 1 2; do curl --silent --proxytunnel https://other.test/; done; true';
    const result = await bench.sandbox.exec(shell(bench.area(), line, { egress: [`registry.test:${port}`] }));
    expect(result.refusedHosts).toEqual(['other.test:443']);
    const closed = await bench.sandbox.exec(shell(bench.area(), 'true'));
    expect(closed).not.toHaveProperty('refusedHosts');
  });

  test('takes a name that does not exist for an error of the repository, but of a registry for an outage', async () => {
    const [egress, registries] = [[`absent.test:${port}`], [`absent.test:${port}`]];
    for (const [spec, failures] of [
      [{ egress }, []],
      [{ registries }, [{ host: `absent.test:${port}`, why: 'has no address' }]],
    ] as const) {
      const other = await opened(spec);
      const { status, headers } = await ask(`absent.test:${port}`, { socketPath: other.socket });
      expect([status, headers['x-refused']]).toEqual([502, 'the host has no address']);
      expect(other.failed()).toEqual(failures);
      await other.close();
    }
  });

  test('outlives settings of a proxy that cannot be read', async () => {
    const upstream = () => {
      throw new URIError('URI malformed');
    };
    const spec = { egress: [`registry.test:${port}`] };
    const other = await openEgress(spec, bench.folder(), bench.owner, { ...local, upstream });
    expect(await ask(`registry.test:${port}`, { socketPath: other?.socket ?? '' })).toMatchObject({
      status: 502,
    });
    await other?.close();
  });

  test('reports a name without an answer, and a host that does not accept connections', async () => {
    expect(await ask(`gone.test:${port}`)).toMatchObject({ status: 502 });
    expect(proxy.failed()).toEqual([{ host: `gone.test:${port}`, why: 'has no address' }]);
    const closed = createTcpServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const unused = (closed.address() as AddressInfo).port;
    await new Promise((resolve) => closed.close(resolve));
    const other = await opened({ egress: [`registry.test:${unused}`] });
    expect(await ask(`registry.test:${unused}`, { socketPath: other.socket })).toMatchObject({ status: 502 });
    const why = 'does not accept connections (ECONNREFUSED)';
    expect(other.failed()).toEqual([{ host: `registry.test:${unused}`, why }]);
    await other.close();
  });

  describe('notes a host that', () => {
    /** What is noted of a host that does this with each connection, once a client has tried it. */
    async function noted(behave: (socket: Socket) => void, giveUpAfterMs = 0) {
      const host = createTcpServer((socket) => behave(socket.on('error', () => undefined)));
      await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
      const at = `registry.test:${(host.address() as AddressInfo).port}`;
      const traffic = { seen: 0 };
      const spec = { egress: [at], onTraffic: () => (traffic.seen += 1) };
      const other = await openEgress(spec, bench.folder(), bench.owner, local, { noAnswerMs: 50 });
      if (other === null) throw new Error('There is no proxy.');
      const call = request({ socketPath: other.socket, method: 'CONNECT', path: at }).end();
      const [, socket] = (await once(call, 'connect')) as [unknown, Socket];
      socket.on('error', () => undefined).resume();
      socket.write('hello');
      if (giveUpAfterMs > 0) setTimeout(() => socket.destroy(), giveUpAfterMs);
      await once(socket, 'close');
      await other.close();
      host.close();
      return { failed: other.failed().map(({ why }) => why), traffic: traffic.seen };
    }

    test('gives no answer until the client gives up', async () => {
      expect(await noted(() => undefined, 200)).toEqual({ failed: ['does not answer'], traffic: 0 });
    });
    test('breaks the connection', async () => {
      const broken = await noted((socket) => socket.once('data', () => socket.resetAndDestroy()));
      expect(broken.failed).toEqual(['broke the connection (ECONNRESET)']);
    });
    test('hangs up without an answer', async () => {
      const hungUp = await noted((socket) => socket.once('data', () => socket.end()));
      expect(hungUp.failed).toEqual(['closed the connection without an answer']);
    });
    test('answers: no failure, but traffic, once a second', async () => {
      const trickle = async (socket: Socket) => {
        for (let i = 0; i < 6; i += 1) {
          socket.write('x');
          await sleep(200);
        }
        socket.end();
      };
      const answered = await noted((socket) => void trickle(socket));
      expect(answered.failed).toEqual([]);
      expect([1, 2]).toContain(answered.traffic);
    });
  });

  test('forwards no plain request', async () => {
    expect(await ask(`http://registry.test:${port}/`, { method: 'GET' })).toMatchObject({ status: 403 });
    expect(await ask('/v1/messages', { method: 'POST' })).toMatchObject({ status: 403 });
  });

  test('is announced in the environment of the command', async () => {
    const site = createServer((_request, response) => response.end('a package'));
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const at = (site.address() as AddressInfo).port;
    const line = `curl --silent --proxytunnel http://registry.test:${at}/; echo; curl --silent --proxytunnel http://other.test:${at}/ || echo refused; echo $http_proxy`;
    const egress = [`registry.test:${at}`];
    const result = await bench.sandbox.exec(shell(bench.area(), line, { egress }));
    expect(result.stdout).toMatch(/^a package\nrefused\nhttp:\/\/127\.0\.0\.1:\d+\n$/);
    site.close();
    site.closeAllConnections();
  });

  test('works beside the gateway, and is gone for the next command', async () => {
    const area = bench.area();
    const gateway = createServer((_request, response) => response.end('a model'));
    const socketPath = `${bench.folder()}/g`;
    await new Promise<void>((resolve) => gateway.listen(socketPath, resolve));
    const { chmodSync } = await import('node:fs');
    chmodSync(socketPath, 0o666);
    const call =
      'console.log(await (await fetch(process.env.GW_URL)).text(), Boolean(process.env.HTTPS_PROXY))';
    const both = await bench.sandbox.exec(
      script(area, call, { gateway: { socket: socketPath, port: 4711 }, egress: [`registry.test:${port}`] }),
    );
    expect(both.stdout).toBe('a model true\n');
    const after = await bench.sandbox.exec(shell(area, 'ls /run/bridge; env | grep -ci proxy'));
    expect(after.stdout).toBe('0\n');
    gateway.close();
    gateway.closeAllConnections();
  });

  test('rejects a malformed entry by name', async () => {
    const running = bench.sandbox.exec(shell(bench.area(), 'true', { egress: ['https://registry.test'] }));
    await expect(running).rejects.toMatchObject({
      code: 'SETTINGS_INVALID',
      message: expect.stringContaining('https://registry.test'),
    });
  });
});

test('the login of a proxy may have a plain percent sign', () => {
  const env = { https_proxy: 'http://me:50%off@proxy.test:3128' };
  expect(upstreamFor({ host: 'registry.test', port: 443 }, env)).toMatchObject({
    authorization: `Basic ${btoa('me:50%off')}`,
  });
});

test('a name of the host itself is not resolved', async () => {
  const addresses = await publicInternet.resolve('localhost');
  expect(addresses.length).toBeGreaterThan(0);
  expect(addresses.filter((address) => publicInternet.mayDial(address))).toEqual([]);
});

test('only host:port is accepted as a target', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
      const target = parseTarget(text);
      if (target !== null) expect(text.toLowerCase()).toMatch(/^[a-z0-9.-]+:\d{1,5}$/);
    }),
  );
  fc.assert(
    fc.property(fc.domain(), fc.integer({ min: 1, max: 65_535 }), (host, port) => {
      expect(parseTarget(`${host}:${port}`)).toEqual({ host: host.toLowerCase(), port });
    }),
  );
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV4Extended(), fc.ipV6()), (address) => {
      expect(parseTarget(`${address}:443`)).toBeNull();
    }),
  );
  const traps = [
    'a.test\0.evil:443',
    'a.test:443\n',
    ' a.test:443',
    'a.test:443/x',
    '\uff45.test:443',
    '\u212a.test:443',
    'a..test:443',
    '-a.test:443',
  ];
  for (const trap of traps) expect([trap, parseTarget(trap)]).toEqual([trap, null]);
});
