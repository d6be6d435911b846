import { describe, expect, test } from 'vitest';
import {
  baseTestsThatCount,
  brokenLinks,
  controlOf,
  filesUnderTest,
  isCaught,
  linkedDocuments,
  mutantsOf,
  staticGates,
  type TestRun,
  taskKindOf,
  testsThatCount,
  withoutTextTests,
} from '../../../src/core/evidence/index.ts';
import { patchBetween } from '../git.ts';
import { parsed } from '../syntax.ts';

const TESTS = patchBetween({}, { 'test/a.test.js': 'x();\n' });
const CODE = patchBetween({}, { 'src/a.js': 'x();\n', 'test/a.test.js': 'x();\n' });
const DOCS = patchBetween({}, { 'docs/a.md': '# A\n' });
const SETTINGS = patchBetween({}, { '.eslintrc.json': '{}\n' });

describe('the kind of a task', () => {
  test.each([
    ['Add tests for the parser', [TESTS, TESTS, CODE], 'tests'],
    ['parseDate is untested', [TESTS], 'tests'],
    ['Improve test coverage of src/date.ts', [TESTS, TESTS], 'tests'],
    ['Add a regression test for empty input', [TESTS], 'tests'],
    ['Date lacks unit tests', [TESTS], 'tests'],
    // Code can be about tests.
    ['Add a --test option that makes clamp strict', [TESTS, TESTS, CODE], 'code'],
    ['Allow more results per test page', [TESTS], 'code'],
    ['Cover letter upload breaks spec', [TESTS], 'code'],
    ['Add password strength test', [TESTS], 'code'],
    ['Add test page for uploads', [TESTS], 'code'],
    ['Warn about projects that have no tests', [TESTS], 'code'],
    ['Add tests for clamp and make it strict', [TESTS], 'code'],
    // One candidate of three avoids the work, or the title asks for a fix.
    ['Add tests for the parser', [TESTS, CODE, CODE], 'code'],
    ['Fix the parser and add tests', [TESTS, TESTS], 'code'],
    ['Parser throws for empty input; add a test', [TESTS, TESTS], 'code'],
    ['Parser accepts too much', [TESTS, TESTS], 'code'],
    ['Explain the options', [DOCS, DOCS, CODE], 'docs'],
    ['Configure eslint for tests', [SETTINGS, SETTINGS], 'configuration'],
    ['Accept more dates', [SETTINGS, SETTINGS], 'code'],
    ['Add tests', [], 'code'],
  ] as const)('of “%s”', (title, patches, kind) => {
    expect(taskKindOf(`${title}\n\nAdd tests for everything.`, patches).kind).toBe(kind);
  });

  test('is uncertain if some candidates change other files', () => {
    expect(taskKindOf('Add tests for clamp', [TESTS, TESTS]).isMixed).toBe(false);
    expect(taskKindOf('Add tests for clamp', [TESTS, TESTS, CODE]).isMixed).toBe(true);
    expect(taskKindOf('Explain clamp', [DOCS, DOCS, CODE]).isMixed).toBe(true);
    expect(taskKindOf('Change clamp', [TESTS, CODE]).isMixed).toBe(false);
  });

  test.each([
    ['tests', CODE, 'The task asks for tests alone; the patch also changes src/a.js.'],
    ['tests', TESTS, null],
    ['tests', patchBetween({}, { 'test/a.test.js': 'x();\n', 'CHANGELOG.md': 'Tests\n' }), null],
    ['configuration', TESTS, 'The patch changes only tests or their configuration.'],
    ['configuration', SETTINGS, null],
  ] as const)('decides the gate content: %s', (kind, patch, because) => {
    const content = staticGates(patch, { protect: [] }, { kind }).find(({ gate }) => gate === 'content');
    expect(content?.passed ? null : content?.because).toBe(because);
  });
});

