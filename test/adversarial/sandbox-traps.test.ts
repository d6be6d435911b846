import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, BlockList, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { publicInternet } from '../../src/adapters/sandbox/egress/index.ts';
import { openBubblewrap } from '../../src/adapters/sandbox/index.ts';
import { openWorkbench, script, shell, type Workbench } from '../adapters/sandbox/workbench.ts';
import { isRoot } from './escape/world.ts';

// What a launcher on bubblewrap can get wrong: each trap is sprung first on a plain bubblewrap.

const CANARY = 'canary-90d1f4';
const SYSTEM = [
  ...['--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin', '--symlink', 'usr/lib', '/lib'],
  ...['--symlink', 'usr/lib64', '/lib64', '--proc', '/proc', '--dev', '/dev'],
];

describe('traps of the launcher', () => {
  let bench: Workbench;
  beforeAll(async () => {
    bench = await openWorkbench({
      dialler: {
        resolve: async () => ['127.0.0.1'],
        mayDial: (address) => address === '127.0.0.1',
      },
    });
  });
  afterAll(() => bench.close());

  test('[t1] it never runs as root, from where kernel settings could be written', async () => {
    const open = [...SYSTEM, '--unshare-user', '--uid', '1000', '--cap-drop', 'ALL', 'sh', '-c'];
    // Opened for writing, and nothing written.
    const attack = ': >> /proc/sys/kernel/core_pattern && echo open';
    if (isRoot) {
      expect(await asIs('bwrap', [...open, attack])).toBe('open\n');
      const careless = openBubblewrap({ ...bench.options, owner: null });
      expect(await careless.probe()).toMatchObject({
        kind: 'missing',
        why: expect.stringContaining('as root'),
      });
      const running = careless.exec(shell(bench.area(), 'true'));
      await expect(running).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
    }
    const owners = new Set<number>();
    await bench.sandbox.exec(
      shell(bench.area(), 'echo up; sleep 0.3; : mark-t1', {
        onLine: () => {
          for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
            const uid = ownerOf(pid, 'mark-t1');
            if (uid !== null) owners.add(uid);
          }
        },
      }),
    );
    expect([...owners]).toEqual([bench.owner?.uid ?? process.getuid?.()]);
  });

  test('[t2] its own environment is empty: an option to clear that of the command is not enough', async () => {
    const plain = [...SYSTEM, '--unshare-pid', '--clearenv', 'sh', '-c', 'tr "\\0" "\\n" < /proc/1/environ'];
    expect((await bench.unboxed(['bwrap', ...plain], { KEY: CANARY })).stdout).toContain(CANARY);
    process.env.RUNOFF_TEST_KEY = CANARY;
    try {
      const held = await bench.sandbox.exec(shell(bench.area(), 'cat /proc/[0-9]*/environ | tr "\\0" "\\n"'));
      expect(held.stdout).not.toContain(CANARY);
      expect(held.stdout).toContain('HOME=/home/agent');
    } finally {
      delete process.env.RUNOFF_TEST_KEY;
    }
  });

  test('[t3] bubblewrap passes descriptors on, so that none may reach it', async () => {
    const secrets = bench.folder();
    await bench.unboxed(['sh', '-c', `echo ${CANARY} > ${secrets}/app.pem`]);
    const plain = `exec 77<${secrets}; exec bwrap ${SYSTEM.join(' ')} sh -c 'cat /proc/self/fd/77/app.pem'`;
    expect((await bench.unboxed(['bash', '-c', plain])).stdout).toBe(`${CANARY}\n`);
    const list =
      'for f in /proc/self/fd/*; do case $f in */[012]) ;; *) readlink $f;; esac; done | grep -v "^/proc/" | sort -u';
    const { stdout } = await bench.sandbox.exec(shell(bench.area(), list));
    // Besides the three standard ones: empty devices in the place of others, and the pipe of this very line.
    expect(stdout.split('\n').filter((to) => to !== '' && to !== '/dev/null' && !/^pipe:/.test(to))).toEqual(
      [],
    );
  });

  test('[t4] nothing is mounted where a command could have laid a link', async () => {
    const [tree, tools, trap] = [bench.folder(), bench.folder(), bench.folder()];
    await bench.unboxed(['ln', '-s', `/oldroot${trap}`, join(tree, 'node_modules')]);
    const careless = [
      ...SYSTEM,
      '--bind',
      tree,
      '/repo',
      '--ro-bind',
      tools,
      '/repo/node_modules/.cache',
      'true',
    ];
    await bench.unboxed(['bwrap', ...careless]);
    const [major = 0, minor = 0] = (await asIs('bwrap', ['--version'])).match(/\d+/g)?.map(Number) ?? [];
    // Mended in bubblewrap 0.12 (GHSA-pxhw-h44j-8pfx).
    if (major === 0 && minor < 12) expect(readdirSync(trap)).toEqual(['.cache']);
    const clean = bench.folder();
    const area = bench.area();
    const lay = `for n in run out opt etc usr tmp node_modules; do rm -rf $n ~/$n; ln -s /oldroot${clean} $n; ln -s ../../../..${clean} ~/$n; done`;
    await bench.sandbox.exec(shell(area, lay));
    const more = { binds: [{ from: tools, to: '/opt/tools' }], out: bench.folder() };
    expect(await bench.sandbox.exec(shell(area, 'true', more))).toMatchObject({ exitCode: 0 });
    expect(readdirSync(clean)).toEqual([]);
    for (const to of ['/repo/node_modules', '/home/agent/.cache']) {
      const running = bench.sandbox.exec(shell(area, 'true', { binds: [{ from: tools, to }] }));
      await expect(running).rejects.toThrow('not a valid mount point');
    }
  });

  test('[t5] a network namespace does not hold sockets to the hypervisor; the filter does', async () => {
    const vsock = ['perl', '-e', 'print socket(my $s, 40, 1, 0) ? 0 : $!+0'] as const;
    const spaces = await bench.unboxed(['unshare', '--user', '--map-root-user', '--net', ...vsock]);
    if (existsSync('/dev/vsock')) expect(spaces.stdout).toBe('0');
    expect((await bench.sandbox.exec({ ...shell(bench.area(), ''), argv: vsock })).stdout).toBe('97');
  });

  test('[t6] addresses of both kinds are told apart: one list for both would refuse everything', () => {
    const single = new BlockList();
    single.addSubnet('::ffff:0:0', 96, 'ipv6');
    expect(single.check('1.1.1.1', 'ipv4')).toBe(true);
    for (const address of ['1.1.1.1', '2606:4700:4700::1111'])
      expect([address, publicInternet.mayDial(address)]).toEqual([address, true]);
    for (const address of [
      '127.0.0.1',
      '10.0.0.1',
      '169.254.169.254',
      '::1',
      'fd00::1',
      '::ffff:127.0.0.1',
      '::ffff:1.1.1.1',
      '64:ff9b::7f00:1',
    ]) {
      expect([address, publicInternet.mayDial(address)]).toEqual([address, false]);
    }
  });

  test('[t7] Node’s own fetch finds the proxy', async () => {
    const heard: string[] = [];
    const registry = createServer((socket) =>
      socket
        .on('error', () => socket.destroy())
        .once('data', (data) => {
          heard.push(data.subarray(0, 1).toString('hex'));
          socket.destroy();
        }),
    );
    await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
    const { port } = registry.address() as AddressInfo;
    const fetching = `await fetch('https://registry.test:${port}/').catch((error) => console.log(error.cause?.code ?? 'no'));`;
    const egress = { egress: [`registry.test:${port}`] };
    const unaware = {
      ...script(bench.area(), fetching, egress),
      argv: [
        'env',
        '-u',
        'NODE_USE_ENV_PROXY',
        '/opt/toolchain/bin/node',
        '--input-type=module',
        '-e',
        fetching,
      ] as const,
    };
    expect((await bench.sandbox.exec(unaware)).stdout).toMatch(/^(EAI_AGAIN|ENOTFOUND)\n$/);
    expect(heard).toEqual([]);
    await bench.sandbox.exec(script(bench.area(), fetching, egress));
    // The first byte of a TLS handshake.
    expect(heard).toEqual(['16']);
    registry.close();
  });
});

const asIs = (file: string, args: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    execFile(file, [...args], (_error, stdout) => resolve(stdout));
  });

/** Whose process it is on the host, if its command line holds the mark. */
function ownerOf(pid: string, mark: string): number | null {
  try {
    if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark)) return null;
    return Number(/^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return null;
  }
}
