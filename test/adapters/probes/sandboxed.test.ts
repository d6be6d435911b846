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

  async function start(line: string, input: unknown, tree: Record<string, string> = FILES): Promise<unknown> {
    const command = `exec /opt/toolchain/bin/node --no-warnings /opt/toolchain/checks/probes/${line}`;
    const result = await bench.sandbox.exec(
      shell(bench.area(tree), command, { stdin: JSON.stringify(input) }),
    );
    expect(result).toMatchObject({ exitCode: 0, stderr: '' });
    return JSON.parse(result.stdout);
  }

  test('are derived from the area and run on it, with what hangs ended', async () => {
    const derived = DerivedTests.parse(
      await start('derive.mjs /opt/toolchain/grammars', {
        issue: 'See `f(4)` → `8`.',
        root: '.',
        tests: ['test/f.test.js'],
        helper: '/opt/toolchain/checks/probes/observe.cjs',
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

  test('show the code no name of ours: in its environment, its folders, its stack, or what is loaded', async () => {
    const marks = `import fs from 'node:fs';
import { createRequire } from 'node:module';
const { cache } = createRequire(import.meta.url);
const list = (dir) => { try { return fs.readdirSync(dir).map((name) => dir + '/' + name); } catch { return []; } };
const read = (file) => { try { return fs.readFileSync(file, 'utf8'); } catch { return ''; } };
const tests = () => list('test').map(read);
export const f = () => [
  ...Object.entries(process.env).map(String), ...process.argv, process.title, process.cwd(),
  ...['', '/opt', '/run', '/tmp', '/home', '/usr/local', '.', 'test', '/opt/toolchain', '/opt/toolchain/checks'].flatMap(list),
  ...tests(), ...Object.keys(cache), new Error().stack, read('/proc/self/environ'), read('/proc/self/mountinfo'),
  read('/proc/self/cmdline'), read('/etc/passwd'), read('/etc/hosts'),
].filter((text) => /runoff/i.test(text)).join();
`;
    const sources = { ...FILES, 'f.js': marks };
    const texts = Object.fromEntries(
      Object.entries(sources).map(([path, text]) => [
        path,
        text.replace('equal(f(6), 12)', "equal(f(6), '')"),
      ]),
    );
    const asked = { issue: '', root: '.', tests: ['test/f.test.js'] };
    const derived = DerivedTests.parse(
      await start(
        'derive.mjs /opt/toolchain/grammars',
        { ...asked, helper: '/opt/toolchain/checks/probes/observe.cjs' },
        texts,
      ),
    );
    const files = derived.files.map(({ path, text }) => ({ path, text }));
    const input = { files, command: 'node test/f.test.js' };
    const ran = readProbeRun(ProbeOutput.parse(await start('run.mjs', input, texts)), derived);
    expect(outcomesOf(derived, ran, 'base')).toEqual(['passed']);
    expect(seenFor(ran, 'f(8)')).toBe('""');
  });
});
