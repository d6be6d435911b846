import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ReportFormat } from '../../../src/core/settings/index.ts';
import { readTestReport } from '../../../src/core/test-reports/index.ts';

const read = (format: ReportFormat, lines: readonly string[]) => {
  const report = readTestReport(format, lines.join('\n'));
  return report.kind === 'ok' ? { tests: report.tests, said: report.messages } : report.why;
};

describe('go test -json', () => {
  const event = (fields: object): string => JSON.stringify({ Time: '2026-01-01T00:00:00Z', ...fields });
  const of = (Package: string, Test: string | undefined, Action: string, Output?: string) =>
    event({ Action, Package, ...(Test ? { Test } : {}), ...(Output ? { Output } : {}) });

  test('names package, test and subtests, and keeps what a failing test printed', () => {
    expect(
      read('go-json', [
        of('ex.org/m/a', undefined, 'start'),
        of('ex.org/m/a', 'TestAdd', 'run'),
        of('ex.org/m/a', 'TestAdd', 'output', '=== RUN   TestAdd\n'),
        of('ex.org/m/a', 'TestAdd/neg', 'output', '    a_test.go:9: got 1\n'),
        of('ex.org/m/a', 'TestAdd/neg', 'fail'),
        of('ex.org/m/a', 'TestAdd', 'fail'),
        of('ex.org/m/a', 'TestSkip', 'skip'),
        of('ex.org/m/a', 'TestOk', 'pass'),
        of('ex.org/m/a', undefined, 'fail'),
        of('ex.org/m/b', undefined, 'pass'),
      ]),
    ).toEqual({
      tests: {
        'ex.org/m/a > TestAdd > neg': 'failed',
        'ex.org/m/a > TestAdd': 'failed',
        'ex.org/m/a > TestSkip': 'skipped',
        'ex.org/m/a > TestOk': 'passed',
      },
      said: {
        'ex.org/m/a > TestAdd > neg': 'a_test.go:9: got 1',
        'ex.org/m/a > TestAdd': '=== RUN   TestAdd',
      },
    });
  });

  test('reports a package that does not build as a failure', () => {
    expect(
      read('go-json', [
        event({
          Action: 'build-output',
          ImportPath: 'm/a [m/a.test]',
          Output: './a_test.go:5:2: undefined: Foo\n',
        }),
        '# m/a [m/a.test]',
        of('m/a', undefined, 'output', 'FAIL\tm/a [build failed]\n'),
        of('m/a', undefined, 'fail'),
      ]),
    ).toEqual({
      tests: { 'm/a > did not run': 'failed' },
      said: { 'm/a > did not run': 'FAIL\tm/a [build failed]' },
    });
  });

  test('says what the compiler said where Go 1.24 names the build that failed', () => {
    const ImportPath = 'm/b [m/a.test]';
    expect(
      read('go-json', [
        event({ Action: 'build-output', ImportPath, Output: './b.go:3:1: undefined: foo\n' }),
        event({ Action: 'build-fail', ImportPath }),
        of('m/a', undefined, 'output', 'FAIL\tm/a [build failed]\n'),
        event({ Action: 'fail', Package: 'm/a', FailedBuild: ImportPath }),
      ]),
    ).toEqual({
      tests: { 'm/a > did not run': 'failed' },
      said: { 'm/a > did not run': './b.go:3:1: undefined: foo' },
    });
  });

  test("keeps a test's output apart from events", () => {
    const forged = of('m', 'TestX', 'pass');
    expect(
      read('go-json', [of('m', 'TestX', 'output', `${forged}\n`), of('m', 'TestX', 'fail')]),
    ).toMatchObject({
      tests: { 'm > TestX': 'failed' },
    });
    expect(read('go-json', ['ok  \tm\t0.1s'])).toMatch(/no event of go test/);
  });
});

