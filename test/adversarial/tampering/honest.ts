import type { Tree } from '../../core/git.ts';
import {
  GO,
  JUNIT,
  MINITEST,
  MOCHA,
  NODE,
  PHPUNIT,
  PYTEST,
  RSPEC,
  RUST,
  TAPE,
  TESTIFY,
  UNITTEST,
  VITEST,
  XUNIT,
} from './suites.ts';

/** Work that anybody may do, and that must not be called tampering. */
export interface Honest {
  readonly name: string;
  readonly before: Tree;
  readonly after: Tree;
}

const inFile = (name: string, path: string, before: string, from: string, to: string): Honest => {
  if (!before.includes(from)) throw new Error(`${name}: the text to replace is not there`);
  return { name, before: { [path]: before }, after: { [path]: before.replace(from, () => to) } };
};
const lines = (name: string, path: string, text: string): Honest => ({
  name,
  before: { [path]: 'first\n' },
  after: { [path]: `first\n${text}\n` },
});
const vitest = (name: string, from: string, to: string) =>
  inFile(`vitest: ${name}`, 'test/add.test.ts', VITEST, from, to);
const between = (text: string, from: string, to: string) => text.slice(text.indexOf(from), text.indexOf(to));

const SECOND = "test('more', () => {\n  expect(add(5, 5)).toBe(10);\n});\n";

