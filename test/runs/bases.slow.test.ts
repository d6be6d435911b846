import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { baseFacts, type Evidence, type TestRun } from '../../src/core/evidence/index.ts';
import { type Decision, decide, rank, rankingOptionsOf } from '../../src/core/ranking/index.ts';
import { Settings } from '../../src/core/settings/index.ts';
import type { Files } from '../adapters/git/world.ts';
import { type FixtureOptions, openSharedFixture, type SharedFixture } from './examination-world.ts';

let shared: SharedFixture;
beforeAll(async () => {
  shared = await openSharedFixture();
});
afterAll(() => shared.close());

const SUM = (body: string) => ({ 'src/sum.js': `export const sum = (list) => ${body};\n` });
/** Wrong for an empty list. */
const BASE = { 'package.json': '{ "type": "module" }\n', ...SUM('list.reduce((a, b) => a + b)') };
const RIGHT = SUM('list.reduce((a, b) => a + b, 0)');
const HASTY = SUM('list.length === 0 ? null : list.reduce((a, b) => a + b)');
const BREAKING = SUM('0');
const UNPARSABLE = SUM('list.reduce((a, b) => a + b, 0');

interface Told {
  readonly base: TestRun;
  readonly evidence: Readonly<Record<string, Evidence>>;
  readonly decision: Decision;
  readonly tested: readonly string[];
}

/** From the base to the decision. */
async function decided(options: FixtureOptions, candidates: Readonly<Record<string, Files>>): Promise<Told> {
  const fixture = await shared.fixture(options);
  const base = await fixture.base();
  const evidence = await fixture.examine(base, candidates);
  const all = Object.values(evidence);
  const decision = decide(rank(all, rankingOptionsOf(Settings.parse({}))), all);
  return { base, evidence, decision, tested: fixture.tested };
}

const survivors = (evidence: Told['evidence']): readonly string[] =>
  Object.values(evidence).flatMap(({ alias, survivor }) => (survivor ? [alias] : []));