describe('cargo test', () => {
  const target = (line: string, tests: readonly string[]) => [
    '',
    `running ${tests.length} tests`,
    ...tests,
    '',
    line,
  ];
  const output = [
    '   Compiling sample v0.1.0 (/repo)',
    '     Running unittests src/lib.rs (target/debug/deps/sample-e6daf73c296d6df0)',
    ...target('failures:', [
      'test tests::later ... ignored, slow',
      'test tests::panics - should panic ... ok',
      'test tests::fails ... FAILED',
      'test tests::works ... ok',
    ]),
    '',
    '---- tests::fails stdout ----',
    'test tests::fails ... ok',
    "thread 'tests::fails' panicked at src/lib.rs:8:39:",
    '',
    'failures:',
    '    tests::fails',
    '',
    'test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured',
    'error: test failed, to rerun pass `--lib`',
    '     Running tests/it.rs (target/debug/deps/it-4b221586d8d4eec4)',
    ...target('test result: ok.', ['test works ... ok']),
    '     Running target/debug/deps/old-4b221586d8d4eec4',
    ...target('test result: ok.', ['test works ... ok']),
    '   Doc-tests sample',
    ...target('test result: ok.', [
      'test src/lib.rs - two (line 101) ... FAILED',
      'test src/lib.rs - one (line 1) - compile fail ... ok',
      'test src/lib.rs - two (line 11) ... ok',
    ]),
    '---- src/lib.rs - two (line 101) stdout ----',
    'assertion failed',
  ];

  test('names target and test, and ignores captured output', () => {
    expect(read('cargo-text', output)).toEqual({
      tests: {
        'sample src/lib.rs > tests::later': 'skipped',
        'sample src/lib.rs > tests::panics': 'passed',
        'sample src/lib.rs > tests::fails': 'failed',
        'sample src/lib.rs > tests::works': 'passed',
        'it tests/it.rs > works': 'passed',
        'old > works': 'passed',
        'doc sample > src/lib.rs - one - compile fail': 'passed',
        'doc sample > src/lib.rs - two': 'passed',
        'doc sample > src/lib.rs - two #2': 'failed',
      },
      said: {
        'doc sample > src/lib.rs - two #2': 'assertion failed',
        'sample src/lib.rs > tests::fails': expect.stringContaining("thread 'tests::fails' panicked"),
      },
    });
  });

  test('names tests in documentation the same when lines above them are added', () => {
    const at = (lines: readonly number[]) =>
      read('cargo-text', [
        '   Doc-tests sample',
        ...target(
          'test result: ok.',
          lines.map((line) => `test src/lib.rs - List::add (line ${line}) ... ok`),
        ),
      ]);
    expect(at([1_003, 995])).toEqual(at([99, 108]));
  });

  const counted = (lines: readonly string[], total: string, failures: readonly string[] = []) =>
    read('cargo-text', [
      '     Running unittests src/lib.rs (target/debug/deps/lists-4538b9556a500864)',
      '',
      'running 4 tests',
      ...lines,
      '',
      ...failures,
      `test result: ${total} measured; 0 filtered out; finished in 0.01s`,
      '',
    ]);

  test('reads a result behind what a test or its child process printed into the same line', () => {
    expect(
      counted(
        [
          'loading...test tests::b ... ok',
          'one',
          'two test tests::größe - should panic ... ok',
          'ticktest tests::a ... FAILED',
          'test tests::d ... ok',
        ],
        'FAILED. 3 passed; 1 failed; 0 ignored; 0',
      ),
    ).toMatchObject({
      tests: {
        'lists src/lib.rs > tests::b': 'passed',
        'lists src/lib.rs > tests::größe': 'passed',
        'lists src/lib.rs > tests::a': 'failed',
        'lists src/lib.rs > tests::d': 'passed',
      },
    });
  });

  test('of one thread has output between name and result', () => {
    expect(
      counted(
        [
          'test tests::a ... tickok',
          'test tests::c ... hello c',
          'err c book',
          '',
          'ok',
          'test tests::d ... ',
          "thread 'tests::d' (7176) panicked at src/lib.rs:29:35:",
          'this is not ok',
          'xFAILED',
          'test tests::slow ... test tests::slow has been running for over 60 seconds',
          'ok',
          'test tests::e ... ignored, slow',
          'test tests::last ... said ok, but',
          'FAILED',
        ],
        'FAILED. 3 passed; 2 failed; 1 ignored; 0',
      ),
    ).toMatchObject({
      tests: {
        'lists src/lib.rs > tests::a': 'passed',
        'lists src/lib.rs > tests::c': 'passed',
        'lists src/lib.rs > tests::d': 'failed',
        'lists src/lib.rs > tests::slow': 'passed',
        'lists src/lib.rs > tests::e': 'skipped',
        'lists src/lib.rs > tests::last': 'failed',
      },
    });
  });

  test('of trybuild has more results, which the total does not count', () => {
    const cases = ['test tests/ui/a.rs ... ok', 'test tests/ui/b.rs [should fail to compile] ... ok'];
    const tests = {
      'lists src/lib.rs > tests/ui/a.rs': 'passed',
      'lists src/lib.rs > tests/ui/b.rs [should fail to compile]': 'passed',
      'lists src/lib.rs > ui': 'passed',
    };
    expect(counted([...cases, 'test ui ... ok'], 'ok. 1 passed; 0 failed; 0 ignored; 0')).toMatchObject({
      tests,
    });
    expect(counted(['test ui ... ', ...cases, 'ok'], 'ok. 1 passed; 0 failed; 0 ignored; 0')).toMatchObject({
      tests,
    });
  });

  test('of a benchmark, and of a program with names of its own, adds up', () => {
    expect(
      counted(
        ['test bench_sum   ... bench:       1,234.50 ns/iter (+/- 12)', 'test a file.txt ... ok'],
        'ok. 1 passed; 0 failed; 0 ignored; 1',
      ),
    ).toMatchObject({
      tests: { 'lists src/lib.rs > bench_sum': 'passed', 'lists src/lib.rs > a file.txt': 'passed' },
    });
  });

  test('is no report if the total of a target counts other results', () => {
    const wrong = /names \d tests of lists src\/lib\.rs, not those that it counts/;
    const failed = ['test tests::a ... FAILED', 'test tests::b ... ok'];
    const total = 'FAILED. 1 passed; 1 failed; 0 ignored; 0';
    expect(counted(failed, total)).toMatchObject({ tests: { 'lists src/lib.rs > tests::a': 'failed' } });
    expect(counted(['test tests::a ... ok', ...failed], total)).toMatch(wrong);
    expect(counted(['test tests::a ... ok', 'test tests::b ... ok'], total)).toMatch(wrong);
    expect(counted(failed.slice(1), total)).toMatch(wrong);
    // With `--quiet` no test is named.
    expect(counted(['F.'], total)).toMatch(wrong);
  });

  test('of a target that was ended has the results until then', () => {
    expect(
      read('cargo-text', [
        '     Running unittests src/lib.rs (target/debug/deps/lists-4538b9556a500864)',
        'running 2 tests',
        'test tests::a ... ok',
        "thread 'tests::b' has overflowed its stack",
        'error: test failed, to rerun pass `--lib`',
        '   Doc-tests lists',
        ...target('test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out', [
          'test src/lib.rs - f (line 1) ... ok',
        ]),
      ]),
    ).toMatchObject({
      tests: { 'lists src/lib.rs > tests::a': 'passed', 'doc lists > src/lib.rs - f': 'passed' },
    });
  });

  test('of one thread that was ended has no result of the test that ran, whatever that printed', () => {
    const report = read('cargo-text', [
      '     Running unittests src/lib.rs (target/debug/deps/lists-4538b9556a500864)',
      'running 2 tests',
      'test tests::a ... one',
      'ok',
      'test tests::b ... so far',
      'all is ok',
      'error: test failed, to rerun pass `--lib`',
      'Caused by: process did not exit successfully (signal: 6): but ok',
    ]);
    expect(report).toMatchObject({ tests: { 'lists src/lib.rs > tests::a': 'passed' } });
    expect(report).not.toHaveProperty(['tests', 'lists src/lib.rs > tests::b']);
  });

  test('has the results that its total counts, or is no report, whatever is printed between', () => {
    const printed = fc.constantFrom(
      '',
      'x',
      'is ok',
      'ok',
      'FAILED',
      '\n',
      'test ',
      'test a ... ',
      '... ',
      'ok\n',
    );
    const results = fc.array(fc.tuple(printed, printed, fc.constantFrom('ok', 'FAILED')), { maxLength: 6 });
    fc.assert(
      fc.property(results, (all) => {
        const lines = all.map(([before, within, result], i) => `${before}test t${i} ... ${within}${result}`);
        const passed = all.filter(([, , result]) => result === 'ok').length;
        const total = `x. ${passed} passed; ${all.length - passed} failed; 0 ignored; 0`;
        const report = counted(lines.join('\n').split('\n'), total);
        if (typeof report === 'string') return;
        const outcomes = Object.values(report.tests);
        expect(outcomes.filter((outcome) => outcome === 'passed')).toHaveLength(passed);
        expect(outcomes).toHaveLength(all.length);
      }),
    );
  });

  test('gives no report for code that does not compile', () => {
    expect(read('cargo-text', ['error[E0425]: cannot find function `nope` in this scope'])).toMatch(
      /no target/,
    );
  });
});

