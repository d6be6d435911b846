import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Evidence } from '../../src/core/evidence/index.ts';
import { decide, rank, rankingOptionsOf } from '../../src/core/ranking/index.ts';
import { testNotes } from '../../src/core/reports/index.ts';
import { Settings } from '../../src/core/settings/index.ts';
import { openSharedFixture, type SharedFixture } from './examination-world.ts';

let shared: SharedFixture;
beforeAll(async () => {
  shared = await openSharedFixture();
});
afterAll(() => shared.close());

const gate = (one: Evidence | undefined, name: string) => one?.gates.find((report) => report.gate === name);
const ranked = (evidence: Readonly<Record<string, Evidence>>) => {
  const all = Object.values(evidence);
  const ranking = rank(all, rankingOptionsOf(Settings.parse({})));
  return { ranking, decision: decide(ranking, all) };
};

const CLAMP = `exports.clamp = (value, low, high) => {
  if (low > high) throw new RangeError('low is above high');
  if (value < low) return low;
  return value > high ? high : value;
};
`;
const tests = (...cases: readonly string[]) =>
  [
    "const assert = require('node:assert/strict');",
    "const { test } = require('node:test');",
    "const { clamp } = require('../src/clamp.js');",
    ...cases,
    '',
  ].join('\n');
const FILES = {
  'src/clamp.js': CLAMP,
  'src/sum.js': 'exports.sum = (a, b) => a + b;\n',
  'test/sum.test.js':
    "require('node:test').test('sums', () => require('node:assert').equal(require('../src/sum.js').sum(1, 2), 3));\n",
};

test('“add tests for X” is decided by what the tests catch', async () => {
  const fixture = await shared.fixture({
    files: FILES,
    asked: 'Add tests for clamp\n\n`clamp` has none.',
  });
  const evidence = await fixture.examine(await fixture.base(), {
    A: {
      'test/clamp.test.js': tests(
        "test('loads', () => assert.ok(clamp));",
        "test('returns something', () => { clamp(1, 0, 2); });",
      ),
    },
    B: {
      'test/clamp.test.js': tests(
        "test('keeps a value within', () => assert.equal(clamp(1, 0, 2), 1));",
        "test('raises and lowers', () => { assert.equal(clamp(-1, 0, 2), 0); assert.equal(clamp(3, 0, 2), 2); });",
        "test('takes equal limits', () => assert.equal(clamp(3, 2, 2), 2));",
        "test('rejects crossed limits', () => assert.throws(() => clamp(1, 2, 0), RangeError));",
      ),
    },
    C: { 'test/clamp.test.js': tests("test('is wrong', () => assert.equal(clamp(3, 0, 2), 3));") },
    D: {
      'src/clamp.js': CLAMP.replace('return low;', 'return low - 1;'),
      'test/clamp.test.js': tests("test('lower', () => assert.equal(clamp(-1, 0, 2), -1));"),
    },
  });
  const { A, B, C, D } = evidence;
  expect(A).toMatchObject({ survivor: true, task: 'tests' });
  // It notices if every call throws.
  expect(A?.mutants?.caught).toBe(1);
  const { caught = 0, total = 0 } = B?.mutants ?? {};
  expect(total).toBeGreaterThan(4);
  // `<` and `<=` are the same here for equal values, so some mutants cannot be caught.
  expect(caught / total).toBeGreaterThan(0.7);
  expect(gate(C, 'tests-run')).toMatchObject({
    passed: false,
    because: "With the patch's own test files, 1 test fails: test/clamp.test.js > is wrong.",
  });
  expect(gate(D, 'content')).toMatchObject({
    passed: false,
    because: 'The task asks for tests alone; the patch also changes src/clamp.js.',
  });
  const { ranking, decision } = ranked(evidence);
  expect(ranking.slice(0, 2).map(({ alias }) => alias)).toEqual(['B', 'A']);
  expect(decision).toMatchObject({ kind: 'winner', alias: 'B', decidedBy: 'tests' });
  // D changes code, so what the task asks for is not certain.
  expect(decision).not.toMatchObject({ confidence: 'clear' });
  expect(decision.because).toContain(
    `catch more: ${caught} of ${total} mutants of the code, A 1 of ${total}`,
  );
  expect(testNotes({ evidence: Object.values(evidence) }).join('\n')).toContain(
    `B catches ${caught} of ${total} mutants`,
  );
});

