import { createSocket } from 'node:dgram';
import { chmodSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWorkbench, script, shell, type Workbench } from '../adapters/sandbox/workbench.ts';

const GREETING = 'greeting-from-the-host';

/** Prints what a server says, or why it cannot be reached. */
const reach = (target: string): string => `
  const { connect } = await import('node:net');
  const socket = connect(${target});
  socket.setTimeout(3000, () => socket.destroy(new Error('timeout')));
  socket.on('data', (data) => { console.log(String(data)); socket.destroy(); });
  socket.on('error', (error) => console.log('no:', error.code ?? error.message));`;

const listening = async (server: Server, ...where: Parameters<Server['listen']>): Promise<Server> => {
  await new Promise<void>((resolve) => server.once('listening', resolve).listen(...where));
  return server;
};

describe('the network', { timeout: 60_000 }, () => {
  let bench: Workbench;
  const servers: Server[] = [];
  beforeAll(async () => {
    bench = await openWorkbench();
  }, 60_000);
  afterAll(() => {
    for (const server of servers) server.close();
    bench.close();
  });

  const greeter = async (options: { path?: string; port?: number; host?: string }): Promise<number> => {
    const server = await listening(
      createServer((socket) => socket.end(GREETING)),
      options,
    );
    servers.push(server);
    return typeof server.address() === 'string' ? 0 : (server.address() as AddressInfo).port;
  };
  const both = async (source: string) => {
    const free = await bench.unboxed([process.execPath, '--input-type=module', '-e', source]);
    const held = await bench.sandbox.exec(script(bench.area(), source));
    return { free: free.stdout.trim(), held: held.stdout.trim() };
  };

  const hostAddresses = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .filter(({ scopeid }) => !scopeid)
    .map(({ address }) => address);

  test.each(hostAddresses)('a server of this host at %s cannot be reached', async (host) => {
    const port = await greeter({ host, port: 0 });
    const { free, held } = await both(reach(JSON.stringify({ host, port })));
    expect(free).toBe(GREETING);
    expect(held).toMatch(/^no: E/);
  });

  test.each([
    ['a cloud’s metadata service', '169.254.169.254', 80],
    ['its IPv6 twin', 'fd00:ec2::254', 80],
    ['the internet', '1.1.1.1', 443],
    ['the internet by IPv6', '2606:4700:4700::1111', 443],
    ['a private network', '10.0.0.1', 22],
  ] as const)('%s has no route', async (_what, host, port) => {
    const { stdout } = await bench.sandbox.exec(script(bench.area(), reach(JSON.stringify({ host, port }))));
    expect(stdout).toMatch(/^no: ENETUNREACH/);
  });

  test('no name is resolved, and no datagram leaves', async () => {
    const received: string[] = [];
    const sink = createSocket('udp4').on('message', (message) => received.push(String(message)));
    await new Promise<void>((resolve) => sink.bind(0, '127.0.0.1', resolve));
    const source = (who: string): string => `
      const { createSocket } = await import('node:dgram');
      const { lookup, Resolver } = await import('node:dns/promises');
      const socket = createSocket('udp4');
      await new Promise((done) => socket.send('${who}', ${sink.address().port}, '127.0.0.1', done));
      socket.close();
      console.log(await lookup('example.com').catch((error) => error.code));
      console.log(await new Resolver({ timeout: 500, tries: 1 }).resolve('example.com').catch((error) => 'no answer'));`;
    const held = await bench.sandbox.exec(script(bench.area(), source('boxed')));
    expect(held.stdout).toMatch(/^(ENOTFOUND|EAI_AGAIN)\nno answer\n$/);
    const free = `require('node:dgram').createSocket('udp4').send('unboxed', ${sink.address().port}, '127.0.0.1', () => process.exit())`;
    await bench.unboxed([process.execPath, '-e', free]);
    await expect.poll(() => received).toEqual(['unboxed']);
    sink.close();
  });

  test('an abstract socket of the host is another one inside', async () => {
    const path = `\0runoff-test-${process.pid}`;
    await greeter({ path });
    const { free, held } = await both(reach(JSON.stringify({ path })));
    expect(free).toBe(GREETING);
    expect(held).toBe('no: ECONNREFUSED');
  });

  test('a socket file of the host is not there', async () => {
    const path = join(bench.folder(), 'daemon.sock');
    await greeter({ path });
    chmodSync(path, 0o666);
    const { free, held } = await both(reach(JSON.stringify({ path })));
    expect(free).toBe(GREETING);
    expect(held).toBe('no: ENOENT');
  });

  test('other families and raw sockets are closed', async () => {
    const open = (family: number, type: number): string =>
      `perl -e 'print socket(my $s, ${family}, ${type}, 0) ? 0 : $!+0, " "'`;
    // AF_VSOCK, AF_ALG, AF_PACKET, AF_XDP, AF_KEY: "not supported"; raw IP: "not permitted".
    const families = [40, 38, 17, 44, 15].map((family) => open(family, family === 38 ? 5 : 3)).join(';');
    expect((await bench.sandbox.exec(shell(bench.area(), families))).stdout).toBe('97 97 97 97 97 ');
    const raw = `perl -e 'print socket(my $s, 2, 3, 1) ? 0 : $!+0'`;
    expect((await bench.sandbox.exec(shell(bench.area(), raw))).stdout).toBe('1');
    expect((await bench.unboxed(['sh', '-c', open(40, 1)])).stdout).toMatch(/^(0|97) $/);
  });

  test('a test suite may still talk to itself, by address and by socket file', async () => {
    const source = `
      const { createServer, connect } = await import('node:net');
      const at = [{ host: '127.0.0.1', port: 0 }, { host: '::1', port: 0 }, { path: '/tmp/s' }, { path: '/repo/s' }, { path: '\\0abstract' }];
      for (const where of at) {
        const server = createServer((socket) => socket.end('ok'));
        await new Promise((done) => server.listen(where, done));
        const target = where.path ? where : { ...where, port: server.address().port };
        console.log(await new Promise((done) => connect(target).on('data', (data) => done(String(data)))));
        server.close();
      }`;
    expect((await bench.sandbox.exec(script(bench.area(), source))).stdout).toBe('ok\n'.repeat(5));
  });
});