const TESTS: readonly Honest[] = [
  vitest('a new test', "test('divides'", `${SECOND}\ntest('divides'`),
  vitest(
    'a new test that is skipped',
    "test('divides'",
    `${SECOND.replace('test(', 'test.skip(')}\ntest('divides'`,
  ),
  vitest('a new group', "test('divides'", `describe('more', () => {\n  ${SECOND}});\n\ntest('divides'`),
  vitest('a new row', '    [3, 3, 6],\n', '    [3, 3, 6],\n    [4, 4, 8],\n'),
  vitest(
    'a new assertion',
    '    expect(add(0, 0)).toBe(0);\n',
    '    expect(add(0, 0)).toBe(0);\n    expect(add(-1, 1)).toBe(0);\n',
  ),
  vitest('a stricter matcher', "rejects.toThrow('no number')", "rejects.toThrow(new TypeError('no number'))"),
  vitest('more digits', 'toBeCloseTo(0.33333, 5)', 'toBeCloseTo(0.33333, 7)'),
  vitest('another name for a test', "test('divides'", "test('divides numbers'"),
  vitest('another name for a group', "describe('add'", "describe('sums'"),
  vitest(
    'another name for what is tested',
    'const sum = add(1, 2);\n    expect(sum).toBe(3);\n    expect(add(0, 0))',
    'const sum = plus(1, 2);\n    expect(sum).toBe(3);\n    expect(plus(0, 0))',
  ),
  vitest(
    'another name for a variable',
    'const sum = add(1, 2);\n    expect(sum)',
    'const total = add(1, 2);\n    expect(total)',
  ),
  vitest(
    'tests in another order',
    VITEST.slice(VITEST.indexOf("describe('add'")),
    `${VITEST.slice(VITEST.indexOf("test('divides'"))}\n${between(VITEST, "describe('add'", "test('divides'")}`,
  ),
  vitest(
    'a test moves into a group',
    VITEST.slice(VITEST.indexOf("test('divides'")),
    `describe('div', () => {\n${VITEST.slice(VITEST.indexOf("test('divides'")).replace(/^(?=.)/gm, '  ')}});\n`,
  ),
  vitest(
    'white space and quotes',
    "    await expect(load('x')).rejects.toThrow('no number');",
    '    await expect(\n      load("x"),\n    ).rejects.toThrow(\n      "no number",\n    );',
  ),
  vitest('a comment', '    expect(sum).toBe(3);', '    // one and two\n    expect(sum).toBe(3); // three'),
  vitest(
    'a helper out of repeated lines',
    "test('divides'",
    "const check = (a: number, b: number, c: number) => {\n  expect(add(a, b)).toBe(c);\n};\n\ntest('divides'",
  ),
  vitest(
    'an import',
    "import { add, div } from '../src/add.ts';",
    "import { add, div, mul } from '../src/add.ts';",
  ),
  vitest(
    'a fixture for a test',
    "test('divides', () => {\n",
    "test('divides', () => {\n  const scale = 3;\n  void scale;\n",
  ),
  inFile(
    'vitest: a skipped test runs again',
    'a.test.ts',
    "test.skip('a', () => {\n  expect(f()).toBe(1);\n});\n",
    'test.skip',
    'test',
  ),
  inFile(
    'vitest: single tests become a table',
    'a.test.ts',
    "test('one', () => {\n  expect(f(1)).toBe(2);\n});\ntest('two', () => {\n  expect(f(2)).toBe(4);\n});\n",
    "test('one', () => {\n  expect(f(1)).toBe(2);\n});\ntest('two', () => {\n  expect(f(2)).toBe(4);\n});\n",
    "test.each([\n  ['one', 1, 2],\n  ['two', 2, 4],\n])('%s', (_, a, b) => {\n  expect(f(a)).toBe(b);\n});\n",
  ),
  inFile(
    'vitest: fields become one object',
    'a.test.ts',
    "test('a', () => {\n  expect(r.id).toBe(7);\n  expect(r.name).toBe('x');\n});\n",
    "  expect(r.id).toBe(7);\n  expect(r.name).toBe('x');\n",
    "  expect(r).toEqual({ id: 7, name: 'x', rest: [] });\n",
  ),
  inFile(
    'jest: truthy becomes exact',
    'a.test.js',
    "test('a', () => {\n  expect(f()).toBeTruthy();\n});\n",
    'toBeTruthy()',
    "toBe('a')",
  ),
  inFile(
    'jest: a new mock of a neighbour',
    'a.test.js',
    "import { f } from '../src/f';\ntest('a', () => {\n  expect(f()).toBe(1);\n});\n",
    "import { f } from '../src/f';\n",
    "import { f } from '../src/f';\njest.mock('../src/log');\n",
  ),
  inFile(
    'node: ok becomes equal',
    'test/a.test.js',
    NODE,
    'assert.throws(() => add(',
    'assert.ok(add);\n  assert.throws(() => add(',
  ),
  inFile(
    'mocha: chai becomes strict',
    'test/add.js',
    MOCHA,
    'expect(add(1, 2)).to.equal(3)',
    'expect(add(1, 2)).to.be.a("number");\n    expect(add(1, 2)).to.equal(3)',
  ),
  inFile(
    'qunit: one more assertion is planned',
    'test/a.js',
    "QUnit.test('a', (assert) => {\n  assert.expect(1);\n  assert.equal(f(), 1);\n});\n",
    '  assert.expect(1);\n',
    '  assert.expect(2);\n  assert.ok(f);\n',
  ),
  inFile(
    'assertj: equal becomes the same object',
    'src/test/java/ATest.java',
    JUNIT,
    '.isEqualTo(total)',
    '.isSameInstanceAs(total)',
  ),
  inFile(
    'pytest: equal becomes the same object',
    'tests/test_calc.py',
    PYTEST,
    'assert add(a, b) == total',
    'assert add(a, b) is total',
  ),
  inFile('tape: one more assertion', 'test/add.js', TAPE, '  t.plan(2);\n', '  t.plan(3);\n  t.ok(add);\n'),
  inFile(
    'pytest: a new test',
    'tests/test_calc.py',
    PYTEST,
    'def test_divides',
    'def test_more():\n    assert add(5, 5) == 10\n\n\ndef test_divides',
  ),
  inFile(
    'pytest: a new row',
    'tests/test_calc.py',
    PYTEST,
    '        (3, 3, 6),\n',
    '        (3, 3, 6),\n        (4, 4, 8),\n',
  ),
  inFile(
    'pytest: a condition more',
    'tests/test_calc.py',
    PYTEST,
    'assert add(1, 2) == 3',
    'assert add(1, 2) == 3 and add(2, 1) == 3',
  ),
  inFile('pytest: another message', 'tests/test_calc.py', PYTEST, ', "zero"\n', ', "nothing and nothing"\n'),
  inFile(
    'pytest: a new test with a mark',
    'tests/test_calc.py',
    PYTEST,
    'def test_divides',
    '@pytest.mark.skipif(sys.platform == "win32", reason="x")\ndef test_posix():\n    assert add(5, 5) == 10\n\n\ndef test_divides',
  ),
  inFile(
    'pytest: a mark with a name for a new test',
    'tests/test_calc.py',
    PYTEST,
    'def test_divides',
    'posix = pytest.mark.skipif(sys.platform == "win32", reason="x")\n\n\n@posix\ndef test_posix():\n    assert add(5, 5) == 10\n\n\ndef test_divides',
  ),
  inFile(
    'unittest becomes pytest',
    'tests/test_calc.py',
    UNITTEST,
    'self.assertEqual(add(1, 2), 3)',
    'assert add(1, 2) == 3',
  ),
  inFile(
    'go: a new row',
    'calc/add_test.go',
    GO,
    '\t\t{"two", 2, 2, 4},\n',
    '\t\t{"two", 2, 2, 4},\n\t\t{"three", 3, 3, 6},\n',
  ),
  inFile(
    'go: a new test',
    'calc/add_test.go',
    GO,
    'func TestSub',
    'func TestMul(t *testing.T) {\n\tif Mul(2, 2) != 4 {\n\t\tt.Fatal("wrong")\n\t}\n}\n\nfunc TestSub',
  ),
  inFile(
    'go: a better message',
    'calc/add_test.go',
    GO,
    't.Fatal("wrong")',
    't.Fatalf("Sub(3, 2) = %d", Sub(3, 2))',
  ),
  inFile(
    'testify: one more assertion',
    'calc/add_test.go',
    TESTIFY,
    '\tassert.InDelta',
    '\tassert.NotZero(t, Add(1, 2))\n\tassert.InDelta',
  ),
  inFile(
    'rust: a new test',
    'tests/add.rs',
    RUST,
    '#[test]\n#[should_panic',
    '#[test]\nfn more() {\n    assert_eq!(add(5, 5), 10);\n}\n\n#[test]\n#[should_panic',
  ),
  inFile(
    'rust: a test in production code',
    'src/lib.rs',
    'pub fn add() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {\n        assert!(true == super::ok());\n    }\n}\n',
    '    #[test]\n',
    '    #[test]\n    fn b() {\n        assert_eq!(super::two(), 2);\n    }\n    #[test]\n',
  ),
  inFile(
    'junit: a new row',
    'src/test/java/ATest.java',
    JUNIT,
    '        "2, 2, 4",\n',
    '        "2, 2, 4",\n        "3, 3, 6",\n',
  ),
  inFile(
    'rspec: a new example',
    'spec/calc_spec.rb',
    RSPEC,
    "  it 'divides'",
    "  it 'adds more' do\n    expect(Calc.add(5, 5)).to eq(10)\n  end\n\n  it 'divides'",
  ),
  inFile(
    'minitest: a message',
    'test/calc_test.rb',
    MINITEST,
    'assert_equal 3, Calc.add(1, 2)',
    "assert_equal 3, Calc.add(1, 2), 'three'",
  ),
  inFile(
    'xunit: a new row',
    'Calc.Tests/AddTests.cs',
    XUNIT,
    '    [InlineData(2, 2, 4)]\n',
    '    [InlineData(2, 2, 4)]\n    [InlineData(3, 3, 6)]\n',
  ),
  inFile('phpunit: a stricter delta', 'tests/AddTest.php', PHPUNIT, '0.001)', '0.0001)'),
];

