import { describe, expect, test } from 'vitest';
import { reportPlan } from '../../../src/core/settings/index.ts';
import { readTestReport } from '../../../src/core/test-reports/index.ts';

/** Printed by uvu 0.5.6, without its colours and most of its stacks. */
const UVU = `a.mjs
• said something
• ✘   (2 / 3)

   FAIL  "two"
    Expected values to be deeply equal:  (equal)

        ··{
        Actual:
        --··"a":·1
    at assert (file:///repo/node_modules/uvu/assert/index.mjs:33:8)


 parse • ✘ ✘   (1 / 3)

   FAIL  parse  "throws"
    no

    at Object.handler (file:///repo/tests/a.mjs:10:31)


   FAIL  parse  "throws too"
    never

    at Object.handler (file:///repo/tests/a.mjs:11:35)



b.mjs
•   (1 / 1)

  Total:     7
  Passed:    4
  Skipped:   1
  Duration:  7.54ms

`;

/** Printed by GoogleTest 1.14. */
const GTEST = `Running main() from gtest_main.cc
[==========] Running 4 tests from 2 test suites.
[----------] Global test environment set-up.
[----------] 3 tests from Sum
[ RUN      ] Sum.Empty
[       OK ] Sum.Empty (0 ms)
[ RUN      ] Sum.Two
sum_test.cc:9: Failure
Expected equality of these values:
  sum({1, 2})
    Which is: 4
  3
[  FAILED  ] Sum.Two (0 ms)
[ RUN      ] Sum.Later
sum_test.cc:14: Skipped
[  SKIPPED ] Sum.Later (0 ms)
[----------] 3 tests from Sum (0 ms total)

[----------] 1 test from Small/Sums
[ RUN      ] Small/Sums.Adds/0
printed [  FAILED  ] Small/Sums.Adds/0, where GetParam() = 4 (0 ms)
[----------] 1 test from Small/Sums (0 ms total)

[----------] Global test environment tear-down
[==========] 4 tests from 2 test suites ran. (1 ms total)
[  PASSED  ] 1 test.
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] Sum.Later
[  FAILED  ] 2 tests, listed below:
[  FAILED  ] Sum.Two
[  FAILED  ] Small/Sums.Adds/0, where GetParam() = 4

 2 FAILED TESTS
`;

test('uvu marks each test, so its tests are named by file, suite and place', () => {
  const read = readTestReport('uvu-text', UVU);
  expect(read).toMatchObject({
    kind: 'ok',
    tests: {
      'a.mjs > test 1': 'passed',
      'a.mjs > test 2': 'passed',
      'a.mjs > test 3': 'failed',
      'a.mjs > parse > test 1': 'passed',
      'a.mjs > parse > test 2': 'failed',
      'a.mjs > parse > test 3': 'failed',
      'b.mjs > test 1': 'passed',
    },
  });
  const messages = read.kind === 'ok' ? read.messages : {};
  expect(messages['a.mjs > test 3']).toMatch(/^FAIL {2}"two"\n {4}Expected values/);
  expect(messages['a.mjs > parse > test 3']).toMatch(/^FAIL {2}parse {2}"throws too"\n {4}never/);
});

/** What a command prints whose runner is unknown. */
const readPrinted = (text: string) => readTestReport('any-reports', `${JSON.stringify(['', text])}\n`);

test('the results of GoogleTest are read, also where a test printed something in the same line', () => {
  const read = readPrinted(GTEST);
  expect(read).toMatchObject({
    kind: 'ok',
    tests: {
      'Sum.Empty': 'passed',
      'Sum.Two': 'failed',
      'Sum.Later': 'skipped',
      'Small/Sums.Adds/0': 'failed',
    },
  });
  expect(read.kind === 'ok' && read.messages['Sum.Two']).toMatch(/^sum_test\.cc:9: Failure\n.*3$/s);
});

test('several programs one after the other are one report', () => {
  const second =
    '[ RUN      ] Max.One\n[       OK ] Max.One (0 ms)\n[==========] 1 test from 1 test case ran. (0 ms total)\n';
  const read = readPrinted(`${GTEST}${second}`);
  expect(read.kind === 'ok' && Object.keys(read.tests)).toHaveLength(5);
  const twice = readPrinted(`${UVU}${UVU}`);
  expect(twice.kind === 'ok' && Object.keys(twice.tests)).toHaveLength(14);
});

test.each([
  ['a program of GoogleTest that crashed', `${GTEST}[ RUN      ] Max.One\n[       OK ] Max.One (0 ms)\n`],
  ['a result of GoogleTest that a test prints', GTEST.replace('Which is: 4', '[       OK ] Sum.X (1 ms)')],
  ['uvu after a test that prints its mark', UVU.replace('said something', '• ✘ ')],
  ['uvu with another total', UVU.replace('Total:     7', 'Total:     8')],
  ['uvu that ended in the middle', UVU.replace('•   (1 / 1)', '')],
  ['plain text', 'all good\n'],
])('no report is read from %s', (_what, text) => {
  expect(readPrinted(text).kind).toBe('unreadable');
});

