import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openContainer } from '../../../src/adapters/sandbox/index.ts';
import { SYSCALLS } from '../../../src/adapters/sandbox/syscalls.ts';
import type { ExecSpec, Sandbox } from '../../../src/ports/index.ts';
import { limited, markedSleep, processesWith } from '../../contracts/sandbox.limits.ts';
import { sandboxContract } from '../../contracts/sandbox.suite.ts';
import { importImage } from '../../setup/container-image.ts';
import { gone, startKilledApp, untilDead } from './killed-app.ts';
import { openWorkbench, type Workbench } from './workbench.ts';

const IMAGE = 'localhost/runoff-sandbox-test:1';
const ENGINES = ['podman', 'docker'] as const;

const run = (file: string, ...args: string[]) => spawnSync(file, args, { encoding: 'utf8' });

for (const engine of ENGINES) {
  const info = run(engine, 'info');
  if (info.status === 0) describe(`with ${engine}`, () => containers(engine));
  else {
    const why = info.error?.message ?? info.stderr.trim().split('\n').at(-1);
    test.skip(`containers of ${engine}: not tried, ${engine} does not work here (${why})`, () => undefined);
  }
}

function containers(engine: (typeof ENGINES)[number]): void {
  beforeAll(() => importImage(engine, IMAGE), 120_000);
  const open = (bench: Workbench, image = IMAGE): Sandbox => {
    const { toolchain, owner } = bench.options;
    return openContainer({ engine, image, toolchain, owner, scratch: join(bench.root, 'scratch') });
  };

  sandboxContract(`containers of ${engine}`, async () => {
    const bench = await openWorkbench();
    return { ...bench, sandbox: open(bench) };
  });

  describe('a container', () => {
    let bench: Workbench;
    let sandbox: Sandbox;
    beforeAll(async () => {
      bench = await openWorkbench();
      sandbox = open(bench);
    });
    afterAll(() => bench.close());
    const sh = (line: string, more: Partial<ExecSpec> = {}) =>
      sandbox.exec({ area: bench.area(), argv: ['sh', '-c', line], limits: limited(), ...more });
    const left = (): string =>
      run(engine, 'ps', '--all', '--filter', 'label=runoff.sandbox', '--format', '{{.Names}}').stdout;

    test('says what is weaker, and names the command that pulls a missing image', async () => {
      const probe = await sandbox.probe();
      expect(probe).toMatchObject({ kind: 'ready', backend: 'container' });
      expect(probe.kind === 'ready' && probe.weaker.length).toBeGreaterThan(0);
      const without = open(bench, 'localhost/no-such-image:1');
      const remedy = `${engine} pull localhost/no-such-image:1`;
      expect(await without.probe()).toMatchObject({ kind: 'missing', remedy });
      const spec = { area: bench.area(), argv: ['true'], limits: limited() } as const;
      await expect(without.exec(spec)).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
    });

    test('shows nothing of the host or of the command in names, environments and files', async () => {
      const secret = 'key-of-this-candidate';
      const line = `cat /proc/1/environ /etc/passwd /etc/hosts /etc/resolv.conf; ls -A /run/secrets /run/bridge; test "$GW_KEY" = ${secret} && echo given`;
      const running = sh(`${line}; sleep 1`, { env: { GW_KEY: secret } });
      // Its first process, its client and its records, while it runs.
      let seen = '';
      const end = running.then(() => true);
      while (!(await Promise.race([end, new Promise((resolve) => setTimeout(resolve, 100, false))]))) {
        seen += run(engine, 'ps', '--no-trunc', '--filter', 'label=runoff.sandbox').stdout;
        seen += run('ps', '-eo', 'args')
          .stdout.split('\n')
          .filter((args) => args.includes(engine))
          .join('\n');
        seen += run(engine, 'inspect', ...left().split('\n').filter(Boolean)).stdout;
      }
      const { stdout } = await running;
      expect(seen).toContain('control.sock');
      expect(seen).not.toContain(secret);
      expect(stdout).toContain('given');
      expect(stdout).not.toMatch(/PROXY=[^\0]|image-user/i);
      expect(stdout).not.toContain(readFileSync('/etc/passwd', 'utf8').split('\n')[1]);
    });

    test('cannot write its root, gain a right or make a namespace', async () => {
      const calls = [
        'touch /usr/x /etc/x /opt/toolchain/x /run/x 2>/dev/null || echo root refused',
        `grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status`,
        'unshare --user true 2>/dev/null || echo namespace refused',
        'setsid true && echo control',
      ];
      const { stdout } = await sh(calls.join('; '));
      expect(await bench.unboxed(['unshare', '--user', 'true'])).toMatchObject({ code: 0 });
      expect(stdout).toMatch(
        /^root refused\nCapEff:\t0+\nCapBnd:\t0+\nNoNewPrivs:\t1\nSeccomp:\t2\nnamespace refused\ncontrol\n$/,
      );
    });

    test('reaches the allowed host through the proxy and no other', async () => {
      const server = createServer((socket) => socket.end('the registry'));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const { toolchain, owner } = bench.options;
      const dialler = { resolve: async () => ['127.0.0.1'], mayDial: () => true };
      const scratch = join(bench.root, 'scratch');
      const reaching = openContainer({ engine, image: IMAGE, toolchain, owner, scratch, dialler });
      const ask = (host: string) => {
        const connect = `const { hostname, port } = new URL(process.env.HTTPS_PROXY); const s = require('net').connect(port, hostname); s.pipe(process.stdout); s.on('end', () => process.exit()); s.write('CONNECT ${host}:${port} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')`;
        const argv = ['/opt/toolchain/bin/node', '-e', connect] as const;
        const egress = [`registry.example.org:${port}`];
        return reaching.exec({ area: bench.area(), argv, egress, limits: limited() });
      };
      expect((await ask('registry.example.org')).stdout).toMatch(/^HTTP\/1.1 200 .*the registry$/s);
      expect((await ask('elsewhere.example.org')).stdout).toMatch(/^HTTP\/1.1 403 /);
      server.close();
    });

    test('is ended by its control socket and by the watcher when Runoff is killed', async () => {
      const mark = markedSleep();
      const line = `(setsid setsid sh -c "trap '' TERM HUP INT; sleep ${mark}" &) ; sleep ${mark}`;
      const app = await startKilledApp('openContainer', bench, line, mark, { engine, image: IMAGE });
      process.kill(app, 'SIGKILL');
      expect(await untilDead(mark)).toBe(gone);
    });

    test('is ended by the watcher alone when its entry was stopped', async () => {
      const mark = markedSleep();
      // The entry is the parent of the command. Stopped, it does not see its control socket break.
      const line = `kill -STOP $PPID; sleep ${mark} & sleep ${mark}`;
      const app = await startKilledApp('openContainer', bench, line, mark, { engine, image: IMAGE });
      process.kill(app, 'SIGKILL');
      expect(await untilDead(mark)).toBe(gone);
    });

    test('left by a Runoff that died with its watcher is removed at the next start', async () => {
      await sh('true');
      const mark = markedSleep();
      const app = await startKilledApp('openContainer', bench, `sleep ${mark} & sleep ${mark}`, mark, {
        engine,
        image: IMAGE,
      });
      const [name] = left()
        .split('\n')
        .filter((found) => found.includes(`-${app}-`));
      const watchers = run('ps', '-eo', 'pid,args')
        .stdout.split('\n')
        .filter((args) => args.includes(`sh ${engine} ${name} `));
      process.kill(app, 'SIGSTOP');
      for (const watcher of watchers) process.kill(Number(watcher.trim().split(' ')[0]), 'SIGKILL');
      process.kill(app, 'SIGKILL');
      await expect.poll(() => processesWith(mark)).toBe(0);
      expect(left()).toContain(name);
      expect(await open(bench).probe()).toMatchObject({ kind: 'ready' });
      expect(left()).not.toContain(name);
    });
  });
}

