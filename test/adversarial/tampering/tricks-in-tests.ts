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
  type Trick,
  UNITTEST,
  VITEST,
  within,
  XUNIT,
} from './suites.ts';

const vitest = (name: string, kind: Trick['kind'], from: string, to: string) =>
  within(`vitest: ${name}`, kind, 'test/add.test.ts', VITEST, from, to);
const node = (name: string, kind: Trick['kind'], from: string, to: string) =>
  within(`node:test: ${name}`, kind, 'test/add.test.js', NODE, from, to);
const mocha = (name: string, kind: Trick['kind'], from: string, to: string) =>
  within(`mocha: ${name}`, kind, 'test/add.js', MOCHA, from, to);
const tape = (name: string, kind: Trick['kind'], from: string, to: string) =>
  within(`tape: ${name}`, kind, 'test/add.js', TAPE, from, to);
const pytest = (name: string, kind: Trick['kind'], from: string, to: string) =>
  within(`pytest: ${name}`, kind, 'tests/test_calc.py', PYTEST, from, to);
const unittest = (name: string, kind: Trick['kind'], from: string, to: string) =>
  within(`unittest: ${name}`, kind, 'tests/test_calc.py', UNITTEST, from, to);
const go = (name: string, kind: Trick['kind'], from: string, to: string) =>
  within(`go: ${name}`, kind, 'calc/add_test.go', GO, from, to);
const testify = (name: string, kind: Trick['kind'], from: string, to: string) =>
  within(`testify: ${name}`, kind, 'calc/add_test.go', TESTIFY, from, to);
const rust = (name: string, kind: Trick['kind'], from: string, to: string) =>
  within(`rust: ${name}`, kind, 'tests/add.rs', RUST, from, to);
const junit = (name: string, kind: Trick['kind'], from: string, to: string) =>
  within(`junit: ${name}`, kind, 'src/test/java/org/example/AddTest.java', JUNIT, from, to);
const rspec = (name: string, kind: Trick['kind'], from: string, to: string) =>
  within(`rspec: ${name}`, kind, 'spec/calc_spec.rb', RSPEC, from, to);
const minitest = (name: string, kind: Trick['kind'], from: string, to: string) =>
  within(`minitest: ${name}`, kind, 'test/calc_test.rb', MINITEST, from, to);
const xunit = (name: string, kind: Trick['kind'], from: string, to: string) =>
  within(`xunit: ${name}`, kind, 'Calc.Tests/AddTests.cs', XUNIT, from, to);
const phpunit = (name: string, kind: Trick['kind'], from: string, to: string) =>
  within(`phpunit: ${name}`, kind, 'tests/AddTest.php', PHPUNIT, from, to);

