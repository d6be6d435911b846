import { afterAll, beforeAll, expect, test } from 'vitest';
import { defaultMemory, withMemory } from '../../src/compose/sandbox.ts';
import { openWorkbench, shell, type Workbench, withLimits } from '../adapters/sandbox/workbench.ts';

let bench: Workbench;
beforeAll(async () => {
  bench = await openWorkbench();
});
afterAll(() => bench.close());

const GIB = 2 ** 30;

test('one sandbox may use a quarter of the machine, from 4 to 16 GiB', () => {
  expect([1, 16, 24, 64, 512].map((machine) => defaultMemory(machine * GIB) / GIB)).toEqual([
    4, 4, 6, 16, 16,
  ]);
});

test('a command that needs more memory gets what the machine has for it, and no more', async () => {
  const run = (bytes: number) =>
    withMemory(bench.sandbox, bytes).exec(
      shell(bench.area(), 'head -c 400000000 /dev/zero | tail | wc -c; sleep 1', {
        limits: withLimits({ memoryBytes: 2e8 }),
      }),
    );
  expect(await run(1e9)).toMatchObject({ stopped: null, stdout: '400000000\n' });
  expect(await run(1e8)).toMatchObject({ stopped: 'memory' });
});