describe('unittest', () => {
  const output = [
    'test_bad (test_a.X.test_bad) ... FAIL',
    'test_doc (test_a.X.test_doc)',
    'Docs are shown. ... log',
    'ok',
    'test_err (test_a.X.test_err) ... ERROR',
    'test_ok (test_a.X.test_ok) ... ok',
    "test_skip (test_a.X.test_skip) ... skipped 'why'",
    'test_sub (test_a.X.test_sub) ... ',
    '  test_sub (test_a.X.test_sub) (i=0) ... FAIL',
    'test_xf (test_a.X.test_xf) ... expected failure',
    'test_xs (test_a.X.test_xs) ... unexpected success',
    'test_b (unittest.loader._FailedTest.test_b) ... ERROR',
    '',
    '======================================================================',
    'ERROR: test_err (test_a.X.test_err)',
    '----------------------------------------------------------------------',
    'Traceback (most recent call last):',
    "NameError: name 'nope' is not defined",
    '',
    '======================================================================',
    'ERROR: test_b (unittest.loader._FailedTest.test_b)',
    '----------------------------------------------------------------------',
    "ModuleNotFoundError: No module named 'nowhere'",
    '======================================================================',
    'FAIL: test_bad (test_a.X.test_bad)',
    '----------------------------------------------------------------------',
    'AssertionError: 1 != 2',
    '======================================================================',
    'FAIL: test_sub (test_a.X.test_sub) (i=0)',
    '----------------------------------------------------------------------',
    'AssertionError: 0 != 1',
    '======================================================================',
    'ERROR: setUpClass (test_a.Y)',
    '----------------------------------------------------------------------',
    'RuntimeError: no',
    '----------------------------------------------------------------------',
    'Ran 9 tests in 0.003s',
    '',
    'FAILED (failures=3, errors=2)',
  ];

  test('is parsed from its text output', () => {
    expect(read('unittest-text', output)).toMatchObject({
      tests: {
        'test_a > X > test_bad': 'failed',
        'test_a > X > test_doc': 'passed',
        'test_a > X > test_err': 'failed',
        'test_a > X > test_ok': 'passed',
        'test_a > X > test_skip': 'skipped',
        'test_a > X > test_sub': 'failed',
        'test_a > X > test_xf': 'skipped',
        'test_a > X > test_xs': 'failed',
        'unittest.loader > _FailedTest > test_b': 'failed',
        'test_a > Y > setUpClass': 'failed',
      },
      said: { 'test_a > X > test_err': expect.stringContaining("NameError: name 'nope' is not defined") },
    });
  });

  test('of older Python has the same names', () => {
    expect(read('unittest-text', ['test_ok (test_a.X) ... ok', 'Ran 1 test in 0.001s'])).toMatchObject({
      tests: { 'test_a > X > test_ok': 'passed' },
    });
  });

  const ran = (count: number, list: readonly string[], failures: readonly string[] = []) =>
    read('unittest-text', [
      ...list,
      '',
      ...failures.flatMap((name) => [
        '='.repeat(70),
        name,
        '-'.repeat(70),
        'Traceback (most recent call last):',
        `AssertionError: of ${name}`,
        '',
      ]),
      '-'.repeat(70),
      `Ran ${count} test${count === 1 ? '' : 's'} in 0.003s`,
      '',
      failures.length === 0 ? 'OK' : `FAILED (failures=${failures.length})`,
    ]);

  test('takes nothing that a test logs for a test', () => {
    const log = ['Retrying (cached)', 'other (word) ... hello', 'x (y.z)', '====='];
    expect(
      ran(
        3,
        [
          'test_a (m.T.test_a) ... ',
          ...log,
          'ok',
          'test_b (m.T.test_b) ... Retrying (cached)',
          'FAIL',
          'test_c (m.T.test_c) ... ok',
        ],
        ['FAIL: test_b (m.T.test_b)'],
      ),
    ).toEqual({
      tests: { 'm > T > test_a': 'passed', 'm > T > test_b': 'failed', 'm > T > test_c': 'passed' },
      said: { 'm > T > test_b': expect.stringContaining('AssertionError') },
    });
    expect(ran(1, ['module (up)', 'starting...test_a (m.T.test_a) ... ok'])).toMatchObject({
      tests: { 'm > T > test_a': 'passed' },
    });
  });

  test('reads an outcome behind output without an end of line, and names in every alphabet', () => {
    expect(
      ran(
        4,
        [
          'test_größe (test_u.T.test_größe) ... FAIL',
          'test_progress (test_u.T.test_progress) ... .ok',
          "test_skip (test_u.T.test_skip) ... .skipped 'why'",
          'test_p-1.5-é (test_u.T.test_p-1.5-é) ... ok',
        ],
        ['FAIL: test_größe (test_u.T.test_größe)'],
      ),
    ).toMatchObject({
      tests: {
        'test_u > T > test_größe': 'failed',
        'test_u > T > test_progress': 'passed',
        'test_u > T > test_skip': 'skipped',
        'test_u > T > test_p-1.5-é': 'passed',
      },
    });
  });

  test('of Python 3.10, where a failed subtest does not end the line of its test', () => {
    expect(
      ran(
        3,
        ['test_sub (m.T) ... test_doc (m.T)', 'Docs are shown. ... test_last (m.T) ... ok', 'ERROR'],
        [
          'FAIL: test_sub (m.T) (i=1)',
          'FAIL: test_sub (m.T) [msg (x)] (i=2)',
          'ERROR: test_doc (m.T) (i=1.5)',
          'ERROR: tearDownClass (m.T)',
        ],
      ),
    ).toMatchObject({
      tests: {
        'm > T > test_sub': 'failed',
        'm > T > test_doc': 'failed',
        'm > T > test_last': 'passed',
        'm > T > tearDownClass': 'failed',
      },
    });
  });

  test('of a test whose clean-up fails as well is one test', () => {
    const list = [
      'test_a (m.T.test_a) ... FAIL',
      'test_a (m.T.test_a) ... ERROR',
      'setUpClass (m.U) ... ERROR',
      "setUpClass (m.V) ... skipped 'no'",
    ];
    const failures = ['ERROR: test_a (m.T.test_a)', 'ERROR: setUpClass (m.U)', 'FAIL: test_a (m.T.test_a)'];
    expect(ran(1, list, failures)).toMatchObject({
      tests: { 'm > T > test_a': 'failed', 'm > U > setUpClass': 'failed', 'm > V > setUpClass': 'skipped' },
    });
    expect(Object.keys((ran(2, list, failures) as { tests: object }).tests)).toHaveLength(4);
  });

  test('of tests that their class names otherwise, and of tests in documentation', () => {
    const list = [
      'own name ... ok',
      'f (docs)',
      'Doctest: docs.f ... FAIL',
      'docs ()',
      'Doctest: docs ... ok',
      '/repo/README.md',
      'Doctest: README.md ... ok',
      'unittest.case.FunctionTestCase (<lambda>) ... ok',
      'test_a (m.T.test_a) ... ok',
    ];
    expect(ran(6, list, ['FAIL: f (docs)'])).toMatchObject({
      tests: {
        'own name': 'passed',
        'docs > f': 'failed',
        docs: 'passed',
        'Doctest: README.md': 'passed',
        '<lambda> > unittest.case.FunctionTestCase': 'passed',
        'm > T > test_a': 'passed',
      },
    });
    // Beside tests that are as many as ran, such lines are something else.
    expect(Object.keys((ran(1, ['starting ... ok', ...list.slice(-1)]) as { tests: object }).tests)).toEqual([
      'm > T > test_a',
    ]);
  });

  test('of Python 3.12.1, which does not count skipped tests', () => {
    const list = ["test_a (m.T.test_a) ... skipped 'why'", 'test_b (m.T.test_b) ... ok'];
    expect(ran(1, list)).toMatchObject({
      tests: { 'm > T > test_a': 'skipped', 'm > T > test_b': 'passed' },
    });
  });

  test('of two programs, and of one inside of a test', () => {
    const one = [
      'test_a (m.T.test_a) ... FAIL',
      '',
      '='.repeat(70),
      'FAIL: test_a (m.T.test_a)',
      '-'.repeat(70),
      'no',
      '',
      '-'.repeat(70),
      'Ran 1 test in 0.1s',
      '',
      'FAILED (failures=1)',
    ];
    expect(ran(1, [...one, 'test_b (n.T.test_b) ... ok'])).toMatchObject({
      tests: { 'm > T > test_a': 'failed', 'n > T > test_b': 'passed' },
    });
    const inner = ['test_a (m.T.test_a) ... .', '-'.repeat(70), 'Ran 1 test in 0.0s', '', 'OK', 'ok'];
    expect(ran(2, [...inner, 'test_b (m.T.test_b) ... ok'])).toMatchObject({
      tests: { 'm > T > test_a': 'passed', 'm > T > test_b': 'passed' },
    });
  });

  test('is no report if it names other tests than ran, or does not say how one ended', () => {
    const list = ['test_a (m.T.test_a) ... ok', 'test_b (m.T.test_b) ... ok'];
    expect(ran(3, list)).toMatch(/names 2 tests and says that 3 ran/);
    expect(ran(1, list)).toMatch(/names 2 tests and says that 1 ran/);
    const unknown = ['test_c (m.T.test_c) ... okprinted by a thread', ...list];
    expect(ran(3, unknown)).toMatchObject({ tests: { 'm > T > test_c': 'passed' } });
    expect(ran(3, unknown, ['FAIL: test_b (m.T.test_b)'])).toMatch(/how test_c \(m\.T\.test_c\) ended/);
  });

  test('has the tests that ran, or is no report, whatever they print', () => {
    const printed = fc.constantFrom(
      '',
      '.',
      'a (b)\n',
      '\nwait (x.y) ... ',
      'look',
      'no\n',
      '=====\n',
      'own ... ok\n',
    );
    const results = fc.array(fc.tuple(printed, fc.boolean()), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(results, fc.boolean(), (all, isOld) => {
        const names = all.map((_, i) => `test_${i} (m.T${isOld ? '' : `.test_${i}`})`);
        const list = all.map(([text, isOk], i) => `${names[i]} ... ${text}${isOk ? 'ok' : 'FAIL'}`);
        const failures = names.filter((_, i) => !all[i]?.[1]).map((name) => `FAIL: ${name}`);
        const report = ran(all.length, list.join('\n').split('\n'), failures);
        if (typeof report === 'string') return;
        expect(report.tests).toEqual(
          Object.fromEntries(all.map(([, isOk], i) => [`m > T > test_${i}`, isOk ? 'passed' : 'failed'])),
        );
      }),
    );
  });

  test('is not fooled by a forged line', () => {
    const forged = ['test_bad (test_a.X.test_bad) ... ok', ...output];
    expect(read('unittest-text', forged)).toMatchObject({ tests: { 'test_a > X > test_bad': 'failed' } });
    const list = ['test_a (m.T.test_a) ... ok', 'test_a (m.T.test_a) ... FAIL'];
    expect(ran(1, list, ['FAIL: test_a (m.T.test_a)'])).toMatch(/names 2 tests and says that 1 ran/);
    expect(read('unittest-text', ['test_a (m.T.test_a) ... ok'])).toMatch(/how many tests ran/);
  });
});

