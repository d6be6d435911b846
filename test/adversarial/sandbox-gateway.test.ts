import { chmodSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Lease } from '../../src/ports/index.ts';
import {
  ANTHROPIC_KEY,
  json,
  message,
  OPENAI_KEY,
  openRig,
  PROMPT,
  type Provider,
  type Rig,
  startProvider,
} from '../adapters/gateway/rig.ts';
import { openWorkbench, script, type Workbench } from '../adapters/sandbox/workbench.ts';

// The gateway's and the proxy's own cases stand in gateway*.test.ts and egress.test.ts. Here they are asked from where a
// candidate sits: inside a sandbox, which has both.

const PORT = 8642;
const SECRET = 'only-for-the-host';

/** Sends bytes to one of the two addresses inside, or to a host and port outside; prints the first line of the answer. */
const SEND = `
  import { connect } from 'node:net';
  export const send = (to, bytes) => new Promise((done) => {
    const socket = connect(to);
    let text = '';
    socket.setTimeout(4000, () => socket.destroy());
    socket.on('data', (data) => { text += data; });
    socket.on('error', (error) => done(error.code));
    socket.on('close', () => done(text));
    socket.write(bytes, 'latin1');
  });
  const proxy = process.env.HTTP_PROXY ? new URL(process.env.HTTP_PROXY) : null;
  const tunnel = (to) => send({ host: proxy.hostname, port: proxy.port }, 'CONNECT ' + to + ' HTTP/1.1\\r\\nHost: x\\r\\n\\r\\nGET / HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n');
  const absolute = (url) => send({ host: proxy.hostname, port: proxy.port }, 'GET ' + url + ' HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n');
  const gateway = (bytes) => send({ host: '127.0.0.1', port: ${PORT} }, bytes);`;

