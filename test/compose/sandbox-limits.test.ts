import { afterAll, beforeAll, expect, test } from 'vitest';
import { machineLimits, withLimitsOf } from '../../src/compose/sandbox.ts';
import { openWorkbench, shell, type Workbench, withLimits } from '../adapters/sandbox/workbench.ts';

let bench: Workbench;
beforeAll(async () => {
  bench = await openWorkbench();
});
afterAll(() => bench.close());

const GIB = 2 ** 30;

test('one sandbox may use a quarter of the memory, from 4 to 16 GiB, and 64 processes for each core, from 512 to 1,024', () => {
  const limits = (memory: number, cores: number) => {
    const { memoryBytes, processes } = machineLimits({ memory: memory * GIB, cores });
    return [memoryBytes / GIB, processes];
  };
  expect([limits(1, 1), limits(16, 4), limits(24, 8), limits(64, 16), limits(512, 64)]).toEqual([
    [4, 512],
    [4, 512],
    [6, 512],
    [16, 1024],
    [16, 1024],
  ]);
});

test('a command that needs more memory gets what the machine has for it, and no more', async () => {
  const run = (bytes: number) =>
    withLimitsOf(bench.sandbox, { memoryBytes: bytes, processes: 50 }).exec(
      shell(bench.area(), 'head -c 400000000 /dev/zero | tail | wc -c; sleep 1', {
        limits: withLimits({ memoryBytes: 2e8, processes: 50 }),
      }),
    );
  expect(await run(1e9)).toMatchObject({ stopped: null, stdout: '400000000\n' });
  expect(await run(1e8)).toMatchObject({ stopped: 'memory' });
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