describe('rspec --format json', () => {
  const example = (full_description: string, status: string, message?: string) => ({
    full_description,
    status,
    file_path: './spec/list_spec.rb',
    ...(message === undefined ? {} : { exception: { class: 'RSpec::Expectations', message } }),
  });

  test('names file and full description', () => {
    const examples = [
      example('List adds', 'passed'),
      example('List removes', 'failed', 'expected: 1'),
      example('List waits', 'pending'),
    ];
    expect(read('rspec-json', [JSON.stringify({ examples, summary: {} })])).toEqual({
      tests: {
        'spec/list_spec.rb > List adds': 'passed',
        'spec/list_spec.rb > List removes': 'failed',
        'spec/list_spec.rb > List waits': 'skipped',
      },
      said: { 'spec/list_spec.rb > List removes': 'expected: 1' },
    });
  });

  test('a file that does not load is a failure', () => {
    const broken = {
      examples: [],
      messages: ['An error occurred while loading ./spec/list_spec.rb.'],
      summary: { errors_outside_of_examples_count: 1 },
    };
    expect(read('rspec-json', [JSON.stringify(broken)])).toMatchObject({
      tests: { 'rspec > did not load': 'failed' },
    });
    expect(read('rspec-json', ['{}'])).toContain('cannot be read');
  });
});