describe('the gateway and the proxy, from inside', () => {
  let bench: Workbench;
  let provider: Provider;
  let rig: Rig;
  let lease: Lease;
  const servers: Server[] = [];
  let port: number;
  let portV6: number;
  let other: number;
  /** What a name leads to; a second question may get another answer. */
  const names: Record<string, string[][]> = {};

  beforeAll(async () => {
    bench = await openWorkbench({
      dialler: {
        resolve: async (host) => names[host]?.shift() ?? names[host]?.[0] ?? ['127.0.0.2'],
        // 127.0.0.2 stands for the internet, where an allowed host is.
        mayDial: (address) => address === '127.0.0.2',
      },
    });
    port = await greeter('127.0.0.1', SECRET);
    portV6 = await greeter('::1', SECRET);
    other = await greeter('127.0.0.2', SECRET);
    await greeter('127.0.0.2', 'a package', port);
    provider = await startProvider((_, response) => json(response, 200, message(1, 1)));
    rig = await openRig(provider.url, { dir: join(bench.folder(), 'g') });
    lease = await rig.open({ ttlMs: 600_000 });
    chmodSync(lease.socket, 0o666);
    chmodSync(join(lease.socket, '..'), 0o755);
  });
  afterAll(async () => {
    await rig[Symbol.asyncDispose]();
    await provider.close();
    for (const server of servers) server.close();
    bench.close();
  });

  const greeter = async (host: string, greeting: string, at = 0): Promise<number> => {
    const server = createServer((_request, response) =>
      response.setHeader('connection', 'close').end(greeting),
    );
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(at, host, resolve));
    servers.push(server);
    return (server.address() as AddressInfo).port;
  };
  /** Runs a module inside, with the gateway and an allowed host; what it prints. */
  const inside = async (source: string): Promise<string> => {
    const spec = script(bench.area(), `${SEND}\n${source}`, {
      gateway: { socket: lease.socket, port: PORT },
      egress: [`registry.test:${port}`, `rebind.test:${port}`],
      env: { KEY: lease.key },
    });
    const { stdout, stderr } = await bench.sandbox.exec(spec);
    return stdout + stderr;
  };
  const answers = async (calls: string): Promise<readonly string[]> =>
    JSON.parse(await inside(`console.log(JSON.stringify(await Promise.all([${calls}])))`)) as string[];
  /** What the same address says to a program that nothing holds. */
  const unboxed = async (host: string, at: number): Promise<string> => {
    const get = `require('node:http').get({ host: '${host}', port: ${at} }, (r) => r.pipe(process.stdout))`;
    return (await bench.unboxed([process.execPath, '-e', get])).stdout;
  };
  const REFUSED = /^HTTP\/1\.1 403 /;

  test('[g13] an allowed host is reached through the proxy', async () => {
    const [reply] = await answers(`tunnel('registry.test:${port}')`);
    expect(reply).toMatch(/^HTTP\/1\.1 200 /);
    expect(reply).toContain('a package');
  });

  test.each([
    ['[g01] the host’s loopback', () => [`127.0.0.1:${port}`, `localhost:${port}`], '127.0.0.1', () => port],
    ['[g02] the host’s IPv6 loopback', () => [`[::1]:${portV6}`, `::1:${portV6}`], '::1', () => portV6],
    [
      '[g05] an address in other clothes',
      () => [
        `2130706433:${port}`,
        `0x7f000001:${port}`,
        `127.1:${port}`,
        `0177.0.0.1:${port}`,
        `[::ffff:127.0.0.1]:${port}`,
      ],
      '2130706433',
      () => port,
    ],
    [
      '[g08] another port of an allowed host',
      () => [`registry.test:${other}`, `registry.test:22`],
      '127.0.0.2',
      () => other,
    ],
  ] as const)('%s is refused', async (_title, targets, host, at) => {
    expect(await unboxed(host, at())).toBe(SECRET);
    const replies = await answers(
      targets()
        .map((to) => `tunnel('${to}')`)
        .join(),
    );
    for (const reply of replies) expect(reply).toMatch(REFUSED);
  });

  test('[g03] the metadata service is refused, by address and by name', async () => {
    // That the proxy would dial if it was let: an allowed name that leads there is refused for the address alone.
    names['registry.test'] = [['169.254.169.254']];
    const replies = await answers(
      `tunnel('169.254.169.254:80'), tunnel('metadata.google.internal:80'), tunnel('[fd00:ec2::254]:80'), tunnel('registry.test:${port}')`,
    );
    delete names['registry.test'];
    for (const reply of replies) expect(reply).toMatch(REFUSED);
    expect(replies[3]).toContain('private address');
  });

  test('[g04] no whole request is forwarded', async () => {
    expect(await unboxed('127.0.0.1', port)).toBe(SECRET);
    const urls = [
      `http://127.0.0.1:${port}/`,
      `http://registry.test:${port}/`,
      'http://169.254.169.254/latest/meta-data/',
      'file:///etc/passwd',
    ];
    for (const reply of await answers(urls.map((url) => `absolute('${url}')`).join())) {
      expect(reply).toMatch(/^HTTP\/1\.1 4\d\d /);
      expect(reply).not.toContain(SECRET);
    }
  });

  test('[g06] an allowed name that comes to lead inside is not followed', async () => {
    // First outside, then inside: who asks twice, once to check and once to dial, is led in.
    names['rebind.test'] = [['127.0.0.2'], ['127.0.0.1'], ['127.0.0.1']];
    const [first] = await answers(`tunnel('rebind.test:${port}')`);
    expect(first).toContain('a package');
    const [second] = await answers(`tunnel('rebind.test:${port}')`);
    expect(second).toMatch(REFUSED);
    expect(`${first}${second}`).not.toContain(SECRET);
    expect(await unboxed('127.0.0.1', port)).toBe(SECRET);
  });

  test('[g07] a name that only looks like an allowed one is refused', async () => {
    const lookalikes = [
      'registry.test.evil.test',
      'evilregistry.test',
      'a.registry.test',
      'registry.test.',
      'registry.test%00.evil.test',
      'x@registry.test',
      'registry.test#',
      'REGISTRY.test\\u3002evil',
    ];
    for (const reply of await answers(lookalikes.map((name) => `tunnel('${name}:${port}')`).join())) {
      expect(reply).toMatch(/^HTTP\/1\.1 4\d\d /);
    }
    const [exact] = await answers(`tunnel('Registry.TEST:${port}')`);
    expect(exact).toContain('a package');
  });

  test('[g12] a model answers through the gateway', async () => {
    const call = `const reply = await fetch(process.env.GW_URL + '/v1/messages', { method: 'POST', headers: { 'x-api-key': process.env.KEY, 'content-type': 'application/json' }, body: ${JSON.stringify(JSON.stringify(PROMPT))} });
      console.log(reply.status, (await reply.json()).content[0].text, process.env.GW_URL);`;
    expect(await inside(call)).toBe(`200 ok http://127.0.0.1:${PORT}\n`);
  });

  test('[g09] no key of a provider is anywhere inside', async () => {
    const look = `
      import { execFileSync } from 'node:child_process';
      const sh = (line) => execFileSync('sh', ['-c', line], { encoding: 'utf8', maxBuffer: 1e8, stdio: ['ignore', 'pipe', 'ignore'] });
      const body = ${JSON.stringify(JSON.stringify(PROMPT))};
      const echo = await gateway('POST /v1/messages HTTP/1.1\\r\\nHost: x\\r\\nx-api-key: ' + process.env.KEY + '\\r\\nContent-Type: application/json\\r\\nContent-Length: ' + body.length + '\\r\\nConnection: close\\r\\n\\r\\n' + body);
      console.log(sh('env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline; grep -rsa canary ~ /repo /tmp /run/bridge /etc /opt/toolchain/bridge.mjs; true'), echo);`;
    const found = await inside(look);
    expect(found).toContain(lease.key);
    for (const key of [ANTHROPIC_KEY, OPENAI_KEY]) expect(found).not.toContain(key);
    // The provider does get it, and would show it to anyone who reached it directly.
    expect(provider.seen.at(-1)?.headers['x-api-key']).toBe(ANTHROPIC_KEY);
  });

  test('[g10] no other path of the provider is reached', async () => {
    const paths = [
      '/v1/files',
      '/v1/../v1/files',
      '/v1/messages/../files',
      '/v1/%66iles',
      '//v1/files',
      'http://127.0.0.1/v1/files',
      '/v1/organizations/me',
    ];
    const asked = provider.seen.length;
    const direct = await fetch(`${provider.url}/v1/files`, { method: 'POST', body: '{}' });
    expect(direct.status).toBe(200);
    const replies = await answers(
      paths
        .map(
          (path) =>
            `gateway('POST ${path} HTTP/1.1\\r\\nHost: x\\r\\nx-api-key: ${lease.key}\\r\\nContent-Length: 2\\r\\n\\r\\n{}')`,
        )
        .join(),
    );
    for (const reply of replies) expect(reply).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(provider.seen.length).toBe(asked + 1);
  });

  test('[g11] no second request is smuggled behind a first', async () => {
    const head = `x-api-key: ${lease.key}\\r\\nContent-Type: application/json\\r\\n`;
    const body = JSON.stringify(PROMPT).replaceAll("'", '');
    const second = `POST /v1/files HTTP/1.1\\r\\nHost: x\\r\\n${head}Content-Length: 2\\r\\n\\r\\n{}`;
    const attacks = [
      `POST /v1/messages HTTP/1.1\\r\\nHost: x\\r\\n${head}Content-Length: 2\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n${second}`,
      `POST /v1/messages HTTP/1.1\\r\\nHost: x\\r\\n${head}Content-Length: 2\\r\\nContent-Length: 200\\r\\n\\r\\n{}${second}`,
      `POST /v1/messages HTTP/1.1\\r\\nHost: x\\r\\n${head}Content-Length: ${body.length}\\r\\n\\r\\n' + ${JSON.stringify(body)} + '${second}`,
      `POST /v1/messages HTTP/1.1\\r\\nHost: x\\r\\nX: a\\rPOST /v1/files HTTP/1.1\\r\\n\\r\\n`,
    ];
    const reached = (): number => provider.seen.filter(({ path }) => path === '/v1/files').length;
    const before = reached();
    await answers(attacks.map((bytes) => `gateway('${bytes}')`).join());
    expect(reached()).toBe(before);
    // The third needs no trick: a server that nothing stands before takes both requests.
    await straight(
      new URL(provider.url).port,
      (attacks[2] ?? '').replaceAll('\\r\\n', '\r\n').replace(`' + ${JSON.stringify(body)} + '`, body),
    );
    expect(reached()).toBe(before + 1);
  });
});

/** Sends bytes as they are; resolves a moment after the last answer. */
function straight(port: string, bytes: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(bytes));
    socket.setTimeout(500, () => socket.destroy());
    socket.on('data', () => undefined);
    socket.on('close', () => resolve());
  });
}