test('the system call profile of containers allows nothing that the filter of the default sandbox refuses', () => {
  const file = new URL('../../../src/adapters/sandbox/container/seccomp.json', import.meta.url);
  const profile = JSON.parse(readFileSync(file, 'utf8')) as {
    defaultAction: string;
    syscalls: { names: string[]; action: string; args?: unknown[] }[];
  };
  expect(profile.defaultAction).toBe('SCMP_ACT_ERRNO');
  const allowed = profile.syscalls.filter(({ action }) => action === 'SCMP_ACT_ALLOW');
  const free = new Set(allowed.filter(({ args }) => !args?.length).flatMap(({ names }) => names));
  expect(free.has('read')).toBe(true);
  // `ioctl` is refused for terminals only, and a container has none. No program is kept from hiding (`prctl`) there.
  const filtered = Object.keys(SYSCALLS.x64.calls).filter((name) => name !== 'ioctl' && name !== 'prctl');
  expect(filtered.filter((name) => free.has(name))).toEqual([]);
  const conditional = new Set(allowed.filter(({ args }) => args?.length).flatMap(({ names }) => names));
  const some = ['clone', 'close_range', 'mknod', 'mknodat', 'personality', 'socket', 'socketpair'];
  expect([...conditional].toSorted()).toEqual(some);
});
