import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWorkbench, script, shell, type Workbench, withLimits } from '../adapters/sandbox/workbench.ts';

describe('resources', { timeout: 120_000 }, () => {
  let bench: Workbench;
  beforeAll(async () => {
    bench = await openWorkbench();
  }, 60_000);
  afterAll(() => bench.close());

  describe('a fork bomb', () => {
    const BOMB = `perl -e 'fork while 1'`;

    test('stays small, and a neighbour starts and works meanwhile', async () => {
      const stop = new AbortController();
      let lit = (): void => undefined;
      const burning = new Promise<void>((resolve) => {
        lit = resolve;
      });
      const bomb = bench.sandbox.exec(
        shell(bench.area(), `echo lit; ${BOMB}`, {
          limits: withLimits({ processes: 200 }),
          signal: stop.signal,
          onLine: () => lit(),
        }),
      );
      await burning;
      const line = 'for i in $(seq 40); do sleep 0.5 & done; wait; echo worked';
      const neighbour = await bench.sandbox.exec(
        shell(bench.area(), line, { limits: withLimits({ processes: 60 }) }),
      );
      stop.abort();
      expect(neighbour).toMatchObject({ exitCode: 0, stdout: 'worked\n' });
      expect(await bomb).toMatchObject({ stopped: 'cancelled' });
    });
  });

  describe('memory', () => {
    const limits = withLimits({ memoryBytes: 300e6 });
    const grow = (how: string): string => `
      const { openSync, writeSync, ftruncateSync } = await import('node:fs');
      const hoard = [];
      const megabytes = 8;
      ${how}
      for (let i = 0; i < 200; i += 1) { take(i); await new Promise((done) => setTimeout(done, 15)); }
      console.log('took it all');
      setInterval(() => hoard.length, 1000);`;

    test('of one process is bounded', async () => {
      const source = grow('const take = () => hoard.push(Buffer.alloc(megabytes * 2 ** 20, 1));');
      expect(await bench.sandbox.exec(script(bench.area(), source, { limits }))).toMatchObject({
        stopped: 'memory',
      });
    });

    test('shared between processes counts once', async () => {
      const hold = `perl -e 'my $x = "x" x 60e6; for (1..8) { fork or do { sleep 3; exit } } sleep 3; print length $x'`;
      const result = await bench.sandbox.exec(
        shell(bench.area(), hold, { limits: withLimits({ memoryBytes: 250e6 }) }),
      );
      expect(result).toMatchObject({ stopped: null, exitCode: 0, stdout: '60000000' });
    });

    test.each(['/tmp', '/dev/shm'])('in files of %s ends with its own share of the limit', async (folder) => {
      const line = `head -c 400000000 /dev/zero > ${folder}/x; stat -c %s ${folder}/x`;
      const result = await bench.sandbox.exec(shell(bench.area(), line, { limits }));
      expect(result.stderr).toContain('No space left');
      expect(Number(result.stdout)).toBeLessThan(100e6);
    });

    test('in files of /tmp counts', async () => {
      const line = `head -c 60000000 /dev/zero > /tmp/x; exec /opt/runoff/bin/node -e 'const b = Buffer.alloc(200e6, 1); setInterval(() => b[0], 1000)'`;
      expect(await bench.sandbox.exec(shell(bench.area(), line, { limits }))).toMatchObject({
        stopped: 'memory',
      });
    });

    test('has no hiding place in /dev or in memory files', async () => {
      const line = `head -c 1000 /dev/zero > /dev/hoard; perl -e 'my $n = "x"; print syscall(${process.arch === 'arm64' ? 279 : 319}, $n, 0)'`;
      const result = await bench.sandbox.exec(shell(bench.area(), line, { limits }));
      expect([result.stdout, result.stderr]).toEqual([
        '-1',
        expect.stringContaining('Read-only file system'),
      ]);
    });

    test('of System V segments is bounded where the kernel lets us', async () => {
      const line =
        'cat /proc/sys/kernel/shmall; for i in 1 2 3 4 5 6; do ipcmk --shmem 20000000 >/dev/null && echo made; done';
      const { stdout } = await bench.sandbox.exec(shell(bench.area(), line, { limits }));
      const [pages, ...made] = stdout.trim().split('\n');
      // Kernels before 5.19 keep the host's bound, 2^64 pages less a little.
      if (Number(pages) < 1e9) expect(made).toHaveLength(1);
      else expect(made).toHaveLength(6);
    });
  });

  describe('disk', () => {
    const limits = withLimits({ diskBytes: 40e6 });
    test.each([
      ['many small files', 'mkdir d; i=0; while :; do head -c 400000 /dev/zero > d/$i; i=$((i+1)); done'],
      [
        'a folder closed to its owner',
        'mkdir d; i=0; cd d; while :; do head -c 4000000 /dev/zero > $i; i=$((i+1)); chmod 0 /repo/d; sleep 0.02; chmod 700 /repo/d; [ $i -gt 14 ] && chmod 0 /repo/d && sleep 60; done',
      ],
      [
        'a folder too deep for any path',
        'i=0; while [ $i -lt 200 ]; do n=$(printf %0200d $i); mkdir $n && cd -P $n 2>/dev/null || break; i=$((i+1)); done; i=0; while :; do head -c 4000000 /dev/zero > $i; i=$((i+1)); sleep 0.02; done',
      ],
      [
        'files deleted while open',
        `perl -e 'for my $i (1..40) { open my $f, ">", "x"; unlink "x"; print $f "x" x 4e6; push @f, $f; select undef, undef, undef, 0.02 } sleep 60'`,
      ],
    ])('of %s is bounded', async (_what, line) => {
      const result = await bench.sandbox.exec(shell(bench.area(), line, { limits }));
      expect(result).toMatchObject({ exitCode: null, stopped: 'disk' });
    });

    test('of one file ends at the limit', async () => {
      const line = 'head -c 100000000 /dev/zero > x; stat -c %s x';
      const result = await bench.sandbox.exec(shell(bench.area(), line, { limits }));
      expect(Number(result.stdout)).toBeLessThanOrEqual(40e6);
    });

    test('that a sparse file only pretends to take is free', async () => {
      const result = await bench.sandbox.exec(
        shell(bench.area(), 'truncate -s 39M x y z; sleep 1.2', { limits }),
      );
      expect(result).toMatchObject({ exitCode: 0, stopped: null });
    });
  });

  describe('output', () => {
    test.each([
      ['without line ends', 'head -c 600000000 /dev/zero'],
      ['of short lines', 'yes | head -c 40000000'],
      ['on both streams', 'head -c 200000000 /dev/zero & head -c 200000000 /dev/zero >&2; wait'],
    ])('in a flood %s does not grow our memory', async (_what, line) => {
      const before = process.memoryUsage().rss;
      let peak = before;
      let done = false;
      let count = 0;
      const watching = (async () => {
        while (!done) {
          peak = Math.max(peak, process.memoryUsage().rss);
          await sleep(20);
        }
      })();
      const onLine = (): void => {
        count += 1;
      };
      const limits = withLimits({ outputBytes: 2 ** 20 });
      const result = await bench.sandbox.exec(shell(bench.area(), line, { limits, onLine }));
      done = true;
      await watching;
      expect(result).toMatchObject({ exitCode: 0, stopped: null, truncated: true });
      expect(count).toBeGreaterThan(1000);
      expect(result.stdout.length).toBeLessThan(2 ** 20 + 100);
      expect(peak - before).toBeLessThan(300e6);
    });
  });
});
