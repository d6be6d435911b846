import { describe, expect, test } from 'vitest';
import {
  GATES,
  type GateReport,
  isSurvivor,
  staticGates,
  type TestRun,
  testsRunGate,
} from '../../../src/core/evidence/index.ts';
import { patchBetween, type Tree } from '../git.ts';
import { syntaxOf } from '../syntax.ts';

const PROTECT = ['.github/**', '**/*.lock'];
const gates = (before: Tree, after: Tree, limits = {}): Record<string, GateReport> =>
  Object.fromEntries(
    staticGates(patchBetween(before, after), { protect: PROTECT }, { limits }).map((report) => [
      report.gate,
      report,
    ]),
  );
const content = (path: string, before: string, after: string): boolean | undefined =>
  gates({ [path]: before }, { [path]: after }).content?.passed;

describe('content', () => {
  test('does not include tests alone', () => {
    const { content: report } = gates({}, { 'test/a.test.ts': "test('a', () => {});\n" });
    expect(report).toEqual({
      gate: 'content',
      passed: false,
      because: 'The patch changes only tests or their configuration.',
    });
  });

  test.each([
    ['src/a.ts', 'f(a);\n', 'f( a );\n'],
    ['src/a.ts', 'f(a);\ng();\n', 'f(a); g();\n'],
    ['src/a.ts', 'f(a);\n', 'f(a);\n\n\n'],
    ['src/a.ts', 'f(a);\n', '// calls f\nf(a); // really\n'],
    ['src/a.ts', 'f(a);\n', '/**\n * calls f\n */\nf(a);\n'],
    ['src/a.ts', 'f(a);\n', 'f(a);\r\n'],
    ['src/a.py', 'f(a)\n', '# calls f\nf(a)   \n'],
    ['src/a.go', 'f(a)\n', '\tf(a)\n'],
  ])('does not include a change in %s from %j to %j', (path, before, after) => {
    expect(content(path, before, after)).toBe(false);
  });

  test.each([
    ['src/a.ts', 'f(a);\n', 'f(b);\n'],
    ['src/a.ts', "f('a b');\n", "f('ab');\n"],
    ['src/a.ts', 'return x\n', 'returnx\n'],
    ['src/a.ts', 'const u = "http://a";\n', 'const u = "http://b";\n'],
    ['src/a.ts', 'const t = `\n a\n`;\n', 'const t = `\n  a\n`;\n'],
    ['src/a.ts', 'a();\nb();\nc();\n', 'b();\nc();\na();\n'],
    ['src/a.ts', '/* a */ f();\n', '/* a */ g();\n'],
    ['src/a.py', 'if a:\n  b()\n  c()\n', 'if a:\n  b()\nc()\n'],
    ['src/a.css', '#a { }\n', '#b { }\n'],
    ['README.md', '# Title\n', '# Other title\n'],
    ['a.sh', '#!/bin/sh\n', '#!/bin/bash\n'],
    ['a.go', '//go:build linux\n', '//go:build darwin\n'],
    ['a.go', '//go:embed a.txt\n', '//go:embed *.txt\n'],
    ['a.rb', '# frozen_string_literal: true\n', '# frozen_string_literal: false\n'],
  ])('includes a change in %s from %j to %j', (path, before, after) => {
    expect(content(path, before, after)).toBe(true);
  });

  test('includes modes, links, binary files and removals', () => {
    expect(gates({ 'a.sh': 'x\n' }, { 'a.sh': { executable: 'x\n' } }).content?.passed).toBe(true);
    expect(gates({}, { a: { link: 'b' } }).content?.passed).toBe(true);
    expect(gates({}, { 'a.png': Buffer.from([0, 1, 2]) }).content?.passed).toBe(true);
    expect(gates({ 'src/a.ts': '// x\n' }, {}).content?.passed).toBe(true);
  });
});

describe('scope', () => {
  test('protected files are named', () => {
    const { scope } = gates({ 'yarn.lock': 'a\n' }, { 'yarn.lock': 'b\n', 'src/a.ts': 'x\n' });
    expect(scope).toEqual({
      gate: 'scope',
      passed: false,
      because: 'The patch changes protected files: yarn.lock.',
    });
    expect(gates({}, { 'src/a.ts': 'x\n' }).scope?.passed).toBe(true);
  });

  test.each([
    [{ files: 1 }, 'changes 2 files; at most 1'],
    [{ lines: 1 }, 'changes 2 lines; at most 1'],
    [{ textLength: 100 }, 'characters long; at most 100'],
    [{ lineLength: 50 }, 'a.ts has a line of more than 50 characters'],
  ])('with %j: %s', (limits, why) => {
    const found = gates({}, { 'a.ts': `${'x'.repeat(60)}\n`, 'b.ts': 'y\n' }, limits);
    expect(found.scope?.because).toContain(why);
    expect(Object.values(found).map((report) => report.passed)).toEqual([false, false, false]);
  });
});

