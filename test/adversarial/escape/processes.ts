import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  both,
  boxed,
  DIRT,
  type EscapeWorld,
  isRoot,
  line,
  type OpenWorld,
  perl,
  userInside,
} from './world.ts';

const CANARY = 'canary-51c0de';
/** System call numbers, written down apart from the product's own. */
const NR =
  process.arch === 'arm64'
    ? { ptrace: 117, readv: 270, pidfd: 434, pidfdSignal: 424 }
    : { ptrace: 101, readv: 310, pidfd: 434, pidfdSignal: 424 };

/** Tries everything on the process that is its argument, and says what came of each: errno or what it got. */
const TAMPER = `
  my ($pid) = @ARGV;
  my $say = sub { my ($what, $r) = @_; print "$what ", ($r == -1 ? $!+0 : "done"), "\\n" };
  print "seen ", (-d "/proc/$pid" ? "done" : 2), "\\n";
  my $fd = syscall(${NR.pidfd}, $pid + 0, 0); $say->("pidfd", $fd);
  $say->("signal", kill(0, $pid) ? 0 : -1);
  open(my $maps, "<", "/proc/$pid/maps"); my ($at) = (<$maps> // "") =~ /^([0-9a-f]+)/;
  my $into = "\\0" x 4;
  my ($to, $from) = (pack("PQ", $into, 4), pack("QQ", hex($at // "400000"), 4));
  $say->("memory", syscall(${NR.readv}, $pid + 0, $to, 1, $from, 1, 0));
  $say->("trace", syscall(${NR.ptrace}, 16, $pid + 0, 0, 0));
  system("prlimit --pid $pid --core=0 >/dev/null 2>&1"); print "limit ", ($? ? $? >> 8 : "done"), "\\n";`;
const DONE = ['seen', 'pidfd', 'signal', 'memory', 'trace', 'limit'].map((what) => `${what} done\n`).join('');

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