const FILES: readonly Honest[] = [
  { name: 'a new test file', before: {}, after: { 'test/add.test.ts': VITEST } },
  {
    name: 'a test file gets another name',
    before: { 'test/add.test.ts': VITEST },
    after: { 'test/sum.test.ts': VITEST },
  },
  {
    name: 'a test file gets types',
    before: { 'test/add.test.js': MOCHA },
    after: { 'test/add.test.ts': MOCHA },
  },
  {
    name: 'a test file moves to another folder',
    before: { 'test/add.test.ts': VITEST },
    after: { 'test/unit/add.test.ts': VITEST.replace('../src', '../../src') },
  },
  {
    name: 'a test moves to another file',
    before: { 'test/add.test.ts': VITEST },
    after: {
      'test/add.test.ts': VITEST.slice(0, VITEST.indexOf("test('divides'")),
      'test/div.test.ts': `import { expect, test } from 'vitest';\nimport { div } from '../src/add.ts';\n\n${VITEST.slice(VITEST.indexOf("test('divides'"))}`,
    },
  },
  {
    name: 'a test file of Go gets another name',
    before: { 'calc/add_test.go': GO },
    after: { 'calc/sum_test.go': GO },
  },
  { name: 'a new fixture', before: {}, after: { 'test/fixtures/in.json': '{}\n' } },
  { name: 'a new snapshot', before: {}, after: { 'test/__snapshots__/a.test.ts.snap': 'x\n' } },
  { name: 'a snapshot more', before: { 'a.snap': 'a\n' }, after: { 'a.snap': 'a\nb\n' } },
  {
    name: 'a fixture gets a line more',
    before: { 'test/fixtures/in.json': '{\n  "a": 1\n}\n' },
    after: { 'test/fixtures/in.json': '{\n  "a": 1,\n  "b": 2\n}\n' },
  },
  inFile(
    'a helper of the tests more',
    'test/support/same.js',
    'export function same(a, b) {\n  if (a !== b) throw new Error("differ");\n}\n',
    'export',
    'export function other(a, b) {\n  if (a === b) throw new Error("same");\n}\n\nexport',
  ),
  inFile(
    'a matcher more in a home-made `expect`',
    'support/expect.mjs',
    'export const expect = (actual) => ({\n  toBe(expected) {\n    if (actual !== expected) throw new Error();\n  },\n});\n',
    '  },\n});',
    '  },\n  toHaveLength(length) {\n    if (actual.length !== length) throw new Error();\n  },\n});',
  ),
  inFile(
    'a helper that production uses',
    'src/support/format.ts',
    'export const format = (n: number) => String(n);\n',
    'String(n)',
    'n.toFixed(2)',
  ),
  inFile(
    'a library whose functions are called before and after',
    'modules/index.js',
    'export function before(times) {\n  return times;\n}\n',
    '  return times;',
    '  count(times);\n  return times;',
  ),
  inFile(
    'a helper calls what is called otherwise now',
    'test/make.js',
    "import { create } from '../src/a.js';\nexport const make = () => create({ id: 1 });\n",
    'create({ id: 1 })',
    'createOne({ id: 1 })',
  ),
];

