import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createProxy, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as secureConnect } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openAuthority } from '../../src/adapters/registries/authority.ts';
import { openRegistries } from '../../src/adapters/registries/index.ts';
import { type Dialler, type EgressProxy, openEgress } from '../../src/adapters/sandbox/egress/index.ts';
import { openBubblewrap } from '../../src/adapters/sandbox/index.ts';
import type { ExecSpec, RegistryAccess } from '../../src/ports/index.ts';
import { openWorkbench, shell, type Workbench } from '../adapters/sandbox/workbench.ts';
import { memoryLog } from '../server/delivery.ts';

const TOKEN = 'npm_operatorTokenThatNobodyMayRead';
const PASSWORD = 'pip-password-of-the-operator';

interface Asked {
  readonly host: string;
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
}

const toThisHost: Dialler = { resolve: async () => ['127.0.0.1'], mayDial: () => true };

let bench: Workbench;
let folder: string;
let access: RegistryAccess;
let asked: Asked[] = [];
let close = () => {};
const hidden: string[] = [];

const answer =
  (host: string) =>
  ({ method = '', url = '', headers }: IncomingMessage, response: ServerResponse) => {
    asked.push({ host, path: url, method, headers });
    if (url.endsWith('/moved')) {
      const location = `https://other.test:${new URL(`https://${headers.host}`).port}/npm/got`;
      return response.writeHead(302, { location }).end();
    }
    if (url.includes('/silent')) return;
    if (url.endsWith('/trickle')) {
      const trickle = setInterval(() => response.write('x'.repeat(1_000)), 50);
      return void response.once('close', () => clearInterval(trickle));
    }
    if (url.endsWith('/odd')) return response.socket?.end('HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n');
    if (url.endsWith('/echo')) response.setHeader('x-echo', String(headers.authorization));
    if (url === '/npm/left-pad') {
      const dist = { tarball: `https://${headers.host}/npm/left-pad/-/left-pad-1.3.0.tgz`, shasum: '0' };
      const versions = { '1.3.0': { name: 'left-pad', version: '1.3.0', dist } };
      const body = JSON.stringify({ name: 'left-pad', 'dist-tags': { latest: '1.3.0' }, versions });
      return response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    }
    response.setHeader('set-cookie', 'session=operator');
    response.writeHead(url.endsWith('/busy') ? 503 : 200).end(`from ${host}`);
  };