describe('mutants', () => {
  const text = `export function near(a, b) {
  // a < b
  if (a < b && b - a < 10) return true;
  return String('a < b');
}
export const far = (a, b) => !near(a, b);
function other(x) {
  return x === 1;
}
`;
  const source = { path: 'src/near.js', text };
  const withTree = async (one: { readonly path: string; readonly text: string }) => {
    const tree = (await parsed([one]))(one);
    if (!tree) throw new Error(`${one.path} has no tree`);
    return { ...one, tree };
  };

  test('change code only, one place each, in what the task names', async () => {
    const named = mutantsOf([await withTree(source)], 'Add tests for `near`');
    expect(named.map(({ line, what }) => `${line}: ${what}`).sort()).toEqual([
      '3: && → ||',
      '3: - → +',
      '3: 10 → 11',
      '3: < → >=',
      '3: < → >=',
      '3: true → false',
      '3: true → undefined',
      "4: String('a < b') → undefined",
    ]);
    expect(mutantsOf([await withTree(source)], 'Add tests').length).toBeGreaterThan(8);
    expect(mutantsOf([await withTree(source)], 'Add tests', 3)).toHaveLength(3);
    expect(named[0]?.patch.section).toMatch(
      /^diff --git a\/src\/near\.js b\/src\/near\.js\n--- a\/src\/near\.js\n\+\+\+ b\/src\/near\.js\n@@ /,
    );
  });

  test('of Python are made, too', async () => {
    const python = { path: 'a.py', text: 'def f(x):\n    return x and not False\n' };
    expect(
      mutantsOf([await withTree(python)], '')
        .map(({ what }) => what)
        .sort(),
    ).toEqual(['False → True', 'and → or', 'x and not False → None']);
  });

  const run = (tests: TestRun['tests'], more: Partial<TestRun> = {}): TestRun => ({
    source: 'report',
    exitCode: 0,
    stopped: null,
    ms: 1,
    tests,
    tail: '',
    ...more,
  });

  test('have a control that differs in comments alone, at the same places', async () => {
    const sources = [await withTree(source)];
    const [patch, ...others] = controlOf(sources, mutantsOf(sources, 'Add tests for `near`'));
    expect(others).toEqual([]);
    expect(patch?.section).toContain(
      '+  if (a /* */ < b /* */ && b /* */ - a /* */ < /* */ 10) return /* */ true;\n',
    );
    const python = [await withTree({ path: 'a.py', text: 'def f(x):\n    return x and not False\n' })];
    expect(controlOf(python, mutantsOf(python, ''))[0]?.section).toContain(
      '+    return  x  and not  False\n',
    );
  });

  test('count no tests that fail on the control', () => {
    const onControl = run({ text: 'failed', behaviour: 'passed' });
    expect(withoutTextTests(['text', 'missing', 'behaviour'], onControl)).toEqual({
      counting: ['behaviour'],
      discarded: 2,
    });
    const red = run({}, { source: 'exit-code', exitCode: 1 });
    expect(withoutTextTests(null, red)).toEqual({ counting: [], discarded: 1 });
    // A red base without a report shows nothing if it stays red.
    expect(baseTestsThatCount(red)).toBeUndefined();
    expect(baseTestsThatCount({ ...red, exitCode: 0 })).toBeNull();
    expect(
      baseTestsThatCount(run({ old: 'passed', red: 'failed', flaky: 'passed' }, { flaky: ['flaky'] })),
    ).toEqual(['old']);
  });

  test('are caught by new tests that passed before', () => {
    const counting = testsThatCount(
      run({ old: 'passed' }),
      run({ old: 'passed', new: 'passed', red: 'failed' }),
    );
    expect(counting).toEqual(['new']);
    expect(isCaught(counting, run({ old: 'failed', new: 'passed' }))).toBe(false);
    expect(isCaught(counting, run({ old: 'passed', new: 'failed' }))).toBe(true);
    expect(isCaught(counting, run({ old: 'passed' }))).toBe(true);
    expect(isCaught(counting, run({ new: 'skipped' }))).toBe(false);
    expect(isCaught(null, run({}, { source: 'exit-code', exitCode: 1 }))).toBe(true);
  });
});

test('the code under test is what the task names, otherwise what tests import', () => {
  const production = ['src/near.js', 'src/index.js', 'pkg/dates.py', 'go/a.go'];
  const of = (path: string, text: string, asked = '') => filesUnderTest(production, asked, [{ path, text }]);
  expect(of('test/a.test.js', "import { near } from '../src/near.js';")).toEqual(['src/near.js']);
  expect(of('test/a.test.ts', "require('../src')")).toEqual(['src/index.js']);
  expect(of('tests/test_a.py', 'from pkg import dates\n')).toEqual(['pkg/dates.py']);
  expect(of('tests/test_a.py', 'import pkg.dates as d\n')).toEqual(['pkg/dates.py']);
  expect(of('go/a_test.go', 'package a\n')).toEqual(['go/a.go']);
  expect(of('test/a.test.js', "require('../src')", 'Add tests for `near.js`.')).toEqual(['src/near.js']);
  expect(of('test/a.test.js', "require('node:fs')")).toEqual([]);
});

test('links that lead nowhere are found, others are not', () => {
  const files = new Set(['docs/b.md', 'img/a.png', 'README.md']);
  const after = `# Über *uns*
<a name="own"></a>
[file](docs/b.md) [heading](docs/b.md#the-end) [here](#über-uns) [named](#own) [site](https://x.org/a.md)
![image](img/a.png) [page](/guide/x) [generated](guide.html) [folder](docs) [route](./other)
[missing](docs/c.md) [no heading](docs/b.md#start) [nothing here](#below) ![no image](img/b.png)
`;
  const document = { path: 'README.md', before: null, after };
  const texts = (path: string) => (path === 'docs/b.md' ? '# B\n\n## The end\n' : null);
  const found = (before: string | null) =>
    brokenLinks([{ ...document, before }], (path) => files.has(path), texts).broken.map(
      ({ target }) => target,
    );
  expect(found(null)).toEqual(['docs/c.md', 'docs/b.md#start', '#below', 'img/b.png']);
  // What was broken before is not new.
  expect(found('[missing](docs/c.md)\n')).toEqual(['docs/b.md#start', '#below', 'img/b.png']);
  expect(linkedDocuments([document])).toEqual(['docs/b.md', 'docs/c.md']);
});