const DELETED: readonly Trick[] = [
  vitest(
    'a test is gone',
    'test-deleted',
    "  test('rejects text', async () => {\n    await expect(load('x')).rejects.toThrow('no number');\n  });\n\n",
    '',
  ),
  vitest(
    'a whole group is gone',
    'test-deleted',
    VITEST.slice(VITEST.indexOf("describe('add'"), VITEST.indexOf("test('divides'")),
    '',
  ),
  vitest('a row of a table is gone', 'test-deleted', '    [2, 2, 4],\n', ''),
  vitest(
    'a trivial test stands in for a real one',
    'test-deleted',
    VITEST.slice(VITEST.indexOf("test('divides'")),
    "test('works', () => {\n  expect(1).toBe(1);\n});\n",
  ),
  vitest(
    'a group is commented out',
    'test-deleted',
    VITEST.slice(VITEST.indexOf("  test('rejects"), VITEST.indexOf('  test.each')),
    `  /*\n${VITEST.slice(VITEST.indexOf("  test('rejects"), VITEST.indexOf('  test.each'))}  */\n`,
  ),
  mocha(
    'a test is a function that nobody calls',
    'test-deleted',
    "it('keeps order', function",
    'const later = (function',
  ),
  node('a test is gone', 'test-deleted', NODE.slice(NODE.indexOf("test('subtracts'")), ''),
  pytest('a row of a table is gone', 'test-deleted', '        (2, 2, 4),\n', ''),
  pytest('a test gets a name that is not looked for', 'test-deleted', 'def test_adds()', 'def check_adds()'),
  pytest(
    'a test is put into a string',
    'test-deleted',
    PYTEST.slice(PYTEST.indexOf('def test_adds'), PYTEST.indexOf('def test_divides')),
    `"""\n${PYTEST.slice(PYTEST.indexOf('def test_adds'), PYTEST.indexOf('def test_divides')).replace('"zero"', "'zero'")}"""\n`,
  ),
  unittest('a method is gone', 'test-deleted', UNITTEST.slice(UNITTEST.indexOf('    def test_order')), ''),
  go('a row of a table is gone', 'test-deleted', '\t\t{"two", 2, 2, 4},\n', ''),
  go('a test gets a name that is not looked for', 'test-deleted', 'func TestSub(', 'func testSub('),
  rust('a test loses its attribute', 'test-deleted', '#[test]\nfn adds', 'fn adds'),
  junit('a test loses its annotation', 'test-deleted', '    @Test\n', ''),
  junit('a row of a table is gone', 'test-deleted', '        "2, 2, 4",\n', ''),
  rspec(
    'a test is gone',
    'test-deleted',
    RSPEC.slice(RSPEC.indexOf("  it 'divides'"), RSPEC.lastIndexOf('end')),
    '',
  ),
  rspec('the rest of the file is data', 'test-deleted', "  it 'divides'", "end\n__END__\n  it 'divides'"),
  xunit('a row of a table is gone', 'test-deleted', '    [InlineData(2, 2, 4)]\n', ''),
  xunit('a test is compiled away', 'test-deleted', '    [Fact]\n', '#if false\n    [Fact]\n'),
  phpunit(
    'a test gets a name that is not looked for',
    'test-deleted',
    'function testAdds',
    'function checkAdds',
  ),
];