test('three of ten tests fail on the base: they are set aside by name, and the others decide', async () => {
  const passes = Array.from(
    { length: 7 },
    (_, i) => `test('adds ${i}', () => assert.equal(sum([${i}, 1]), ${i + 1}));`,
  );
  const files = {
    ...BASE,
    'test/sum.test.js': `import assert from 'node:assert/strict';
import { lookup } from 'node:dns/promises';
import { test } from 'node:test';
import { sum } from '../src/sum.js';

${passes.join('\n')}
test('asks a server', () => lookup('example.com'));
test('asks another', () => lookup('example.org'));
test('of nothing is zero', () => assert.equal(sum([]), 0));
`,
  };
  const own = {
    'test/empty.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sum } from '../src/sum.js';

test('is a number', () => assert.equal(sum([]), 0));
`,
  };
  const { base, evidence, decision } = await decided(
    { files },
    { A: { ...RIGHT, ...own }, B: HASTY, C: BREAKING },
  );

  expect(baseFacts(base)).toMatchObject({
    passed: 7,
    total: 10,
    excluded: [
      { because: 'network', count: 2 },
      { because: 'failing', count: 1, names: ['test/sum.test.js > of nothing is zero'] },
    ],
  });
  expect(evidence.A?.baseTests).toMatchObject({ passed: 8, regressions: [] });
  expect(evidence.A?.baseTests?.fixed).toEqual(['test/sum.test.js > of nothing is zero']);
  expect(evidence.C?.baseTests?.regressions).toHaveLength(7);
  expect(decision).toMatchObject({ kind: 'winner', alias: 'A' });
});

describe('a command that leaves no report and fails on the base', () => {
  test('stops no candidate and makes none clear; its lines are kept for people', async () => {
    const { base, evidence, decision } = await decided(
      { files: BASE, test: "echo 'error: 3 files are not formatted' >&2; exit 7" },
      { A: RIGHT, B: HASTY, C: UNPARSABLE },
    );
    expect(baseFacts(base)).toMatchObject({
      silence: 'exit-code',
      exitCode: 7,
      lines: ['error: 3 files are not formatted'],
    });
    expect(survivors(evidence)).toEqual(['A', 'B']);
    expect(evidence.A?.baseTests).toMatchObject({ silent: true, regressions: [], fixed: [] });
    expect(decision.kind).not.toBe('none');
    expect(decision).not.toMatchObject({ confidence: 'clear' });
  });

  test('is fixed by a candidate on which it ends with exit code 0', async () => {
    const files = {
      ...BASE,
      'check.mjs': "import { sum } from './src/sum.js';\nif (sum([]) !== 0) throw new Error('not zero');\n",
    };
    const { evidence, decision } = await decided({ files, test: 'node check.mjs' }, { A: RIGHT, B: HASTY });
    expect(evidence.A?.baseTests?.fixed).toEqual(['exit code']);
    expect(evidence.B?.baseTests?.fixed).toEqual([]);
    expect(survivors(evidence)).toEqual(['A', 'B']);
    expect(decision).not.toMatchObject({ confidence: 'clear' });
  });

  test('is not run on candidates where it cannot start', async () => {
    const { base, evidence, tested } = await decided(
      { files: BASE, test: 'no-such-tool --all' },
      { A: RIGHT, B: HASTY },
    );
    expect(baseFacts(base)).toMatchObject({ silence: 'not-started', exitCode: 127 });
    expect(tested.filter((area) => !area.startsWith('base'))).toEqual([]);
    expect(evidence.A).toMatchObject({ survivor: true });
    expect(evidence.A).not.toHaveProperty('baseTests');
  });
});

describe('without a test command', () => {
  test('the build, the syntax and what candidates do decide, and nobody is clear', async () => {
    const { base, evidence, decision, tested } = await decided(
      {
        files: BASE,
        test: null,
        build: 'node -e "import(\'./src/sum.js\').then(({ sum }) => sum([1]) === 1 || process.exit(3))"',
      },
      { A: RIGHT, B: BREAKING, C: UNPARSABLE, D: { ...RIGHT, 'test/sum.test.js': 'throw new Error();\n' } },
    );
    expect(baseFacts(base)).toMatchObject({ silence: 'no-command' });
    expect(tested).toEqual([]);
    expect(survivors(evidence)).toEqual(['A', 'D']);
    expect(evidence.B?.gates.find(({ passed }) => !passed)?.gate).toBe('builds');
    expect(evidence.C?.gates.find(({ passed }) => !passed)?.gate).toBe('parses');
    expect(decision.kind).not.toBe('none');
    expect(decision).not.toMatchObject({ confidence: 'clear' });
  });

  test('a repository of documents has candidates like any other', async () => {
    const { evidence, decision } = await decided(
      { files: { 'README.md': '# Notes\n\nTeh first line.\n' }, test: null },
      {
        A: { 'README.md': '# Notes\n\nThe first line.\n' },
        B: { 'README.md': '# Notes\n\nThe first line.\n\nAnd a second one.\n' },
      },
    );
    expect(survivors(evidence)).toEqual(['A', 'B']);
    expect(decision.kind).not.toBe('none');
    expect(decision).not.toMatchObject({ confidence: 'clear' });
  });
});

test('a candidate that asks for a package which the base does not have is told so where it fails', async () => {
  const manifest = (dependencies: object) => JSON.stringify({ type: 'module', dependencies }, null, 2);
  const files = {
    ...BASE,
    'package.json': manifest({ a: '1.0.0' }),
    'test/sum.test.js':
      "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { sum } from '../src/sum.js';\ntest('adds', () => assert.equal(sum([1, 2]), 3));\n",
  };
  const { evidence } = await decided(
    { files },
    {
      A: RIGHT,
      B: {
        'package.json': manifest({ a: '1.0.0', 'left-pad': '1.3.0' }),
        'src/sum.js': "import 'left-pad';\nexport const sum = (list) => list.reduce((a, b) => a + b, 0);\n",
      },
    },
  );
  const because = 'package.json, but is built and tested with the packages of the base commit';
  const told = JSON.stringify([evidence.B?.gates, evidence.B?.baseTests?.notes]);
  expect(told).toContain(because);
  expect(JSON.stringify(evidence.A)).not.toContain(because);
});