/** Attacks on processes of the host, and on the rights that a process has. */
export function processesSuite(name: string, open: OpenWorld): void {
  describe(`processes of the host, from ${name}`, () => {
    let world: EscapeWorld;
    let victim: ChildProcess;
    beforeAll(async () => {
      world = await open();
      victim = spawn('sleep', ['100000'], {
        env: { PATH: '/usr/bin:/bin', SECRET: CANARY },
        stdio: 'ignore',
        ...(world.owner ?? {}),
      });
      await once(victim, 'spawn');
    });
    afterAll(async () => {
      victim.kill('SIGKILL');
      await world.close();
    });

    const inside = async (text: string) => (await boxed(world, world.area(), line(text))).stdout;
    const outside = async (text: string) => (await world.unboxed(line(text))).stdout;

    test('[p01] the environment of no process of the host is read', async () => {
      const attack = 'cat /proc/[0-9]*/environ /proc/[0-9]*/task/*/environ 2>/dev/null | tr "\\0" "\\n"';
      expect(await outside(attack)).toContain(CANARY);
      const held = await inside(`${attack}; sleep 0 & MINE=yes cat /proc/self/environ`);
      expect(held).not.toContain(CANARY);
      expect(held).not.toContain(DIRT);
      expect(held).toContain('MINE=yes');
    });

    test('[p02] its own environment holds nothing of the app', async () => {
      const free = await world.unboxed(['env'], { GITHUB_TOKEN: DIRT });
      expect(free.stdout).toContain(DIRT);
      const held = await inside('env | cut -d= -f1 | sort | tr "\\n" " "');
      expect(held).toBe('HOME LANG PATH PWD TMPDIR USER ');
    });

    test('[p03 p04 p05 p06 p07] no process of the host is seen, ended, traced, read or held', async () => {
      const pid = victim.pid ?? 0;
      const attack = perl(TAMPER, pid);
      // On hosts that let a process trace its own children only, reading and tracing are refused before the sandbox is asked.
      const free = (await world.unboxed(attack)).stdout;
      expect(free).toBe(tracingIsAllowed() ? DONE : DONE.replace(/(memory|trace) done/g, '$1 1'));
      // The numbers of "no such file" and "no such process"; the limit is refused by a program.
      const held = await boxed(world, world.area(), attack);
      expect(held.stdout).toBe('seen 2\npidfd 3\nsignal 3\nmemory 3\ntrace 3\nlimit 1\n');
      await boxed(world, world.area(), line('kill -9 -1; kill -9 "$1"', String(pid)));
      expect([victim.exitCode, victim.signalCode]).toEqual([null, null]);
      // Debuggers work on what the sandbox started itself.
      // Until it runs the program, its memory is that of the shell, and may go at any moment.
      const own = `sleep 20 & until grep -qx sleep /proc/$!/comm; do :; done; perl -e '${TAMPER.replaceAll("'", "'\\''")}' $!; kill -9 $!`;
      if (tracingIsAllowed()) expect(await inside(own)).toBe(DONE);
      expect((await inside('ls /proc | grep -c "^[0-9]"')).length).toBeLessThan(3);
    });

    test('[p08] nothing is typed into a terminal', async () => {
      const type = `script -qec "perl -e 'my \\$x = q(x); print ioctl(STDIN, 0x5412, \\$x) ? q(typed) : q(errno ) . (\\$!+0)'" /dev/null`;
      const { free, held } = await both(world, line(type));
      if (typingIsAllowed()) expect(free).toContain('typed');
      if (world.answers.ownTerminal === 'refused') expect(held).toContain('errno 1');
      // No other terminal is to be had: none is its own, none is passed on, and all that it sees it made itself.
      const terminals =
        'for f in /proc/self/fd/* /proc/1/fd/*; do readlink "$f"; done | grep -E "/dev/(tty|pts|console)"; ls /dev/pts; (: < /dev/tty) 2>/dev/null && echo terminal; true';
      expect(await inside(terminals)).toBe('ptmx\n');
      expect((await world.unboxed(line(`script -qec '${terminals}' /dev/null`))).stdout).toContain(
        'terminal',
      );
      // A terminal of its own it may have, and ask for its size.
      expect(await inside('script -qec "test -t 0 && stty size" /dev/null')).toMatch(/^\d+ \d+/);
    });

    test('[p09 p10] it has no capability and no way to one', async () => {
      const status = 'grep -E "^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp|Groups):" /proc/self/status';
      const fields = (text: string) =>
        Object.fromEntries(
          text
            .trim()
            .split('\n')
            .map((one) => one.split(/:\s*/)),
        );
      const none = '0000000000000000';
      expect(fields(await outside(status))).toMatchObject({
        NoNewPrivs: '0',
        Seccomp: '0',
        CapBnd: expect.not.stringMatching(none),
      });
      expect(fields(await inside(status))).toMatchObject({
        ...{
          CapInh: none,
          CapPrm: none,
          CapEff: none,
          CapBnd: none,
          CapAmb: none,
          NoNewPrivs: '1',
          Seccomp: '2',
        },
        // An ordinary user cannot give groups up; of ours only the primary one has a name inside.
        ...(isRoot ? { Groups: world.answers.groups === 'none' ? '' : `${world.owner?.gid} ` } : {}),
      });
      expect(await inside('su -c id root < /dev/null; cp /usr/bin/id i; chmod 4755 i; ./i -u')).toBe(
        await userInside(world),
      );
    });

    test('[p21] its priority is not raised', async () => {
      const raise =
        'nice -n -5 nice 2>/dev/null; chrt -f 10 echo real-time 2>/dev/null; ionice -c1 echo first 2>/dev/null; true';
      // An ordinary user may not either, unless the host gave that away: then the sandbox must not pass it on.
      if (isRoot) expect(await asRoot(raise)).toContain('-5\nreal-time\n');
      expect(await inside(raise)).not.toMatch(/-5|real-time|first/);
      expect(await inside('nice -n 5 nice')).toBe('5\n');
    });

    test('[p22] its limits are not raised', async () => {
      const hard = 'prlimit --noheadings --raw --output HARD --nproc --nofile';
      const raise =
        'for l in nproc nofile fsize; do prlimit --$l=1048577:1048577 2>/dev/null && echo $l; done; true';
      const numbers = (text: string) =>
        text
          .trim()
          .split('\n')
          .map((one) => (one === 'unlimited' ? Infinity : Number(one)));
      const [free, held] = [numbers(await outside(hard)), numbers(await inside(hard))];
      expect(held[0]).toBeLessThan(free[0] ?? 0);
      expect(held[1]).toBeLessThanOrEqual(free[1] ?? 0);
      // Below its hard limits anybody may move: an attack would be to go above them.
      expect(await inside(raise)).toBe('fsize\n');
      const fsize = `${raise.replace('nproc nofile fsize', 'fsize')}; prlimit --fsize=99999999999999 2>/dev/null && echo above; prlimit --nofile=64:64 true && echo lower`;
      expect(await inside(fsize)).toBe('fsize\nlower\n');
    });

    test('[p23] no process beside it is without the filter', async () => {
      const filters =
        'for s in /proc/[0-9]*/status; do grep -hE "^(Seccomp|NoNewPrivs):" $s; done 2>/dev/null | sort | uniq';
      expect(await outside(filters)).toContain('Seccomp:\t0');
      // Its first process, with which it shares a user, is among them.
      expect(await inside(filters)).toBe('NoNewPrivs:\t1\nSeccomp:\t2\n');
    });

    test('[p25] what it is given by environment does not show in the host’s process list', async () => {
      const argv = line('sleep 1 # seen-7712');
      const running = boxed(world, world.area(), argv, { env: { KEY: 'lease-key-99' } });
      await expect.poll(() => commandLines().filter((one) => one.includes('seen-7712'))).not.toEqual([]);
      expect(commandLines().filter((one) => one.includes('lease-key-99'))).toEqual([]);
      await running;
      const careless = spawn('env', ['KEY=lease-key-99', 'perl', '-e', 'sleep 5'], { stdio: 'ignore' });
      const inArgv = spawn('perl', ['-e', 'sleep 5', 'lease-key-99'], { stdio: 'ignore' });
      await expect.poll(() => commandLines().filter((one) => one.includes('lease-key-99'))).not.toEqual([]);
      careless.kill('SIGKILL');
      inArgv.kill('SIGKILL');
    });
  });
}

async function asRoot(text: string): Promise<string> {
  const child = spawn('sh', ['-c', text], { stdio: ['ignore', 'pipe', 'ignore'] });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  await once(child, 'close');
  return stdout;
}

function setting(file: string, otherwise: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return otherwise;
  }
}

/** Newer kernels can be told to refuse typing to everyone; then there is no attack to show. */
const typingIsAllowed = (): boolean => setting('/proc/sys/dev/tty/legacy_tiocsti', '1') === '1';
const tracingIsAllowed = (): boolean => setting('/proc/sys/kernel/yama/ptrace_scope', '0') === '0';
