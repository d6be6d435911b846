import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
});
