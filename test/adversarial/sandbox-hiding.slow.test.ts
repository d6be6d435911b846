import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { measureDiskBefore, watchLimits } from '../../src/adapters/sandbox/watchdog.ts';
import type { Limits } from '../../src/ports/index.ts';
import { openWorkbench, shell, type Workbench, withLimits } from '../adapters/sandbox/workbench.ts';

/** System call numbers. */
const NR =
  process.arch === 'arm64'
    ? { exit: 93, mmap: 222, madvise: 233, sendmsg: 211, closeRange: 436, epollCreate: 20, epollCtl: 21 }
    : { exit: 60, mmap: 9, madvise: 28, sendmsg: 46, closeRange: 436, epollCreate: 291, epollCtl: 233 };

/** Perl; `file` gives a deleted file of 4 MB, still open, and `hold` says that all is there and waits. */
const PERL = `use strict; use threads; use Socket; $| = 1;
my $seconds = shift; my $parts = shift; my @kept;
sub file { my $i = threads->tid . "-" . shift; open my $f, "+>", $i or die; unlink $i; syswrite $f, "x" x 4e6; $f }
sub hold { print "held\\n"; sleep $seconds; exec "true" }
`;
/** Starts a thread and ends the first one: only the first is to be seen below /proc/PID. */
const behindFirst = (work: string): string =>
  `${PERL} threads->create(sub { sleep 1; ${work}; hold })->detach; syscall ${NR.exit}, 0;`;

const PROGRAMS = {
  memory: behindFirst('my $x = "x" x ($parts * 4e6)'),
  // Reading one page in each 2 MiB of nothing: each costs a page of tables, and none is resident.
  tables: `${PERL} my $all = $parts * 2 ** 31; my $at = syscall ${NR.mmap}, 0, $all, 1, 0x4022, -1, 0;
    syscall ${NR.madvise}, $at, $all, 15;
    for (my $i = 0; $i < $all; $i += 2 ** 21) { unpack "P1", pack "Q", $at + $i } hold;`,
  open: behindFirst('push @kept, file $_ for 1..$parts'),
  mapped: `${PERL} for (1..$parts) { my $f = file $_; syscall(${NR.mmap}, 0, 4096, 3, 1, fileno $f, 0) > 0 or die; } hold;`,
  sent: `${PERL} for (1..$parts) {
      my $f = file $_; socketpair my $to, my $from, AF_UNIX, SOCK_STREAM, 0 or die; push @kept, $to, $from;
      my $byte = "x"; my $iov = pack "PQ", $byte, 1; my $rights = pack "Qlllx4", 20, 1, 1, fileno $f;
      my $message = pack "QLx4PQPQlx4", 0, 0, $iov, 1, $rights, 24, 0;
      syscall(${NR.sendmsg}, fileno $to, $message, 0) == 1 or die "$!";
    } hold;`,
  // Each epoll may watch every descriptor.
  watches: `${PERL} my $event = pack "LL3", 1, 0, 0, 0; for (1..900) { open my $f, "<", "/dev/random" or die; push @kept, $f }
    for (1..$parts) {
      my $epoll = syscall ${NR.epollCreate}, 0; $epoll > 0 or die;
      for (@kept) { syscall(${NR.epollCtl}, $epoll, 1, fileno $_, $event) == 0 or die "$!" }
    } hold;`,
  own: `${PERL} threads->create(sub {
      my $r = syscall ${NR.closeRange}, 4e9, 4e9, 2; print "unshared\\n" if $r == 0;
      push @kept, file $_ for 1..$parts; hold })->detach; sleep 60;`,
} as const;

describe('memory and disk use that simple sums miss', () => {
  let bench: Workbench;
  beforeAll(async () => {
    bench = await openWorkbench();
  });
  afterAll(() => bench.close());

  const run = (program: string, parts: number, limits: Partial<Limits>, seconds: number) => {
    const area = bench.area({ 'hide.pl': program });
    return bench.sandbox.exec(
      shell(area, `exec perl hide.pl ${seconds} ${parts}`, { limits: withLimits(limits) }),
    );
  };
  const unboxed = (program: string, parts: number) => {
    const folder = bench.folder();
    writeFileSync(join(folder, 'hide.pl'), program);
    return bench.unboxed(['sh', '-c', `cd ${folder} && exec perl hide.pl 0 ${parts}`]);
  };

  test.each([
    ['[r25] memory of a process whose first thread has ended', PROGRAMS.memory, 100, 5],
    ['[r26] tables of pages that were only read', PROGRAMS.tables, 90, 2],
  ])('%s', async (_, program, much, little) => {
    const limits = { memoryBytes: 250e6 };
    expect((await unboxed(program, much)).stdout).toBe('held\n');
    expect(await run(program, much, limits, 60)).toMatchObject({ exitCode: null, stopped: 'memory' });
    expect(await run(program, little, limits, 2)).toMatchObject({ exitCode: 0, stdout: 'held\n' });
  });

  test.each([
    ['[r27] deleted files of a process whose first thread has ended', PROGRAMS.open, 'held\n'],
    ['[r28] deleted files that are only mapped', PROGRAMS.mapped, 'held\n'],
    ['[r29] deleted files on their way through a socket', PROGRAMS.sent, 'held\n'],
    ['[r30] deleted files of a thread with descriptors of its own', PROGRAMS.own, 'unshared\nheld\n'],
  ])('%s', async (_, program, outside) => {
    const limits = { diskBytes: 60e6 };
    expect((await unboxed(program, 40)).stdout).toBe(outside);
    expect(await run(program, 40, limits, 60)).toMatchObject({ exitCode: null, stopped: 'disk' });
    // What neighbours write meanwhile may count too: hence a limit that they do not reach.
    expect(await run(program, 3, { diskBytes: 4e9 }, 3)).toMatchObject({ exitCode: 0, stdout: 'held\n' });
  });

  test('[r33] what all epolls of a user may watch', async () => {
    // 360,000 of them take 60 MB of the kernel's memory, so that the limit of memory does not matter.
    expect((await unboxed(PROGRAMS.watches, 5)).stdout).toBe('held\n');
    expect(await run(PROGRAMS.watches, 400, {}, 60)).toMatchObject({ exitCode: null, stopped: 'memory' });
    expect(await run(PROGRAMS.watches, 20, {}, 3)).toMatchObject({ exitCode: 0, stdout: 'held\n' });
  });
});