describe('minitest -v', () => {
  const LINES = [
    'Run options: -v --seed 4242',
    '',
    '# Running:',
    '',
    'TestList#test_adds = 0.00 s = .',
    'TestList#test_removes = 0.01 s = F',
    'Deep::TestList#test_waits = 0.00 s = S',
    '',
    'Finished in 0.002s, 1000 runs/s, 1000 assertions/s.',
    '',
    '  1) Failure:',
    'TestList#test_removes [test/list_test.rb:9]:',
    'Expected: 1',
    '  Actual: 2',
    '',
    '3 runs, 2 assertions, 1 failures, 0 errors, 1 skips',
  ];

  test('names class and method, and what failed', () => {
    expect(read('minitest-text', LINES)).toEqual({
      tests: {
        'TestList > test_adds': 'passed',
        'TestList > test_removes': 'failed',
        'Deep::TestList > test_waits': 'skipped',
      },
      said: {
        'TestList > test_removes': 'TestList#test_removes [test/list_test.rb:9]:\nExpected: 1\n  Actual: 2',
      },
    });
  });

  test('lines that are more than ran, or none, are no report', () => {
    expect(read('minitest-text', ['TestList#test_more = 0.00 s = .', ...LINES])).toContain('4 tests');
    expect(read('minitest-text', ['ok'])).toContain('names no test');
  });

  test('of a spec, and of tests that print, as minitest 5.17 wrote it', () => {
    const lines = [
      'a list#test_0001_is empty = 0.00 s = .',
      'the list#test_0001_is empty = 0.00 s = .',
      'SumTest#test_adds = loud#er = 1',
      'more0.00 s = .',
      '',
      '3 runs, 3 assertions, 0 failures, 0 errors, 0 skips',
    ];
    expect(read('minitest-text', lines)).toMatchObject({
      tests: {
        'a list > test_0001_is empty': 'passed',
        'the list > test_0001_is empty': 'passed',
        'SumTest > test_adds': 'passed',
      },
    });
  });
});

