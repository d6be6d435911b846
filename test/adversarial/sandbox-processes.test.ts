import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWorkbench, shell, type Workbench } from '../adapters/sandbox/workbench.ts';

const CANARY = 'canary-51c0de';

/** System call numbers, written down apart from the product's own. */
const NR =
  process.arch === 'arm64'
    ? {
        ptrace: 117,
        processVmReadv: 270,
        pidfdOpen: 434,
        addKey: 217,
        unshare: 97,
        setns: 268,
        mount: 40,
        bpf: 280,
        ioUring: 425,
        userfaultfd: 282,
        perf: 241,
        openByHandle: 265,
        memfd: 279,
        syslog: 116,
      }
    : {
        ptrace: 101,
        processVmReadv: 310,
        pidfdOpen: 434,
        addKey: 248,
        unshare: 272,
        setns: 308,
        mount: 165,
        bpf: 321,
        ioUring: 425,
        userfaultfd: 323,
        perf: 298,
        openByHandle: 304,
        memfd: 319,
        syslog: 103,
      };

/** A program that makes one system call and prints the errno, 0 when it succeeded. */
const call = (number: number, ...args: number[]): string =>
  `perl -e '$! = 0; my $r = syscall(${[number, ...args].join(', ')}); print $r == -1 ? $!+0 : 0'`;

const commandLines = (): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return [];
      }
    });