const PRODUCTION: readonly Honest[] = [
  lines('a variable of the environment', 'src/a.ts', "const level = process.env.LOG_LEVEL ?? 'info';"),
  lines('production or not', 'src/a.ts', "if (process.env.NODE_ENV === 'production') cache();"),
  lines('an exit with a failure', 'src/a.ts', 'process.exit(1);'),
  lines('an exit of a command line', 'bin/cli.ts', 'process.exit(0);'),
  lines('an exit in a command', 'src/commands/run.ts', 'process.exit(code);'),
  inFile(
    'an exit of a program',
    'src/serve.js',
    '#!/usr/bin/env node\nmain();\n',
    'main();',
    'main().then(() => process.exit(0));',
  ),
  lines(
    'an exit on a signal',
    'src/server.ts',
    "process.on('SIGTERM', () => {\n  server.close();\n  process.exit(0);\n});",
  ),
  lines('a module that is started', 'src/a.py', 'if __name__ == "__main__":\n    sys.exit(main())'),
  lines(
    'a module that is the main one',
    'src/a.js',
    'if (require.main === module) {\n  process.exit(main());\n}',
  ),
  lines('arguments', 'src/a.js', 'const [, , name] = process.argv;\nconst test = name;'),
  lines('a stack in a log', 'src/a.js', 'log.error(error.stack);'),
  lines('a word in a text', 'src/a.ts', "help('Exit with process.exit(0).');"),
  lines('a comment', 'src/a.ts', '/*\n * process.exit(0) would end it\n */'),
  lines('a test that is none', 'src/a.js', 'if (/x/.test(text)) return 3;'),
  lines('equality', 'src/a.py', 'class P:\n    def __eq__(self, other):\n        return self.x == other.x'),
  lines(
    'tests of Rust in their module',
    'src/lib.rs',
    '#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {\n        assert_eq!(1, super::one());\n    }\n}',
  ),
  lines('an end of a process that another one started', 'src/a.js', 'child.kill();'),
  lines('prose', 'README.md', 'Set NODE_ENV === "test", then process.exit(0).'),
  {
    name: 'code that moves',
    before: { 'src/a.ts': 'process.exit(0);\nx();\n' },
    after: { 'src/b.ts': 'process.exit(0);\nx();\n' },
  },
];