describe('test-unit -v', () => {
  const LINE = '='.repeat(79);
  // As test-unit 3.5.7 wrote it.
  const LINES = [
    'Loaded suite /usr/lib/rake_test_loader',
    'Started',
    'Deep::TestTwo: ',
    '  test_clean:\t\t\t\t\t\t.: (0.000423)',
    'TestClean: ',
    '  test: has: colons and # signs:\t\t\t.: (0.000199)',
    '  test_a_name_without_space_behind_it:.: (0.000087)',
    '  test_error:\t\t\t\t\t\tE',
    LINE,
    'Error: test_error(TestClean): RuntimeError: boom',
    "a_test.rb:6:in `test_error'",
    LINE,
    ': (0.001794)',
    '  test_notify:\t\t\t\t\t\tN',
    LINE,
    'Notification: hello [test_notify(TestClean)]',
    LINE,
    '.: (0.003911)',
    '  test_omit:\t\t\t\t\t\tO',
    LINE,
    'Omission: later [test_omit(TestClean)]',
    LINE,
    ': (0.002515)',
    '  test_prints:\t\t\t\t\t\tloud: x',
    'a group: ',
    'no newline: .: (0.000373)',
    '  inner part: ',
    '    test: deep:\t\t\t\t\t\t.: (0.000286)',
    '',
    'Finished in 0.043180737 seconds.',
  ];
  const total = (tests: number, errors = 1): string =>
    `${tests} tests, 9 assertions, 0 failures, ${errors} errors, 0 pendings, 1 omissions, 1 notifications`;

  test('names class, group and test, and what failed', () => {
    expect(read('minitest-text', [...LINES, total(8)])).toEqual({
      tests: {
        'Deep::TestTwo > test_clean': 'passed',
        'TestClean > test: has: colons and # signs': 'passed',
        'TestClean > test_a_name_without_space_behind_it': 'passed',
        'TestClean > test_error': 'failed',
        'TestClean > test_notify': 'passed',
        'TestClean > test_omit': 'skipped',
        'TestClean > test_prints': 'passed',
        'TestClean > inner part > test: deep': 'passed',
      },
      said: {
        'TestClean > test_error':
          "Error: test_error(TestClean): RuntimeError: boom\na_test.rb:6:in `test_error'",
      },
    });
  });

  test('lines that are more than ran, more that fail, or none, are no report', () => {
    expect(read('minitest-text', [...LINES, total(7)])).toContain('8 tests');
    expect(read('minitest-text', [...LINES, total(8, 0)])).toContain('1 failing tests');
    const pretended = LINES.slice(0, 4).toSpliced(3, 0, '  test_bad:\t\t.: (0.1)');
    expect(read('minitest-text', [...pretended, total(2)])).toContain('0 failing tests');
    expect(read('minitest-text', [total(0, 0)])).toContain('names no test');
  });
});