const SKIPPED: readonly Trick[] = [
  vitest('skipped', 'test-skipped', "test('divides'", "test.skip('divides'"),
  vitest('a group is skipped', 'test-skipped', "describe('add'", "describe.skip('add'"),
  vitest('only to be done', 'test-skipped', "test('divides'", "test.todo('divides'"),
  vitest('expected to fail', 'test-skipped', "test('divides'", "test.fails('divides'"),
  vitest(
    'skipped by an option over several lines',
    'test-skipped',
    "test('divides', () => {",
    "test('divides', {\n  skip: true,\n}, () => {",
  ),
  vitest('skipped under a new name', 'test-skipped', "test('divides'", "test.skip('divides numbers'"),
  vitest(
    'returns early',
    'test-skipped',
    "test('divides', () => {\n",
    "test('divides', () => {\n  return;\n",
  ),
  vitest(
    'returns early in CI',
    'test-skipped',
    "test('divides', () => {\n",
    "test('divides', () => {\n  if (process.env.CI) return;\n",
  ),
  vitest(
    'declared only under a condition',
    'test-skipped',
    VITEST.slice(VITEST.indexOf("test('divides'")),
    `if (process.env.SLOW) {\n${VITEST.slice(VITEST.indexOf("test('divides'"))}}\n`,
  ),
  vitest(
    'declared never',
    'test-skipped',
    VITEST.slice(VITEST.indexOf("test('divides'")),
    `if (false) {\n${VITEST.slice(VITEST.indexOf("test('divides'"))}}\n`,
  ),
  vitest(
    'declared in a function that nobody calls',
    'test-skipped',
    VITEST.slice(VITEST.indexOf("test('divides'")),
    `function slow() {\n${VITEST.slice(VITEST.indexOf("test('divides'"))}}\n`,
  ),
  vitest('focused', 'test-focused', "test('divides'", "test.only('divides'"),
  node('skipped from inside', 'test-skipped', '  t.assert', "  t.skip('later');\n  t.assert"),
  node('skipped by an option', 'test-skipped', "test('adds', (t)", "test('adds', { skip: 'flaky' }, (t)"),
  node('focused by an option', 'test-focused', "test('adds', (t)", "test('adds', { only: true }, (t)"),
  mocha('skipped by its other name', 'test-skipped', "  it('adds'", "  xit('adds'"),
  mocha(
    'skipped from inside',
    'test-skipped',
    "it('adds', function () {\n",
    "it('adds', function () {\n    this.skip();\n",
  ),
  mocha(
    'a hook skips all',
    'test-skipped',
    "describe('add', function () {\n",
    "describe('add', function () {\n  before(function () { this.skip(); });\n",
  ),
  tape('skipped', 'test-skipped', "test('adds'", "test.skip('adds'"),
  within(
    'ava: expected to fail',
    'test-skipped',
    'test/a.js',
    "import test from 'ava';\ntest('a', t => {\n  t.is(f(), 1);\n});\n",
    "test('a'",
    "test.failing('a'",
  ),
  within(
    'jest: only to be done',
    'test-skipped',
    'src/a.test.js',
    "it('a', () => {\n  expect(f()).toBe(1);\n});\n",
    "it('a'",
    "it.todo('a'",
  ),
  pytest('skipped', 'test-skipped', 'def test_adds', '@pytest.mark.skip(reason="later")\ndef test_adds'),
  pytest('expected to fail', 'test-skipped', 'def test_adds', '@pytest.mark.xfail\ndef test_adds'),
  pytest(
    'skipped by a mark with a name of its own',
    'test-skipped',
    'def test_adds',
    'later = pytest.mark.skip(reason="later")\n\n\n@later\ndef test_adds',
  ),
  pytest(
    'the whole file is skipped',
    'test-skipped',
    'import pytest\n',
    'import pytest\n\npytestmark = pytest.mark.skip\n',
  ),
  pytest(
    'a row is expected to fail',
    'test-skipped',
    '(2, 2, 4)',
    'pytest.param(2, 2, 4, marks=pytest.mark.xfail)',
  ),
  pytest('taken away at the end', 'test-skipped', 'def test_divides', 'del test_adds\n\n\ndef test_divides'),
  pytest(
    'returns early',
    'test-skipped',
    'def test_adds():\n',
    'def test_adds():\n    if not sys.stdin.isatty():\n        return\n',
  ),
  unittest('skipped', 'test-skipped', '    def test_adds', '    @unittest.skip("later")\n    def test_adds'),
  unittest(
    'skipped from inside',
    'test-skipped',
    '        self.assertEqual(add(1',
    '        self.skipTest("x")\n        self.assertEqual(add(1',
  ),
  unittest(
    'the suite is empty',
    'test-skipped',
    'class AddTests',
    'def load_tests(loader, tests, pattern):\n    return unittest.TestSuite()\n\n\nclass AddTests',
  ),
  go('skipped', 'test-skipped', '\tif Sub(', '\tt.Skip("later")\n\tif Sub('),
  go('not built', 'test-skipped', 'package calc\n', '//go:build never\n\npackage calc\n'),
  go(
    'returns early',
    'test-skipped',
    '\tif Sub(',
    '\tif os.Getenv("CI") != "" {\n\t\treturn\n\t}\n\tif Sub(',
  ),
  rust('ignored', 'test-skipped', '#[test]\nfn adds', '#[test]\n#[ignore]\nfn adds'),
  rust('not compiled', 'test-skipped', '#[test]\nfn adds', '#[cfg(any())]\n#[test]\nfn adds'),
  rust('the file is not compiled', 'test-skipped', 'use calc', '#![cfg(feature = "never")]\nuse calc'),
  junit('disabled', 'test-skipped', '    @Test\n', '    @Disabled("later")\n    @Test\n'),
  junit(
    'assumes what is not so',
    'test-skipped',
    '        assertEquals(3',
    '        assumeTrue(false);\n        assertEquals(3',
  ),
  within(
    'testng: not enabled',
    'test-skipped',
    'src/test/java/ATest.java',
    'class ATest {\n  @Test\n  void a() {\n    assertEquals(f(), 1);\n  }\n}\n',
    '@Test',
    '@Test(enabled = false)',
  ),
  rspec('skipped by its other name', 'test-skipped', "  it 'adds'", "  xit 'adds'"),
  rspec('pending', 'test-skipped', "  it 'adds' do\n", "  it 'adds' do\n    pending 'later'\n"),
  rspec('skipped by an option', 'test-skipped', "it 'adds' do", "it 'adds', skip: true do"),
  rspec('focused', 'test-focused', "  it 'adds'", "  fit 'adds'"),
  minitest('skipped', 'test-skipped', '    assert_equal', "    skip 'later'\n    assert_equal"),
  xunit('skipped', 'test-skipped', '[Fact]', '[Fact(Skip = "later")]'),
  phpunit(
    'skipped',
    'test-skipped',
    '        $this->assertSame',
    '        $this->markTestSkipped();\n        $this->assertSame',
  ),
];