test('mutants are caught neither by a comparison of text nor by a copy of the tests that exist', async () => {
  const sum = 'exports.sum = (a, b) => a + b;\nexports.twice = (a) => a * 2;\n';
  const old = FILES['test/sum.test.js'];
  const limits: Record<'build' | 'test', Set<number>> = { build: new Set(), test: new Set() };
  const trees = new Set<string>();
  let most = 0;
  const fixture = await shared.fixture({
    files: { ...FILES, 'src/sum.js': sum },
    asked: 'Add tests for sum and twice',
    build: 'true && echo is-built',
    exec: (spec, real) => {
      const text = JSON.stringify(spec.argv);
      const { id } = spec.area;
      if (/mutant-\d+-built/.test(id)) trees.add(spec.area.upper);
      most = Math.max(most, [...trees].filter((folder) => existsSync(folder)).length);
      if (/mutant-\d+-[12]$/.test(id) && text.includes('is-built')) limits.build.add(spec.limits.wallMs);
      if (/mutant-\d+-[12]$/.test(id) && text.includes('--test')) limits.test.add(spec.limits.wallMs);
      return real(spec);
    },
  });
  const evidence = await fixture.examine(await fixture.base(), {
    // Compares the source's text.
    A: {
      'test/text.test.js': `const text = require('node:fs').readFileSync(require.resolve('../src/sum.js'), 'utf8');
require('node:test').test('text', () => require('node:assert').equal(text, ${JSON.stringify(sum)}));\n`,
    },
    B: { 'test/copy.test.js': old },
    C: {
      'test/twice.test.js':
        "require('node:test').test('twice', () => require('node:assert').equal(require('../src/sum.js').twice(2), 4));\n",
    },
  });
  const { A, B, C } = evidence;
  // `+` is caught by the base, so that only `*` and `2` are left.
  expect(C?.mutants).toEqual({ caught: 2, total: 2 });
  expect(B?.mutants).toEqual({ caught: 0, total: 2 });
  expect(A?.mutants).toEqual({ caught: 0, total: 2, discarded: 1 });
  expect(ranked(evidence).decision).toMatchObject({ kind: 'winner', alias: 'C', decidedBy: 'tests' });
  expect(testNotes({ evidence: Object.values(evidence) }).join('\n')).toContain(
    'A catches 0 of 2 mutants (without 1 test that would fail if only comments or spaces changed)',
  );
  // Each tree is removed after use; two are in use at once.
  expect(trees.size).toBe(3);
  expect(most).toBeLessThanOrEqual(2);
  // The limit of time is the tests', not the build's.
  expect(limits.test.size).toBeGreaterThan(0);
  expect(Math.max(...limits.test)).toBeLessThan(Math.min(...limits.build));
});

test('tests alone are no answer to an issue that asks for code', async () => {
  const fixture = await shared.fixture({ files: FILES, asked: 'clamp fails for equal limits' });
  const { A } = await fixture.examine(await fixture.base(), {
    A: { 'test/clamp.test.js': tests("test('within', () => assert.equal(clamp(1, 0, 2), 1));") },
  });
  expect(gate(A, 'content')).toMatchObject({ passed: false });
  expect(A).not.toHaveProperty('task');
});

test('documents are looked at for links that lead nowhere', async () => {
  const files = {
    ...FILES,
    'README.md': '# Tools\n\nSee [usage](docs/usage.md).\n',
    'docs/usage.md': '# Usage\n\n## Limits\n',
  };
  const fixture = await shared.fixture({ files, asked: 'Document clamp in the README' });
  const readme = (line: string) => ({ 'README.md': `${files['README.md']}\n${line}\n` });
  const evidence = await fixture.examine(await fixture.base(), {
    A: readme('`clamp` keeps a value within [limits](docs/usage.md#limits), see [its source](src/clamp.js).'),
    B: readme('`clamp` is described in [another page](docs/clamp.md).'),
    C: readme('`clamp` has [limits](docs/usage.md#boundaries).'),
  });
  expect(evidence.A).toMatchObject({ survivor: true, task: 'docs' });
  expect(gate(evidence.B, 'content')?.because).toBe(
    'README.md:5 links to docs/clamp.md: docs/clamp.md does not exist',
  );
  expect(gate(evidence.C, 'content')?.because).toBe(
    'README.md:5 links to docs/usage.md#boundaries: docs/usage.md has no heading #boundaries',
  );
  const { decision } = ranked(evidence);
  expect(decision).not.toMatchObject({ confidence: 'clear' });
  expect(testNotes({ evidence: Object.values(evidence) }).join('\n')).toContain(
    'The task asks for documentation.',
  );
});

test('configuration must parse, and is never clear without executed evidence', async () => {
  const files = { ...FILES, '.prettierrc': '{ "semi": true }\n', 'settings.json': '{ "width": 100 }\n' };
  const fixture = await shared.fixture({ files, asked: 'Configure prettier: 110 columns' });
  const evidence = await fixture.examine(await fixture.base(), {
    A: { 'settings.json': '{ "width": 110 }\n' },
    B: { 'settings.json': '{ "width": 110 \n' },
  });
  expect(evidence.A).toMatchObject({ survivor: true, task: 'configuration' });
  expect(gate(evidence.B, 'parses')).toMatchObject({ passed: false });
  expect(ranked(evidence).decision).not.toMatchObject({ confidence: 'clear' });
});
