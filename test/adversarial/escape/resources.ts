import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { script, shell, type Workbench, withLimits } from '../../adapters/sandbox/workbench.ts';
import type { Answers } from './answers.ts';
import { weaknesses } from './world.ts';

/** A host, and a sandbox that tells its caller each line and takes its signal. */
export type Bench = Pick<Workbench, 'root' | 'sandbox' | 'area' | 'folder' | 'unboxed' | 'close'>;

/** Something to wait for, once. */
function signal(): { readonly given: Promise<void>; readonly give: () => void } {
  let give = (): void => undefined;
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give: () => give() };
}

/** Attacks on what sandboxes and host share: processes, memory, disk, and our own memory by output. */
export function resourcesSuite(name: string, answers: Answers, open: () => Promise<Bench>): void {
  describe(`resources, of ${name}`, () => {
    let bench: Bench;
    beforeAll(async () => {
      bench = await open();
    });
    afterAll(() => bench.close());

    describe('a fork bomb', () => {
      const BOMB = `perl -e 'fork while 1'`;

      test('[r01] ends at its limit of processes', async () => {
        const bomb = `perl -e 'for (1..300) { my $p = fork; defined $p or last; $p or do { sleep 2; exit }; $n++ } print $n'`;
        expect((await bench.unboxed(['sh', '-c', bomb])).stdout).toBe('300');
        const held = await bench.sandbox.exec(
          shell(bench.area(), bomb, { limits: withLimits({ processes: 60 }) }),
        );
        expect(Number(held.stdout)).toBeGreaterThan(20);
        expect(Number(held.stdout)).toBeLessThanOrEqual(60 + answers.processesBesides);
      });

      test('[r02] leaves a neighbour to start and work meanwhile', async () => {
        const light = signal();
        const stop = new AbortController();
        const burn = () =>
          bench.sandbox.exec(
            shell(bench.area(), `echo lit; ${BOMB}`, {
              limits: withLimits({ processes: 200 }),
              signal: stop.signal,
              onLine: light.give,
            }),
          );
        const work = 'for i in $(seq 40); do sleep 0.5 & done; wait; echo worked';
        const limits = withLimits({ processes: 60 });
        if (answers.besideBomb === 'starts') {
          const bomb = burn();
          await light.given;
          const neighbour = await bench.sandbox.exec(shell(bench.area(), work, { limits }));
          stop.abort();
          expect(neighbour).toMatchObject({ exitCode: 0, stdout: 'worked\n' });
          expect(await bomb).toMatchObject({ stopped: 'cancelled' });
          return;
        }
        // Started before it, a neighbour does all its work while the bomb burns.
        const [up, worked] = [signal(), signal()];
        const area = bench.area();
        const neighbour = bench.sandbox.exec(
          shell(area, `echo up; until [ -e go ]; do sleep 0.1; done; ${work}`, {
            limits,
            onLine: (text) => (text === 'up' ? up.give() : worked.give()),
          }),
        );
        await up.given;
        const bomb = burn();
        await light.given;
        writeFileSync(join(area.upper, 'go'), '');
        await worked.given;
        stop.abort();
        expect(await bomb).toMatchObject({ stopped: 'cancelled' });
        expect(await neighbour).toMatchObject({ exitCode: 0, stdout: 'up\nworked\n' });
        // Without control groups, starting one is no slower.
        const weaker = await weaknesses(bench);
        if (await hasGroups())
          expect(weaker).toMatch(/^While a command forks without end, others start late/m);
      });

      const hasGroups = async (): Promise<boolean> => {
        const probe = await bench.sandbox.probe();
        return probe.kind === 'ready' && probe.detail.includes('limits by control groups');
      };
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

      test('[r03] of one process is bounded', async () => {
        const source = grow('const take = () => hoard.push(Buffer.alloc(megabytes * 2 ** 20, 1));');
        const free = await bench.unboxed([
          process.execPath,
          '--input-type=module',
          '-e',
          source.replaceAll('200;', '60;').replace('setInterval(() => hoard.length, 1000);', ''),
        ]);
        expect(free.stdout).toBe('took it all\n');
        expect(await bench.sandbox.exec(script(bench.area(), source, { limits }))).toMatchObject({
          stopped: 'memory',
        });
      });

      test('[r04] of a whole tree is bounded, however little each process has', async () => {
        const tree = `perl -e 'for (1..12) { fork or do { my $x = "x" x 25e6; substr($x, $_ * 4096, 1) = "y" for 0..6000; sleep 3; print "held "; exit } } 1 while wait != -1'`;
        expect((await bench.unboxed(['sh', '-c', tree])).stdout).toBe('held '.repeat(12));
        expect(await bench.sandbox.exec(shell(bench.area(), tree, { limits }))).toMatchObject({
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

      test.each([
        ['[r05] in files of /tmp', '/tmp'],
        ['[r06] in files of /dev/shm', '/dev/shm'],
      ])('%s ends with its own share of the limit', async (_title, folder) => {
        const hoard = (into: string): string =>
          `head -c 400000000 /dev/zero > ${into}/x; stat -c %s ${into}/x`;
        expect((await bench.unboxed(['sh', '-c', `${hoard(bench.folder())}`])).stdout).toBe('400000000\n');
        const line = hoard(folder);
        const result = await bench.sandbox.exec(shell(bench.area(), line, { limits }));
        expect(result.stderr).toContain('No space left');
        expect(Number(result.stdout)).toBeLessThan(100e6);
      });

      test('in files of /tmp counts', async () => {
        const line = `head -c 60000000 /dev/zero > /tmp/x; exec /opt/toolchain/bin/node -e 'const b = Buffer.alloc(200e6, 1); setInterval(() => b[0], 1000)'`;
        expect(await bench.sandbox.exec(shell(bench.area(), line, { limits }))).toMatchObject({
          stopped: 'memory',
        });
      });

      test('[r07] has no hiding place in /dev or in memory files', async () => {
        const memfd = `my $n = "x"; my $r = syscall(${process.arch === 'arm64' ? 279 : 319}, $n, 0); print $r > 0 ? "made" : $r`;
        expect((await bench.unboxed(['perl', '-e', memfd])).stdout).toBe('made');
        const line = `head -c 1000 /dev/zero > /dev/hoard; perl -e '${memfd}'`;
        const result = await bench.sandbox.exec(shell(bench.area(), line, { limits }));
        expect([result.stdout, result.stderr]).toEqual(['-1', expect.stringContaining(answers.device)]);
      });

      // Nothing maps these, so that no sum over processes sees them: only the kernel's own bounds hold.
      test.each([
        [
          '[r08] of System V segments',
          `echo 9999999999 2>/dev/null > /proc/sys/kernel/shmall; perl -e 'for (1..12) { my $i = shmget(0, 20e6, 01600) // last; $n++ } print $n+0'`,
          2,
        ],
        [
          '[r09] of semaphores',
          `echo "32000 1024000000 500 32000" 2>/dev/null > /proc/sys/kernel/sem; perl -e 'for (1..20) { defined semget(0, 32000, 0600) or last; $n++ } print $n+0'`,
          0,
        ],
        [
          '[r10] of message queues',
          `echo 32000 2>/dev/null > /proc/sys/kernel/msgmni; perl -e 'for (1..3000) { defined msgget(0, 0600) or last; $n++ } print $n+0'`,
          1024,
        ],
      ])('%s is bounded where the kernel lets us', async (_title, line, most) => {
        const free = await bench.unboxed(['unshare', '--user', '--map-root-user', '--ipc', 'sh', '-c', line]);
        expect(Number(free.stdout)).toBeGreaterThan(most);
        const held = await bench.sandbox.exec(shell(bench.area(), line, { limits }));
        // Kernels before 5.19 keep the host's bound, 2^64 pages less a little.
        if (await boundsOwnNamespace()) expect(Number(held.stdout)).toBeLessThanOrEqual(most);
        else expect(held.exitCode).toBe(0);
      });

      const boundsOwnNamespace = async (): Promise<boolean> => {
        const line = '(echo 100 > /proc/sys/kernel/shmall) 2>/dev/null; cat /proc/sys/kernel/shmall';
        return (
          (await bench.unboxed(['unshare', '--user', '--map-root-user', '--ipc', 'sh', '-c', line]))
            .stdout === '100\n'
        );
      };
    });

    test('[r23] buffers of sockets count, though no process shows them', async () => {
      const hoard = (pairs: number, seconds: number): string =>
        `perl -MSocket -MIO::Handle -e '$| = 1; for (1..${pairs}) { socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0) or last; $a->blocking(0); 1 while syswrite $a, "x" x 65536; push @all, $a, $b } print scalar(@all), "\\n"; sleep ${seconds}'`;
      const limits = withLimits({ memoryBytes: 300e6 });
      expect(await bench.sandbox.exec(shell(bench.area(), hoard(3000, 60), { limits }))).toMatchObject({
        exitCode: null,
        stopped: 'memory',
      });
      expect(await bench.sandbox.exec(shell(bench.area(), hoard(200, 2), { limits }))).toMatchObject({
        exitCode: 0,
        stdout: '400\n',
      });
    });

    test('[r11] one that watches all it may leaves a neighbour to watch files', async () => {
      const NR = process.arch === 'arm64' ? 26 : 294;
      const watch = (most: number): string =>
        `perl -e '$| = 1; for (1..${most}) { syscall(${NR}, 0) < 0 and last; $n++ } print $n+0, "\n"; sleep ($n > 1 ? 30 : 0)'`;
      const own = Number((await bench.unboxed(['sh', '-c', watch(1)])).stdout);
      expect(own).toBe(1);
      const stop = new AbortController();
      let lit = (): void => undefined;
      const watching = new Promise<void>((resolve) => {
        lit = resolve;
      });
      const hoard = bench.sandbox.exec(
        shell(bench.area(), watch(100_000), { signal: stop.signal, onLine: () => lit() }),
      );
      await watching;
      const neighbour = await bench.sandbox.exec(shell(bench.area(), watch(1)));
      stop.abort();
      expect(await hoard).toMatchObject({ stopped: 'cancelled' });
      if (answers.watches === 'own') expect(neighbour.stdout).toBe('1\n');
      else expect(await weaknesses(bench)).toMatch(/^Watches of files are counted .* together/m);
    });

    describe('disk', () => {
      const limits = withLimits({ diskBytes: 40e6 });
      test.each([
        [
          '[r12] many small files',
          'mkdir d; i=0; while :; do head -c 400000 /dev/zero > d/$i; i=$((i+1)); done',
        ],
        [
          'files in a folder closed to its owner',
          'mkdir d; i=0; cd d; while :; do head -c 4000000 /dev/zero > $i; i=$((i+1)); chmod 0 /repo/d; sleep 0.02; chmod 700 /repo/d; [ $i -gt 14 ] && chmod 0 /repo/d && sleep 60; done',
        ],
        [
          'files in a folder too deep for any path',
          'i=0; while [ $i -lt 200 ]; do n=$(printf %0200d $i); mkdir $n && cd -P $n 2>/dev/null || break; i=$((i+1)); done; i=0; while :; do head -c 4000000 /dev/zero > $i; i=$((i+1)); sleep 0.02; done',
        ],
        ['[r24] empty files', `perl -e 'for my $i (1..400000) { open my $f, ">", $i; } sleep 60'`],
        [
          '[r13] files deleted while open',
          `perl -e 'for my $i (1..40) { open my $f, ">", "x"; unlink "x"; print $f "x" x 4e6; push @f, $f; select undef, undef, undef, 0.02 } sleep 60'`,
        ],
      ])('%s are bounded', async (_what, line) => {
        const result = await bench.sandbox.exec(shell(bench.area(), line, { limits }));
        expect(result).toMatchObject({ exitCode: null, stopped: 'disk' });
      });

      test('[r14] of one file ends at the limit', async () => {
        const line = 'head -c 100000000 /dev/zero > x; stat -c %s x';
        expect((await bench.unboxed(['sh', '-c', `cd ${bench.folder()}; ${line}`])).stdout).toBe(
          '100000000\n',
        );
        const result = await bench.sandbox.exec(shell(bench.area(), line, { limits }));
        expect(Number(result.stdout)).toBeLessThanOrEqual(40e6);
      });

      test('[r15] a sparse file takes what it holds, and none is larger than the limit', async () => {
        const huge = 'truncate -s 1T huge && echo made; stat -c %s huge';
        expect((await bench.unboxed(['sh', '-c', `cd ${bench.folder()}; ${huge}`])).stdout).toBe(
          `made\n${2 ** 40}\n`,
        );
        expect((await bench.sandbox.exec(shell(bench.area(), huge, { limits }))).stdout).toBe('0\n');
        const result = await bench.sandbox.exec(
          shell(bench.area(), 'truncate -s 39M x y z; sleep 1.2', { limits }),
        );
        expect(result).toMatchObject({ exitCode: 0, stopped: null });
      });
    });

    describe('output', () => {
      test.each([
        ['[r16] in a flood without line ends', 'head -c 600000000 /dev/zero'],
        ['[r17] in a flood of short lines', 'yes | head -c 40000000'],
        [
          '[r18] in a flood on both streams',
          'head -c 200000000 /dev/zero & head -c 200000000 /dev/zero >&2; wait',
        ],
      ])('%s does not grow our memory', async (_what, line) => {
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
}