beforeAll(async () => {
  const authority = openAuthority();
  const servers = await Promise.all(
    ['npm.test', 'other.test'].map(async (host) => {
      const { key, certificate } = authority.identityOf(host);
      const server = createServer({ key, cert: certificate }, answer(host));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  const [npm = 0, other = 0] = servers.map((server) => (server.address() as AddressInfo).port);
  folder = mkdtempSync(join(tmpdir(), 'runoff-logins-'));
  const settings = {
    registry: `https://npm.test:${npm}/npm/`,
    '@other:registry': `https://other.test:${other}/`,
  };
  const files = { userconfig: join(folder, 'npmrc'), cafile: join(folder, 'ca.pem') };
  writeFileSync(join(folder, 'npmrc'), `//npm.test:${npm}/npm/:_authToken=\${TOKEN}\n`);
  writeFileSync(join(folder, 'ca.pem'), authority.identityOf('combined.test').key + authority.certificate);
  writeFileSync(join(folder, 'npm'), `#!/bin/sh\necho '${JSON.stringify({ ...settings, ...files })}'\n`, {
    mode: 0o755,
  });
  const index = `https://me:${PASSWORD}@npm.test:${npm}/pypi/simple`;
  writeFileSync(join(folder, 'python3'), `#!/bin/sh\necho "global.index-url='${index}'"\n`, { mode: 0o755 });
  const registries = openRegistries({
    log: memoryLog(),
    newFolder: () => join(folder, 'asked'),
    env: { PATH: `${folder}:/usr/bin:/bin`, TOKEN, HOME: folder },
    onSecrets: (secrets) => hidden.push(...secrets),
  });
  access = await registries.of('npm ci && pip install -r requirements.txt');
  bench = await openWorkbench({ dialler: toThisHost });
  close = () => {
    for (const server of servers) server.close().closeAllConnections();
  };
});
afterAll(() => {
  close();
  bench.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  asked = [];
});

const specOf = (line: string): ExecSpec =>
  shell(bench.area(), line, {
    registries: access.hosts,
    logins: access.logins,
    env: access.env,
    files: access.files,
  });
const run = (line: string, sandbox = bench.sandbox) => sandbox.exec(specOf(line));
const url = (path: string, host = 0) => `https://${access.hosts[host]}${path}`;
const get = (path: string, more = '') => `curl --silent --max-time 20 ${more} '${url(path)}'`;

describe('the login of the operator for a registry', () => {
  test('is added outside of the sandbox, for the paths that it is for', async () => {
    const { stdout } = await run(
      `${get('/npm/a-package')}; ${get('/pypi/simple/a/')}; ${get('/pypi/packages/a.whl')}; ${get('/elsewhere')}`,
    );
    expect(stdout).toBe('from npm.test'.repeat(4));
    const basic = `Basic ${Buffer.from(`me:${PASSWORD}`).toString('base64')}`;
    expect(asked.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ['/npm/a-package', `Bearer ${TOKEN}`],
      ['/pypi/simple/a/', basic],
      ['/pypi/packages/a.whl', basic],
      ['/elsewhere', undefined],
    ]);
    expect(asked[0]?.headers.host).toBe(access.hosts[0]);
  });

  test.skipIf(!existsSync('/usr/bin/npm'))('serves npm, which knows nothing of it', async () => {
    const { stdout } = await run('/usr/bin/npm view left-pad version dist.tarball --fetch-retries=0');
    expect(stdout).toContain('1.3.0');
    // It may also ask for a newer version of itself.
    const found = asked.find(({ path }) => path === '/npm/left-pad');
    expect(found?.headers.authorization).toBe(`Bearer ${TOKEN}`);
  });

  test('is nowhere inside: not in files, environment, processes or settings of clients', async () => {
    const { stdout } = await run(
      `${get('/npm/a', '--include')}; env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null; ` +
        'find / -xdev -type f -size -1M \\( -path "/home/*" -o -path "/repo/*" -o -path "/run/*" -o -path "/tmp/*" -o -path "/etc/*" \\) -exec cat {} + 2>/dev/null',
    );
    expect(stdout).toContain('from npm.test');
    for (const secret of [
      TOKEN,
      PASSWORD,
      Buffer.from(`me:${PASSWORD}`).toString('base64'),
      'PRIVATE KEY',
      'session=',
    ])
      expect([secret, stdout.includes(secret)]).toEqual([secret, false]);
  });

  test('cannot be asked for by a client that sends one of its own, or other headers', async () => {
    await run(
      get(
        '/elsewhere',
        "-H 'Authorization: Bearer mine' -H 'Cookie: a=b' -H 'X-Forwarded-Host: evil.test' -H 'Host: evil.test'",
      ),
    );
    const { headers } = asked[0] as Asked;
    expect(headers.authorization).toBeUndefined();
    expect([headers.cookie, headers['x-forwarded-host'], headers.host]).toEqual([
      undefined,
      undefined,
      access.hosts[0],
    ]);
  });

  test('does not follow a redirect to another host', async () => {
    const { stdout } = await run(
      `curl --silent --location '${url('/npm/moved')}' --connect-to 'other.test:${new URL(url('/')).port}:other.test:${new URL(url('/', 1)).port}'`,
    );
    expect(asked[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
    expect(asked.slice(1).map(({ headers }) => headers.authorization)).not.toContain(`Bearer ${TOKEN}`);
    expect(stdout).not.toContain(TOKEN);
    await run(`curl --silent '${url('/npm/a', 1)}'`);
    expect(asked.at(-1)).toMatchObject({ host: 'other.test', path: '/npm/a' });
    expect(asked.at(-1)?.headers.authorization).toBeUndefined();
  });

  test.each([
    ['publishes nothing', '/npm/mine', '--request PUT --data x', '405'],
    ['deletes nothing', '/npm/mine', '--request DELETE', '405'],
    ['asks nothing about its owner', '/npm/-/npm/v1/tokens', '', '403'],
    ['leaves its paths by no dots', '/npm/../admin', '--path-as-is', '400'],
    ['nor by encoded ones', '/npm/%2e%2E/admin', '--path-as-is', '400'],
    ['nor by encoded slashes', '/npm/..%2fadmin', '--path-as-is', '400'],
    ['nor by a slash in a name', '/npm/a%2fb', '', '400'],
    ['nor by one below a scope', '/npm/x/@scope%2fname', '', '400'],
    ['nor by a second one', '/npm/@scope%2fname%2fother', '', '400'],
    ['nor by an encoded backslash', '/npm/a%5cb', '', '400'],
    ['nor by an escape of an escape', '/npm/%252e%252e/admin', '', '400'],
    ['hides no minus from the check', '/npm/%2d/npm/v1/tokens', '', '400'],
    ['not even in a scope', '/npm/@scope%2f-/npm/v1/tokens', '', '400'],
    ['has no parameters in a path', '/npm/;x/-/npm/v1/tokens', '', '400'],
    ['nor encoded ones', '/npm/%3bx/-/npm/v1/tokens', '', '400'],
    ['has no fragment', '/x', "--request-target '/npm/a#/../../x'", '400'],
    // Node's parser closes the connection.
    ['has no tab', '/x', `--request-target "$(printf '/npm/\\t-/npm/v1/tokens')"`, '000'],
    ['has no byte beyond ASCII', '/x', `--request-target "$(printf '/npm/\\303\\244')"`, '000'],
  ])('%s', async (_what, path, flags, status) => {
    const { stdout } = await run(`${get(path, `${flags} --output /dev/null --write-out '%{http_code}'`)}`);
    expect([stdout, asked]).toEqual([status, []]);
  });

  test('is for packages with a scope, whose path arrives as npm writes it', async () => {
    await run(get('/npm/@scope%2fname?write=false'));
    expect(asked.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ['/npm/@scope%2fname?write=false', `Bearer ${TOKEN}`],
    ]);
  });

  test('outlives a registry that answers with a status that does not exist', async () => {
    const { stdout } = await run(`${get('/npm/odd', "--write-out '%{http_code}'")}; ${get('/npm/a')}`);
    expect(stdout).toMatch(/502from npm\.test$/);
  });

  test('outlives a login that no header can have, and a failure on the way to the host', async () => {
    const logins = access.logins.map((login) => ({
      ...login,
      rules: login.rules.map((rule) => ({ ...rule, authorization: 'Bearer broken\n' })),
    }));
    const status = "--output /dev/null --write-out '%{http_code}'";
    const broken = await bench.sandbox.exec({ ...specOf(get('/npm/a', status)), logins });
    const upstream = () => {
      throw new URIError('URI malformed');
    };
    const dialler = { resolve: async () => [], mayDial: () => true, upstream };
    const lost = await run(get('/npm/a', status), openBubblewrap({ ...bench.options, dialler }));
    expect([broken.stdout, lost.stdout, asked]).toEqual(['502', '502', []]);
  });

  test('is not handed back by a registry that repeats it in a header', async () => {
    const { stdout } = await run(get('/npm/echo', '--include'));
    expect(stdout).toContain('from npm.test');
    expect(stdout).not.toMatch(/x-echo|Bearer/i);
  });

  test('is told to the log as a secret', () => {
    expect(hidden).toEqual(expect.arrayContaining([TOKEN, PASSWORD]));
  });

  test.each(['', ':x-oauth-basic'])(
    'is told to the log where a token is the user name of an address (%j after it)',
    async (rest) => {
      const told: string[] = [];
      const index = `https://${TOKEN}${rest}@uv.test/simple`;
      const env = { PATH: folder, HOME: folder, UV_DEFAULT_INDEX: index };
      const onSecrets = (secrets: readonly string[]) => told.push(...secrets);
      await openRegistries({ log: memoryLog(), newFolder: () => folder, env, onSecrets }).of('uv sync');
      expect(told).toContain(TOKEN);
      expect(told).not.toContain('');
    },
  );
});

describe('connections through the login', () => {
  let proxy: EgressProxy | null = null;
  const sockets: Socket[] = [];
  const tunnel = async (): Promise<Socket> => {
    const { logins, hosts } = access;
    proxy ??= await openEgress({ registries: hosts, logins }, bench.folder(), bench.owner, toThisHost);
    const socket = connect(proxy?.socket ?? '').on('error', () => undefined);
    sockets.push(socket);
    socket.write(`CONNECT ${hosts[0]} HTTP/1.1\r\nHost: ${hosts[0]}\r\n\r\n`);
    expect(String((await once(socket, 'data'))[0])).toContain('200 OK');
    return socket;
  };
  const secureTunnel = async () => {
    const secure = secureConnect({ socket: await tunnel(), rejectUnauthorized: false });
    await once(
      secure.on('error', () => undefined),
      'secureConnect',
    );
    return secure;
  };
  const ask = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await proxy?.close();
    proxy = null;
  });

  test('answer one request after the other, and end where thousands are sent at once', async () => {
    const few = await secureTunnel();
    few.write(ask('/npm/one') + ask('/npm/two') + ask('/npm/three'));
    let said = '';
    few.on('data', (data) => {
      said += data;
    });
    await expect.poll(() => said.match(/from npm\.test/g)?.length, { timeout: 240_000 }).toBe(3);
    asked = [];
    const many = await secureTunnel();
    many.write(ask('/npm/silent').repeat(5_000));
    await expect.poll(() => many.closed, { timeout: 240_000 }).toBe(true);
    expect(asked.length).toBeLessThanOrEqual(1);
  });

  test('are not closed for new ones during a download', async () => {
    const download = await secureTunnel();
    let bytes = 0;
    download.on('data', (data: Buffer) => {
      bytes += data.length;
    });
    download.write(ask('/npm/trickle'));
    // For longer than a connection is kept that nobody uses.
    await expect.poll(() => bytes, { timeout: 240_000 }).toBeGreaterThan(60_000);
    await Promise.all(Array.from({ length: 255 }, tunnel));
    // These wait for one that is idle.
    for (let more = 0; more < 5; more += 1) void tunnel().catch(() => undefined);
    const before = bytes;
    await expect.poll(() => bytes, { timeout: 240_000 }).toBeGreaterThan(before + 20_000);
    expect(download.destroyed).toBe(false);
  }, 90_000);
});

test('statuses of such a registry are seen: a busy one is an outage', async () => {
  const { failedHosts } = await run(get('/npm/busy'));
  expect(failedHosts).toEqual([{ host: access.hosts[0], why: 'answers 503' }]);
});

describe('the proxy of the operator', () => {
  test('carries connections by name, with its own login, which stays outside as well', async () => {
    const named: string[] = [];
    const proxy = createProxy();
    proxy.on('connect', (request, client) => {
      named.push(`${request.url} ${request.headers['proxy-authorization']}`);
      const host = connect(Number(String(request.url).split(':')[1]), '127.0.0.1', () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n');
        host.pipe(client).pipe(host);
      });
      host.on('error', () => client.destroy());
      client.on('error', () => host.destroy());
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const upstream = { host: '127.0.0.1', port: (proxy.address() as AddressInfo).port, secure: false };
    const dialler = {
      resolve: () => Promise.reject(new Error('Names are the proxy’s to resolve.')),
      mayDial: () => false,
      upstream: () => ({ ...upstream, authorization: `Basic ${Buffer.from(PASSWORD).toString('base64')}` }),
    };
    const sandbox = openBubblewrap({ ...bench.options, dialler });
    const { stdout } = await run(`${get('/npm/a-package')}; curl --silent '${url('/x', 1)}'; env`, sandbox);
    expect(stdout).toContain('from npm.testfrom other.test');
    expect(stdout).not.toContain(PASSWORD);
    const basic = `Basic ${Buffer.from(PASSWORD).toString('base64')}`;
    expect(named).toEqual(access.hosts.map((host) => `${host} ${basic}`));
    proxy.close();
    proxy.closeAllConnections();
  });
});