describe('processes and kernel', { timeout: 60_000 }, () => {
  let bench: Workbench;
  let victim: ChildProcess;
  beforeAll(async () => {
    process.env.RUNOFF_TEST_SECRET = CANARY;
    bench = await openWorkbench();
    victim = spawn('sleep', ['100000'], {
      env: { PATH: '/usr/bin:/bin', SECRET: CANARY },
      stdio: 'ignore',
      ...(bench.owner ?? {}),
    });
    await once(victim, 'spawn');
  }, 60_000);
  afterAll(() => {
    victim.kill('SIGKILL');
    delete process.env.RUNOFF_TEST_SECRET;
    bench.close();
  });

  const boxed = (line: string, area = bench.area()) => bench.sandbox.exec(shell(area, line));
  const unboxed = (line: string) => bench.unboxed(['sh', '-c', line]);

  test('no environment of the host can be read, nor the launcher’s', async () => {
    const line = 'cat /proc/[0-9]*/environ /proc/[0-9]*/task/*/environ 2>/dev/null | tr "\\0" "\\n"; env';
    expect((await unboxed(line)).stdout).toContain(CANARY);
    const { stdout } = await boxed(line);
    expect(stdout).not.toContain(CANARY);
    expect(stdout).toContain('HOME=/home/agent');
  });

  test('what is given by environment does not show in the host’s process list', async () => {
    let seen: string[] = [];
    const spec = shell(bench.area(), 'echo up; sleep 0.3 # seen-7712', { env: { KEY: 'lease-key-99' } });
    const onLine = (): void => {
      seen = commandLines();
    };
    await bench.sandbox.exec({ ...spec, onLine });
    expect(seen.filter((line) => line.startsWith('bwrap') && line.includes('seen-7712'))).not.toEqual([]);
    expect(seen.filter((line) => line.includes('lease-key-99'))).toEqual([]);
  });

  test('no host process can be seen, ended, traced or read', async () => {
    const pid = victim.pid ?? 0;
    expect((await unboxed(`kill -0 ${pid} && echo there`)).stdout).toBe('there\n');
    const { stdout } = await boxed(
      `ls -d /proc/${pid}; kill -9 ${pid}; kill -9 -1; ls /proc | grep -c '^[0-9]'; ps -eo comm= | sort -u`,
    );
    expect(stdout).not.toContain(`/proc/${pid}`);
    const attacks = [call(NR.ptrace, 16, pid, 0, 0), call(NR.pidfdOpen, pid, 0)];
    for (const attack of attacks) expect((await boxed(attack)).stdout).toBe('3');
    expect((await unboxed(call(NR.pidfdOpen, pid, 0))).stdout).toBe('0');
    expect([victim.exitCode, victim.signalCode]).toEqual([null, null]);
  });

  test('it has no capability and cannot get one', async () => {
    const { stdout } = await boxed(
      'grep -E "^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp|Groups):" /proc/self/status',
    );
    expect(Object.fromEntries(stdout.split('\n').map((line) => line.split(/:\s*/)))).toMatchObject({
      CapInh: '0000000000000000',
      CapPrm: '0000000000000000',
      CapEff: '0000000000000000',
      CapBnd: '0000000000000000',
      CapAmb: '0000000000000000',
      NoNewPrivs: '1',
      Seccomp: '2',
      // An ordinary user cannot give groups up; of ours only the primary one has a name inside.
      ...(process.getuid?.() === 0 ? { Groups: '' } : {}),
    });
    const su = await boxed(
      'su -c id root < /dev/null; mount -t tmpfs none /tmp; cp /usr/bin/id i; chmod 4755 i; ./i -u',
    );
    expect(su.stdout).toBe('1000\n');
  });

  test('it opens no namespace', async () => {
    expect((await unboxed('unshare --user --map-root-user id -u')).stdout).toBe('0\n');
    const { stdout } = await boxed(
      'unshare --user id; unshare --user --map-root-user id; bwrap --ro-bind / / id; echo end',
    );
    expect(stdout).toBe('end\n');
    const flags = [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000, 0x80];
    for (const flag of flags) expect((await boxed(call(NR.unshare, flag))).stdout).toBe('1');
  });

  test.each([
    ['mount', call(NR.mount, 0, 0, 0, 0, 0), 1],
    ['setns', call(NR.setns, 0, 0), 1],
    ['bpf', call(NR.bpf, 0, 0, 0), 1],
    ['io_uring', call(NR.ioUring, 1, 0), 1],
    ['userfaultfd', call(NR.userfaultfd, 1), 1],
    ['perf', call(NR.perf, 0, 0, -1, -1, 0), 1],
    ['file handles', call(NR.openByHandle, 0, 0, 0), 1],
    ['the kernel log', call(NR.syslog, 10, 0, 0), 1],
    ['memory files', call(NR.memfd, 0, 0), 38],
  ] as const)('%s is closed by the filter', async (_what, program, errno) => {
    expect((await boxed(program)).stdout).toBe(String(errno));
  });

  test('keys of the kernel keyring are out of reach', async () => {
    // KEY_SPEC_SESSION_KEYRING is -3.
    const add = `perl -e 'my ($t, $d, $p) = ("user", "canary", "x"); my $r = syscall(${NR.addKey}, $t, $d, $p, 1, -3); print $r == -1 ? $!+0 : 0'`;
    expect((await unboxed(add)).stdout).toBe('0');
    expect((await boxed(add)).stdout).toBe('1');
  });

  test('shared memory of the host cannot be found', async () => {
    const made = await unboxed('ipcmk --shmem 4096 --mode 0666');
    const id = /\d+/.exec(made.stdout)?.[0] ?? '';
    try {
      expect((await unboxed('ipcs --shmems')).stdout).toMatch(new RegExp(`\\s${id}\\s`));
      expect((await boxed('ipcs --shmems')).stdout).not.toMatch(new RegExp(`\\s${id}\\s`));
    } finally {
      await unboxed(`ipcrm --shmem-id ${id}`);
    }
  });

  test('it types into no terminal', async () => {
    const type = `script -qec "perl -e 'my \\$x = q(x); print ioctl(STDIN, 0x5412, \\$x) ? q(typed) : q(errno ) . (\\$!+0)'" /dev/null`;
    expect((await boxed(type)).stdout).toContain('errno 1');
    if (typingIsAllowed()) expect((await unboxed(type)).stdout).toContain('typed');
  });

  test('kernel settings stay as they are', async () => {
    const file = '/proc/sys/kernel/core_pattern';
    const before = readFileSync(file, 'utf8');
    const files = [
      file,
      '/proc/sys/vm/drop_caches',
      '/proc/sysrq-trigger',
      '/proc/sys/kernel/shmall',
      '/sys/power/state',
    ];
    const line = files
      .map((path) => `(echo '|/repo/evil' > ${path}) 2>/dev/null && echo wrote ${path}`)
      .join('; ');
    expect((await boxed(`${line}; true`)).stdout).toBe('');
    expect(readFileSync(file, 'utf8')).toBe(before);
  });
});

/** Newer kernels can be told to refuse typing to everyone; then there is no attack to show. */
function typingIsAllowed(): boolean {
  try {
    return readFileSync('/proc/sys/dev/tty/legacy_tiocsti', 'utf8').trim() === '1';
  } catch {
    return true;
  }
}
