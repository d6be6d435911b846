import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installProbes } from '../../../src/adapters/probes/index.ts';
import { installSyntaxCheck } from '../../../src/adapters/syntax/index.ts';
import { DerivedTests, ProbeOutput, readProbeRun } from '../../../src/core/evidence/index.ts';
import { openWorkbench, shell, type Workbench } from '../sandbox/workbench.ts';
import { outcomesOf, seenFor } from './bench.ts';

const FILES = {
  'package.json': '{"type":"module"}',
  'f.js': 'export const f = (n) => { if (n === 7) for (;;); return n * 2; };',
  'test/f.test.js': `import assert from 'node:assert';
import { test } from 'node:test';
import { f } from '../f.js';
test('a', () => { assert.equal(f(6), 12); });
`,
};

describe('probes in a sandbox', () => {
  let bench: Workbench;
  beforeAll(async () => {
    bench = await openWorkbench();
    await installSyntaxCheck(bench.options.toolchain);
    await installProbes(bench.options.toolchain);
    // As a second process of ours would at the same time.
    await Promise.all([installProbes(bench.options.toolchain), installProbes(bench.options.toolchain)]);
  });
  afterAll(() => bench.close());

  async function start(line: string, input: unknown): Promise<unknown> {
    const command = `exec /opt/runoff/bin/node --no-warnings /opt/runoff/checks/probes/${line}`;
    const result = await bench.sandbox.exec(
      shell(bench.area(FILES), command, { stdin: JSON.stringify(input) }),
    );
    expect(result).toMatchObject({ exitCode: 0, stderr: '' });
    return JSON.parse(result.stdout);
  }

  test('are derived from the area and run on it, with what hangs ended', async () => {
    const derived = DerivedTests.parse(
      await start('derive.mjs /opt/runoff/grammars', {
        issue: 'See `f(4)` → `8`.',
        root: '.',
        tests: ['test/f.test.js'],
        helper: '/opt/runoff/checks/probes/observe.cjs',
      }),
    );
    const files = derived.files.map(({ path, text }) => ({ path, text }));
    const command = 'node test/f.test.js';
    const output = ProbeOutput.parse(await start('run.mjs', { files, command, limits: { variantMs: 300 } }));
    const ran = readProbeRun(output, derived);
    expect(output.ended).toBe('done');
    expect(outcomesOf(derived, ran)).toEqual(['passed']);
    expect(outcomesOf(derived, ran, 'base')).toEqual(['passed']);
    expect(seenFor(ran, 'f(8)')).toBe('16');
    expect(seenFor(ran, 'f(7)')).toBe('does not come back');
  });
});
