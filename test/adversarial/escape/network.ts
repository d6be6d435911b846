import { createSocket } from 'node:dgram';
import { chmodSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../../adapters/sandbox/workbench.ts';
import { ERRNO } from './answers.ts';
import { both, boxed, type EscapeWorld, line, type OpenWorld, perl } from './world.ts';

const GREETING = 'greeting-from-the-host';

/** Prints what a server says, or why it cannot be reached. */
const reach = (target: object): string => `
  const { connect } = await import('node:net');
  const socket = connect(${JSON.stringify(target)});
  socket.setTimeout(3000, () => socket.destroy(new Error('timeout')));
  socket.on('data', (data) => { console.log(String(data)); socket.destroy(); });
  socket.on('error', (error) => console.log('no:', error.code ?? error.message));`;

/** AF_VSOCK, AF_ALG, AF_PACKET, AF_XDP, AF_KEY, AF_RDS, and the types they are opened with. */
const FAMILIES = [
  [38, 5],
  [17, 3],
  [44, 3],
  [15, 3],
  [21, 5],
] as const;
const open = (family: number, type: number, protocol = 0) =>
  perl(`print socket(my $s, ${family}, ${type}, ${protocol}) ? 0 : $!+0`);

/** Attacks on the network of the host. */
export function networkSuite(name: string, openWorld: OpenWorld): void {
  describe(`the network, from ${name}`, () => {
    let world: EscapeWorld;
    const servers: Server[] = [];
    beforeAll(async () => {
      world = await openWorld();
    });
    afterAll(async () => {
      for (const server of servers) server.close();
      await world.close();
    });

    const greeter = async (where: { path?: string; port?: number; host?: string }): Promise<number> => {
      const server = createServer((socket) => socket.end(GREETING));
      await new Promise<void>((resolve, reject) => server.once('error', reject).listen(where, resolve));
      servers.push(server);
      return where.path === undefined ? (server.address() as AddressInfo).port : 0;
    };
    const twice = async (source: string) => {
      const free = await world.unboxed([process.execPath, '--input-type=module', '-e', source]);
      const held = await boxed(world, world.area(), [
        '/opt/toolchain/bin/node',
        '--input-type=module',
        '-e',
        source,
      ]);
      return { free: free.stdout.trim(), held: held.stdout.trim() };
    };

    test.each([
      ['[n01] a server on the host’s loopback', '127.0.0.1'],
      ['[n02] a server on its IPv6 loopback', '::1'],
    ])('%s is not reached', async (_title, host) => {
      const port = await greeter({ host, port: 0 });
      expect(await twice(reach({ host, port }))).toEqual({ free: GREETING, held: 'no: ECONNREFUSED' });
    });

    test('[n07] an abstract socket of the host is another one inside', async () => {
      const path = `\0runoff-test-${process.pid}`;
      await greeter({ path });
      expect(await twice(reach({ path }))).toEqual({ free: GREETING, held: 'no: ECONNREFUSED' });
    });

    test('[n08] a socket file of the host is not there', async () => {
      const path = join(world.folder(), 'daemon.sock');
      await greeter({ path });
      chmodSync(path, 0o666);
      expect(await twice(reach({ path }))).toEqual({ free: GREETING, held: 'no: ENOENT' });
    });

    test('[n09] no socket leads to the hypervisor', async () => {
      const { free, held } = await both(world, open(40, 1));
      expect(held).toBe(ERRNO[world.answers.family]);
      // A kernel without the family says so to everyone; then there is no attack to show.
      expect(['0', '97']).toContain(free);
    });

    test('[n10] no raw socket is opened', async () => {
      const raw = [open(2, 3, 1), open(10, 3, 58)];
      for (const argv of raw) {
        // Any user may, in namespaces of its own.
        expect((await world.unboxed(['unshare', '--user', '--map-root-user', '--net', ...argv])).stdout).toBe(
          '0',
        );
        expect((await boxed(world, world.area(), argv)).stdout).toBe('1');
      }
      expect((await boxed(world, world.area(), open(2, 1))).stdout).toBe('0');
    });

    test('[n11] sockets of other families are closed', async () => {
      const packet = open(17, 3);
      expect((await world.unboxed(['unshare', '--user', '--map-root-user', '--net', ...packet])).stdout).toBe(
        '0',
      );
      const area = world.area();
      for (const [family, type] of FAMILIES)
        expect((await boxed(world, area, open(family, type))).stdout).toBe(ERRNO[world.answers.family]);
      for (const family of [1, 2, 10, 16])
        expect((await boxed(world, area, open(family, family === 16 ? 3 : 1))).stdout).toBe('0');
    });

    test('[n12] no datagram leaves', async () => {
      const received: string[] = [];
      const sink = createSocket('udp4').on('message', (message) => received.push(String(message)));
      await new Promise<void>((resolve) => sink.bind(0, '127.0.0.1', resolve));
      const send = (who: string) => `
        const { createSocket } = await import('node:dgram');
        const socket = createSocket('udp4');
        await new Promise((done) => socket.send('${who}', ${sink.address().port}, '127.0.0.1', done));
        socket.close();`;
      await boxed(world, world.area(), [
        '/opt/toolchain/bin/node',
        '--input-type=module',
        '-e',
        send('boxed'),
      ]);
      await world.unboxed([process.execPath, '--input-type=module', '-e', send('unboxed')]);
      await expect.poll(() => received).toEqual(['unboxed']);
      sink.close();
    });

    test('[n13] it has a loopback of its own, no other interface and no route', async () => {
      const list = line(
        'cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d " "; tail -n +2 /proc/net/route; cut -c1-32,68- /proc/net/ipv6_route | grep -v " lo$"; true',
      );
      expect((await boxed(world, world.area(), list)).stdout.trim()).toBe('lo');
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
      const own = await world.sandbox.exec({
        area: world.area(),
        argv: ['/opt/toolchain/bin/node', '--input-type=module', '-e', source],
        limits: LIMITS,
      });
      expect(own.stdout).toBe('ok\n'.repeat(5));
    });

    test('[n16] it has no credential to push or publish with, and no way to a host that would take one', async () => {
      const look =
        line(`printf 'protocol=https\\nhost=github.com\\n\\n' | GIT_TERMINAL_PROMPT=0 git credential fill 2>/dev/null
        ls -A ~ ; cat ~/.npmrc ~/.netrc ~/.config/gh/hosts.yml ~/.git-credentials 2>/dev/null; env | grep -iE 'token|key|secret|auth'
        git -c credential.helper= ls-remote https://github.com/octocat/hello 2>&1 | grep -c 'Could not resolve host'; true`);
      expect((await boxed(world, world.area(), look)).stdout).toBe('1\n');
      const careless = { HOME: world.folder(), GIT_TOKEN: 'x' };
      await world.unboxed(
        line(
          'printf "https://u:p@github.com\\n" > ~/.git-credentials; git config --global credential.helper store',
        ),
        careless,
      );
      const found = await world.unboxed(look, careless);
      expect(found.stdout).toContain('password=p');
      expect(found.stdout).toContain('GIT_TOKEN=x');
    });
  });
}