test('what others free does not hide for long what a command writes', async () => {
  // In memory, where little else is written meanwhile. The limit is passed after the first walk, and well before the next one.
  const folder = mkdtempSync('/dev/shm/runoff-disk-');
  try {
    const [upper, home, others] = ['upper', 'home', 'others'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    for (const path of [upper, home]) mkdirSync(path);
    writeFileSync(others, Buffer.alloc(60e6));
    const disk = await measureDiskBefore(
      { area: { id: 'x', lowers: [], upper, work: '', merged: '', home } },
      0,
    );
    const over = new AbortController();
    const init = { pid: process.pid, startedAt: '0', namespace: 'none' };
    const watched = {
      ...disk,
      init,
      memoryBytes: null,
      diskBytes: 5e6,
      mayHide: false,
      onComputing: undefined,
    };
    const began = performance.now();
    const stopped = watchLimits(watched, { within: () => [] }, null, over.signal);
    await sleep(4_000);
    rmSync(others);
    await sleep(1_500);
    writeFileSync(join(upper, 'written'), Buffer.alloc(20e6));
    expect(await stopped).toBe('disk');
    expect(performance.now() - began).toBeLessThan(12_000);
    over.abort();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe('/proc in a sandbox', () => {
  let bench: Workbench;
  beforeAll(async () => {
    bench = await openWorkbench();
  });
  afterAll(() => bench.close());

  /** Everything below /proc that its reader may read: of each process, of the first one, and of the machine. */
  const READ_ALL = `for f in /proc/[0-9]*/* /proc/self/task/*/* /proc/* /proc/sys/kernel/* /proc/fs/*/*; do
      case $f in */kmsg|*/kcore|*/pagemap|*/clear_refs) continue;; esac
      test -f "$f" && { echo "== $f"; timeout 2 head -c 1000000 "$f" 2> /dev/null | tr '\\0' '\\n'; }
    done; readlink /proc/[0-9]*/cwd /proc/[0-9]*/root /proc/[0-9]*/exe /proc/[0-9]*/fd/*`;

  test('[r31] shows no path of the data folder, whatever is mounted', async () => {
    const agent = bench.folder();
    writeFileSync(join(agent, 'program'), 'x');
    const area = bench.area({ a: 'x' });
    const spec = shell(
      area,
      `${READ_ALL}; echo; cat /opt/agent/program /etc/passwd > /dev/null && echo done`,
      {
        binds: [{ from: agent, to: '/opt/agent' }],
        egress: [],
      },
    );
    const { stdout, stderr, exitCode } = await bench.sandbox.exec({
      ...spec,
      limits: withLimits({ outputBytes: 50e6 }),
    });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain('== /proc/self/mountinfo'.replace('self', '1'));
    expect(stdout).toMatch(/ \/repo .* overlay /);
    expect(stdout).toMatch(/\ndone\n$/);
    expect(stdout.split('\n').filter((line) => line.includes(bench.root))).toEqual([]);
  });

  test('[r32] does not affect home, tools and agents, which are writable or read-only as before', async () => {
    const area = bench.area({ a: 'x' });
    const line =
      'echo kept > ~/file; mkdir ~/d; mv ~/file ~/d/; rm -f ~/none; ln ~/d/file ~/d/two; echo x > /opt/toolchain/x; echo x > /etc/passwd; true';
    const { stderr, exitCode } = await bench.sandbox.exec(shell(area, line));
    expect(exitCode).toBe(0);
    expect(stderr.match(/Read-only file system/g)).toHaveLength(2);
    expect(readFileSync(join(area.home, 'd', 'two'), 'utf8')).toBe('kept\n');
    const again = await bench.sandbox.exec(shell(area, 'cat ~/d/file; rm -r ~/d; ls -A ~'));
    expect(again.stdout).toBe('kept\n');
    expect(existsSync(join(area.home, 'd'))).toBe(false);
  });
});