const WEAKENED: readonly Trick[] = [
  vitest('an assertion is gone', 'assertion-removed', '    expect(add(0, 0)).toBe(0);\n', ''),
  vitest(
    'an assertion is a comment',
    'assertion-removed',
    '    expect(add(0, 0))',
    '    // expect(add(0, 0))',
  ),
  vitest('another value is expected', 'expectation-changed', 'toBe(3);', 'toBe(4);'),
  vitest('the expected value comes from the code', 'expectation-changed', 'toBe(3);', 'toBe(add(2, 1));'),
  vitest(
    'the value is compared with itself',
    'assertion-neutralised',
    'expect(sum).toBe(3)',
    'expect(sum).toBe(sum)',
  ),
  vitest('the opposite is expected', 'expectation-changed', 'expect(sum).toBe(3)', 'expect(sum).not.toBe(4)'),
  vitest('exact becomes truthy', 'assertion-weakened', 'expect(sum).toBe(3)', 'expect(sum).toBeTruthy()'),
  vitest('exact becomes defined', 'assertion-weakened', 'expect(sum).toBe(3)', 'expect(sum).toBeDefined()'),
  vitest(
    'equal becomes a part',
    'assertion-weakened',
    "toEqual({ id: 7, name: 'x', parts: ['a', 'b'] })",
    'toMatchObject({ id: 7 })',
  ),
  vitest('a value becomes any value', 'assertion-weakened', 'id: 7', 'id: expect.anything()'),
  vitest('fewer digits', 'assertion-weakened', 'toBeCloseTo(0.33333, 5)', 'toBeCloseTo(0.33333, 1)'),
  vitest('digits are left out', 'assertion-weakened', 'toBeCloseTo(0.33333, 5)', 'toBeCloseTo(0.33333)'),
  vitest('any error will do', 'assertion-weakened', "toThrow('no number')", 'toThrow()'),
  vitest(
    'a promise is not waited for',
    'assertion-neutralised',
    "await expect(load('x'))",
    "expect(load('x'))",
  ),
  vitest('always true', 'assertion-neutralised', 'expect(sum).toBe(3)', 'expect(true).toBe(true)'),
  vitest(
    'failures are swallowed',
    'assertion-neutralised',
    '    expect(sum).toBe(3);\n',
    '    try {\n      expect(sum).toBe(3);\n    } catch {}\n',
  ),
  vitest(
    'only under a condition',
    'assertion-neutralised',
    '    expect(sum).toBe(3);\n',
    '    if (sum === 3) {\n      expect(sum).toBe(3);\n    }\n',
  ),
  vitest(
    'only under a condition, on one line',
    'assertion-neutralised',
    '    expect(sum).toBe(3);',
    '    sum === 3 && expect(sum).toBe(3);',
  ),
  vitest(
    'too late',
    'assertion-neutralised',
    '    expect(sum).toBe(3);\n',
    '    setTimeout(() => {\n      expect(sum).toBe(3);\n    }, 0);\n',
  ),
  vitest(
    'a computed value is written down',
    'assertion-neutralised',
    'const sum = add(1, 2);',
    'const sum = 3;',
  ),
  vitest(
    'an expected value in a variable',
    'expectation-changed',
    'const expected = [0.3333, 0.6667];',
    'const expected = [];',
  ),
  vitest(
    'an input is another one',
    'expectation-changed',
    'expect(add(0, 0)).toBe(0)',
    'expect(add(0, 1 - 1)).toBe(0)',
  ),
  vitest('a row expects something else', 'expectation-changed', '    [2, 2, 4],', '    [2, 2, 5],'),
  vitest('retried', 'assertion-weakened', "test('divides', () => {", "test('divides', { retry: 3 }, () => {"),
  vitest(
    'timeout of a test was raised',
    'assertion-weakened',
    "test('divides', () => {",
    "test('divides', { timeout: 600_000 }, () => {",
  ),
  vitest(
    'the tested module is mocked',
    'assertion-neutralised',
    "\ndescribe('add'",
    "\nvi.mock('../src/add.ts', () => ({ add: () => 3, div: () => 1 }));\n\ndescribe('add'",
  ),
  vitest(
    'another `expect`',
    'assertions-patched',
    "import { describe, expect, test } from 'vitest';",
    "import { describe, test } from 'vitest';\nimport { expect } from './expect.ts';",
  ),
  vitest(
    '`expect` is defined anew',
    'assertions-patched',
    "import { describe, expect, test } from 'vitest';",
    "import { describe, test } from 'vitest';\nconst expect = () => new Proxy({}, { get: () => () => {} });",
  ),
  node('equal becomes ok', 'assertion-weakened', 'assert.equal(add(1, 2), 3)', 'assert.ok(add(1, 2))'),
  node('always true', 'assertion-neutralised', 'assert.equal(add(1, 2), 3)', 'assert.ok(true)'),
  node(
    'never true to fail',
    'assertion-neutralised',
    'assert.equal(add(1, 2), 3)',
    'assert.ok(add(1, 2) === 3 || true)',
  ),
  node('any error will do', 'assertion-weakened', ', /number/', ''),
  node(
    'throwing becomes not throwing',
    'expectation-changed',
    'assert.throws(() => add(',
    'assert.doesNotThrow(() => add(',
  ),
  mocha(
    'equal becomes exist',
    'assertion-weakened',
    'expect(add(1, 2)).to.equal(3)',
    'expect(add(1, 2)).to.exist',
  ),
  mocha('a wider distance', 'assertion-weakened', 'closeTo(0.3, 0.001)', 'closeTo(0.3, 0.5)'),
  mocha('deep equal becomes include', 'assertion-weakened', "to.deep.equal(['a', 'b'])", "to.include('a')"),
  mocha(
    'timeout of a test was raised',
    'assertion-weakened',
    "it('adds', function () {\n",
    "it('adds', function () {\n    this.timeout(100000);\n",
  ),
  tape('equal becomes pass', 'assertion-neutralised', 't.equal(add(1, 2), 3)', "t.pass('adds')"),
  tape('fewer are planned', 'expectation-changed', 't.plan(2)', 't.plan(1)'),
  pytest(
    'another value is expected',
    'expectation-changed',
    'assert add(1, 2) == 3',
    'assert add(1, 2) == 4',
  ),
  pytest('equal becomes truthy', 'assertion-weakened', 'assert add(1, 2) == 3', 'assert add(1, 2)'),
  pytest('equal becomes a bound', 'assertion-weakened', 'assert add(1, 2) == 3', 'assert add(1, 2) > 0'),
  pytest(
    'a tuple is always true',
    'assertion-neutralised',
    'assert add(1, 2) == 3',
    'assert (add(1, 2) == 3, "adds")',
  ),
  pytest('or true', 'assertion-neutralised', 'assert add(1, 2) == 3', 'assert add(1, 2) == 3 or True'),
  pytest('a wider tolerance', 'assertion-weakened', 'rel=1e-3', 'rel=0.5'),
  pytest(
    'any error will do',
    'assertion-weakened',
    'pytest.raises(ZeroDivisionError, match="zero")',
    'pytest.raises(Exception)',
  ),
  pytest(
    'failures are swallowed',
    'assertion-neutralised',
    '    assert add(1, 2) == 3\n',
    '    try:\n        assert add(1, 2) == 3\n    except AssertionError:\n        pass\n',
  ),
  pytest(
    'failures are suppressed',
    'assertion-neutralised',
    '    assert add(1, 2) == 3\n',
    '    with contextlib.suppress(AssertionError):\n        assert add(1, 2) == 3\n',
  ),
  pytest('retried', 'assertion-weakened', 'def test_adds', '@pytest.mark.flaky(reruns=5)\ndef test_adds'),
  pytest(
    'a body is gone',
    'assertion-removed',
    '    assert add(1, 2) == 3\n    assert add(0, 0) == 0, "zero"\n',
    '    pass\n',
  ),
  unittest(
    'equal becomes true',
    'assertion-weakened',
    'self.assertEqual(add(1, 2), 3)',
    'self.assertTrue(add(1, 2), 3)',
  ),
  unittest('fewer places', 'assertion-weakened', 'places=7', 'places=1'),
  unittest(
    'contained becomes not none',
    'assertion-weakened',
    'self.assertIn("x", names())',
    'self.assertIsNotNone(names())',
  ),
  go(
    'a condition asks for something else',
    'expectation-changed',
    'if Sub(3, 2) != 1 {',
    'if Sub(3, 2) != 5 {',
  ),
  go('a failure is only logged', 'assertion-removed', '\t\tt.Fatal("wrong")', '\t\tt.Log("wrong")'),
  testify(
    'equal becomes not nil',
    'assertion-weakened',
    'assert.Equal(t, 3, Add(1, 2))',
    'assert.NotNil(t, Add(1, 2))',
  ),
  testify('a wider delta', 'assertion-weakened', '0.001)', '1.5)'),
  rust('equal becomes ok', 'assertion-weakened', 'assert_eq!(add(1, 2), 3)', 'assert!(add(1, 2) > 0)'),
  rust('always true', 'assertion-neutralised', 'assert_eq!(add(1, 2), 3)', 'assert!(true)'),
  rust(
    'swallowed',
    'assertion-neutralised',
    '    assert_eq!(add(1, 2), 3);\n',
    '    let _ = std::panic::catch_unwind(|| {\n        assert_eq!(add(1, 2), 3);\n    });\n',
  ),
  junit('another value is expected', 'expectation-changed', 'assertEquals(3,', 'assertEquals(4,'),
  junit(
    'equal becomes not null',
    'assertion-weakened',
    'assertEquals(3, Calc.add(1, 2))',
    'assertNotNull(Calc.add(1, 2))',
  ),
  junit('a wider delta', 'assertion-weakened', '0.0001)', '10.0)'),
  junit('equal becomes positive', 'assertion-weakened', '.isEqualTo(total)', '.isPositive()'),
  rspec('another value is expected', 'expectation-changed', 'to eq(3)', 'to eq(4)'),
  rspec('equal becomes a truth', 'assertion-weakened', 'to eq(3)', 'to be_truthy'),
  rspec('a wider distance', 'assertion-weakened', 'be_within(0.001)', 'be_within(5)'),
  minitest(
    'equal becomes a truth',
    'assertion-weakened',
    'assert_equal 3, Calc.add(1, 2)',
    'assert Calc.add(1, 2)',
  ),
  minitest(
    'swallowed',
    'assertion-neutralised',
    '    assert_equal 3, Calc.add(1, 2)\n',
    '    begin\n      assert_equal 3, Calc.add(1, 2)\n    rescue Minitest::Assertion\n    end\n',
  ),
  xunit('another value is expected', 'expectation-changed', 'Assert.Equal(3,', 'Assert.Equal(4,'),
  xunit(
    'equal becomes not null',
    'assertion-weakened',
    'Assert.Equal(3, Calc.Add(1, 2))',
    'Assert.NotNull(Calc.Add(1, 2))',
  ),
  phpunit(
    'same becomes not empty',
    'assertion-weakened',
    'assertSame(3, Calc::add(1, 2))',
    'assertNotEmpty(Calc::add(1, 2))',
  ),
  phpunit('a wider delta', 'assertion-weakened', '0.001)', '5.0)'),
  within(
    'jest: a snapshot in a test',
    'snapshot-changed',
    'a.test.js',
    'test(\'a\', () => {\n  expect(f()).toMatchInlineSnapshot(`"one"`);\n});\n',
    '`"one"`',
    '`"two"`',
  ),
];

export const TRICKS_IN_TESTS: readonly Trick[] = [...DELETED, ...SKIPPED, ...WEAKENED];