describe('reports of a script', () => {
  const PYTEST = `<testsuites><testsuite name="pytest"><testcase file="test_a.py" classname="test_a" name="test_one"/>
<testcase file="test_a.py" classname="test_a" name="test_two"><failure message="no"/></testcase></testsuite></testsuites>`;
  const RSPEC = JSON.stringify({
    examples: [{ full_description: 'adds', status: 'passed', file_path: './spec/a_spec.rb' }],
    summary: {},
  });
  const read = (...reports: readonly (readonly [string, string])[]) =>
    readTestReport('any-reports', reports.map((one) => `${JSON.stringify(one)}\n`).join(''));

  test('are those of all runners that it starts', () => {
    const printed = '1 failed, 1 passed, 2 subtests passed, 1 error in 0.10s\n1 example, 0 failures\n';
    expect(
      read(['', printed], ['/home/agent/reports/pytest.xml', PYTEST], ['rspec.json', RSPEC]),
    ).toMatchObject({
      kind: 'ok',
      tests: {
        'test_a.py > test_one': 'passed',
        'test_a.py > test_two': 'failed',
        'spec/a_spec.rb > adds': 'passed',
      },
    });
  });

  test.each([
    [
      'pytest.xml',
      PYTEST,
      '=== 3 passed in 0.20s ===\n=== 1 failed, 1 passed, 1 warning in 61.03s (0:01:01) ===\n',
    ],
    ['rspec.json', RSPEC, '9 examples, 0 failures\n\n1 example, 0 failures\n'],
  ])('are none if a later process of the runner replaced %s', (name, text, printed) => {
    expect(read(['', printed], [name, text])).toMatchObject({ kind: 'unreadable' });
  });

  /** What pytest 9.0 shows of a failing test that runs pytest itself. */
  const CAPTURED = `=== FAILURES ===
___ test_two ___
E       assert 0
----------------------------- Captured stdout call -----------------------------
===== test session starts =====
=== FAILURES ===
___ test_y ___
----------------------------- Captured stdout call -----------------------------
hi
=== short test summary info ===
===== 1 failed, 1 passed in 0.57s =====
===== test session starts =====
===== no tests ran in 0.01s =====
=== short test summary info ===
FAILED test_a.py::test_two - assert 0
`;
  const START = '===== test session starts =====\n';
  const TOTAL = '1 failed, 1 passed in 2.08s';

  test.each([
    ['pytest', `${START}${CAPTURED}=== ${TOTAL} ===\n`],
    ['pytest -q', `${CAPTURED}${TOTAL}\n`],
    ['pytest -s', `${START}${START}=== 7 passed in 0.20s ===\n=== ${TOTAL} ===\n`],
    ['pytest -s, of tests with `-q`', `${START}7 passed in 0.20s\n=== ${TOTAL} ===\n`],
  ])('are read where a test of a plugin runs pytest inside `%s`', (_command, printed) => {
    expect(read(['', printed], ['pytest.xml', PYTEST])).toMatchObject({
      kind: 'ok',
      tests: { 'test_a.py > test_one': 'passed', 'test_a.py > test_two': 'failed' },
    });
  });

  test.each([
    ['after such a test', `${START}${CAPTURED}=== ${TOTAL} ===\n${START}=== ${TOTAL} ===\n`],
    ['after such a test with `-q`', `${CAPTURED}${TOTAL}\n${START}=== ${TOTAL} ===\n`],
    ['after one that was killed', `${START}${START}=== ${TOTAL} ===\n${START}=== ${TOTAL} ===\n`],
  ])('are none if a later pytest replaced its file %s', (_when, printed) => {
    expect(read(['', printed], ['pytest.xml', PYTEST])).toMatchObject({ kind: 'unreadable' });
  });

  test('may also be printed: TAP beside a file, or what tests of Ruby print', () => {
    const tap = 'TAP version 13\nok 1 - sums\n1..1\n2 passed in 0.01s\n';
    expect(read(['', tap], ['pytest.xml', PYTEST])).toMatchObject({
      tests: { sums: 'passed', 'test_a.py > test_one': 'passed' },
    });
    const ruby = 'SumTest#test_adds = 0.00 s = .\n\n1 runs, 1 assertions, 0 failures, 0 errors, 0 skips\n';
    expect(read(['', ruby])).toMatchObject({ tests: { 'SumTest > test_adds': 'passed' } });
  });

  test('are printed by `make check` of automake, for each folder', () => {
    const one = 'PASS: sum.test\nFAIL: list.test\n# TOTAL: 2\n# PASS:  1\n# FAIL:  1\n';
    const other = 'SKIP: db.test 1 - no server\nXFAIL: later.test\n# TOTAL: 2\nFAIL: list\n==========\n';
    expect(read(['', `${one}${other}`])).toMatchObject({
      tests: {
        'sum.test': 'passed',
        'list.test': 'failed',
        'db.test 1 - no server': 'skipped',
        'later.test': 'passed',
      },
    });
    expect(read(['', 'PASS: sum.test\n# TOTAL: 2\n'])).toMatchObject({ kind: 'unreadable' });
  });

  test('of vitest name as failed what did not run to its end', () => {
    const tests = ['passed', 'pending', 'skipped'].map((status) => ({
      ancestorTitles: ['sum'],
      title: status,
      status,
    }));
    const text = JSON.stringify({ testResults: [{ name: '/repo/a.test.ts', assertionResults: tests }] });
    expect(read(['', ''], ['vitest-7.json', text])).toMatchObject({
      tests: {
        'a.test.ts > sum > passed': 'passed',
        'a.test.ts > sum > pending': 'failed',
        'a.test.ts > sum > skipped': 'skipped',
      },
    });
    expect(read(['', ''], ['jest-7.json', text])).toMatchObject({
      tests: { 'a.test.ts > sum > pending': 'skipped' },
    });
  });
});

test('uvu itself, and scripts that may start anything, are read by what they print', () => {
  expect(reportPlan('uvu -r tsm tests').commands[0]?.report).toEqual({
    source: 'stdout',
    format: 'uvu-text',
  });
  expect(reportPlan('uvu tests').hint).toBeUndefined();
  expect(reportPlan('./run-tests.sh').commands[0]?.report?.format).toBe('any-reports');
});
