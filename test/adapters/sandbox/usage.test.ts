import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTableWatch, tableLimits, tableUse } from '../../../src/adapters/sandbox/kernel-tables.ts';
import { bytesIn } from '../../../src/adapters/sandbox/usage.ts';
import { openWorkbench, type Workbench } from './workbench.ts';

describe('measuring what a sandbox uses', () => {
  let bench: Workbench;
  beforeAll(async () => {
    bench = await openWorkbench();
  });
  afterAll(() => bench.close());

  test('disk use is measured, however much `du` has to say about entries that are gone', async () => {
    const folder = bench.folder();
    mkdirSync(join(folder, 'd'));
    writeFileSync(join(folder, 'd/file'), 'x'.repeat(10_000));
    expect(await bytesIn([folder], bench.owner)).toBeGreaterThan(10_000);
    // More than a program of the host may say, in names that a command has chosen.
    const gone = Array.from({ length: 400 }, (_, n) => join(folder, `${n}`, 'gone/'.repeat(600)));
    const fault = await bytesIn([folder, ...gone], bench.owner).catch((thrown: unknown) => thrown);
    expect(fault).toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: 'The disk use of a sandbox could not be measured: du ended with exit code 1.',
    });
  });

  test('a folder that is closed to everybody who measures is larger than any limit', async () => {
    if (bench.owner === null) return;
    const folder = bench.folder();
    mkdirSync(join(folder, 'of-root'), { mode: 0o700 });
    expect(await bytesIn([folder], bench.owner)).toBe(Number.POSITIVE_INFINITY);
    rmSync(join(folder, 'of-root'), { recursive: true });
    expect(await bytesIn([folder], bench.owner)).toBeLessThan(1e6);
  });

  test('open descriptors, what epolls watch and what is in flight are counted', async () => {
    const number =
      process.arch === 'arm64'
        ? { create: 20, control: 21, send: 211 }
        : { create: 291, control: 233, send: 46 };
    const holder = spawn(
      'perl',
      [
        '-e',
        `use Socket; $| = 1; my @kept;
        for (1..40) { open my $f, "<", "/dev/random" or die; push @kept, $f }
        for (1..3) {
          my $epoll = syscall ${number.create}, 0; $epoll > 0 or die;
          my $event = pack "LL3", 1, 0, 0, 0;
          for (@kept) { syscall(${number.control}, $epoll, 1, fileno $_, $event) == 0 or die "$!" }
        }
        socketpair my $to, my $from, AF_UNIX, SOCK_STREAM, 0 or die;
        my $byte = "x"; my $iov = pack "PQ", $byte, 1; my $rights = pack "Qlllx4", 20, 1, 1, fileno $kept[0];
        my $message = pack "QLx4PQPQlx4", 0, 0, $iov, 1, $rights, 24, 0;
        syscall(${number.send}, fileno $to, $message, 0) == 1 or die "$!";
        print "up\\n"; sleep 60`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    try {
      await once(holder.stdout, 'data');
      const most = { descriptors: 1e6, epollWatches: 1e6, inFlight: 24, unseen: 0 };
      const use = await tableUse([holder.pid ?? 0], most);
      expect(use).toMatchObject({ epollWatches: 120, inFlight: 1, unseen: 0 });
      expect(use.descriptors).toBeGreaterThanOrEqual(48);
      expect(openTableWatch(most)(use)).toBe(false);
      expect(openTableWatch({ ...most, epollWatches: 119 })(use)).toBe(true);
      expect(openTableWatch({ ...most, descriptors: 47 })(use)).toBe(true);
      // What was sent a moment ago will be received; what stays may be hidden.
      const looks = openTableWatch({ ...most, inFlight: 0 });
      expect([looks(use), looks({ ...use, inFlight: 0 }), looks(use), looks(use), looks(use)]).toEqual([
        false,
        false,
        false,
        false,
        true,
      ]);
      const hidden = { ...use, unseen: 1 };
      const strict = openTableWatch(most);
      expect([strict(hidden), strict(hidden), strict(hidden)]).toEqual([false, false, true]);
      // Without a filter of system calls, ssh-agent hides.
      const patient = openTableWatch({ ...most, unseen: tableLimits(true).unseen });
      expect([patient(hidden), patient(hidden), patient(hidden)]).toEqual([false, false, false]);
    } finally {
      holder.kill('SIGKILL');
    }
  });
});