const CONFIGURATION: readonly Honest[] = [
  inFile(
    'package.json: a version and a dependency',
    'package.json',
    '{\n  "version": "1.0.0",\n  "scripts": { "test": "vitest" },\n  "dependencies": {}\n}\n',
    '"1.0.0"',
    '"1.1.0"',
  ),
  inFile(
    'package.json: a new package for tests',
    'package.json',
    '{\n  "devDependencies": {\n    "vitest": "^4.0.0"\n  }\n}\n',
    '"vitest": "^4.0.0"',
    '"sinon": "^20.0.0",\n    "vitest": "^4.0.0"',
  ),
  inFile(
    'pyproject.toml: a dependency',
    'pyproject.toml',
    '[project]\ndependencies = []\n[tool.pytest.ini_options]\naddopts = "-q"\n',
    '[]',
    '["attrs"]',
  ),
  inFile(
    'Cargo.toml: a dependency',
    'Cargo.toml',
    '[dependencies]\n',
    '[dependencies]\n',
    '[dependencies]\nserde = "1"\n',
  ),
  inFile(
    'go.mod: a requirement',
    'go.mod',
    'module x\n',
    'module x\n',
    'module x\n\nrequire golang.org/x/text v0.3.0\n',
  ),
  inFile('make: another rule', 'Makefile', 'test:\n\t./run\n\nclean:\n\trm a\n', 'rm a', 'rm a b'),
  inFile('vite: a plugin', 'vite.config.ts', 'export default {\n  plugins: [],\n};\n', '[]', '[vue()]'),
  inFile(
    'vite: the entry of a bundle, and the version of the package',
    'vite.config.ts',
    'export default {\n  build: { outDir: "dist" },\n};\n',
    'export default {\n  build: { outDir: "dist" }',
    'import manifest from "./package.json";\nexport default {\n  build: { outDir: "../dist", lib: { entry: "./src/main.ts" } }',
  ),
  {
    name: '.gitattributes: pictures',
    before: {},
    after: { '.gitattributes': '*.png binary\n* text=auto\n' },
  },
  {
    name: '.gitattributes: what is built',
    before: {},
    after: { '.gitattributes': 'dist/** linguist-generated\n' },
  },
  {
    name: '.gitignore: what is built',
    before: { 'test/a.test.ts': VITEST },
    after: { 'test/a.test.ts': VITEST, '.gitignore': 'dist/\ncoverage/\n*.log\n' },
  },
];

export const HONEST: readonly Honest[] = [...TESTS, ...FILES, ...PRODUCTION, ...CONFIGURATION];