describe('minitest-reporters -v', () => {
  // As minitest-reporters 1.8.0 wrote it.
  const LINES = [
    '# Running tests with run options -v --seed 1:',
    '',
    '',
    'a list#test_0001_is empty 0.00 = .',
    'UserTest#test_skips 0.00 = S',
    'UserTest#test_fails 0.00 = F',
    'UserTest#test_prints loud PASS (0.00s)',
    'x0.00 = .',
    '',
    'Finished tests in 0.002539s, 2756.9421 tests/s, 2363.0932 assertions/s.',
    '',
    'Failure:',
    'UserTest#test_fails [user_test.rb:6]',
    'Minitest::Assertion: Expected: 1',
    '  Actual: 2',
    '',
    '4 tests, 6 assertions, 1 failures, 0 errors, 1 skips',
  ];

  test('names class and test, also of a spec, and of tests that print', () => {
    expect(read('minitest-text', LINES)).toEqual({
      tests: {
        'a list > test_0001_is empty': 'passed',
        'UserTest > test_skips': 'skipped',
        'UserTest > test_fails': 'failed',
        'UserTest > test_prints': 'passed',
      },
      said: {
        'UserTest > test_fails':
          'UserTest#test_fails [user_test.rb:6]\nMinitest::Assertion: Expected: 1\n  Actual: 2',
      },
    });
  });

  test('tests that run at the same time are no report', () => {
    const mixed = LINES.toSpliced(4, 2, 'UserTest#test_skips ', 'UserTest#test_fails 0.00 = S0.00 = F');
    expect(read('minitest-text', mixed)).toContain('3 tests');
  });
});

