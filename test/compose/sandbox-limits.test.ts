import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { maxTasks } from '../../src/adapters/sandbox/index.ts';
import { machineLimits, withLimitsOf } from '../../src/compose/sandbox.ts';
import { openWorkbench, shell, type Workbench, withLimits } from '../adapters/sandbox/workbench.ts';

let bench: Workbench;
beforeAll(async () => {
  bench = await openWorkbench();
});
afterAll(() => bench.close());

const GIB = 2 ** 30;

test('one sandbox may use a quarter of the memory, from 4 to 16 GiB, and an eighth of the processes, from 512 to 2,048', () => {
  const limits = (memory: number, tasks: number) => {
    const { memoryBytes, processes } = machineLimits({ memory: memory * GIB, tasks });
    return [memoryBytes / GIB, processes];
  };
  expect([limits(1, 100), limits(16, 4096), limits(24, 8192), limits(64, 32_768), limits(512, 1e6)]).toEqual([
    [4, 512],
    [4, 512],
    [6, 1024],
    [16, 2048],
    [16, 2048],
  ]);
});

describe('the processes that there may be', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'runoff-tasks-'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));
  /** What this process finds with these groups and this text in /proc/self/cgroup. */
  const found = (own: string, limits: Readonly<Record<string, string>>) => {
    const files = { own, ...limits };
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return maxTasks({ '': join(root, 'two'), pids: join(root, 'one') }, join(root, 'own'));
  };
  const kernel = () => found('', {});

  test('are limited by the kernel, and by every control group around this process', () => {
    expect(kernel()).toBeGreaterThan(100);
    expect(kernel()).toBeLessThan(Number.POSITIVE_INFINITY);
    expect(found('0::/unit/app\n', { 'two/unit/pids.max': '50\n', 'two/unit/app/pids.max': 'max\n' })).toBe(
      50,
    );
    expect(found('8:pids:/docker/1\n0::/\n', { 'one/pids.max': '40\n' })).toBe(40);
    expect(found('4:cpu,pids:/a\n', { 'one/a/pids.max': '30\n' })).toBe(30);
    expect(found('0::/\n', { 'two/pids.max': '0\n' })).toBe(0);
    expect(found('3:cpu:/\n', { 'one/pids.max': '40\n' })).toBe(kernel());
    expect(found('0::/\n', { 'two/pids.max': 'max\n' })).toBe(kernel());
  });
});

test('a command that needs more memory gets what the machine has for it, and no more', async () => {
  const run = (bytes: number) =>
    withLimitsOf(bench.sandbox, { memoryBytes: bytes, processes: 50 }).exec(
      shell(bench.area(), 'head -c 120000000 /dev/zero | tail | wc -c; sleep 1', {
        limits: withLimits({ memoryBytes: 8e7, processes: 50 }),
      }),
    );
  expect(await run(4e8)).toMatchObject({ stopped: null, stdout: '120000000\n' });
  expect(await run(6e7)).toMatchObject({ stopped: 'memory' });
});

test('a command may start as many processes as the machine has for it, and no more', async () => {
  const run = (processes: number) =>
    withLimitsOf(bench.sandbox, { memoryBytes: 4e8, processes }).exec(
      shell(bench.area(), 'for i in $(seq 40); do sleep 1 & done; wait; echo all', {
        limits: withLimits({ memoryBytes: 4e8, processes: 20 }),
      }),
    );
  expect(await run(100)).toMatchObject({ exitCode: 0, stdout: 'all\n' });
  expect(await run(10)).not.toMatchObject({ exitCode: 0 });
});
