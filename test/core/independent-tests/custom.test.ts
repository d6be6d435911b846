import fc from 'fast-check';
import { expect, test } from 'vitest';
import { looksLikeTest, newTestPaths, testNamings } from '../../../src/core/independent-tests/index.ts';
import { roleOf } from '../../../src/core/patches/index.ts';

/** Sample and first new path for a base of these files. */
function placed(files: readonly string[], near: readonly string[] = []) {
  const [custom] = testNamings(files, near);
  return custom && [custom.sample, newTestPaths(custom, files, 'independent', 1)[0]];
}

test.each([
  ['src/csv.test.ts', 'src/independent-1.test.ts'],
  ['test/csv.spec.mjs', 'test/independent-1.spec.mjs'],
  ['lib/__tests__/csv.js', 'lib/__tests__/independent-1.js'],
  ['test/csv.js', 'test/independent-1.js'],
  ['test-csv.test.js', 'independent-1.test.js'],
  ['test/test-csv.js', 'test/test-independent-1.js'],
  ['tests/test_csv.py', 'tests/test_independent_1.py'],
  ['pkg/csv_test.go', 'pkg/independent_1_test.go'],
  ['tests/csv.rs', 'tests/independent_1.rs'],
  ['spec/csv_spec.rb', 'spec/independent_1_spec.rb'],
  ['src/test/java/org/CsvTest.java', 'src/test/java/org/Independent1Test.java'],
  ['src/test/java/org/TestCsv.java', 'src/test/java/org/TestIndependent1.java'],
  ['Csv.Tests/CsvTests.cs', 'Csv.Tests/Independent1Tests.cs'],
])('a new test beside %s is %s', (sample, place) => {
  expect(placed([sample, 'README.md'])).toEqual([sample, place]);
});

test('the sample is the test file of the same name, else in the same folder, else where most are', () => {
  const files = [
    'a/x.test.js',
    'a/y.test.js',
    'a/z.test.js',
    'b/csv.spec.ts',
    'b/money.spec.ts',
    'c/u.test.js',
  ];
  expect(placed(files)).toEqual(['a/x.test.js', 'a/independent-1.test.js']);
  expect(placed(files, ['src/money.ts'])).toEqual(['b/money.spec.ts', 'b/independent-1.spec.ts']);
  expect(placed(files, ['c/new.js'])).toEqual(['c/u.test.js', 'c/independent-1.test.js']);
  expect(placed(files, ['a/z.test.js'])).toEqual(['a/z.test.js', 'a/independent-1.test.js']);
});

test('a test helper is not a sample', () => {
  const files = [
    'test/helper.js',
    'test/fixtures/a.js',
    'tests/conftest.py',
    'test/index.js',
    'test/data.json',
  ];
  expect(testNamings(files, [])).toEqual([]);
  expect(testNamings(['src/index.js'], [])).toEqual([]);
  expect(testNamings(['test/a.snap', 'e2e/a.test.js'], [])).toEqual([]);
});

test('an existing path is not used again, whatever its letter case', () => {
  const files = ['test/a.test.js', 'test/Independent-1.test.js', 'test/independent-3.test.js'];
  const [custom] = testNamings(files, ['src/a.js']);
  expect(custom && newTestPaths(custom, files, 'independent', 2)).toEqual([
    'test/independent-2.test.js',
    'test/independent-4.test.js',
  ]);
});

const part = fc.constantFrom(
  'src',
  'test',
  'spec',
  'a',
  'Csv',
  '..',
  'x.test',
  'test_y',
  'lib',
  '__tests__',
  'z-spec',
);
const end = fc.constantFrom('.js', '.py', '.test.ts', '_test.go', 'Test.java', '.snap', '', '.rb');
const path = fc
  .tuple(fc.array(part, { minLength: 1, maxLength: 4 }), end)
  .map(([parts, last]) => parts.join('/') + last);

test('new paths are free, are tests, stay beside the sample, and do not depend on the order of the list', () => {
  fc.assert(
    fc.property(fc.uniqueArray(path, { maxLength: 12 }), fc.array(path, { maxLength: 3 }), (files, near) => {
      const customs = testNamings(files, near);
      expect(testNamings(files.toReversed(), near)).toEqual(customs);
      const [custom] = customs;
      if (!custom) return;
      const places = newTestPaths(custom, files, 'independent', 8);
      expect(new Set([...places, ...files]).size).toBe(places.length + files.length);
      for (const place of places) {
        expect(roleOf(place)).toBe('test');
        expect(place.slice(0, place.lastIndexOf('/') + 1)).toBe(
          custom.sample.slice(0, custom.sample.lastIndexOf('/') + 1),
        );
      }
    }),
  );
});

test.each([
  ["test('a', () => {});", true],
  ['describe.skip("a", () => {})', true],
  ['t.equal(a, b)', true],
  ['def test_a(self):', true],
  ['func TestA(t *testing.T) {', true],
  ['    @Test\n    void a() {', true],
  ['#[tokio::test]\nasync fn a() {', true],
  ['assert add(1) == 2', true],
  ["exports.cases = [{ input: 'a' }, { input: 'latest(1)' }];", false],
  ['', false],
])('%s: a test is %s', (text, is) => {
  expect(looksLikeTest(text)).toBe(is);
});