test('no number of changed fixtures hides that a test file is gone', () => {
  const fixtures = (value: number) =>
    Object.fromEntries(
      Array.from({ length: 25 }, (_, i) => [`test/fixtures/a${i}.json`, `{"a": ${value}}\n`]),
    );
  const before = { 'src/a.ts': 'one\n', 'test/z.test.ts': "test('a', () => {\n  expect(1).toBe(1);\n});\n" };
  const patch = patchBetween({ ...before, ...fixtures(1) }, { 'src/a.ts': 'two\n', ...fixtures(2) });
  const report = staticGates(patch, { protect: [] }).find(({ gate }) => gate === 'untampered');
  expect(report?.findings).toHaveLength(26);
  expect(report?.findings?.[0]).toMatchObject({ kind: 'test-deleted', path: 'test/z.test.ts' });
  expect(report?.because).toContain('and 23 more');
});

test('the gate `untampered` names what cannot be honest, and keeps what a person should look at', async () => {
  const before = {
    'test/a.test.ts': "test('a', () => {\n  expect(1).toBe(1);\n});\n",
    'vitest.config.ts': 'a\n',
  };
  const patch = patchBetween(before, { 'src/a.ts': 'process.exit(0);\n' });
  const syntax = await syntaxOf(patch, {});
  const untampered = staticGates(patch, { protect: [] }, { syntax }).find(
    ({ gate }) => gate === 'untampered',
  );
  expect(untampered).toMatchObject({
    gate: 'untampered',
    passed: false,
    because: 'src/a.ts:1: production code ends the process (`process.exit`).',
    hunk: '+process.exit(0);',
    findings: [
      { severity: 'gate', path: 'src/a.ts', line: 1 },
      { severity: 'question', path: 'test/a.test.ts', what: 'a test file was removed' },
      { severity: 'question', path: 'vitest.config.ts' },
    ],
  });
  expect(gates(before, { ...before, 'src/a.ts': 'x();\n' }).untampered?.passed).toBe(true);
});

test('a changed expectation is a question to a person, and a note if the brief declares it', async () => {
  const before = { 'test/a.test.ts': "test('a', () => {\n  expect(f()).toBe(1);\n});\n", 'src/a.ts': 'a\n' };
  const after = {
    'test/a.test.ts': before['test/a.test.ts'].replace('toBe(1)', 'toBe(2)'),
    'src/a.ts': 'b\n',
  };
  const patch = patchBetween(before, after);
  const syntax = await syntaxOf(patch, before);
  const report = (declared: readonly string[]) =>
    staticGates(patch, { protect: [] }, { baseTexts: before, syntax, declared }).find(
      ({ gate }) => gate === 'untampered',
    );
  expect(report([])).toMatchObject({
    passed: true,
    because: 'A person should look at these lines: test/a.test.ts:2: an expected value was changed.',
    findings: [{ severity: 'question', hunk: expect.stringContaining('toBe(2)') }],
  });
  expect(report(['test/a.test.ts'])).toMatchObject({
    passed: true,
    because: 'Changed, as the task may require: test/a.test.ts:2: an expected value was changed.',
    findings: [{ severity: 'note', declared: true, settled: 'The brief says that this file must change.' }],
  });
});

test('a survivor has passed all gates', () => {
  const all = GATES.map((gate) => ({ gate, passed: true, because: '' }));
  expect(isSurvivor(all)).toBe(true);
  expect(isSurvivor(all.slice(1))).toBe(false);
  expect(isSurvivor(all.map((report, i) => ({ ...report, passed: i !== 3 })))).toBe(false);
  expect(isSurvivor([])).toBe(false);
});

describe('tests-run', () => {
  const run = (fields: Partial<TestRun>): TestRun => ({
    source: 'report',
    exitCode: 0,
    stopped: null,
    ms: 1,
    tests: { a: 'passed' },
    tail: 'the end',
    ...fields,
  });
  const verdict = (base: Partial<TestRun>, own: Partial<TestRun>) => testsRunGate(run(base), run(own));
  const plain = { source: 'exit-code', tests: {} } as const;

  test('accepts failing tests, because they ran', () => {
    expect(verdict({}, { exitCode: 1, tests: { a: 'failed' } }).passed).toBe(true);
    expect(verdict(plain, { ...plain, exitCode: 1 }).passed).toBe(true);
  });

  test.each<[Partial<TestRun>, Partial<TestRun>, string]>([
    [{}, { stopped: 'wall' }, 'they exceeded both `timeout.check` and three times'],
    [{}, { exitCode: null }, 'killed by a signal'],
    [{}, { ...plain, exitCode: 0 }, 'wrote no report'],
    [{}, { tests: {} }, 'report is empty'],
    [plain, { ...plain, exitCode: 127 }, 'could not be started'],
  ])('compares %j on the base with %j on the candidate: %s', (base, own, why) => {
    const report = verdict(base, own);
    expect(report).toMatchObject({ gate: 'tests-run', passed: false, hunk: 'the end' });
    expect(report.because).toContain(why);
  });
});