describe('dotnet test', () => {
  const LINES = [
    'Starting test execution, please wait...',
    '  Passed Lists.Tests.Adds [3 ms]',
    '  Failed Lists.Tests.Removes(count: 2) [< 1 ms]',
    '  Error Message:',
    '   Assert.Equal() Failure',
    '  Skipped Lists.Tests.Waits [1 ms]',
    '',
    'Total tests: 3',
    '     Passed: 1',
  ];

  test('names each test, and what failed', () => {
    expect(read('dotnet-text', LINES)).toEqual({
      tests: {
        'Lists.Tests.Adds': 'passed',
        'Lists.Tests.Removes(count: 2)': 'failed',
        'Lists.Tests.Waits': 'skipped',
      },
      said: { 'Lists.Tests.Removes(count: 2)': 'Error Message:\nAssert.Equal() Failure' },
    });
  });

  test('the testing platform prints other lines, and one total', () => {
    const lines = [
      'Running tests from bin/Lists.Tests.dll (net10.0|x64)',
      'passed Lists.Tests.Adds(count: 2) (3ms)',
      '  from bin/Lists.Tests.dll (net10.0|x64)',
      'failed (canceled) Lists.Tests.Removes (1m 02s 015ms)',
      '  from bin/Lists.Tests.dll (net10.0|x64)',
      '  Assert.Equal() Failure',
      'skipped Lists.Tests.Waits (0ms)',
      '',
      'Test run summary: Failed!',
      '  total: 3',
      '  failed: 1',
      '  succeeded: 1',
      '  duration: 1m 03s',
    ];
    expect(read('dotnet-text', lines)).toMatchObject({
      tests: {
        'Lists.Tests.Adds(count: 2)': 'passed',
        'Lists.Tests.Removes': 'failed',
        'Lists.Tests.Waits': 'skipped',
      },
      said: { 'Lists.Tests.Removes': expect.stringContaining('Assert.Equal() Failure') },
    });
    expect(read('dotnet-text', ['passed Lists.Tests.More (1ms)', ...lines])).toContain('4 tests');
  });

  test('lines that are more than the total are no report', () => {
    expect(read('dotnet-text', ['  Passed Lists.Tests.More [1 ms]', ...LINES])).toContain('4 tests');
    expect(read('dotnet-text', [])).toContain('names no test');
  });
});
