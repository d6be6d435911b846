import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWorkbench, shell, type Workbench, withLimits } from './workbench.ts';

/** mmap and read, by number, because Perl has no mmap of memory without a file. */
const NR = process.arch === 'arm64' ? { mmap: 222, read: 63 } : { mmap: 9, read: 0 };
const [READ_WRITE, SHARED_ANONYMOUS] = [3, 0x21];

/** Maps memory and has children fill it, each a part, of which every one has ended before the next one starts. */
const leftBehind = (megabytes: number, filled: number): string => `perl -e '
  my ($part, $all) = (20 << 20, ${megabytes} << 20);
  my $at = syscall(${NR.mmap}, 0, $all, ${READ_WRITE}, ${SHARED_ANONYMOUS}, -1, 0);
  open my $zero, "<", "/dev/zero" or die;
  for (my $i = 0; $i < ${filled} << 20; $i += $part) {
    my $pid = fork // die;
    if (!$pid) { syscall(${NR.read}, fileno $zero, $at + $i, $part) == $part or die; exit }
    waitpid $pid, 0; $? and die;
    select undef, undef, undef, 0.05;
  }
  $| = 1; print "held it all\\n"; sleep 4'`;

describe('memory that outlives the process that filled it', () => {
  let bench: Workbench;
  beforeAll(async () => {
    bench = await openWorkbench();
  });
  afterAll(() => bench.close());

  test('counts although no process shows it', async () => {
    const line = leftBehind(600, 600);
    expect((await bench.unboxed(['sh', '-c', line])).stdout).toBe('held it all\n');
    const limits = withLimits({ memoryBytes: 300e6 });
    expect(await bench.sandbox.exec(shell(bench.area(), line, { limits }))).toMatchObject({
      stopped: 'memory',
    });
  });

  test('does not stop a command within its limit', async () => {
    const limits = withLimits({ memoryBytes: 300e6 });
    const result = await bench.sandbox.exec(shell(bench.area(), leftBehind(160, 160), { limits }));
    expect(result).toMatchObject({ stopped: null, exitCode: 0, stdout: 'held it all\n' });
  });
});
