import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readTestReport } from '../../../src/core/test-reports/index.ts';

const tap = (...lines: readonly string[]): unknown => {
  const report = readTestReport('tap', lines.join('\n'));
  return report.kind === 'ok' ? report.tests : report.why;
};
const said = (...lines: readonly string[]): unknown => {
  const report = readTestReport('tap', lines.join('\n'));
  return report.kind === 'ok' ? report.messages : report.why;
};

describe('TAP', () => {
  test.each([
    ['of several files, where each point names its file', 'a › ', '# a › set-up of the database'],
    ['of one file', '', '# afterEach.always hook for adds'],
  ])('of ava %s, whose comments name hooks in the order in which they end', (_, file, comment) => {
    expect(
      tap(
        'TAP version 13',
        `# ${file}before hook`,
        '#   printed by the hook',
        `ok 1 - ${file}adds`,
        '  # printed by the test',
        comment,
        `not ok 2 - ${file}subtracts`,
        '1..2',
        '# tests 2',
      ),
    ).toEqual({ [`${file}adds`]: 'passed', [`${file}subtracts`]: 'failed' });
  });

  test('of other runners whose names look like those of ava and its hooks', () => {
    const node = ['# Subtest: parser', '    # Subtest: adds', '    ok 1 - adds', '    1..1', 'ok 1 - parser'];
    expect(tap('TAP version 13', ...node, '# Subtest: Home › Docs', 'ok 2 - Home › Docs', '1..2')).toEqual({
      'parser > adds': 'passed',
      'Home › Docs': 'passed',
    });
    const tape = [
      'TAP version 13',
      '# before hook',
      'ok 1 equal',
      '# after hook for x',
      'ok 2 equal',
      '1..2',
    ];
    const ava = ['TAP version 13', 'ok 1 - a › adds', '# a › after hook', '1..1'];
    expect(tap(...ava, ...tape)).toEqual({
      'a › adds': 'passed',
      'before hook > equal': 'passed',
      'after hook for x > equal': 'passed',
    });
  });

  test('of tape, which tells tests by comments', () => {
    expect(
      tap(
        'TAP version 13',
        '# alpha',
        'ok 1 should be strictly equal',
        'not ok 2 named',
        '  ---',
        '    operator: equal',
        '    at: Test.<anonymous> (/repo/test/a.js:2:43)',
        '    stack: |-',
        '      Error: named',
        '          ok 3 no point',
        '  ...',
        'printed by the test',
        'ok 3 should be strictly equal',
        '# beta',
        'ok 4 later # SKIP',
        'not ok 5 to do # TODO',
        '',
        '1..5',
        '# tests 5',
        '# fail  1',
      ),
    ).toEqual({
      'alpha > should be strictly equal': 'passed',
      'alpha > named': 'failed',
      'alpha > should be strictly equal #2': 'passed',
      'beta > later': 'skipped',
      'beta > to do': 'skipped',
    });
  });

  test('of tap, with subtests of subtests and times', () => {
    expect(
      tap(
        'TAP version 13',
        '# Subtest: test/a.js',
        '    # Subtest: alpha',
        '        ok 1 - fine',
        '        not ok 2 - bad',
        '          ---',
        '          diff: |',
        '            --- expected',
        '            +++ actual',
        '          ...',
        '        1..2',
        '        # failed 1 of 2 tests',
        '    not ok 1 - alpha # time=32.1ms',
        '    ',
        '    ok 2 - skip # SKIP why',
        '    1..2',
        'not ok 1 - test/a.js # time=57.1ms',
        '  ---',
        '  exitCode: 1',
        '  ...',
        '',
        '# Subtest: test/c.js',
        '    1..0 # no tests found',
        'not ok 2 - test/c.js # time=168ms',
        '1..2',
      ),
    ).toEqual({
      'test/a.js > alpha > fine': 'passed',
      'test/a.js > alpha > bad': 'failed',
      'test/a.js > skip': 'skipped',
      'test/c.js': 'failed',
    });
  });

  test('of TAP 14: comments stand with the points, and blocks may follow their point', () => {
    expect(
      tap(
        'TAP version 14',
        '1..3',
        '    # Subtest: one',
        '    1..1',
        '    ok 1 - a',
        'ok 1 - one',
        'ok 2 - two {',
        '    ok 1 - b',
        '    1..1',
        '}',
        'not ok 3 - three # time=1ms',
        '  ---',
        '  message: x',
        '  ...',
        '{',
        '    not ok 1 - c',
        '    1..1',
        '}',
      ),
    ).toEqual({ 'one > a': 'passed', 'two > b': 'passed', 'three > c': 'failed' });
  });

  test('of mocha, which plans first and writes traces without a block', () => {
    const lines = [
      '1..2',
      'ok 1 s works',
      'not ok 2 s in fails',
      '  1 == 2',
      '  AssertionError [ERR_ASSERTION]: 1 == 2',
      '      at Context.<anonymous> (test/a.js:2:58)',
      '# tests 2',
    ];
    expect(tap(...lines)).toEqual({ 's works': 'passed', 's in fails': 'failed' });
    expect(said(...lines)).toEqual({ 's in fails': expect.stringContaining('AssertionError') });
  });

  test('of node:test, which gives points of several files the same number', () => {
    expect(
      tap(
        'TAP version 13',
        '# Subtest: s',
        '    # Subtest: bad',
        '    not ok 1 - bad',
        '      ---',
        "      error: '1 == 2'",
        '      ...',
        '    1..1',
        'not ok 1 - s',
        "# SyntaxError: '../x.mjs' does not provide an export named 'nothing'",
        '# Subtest: /repo/test/b.test.mjs',
        'not ok 1 - /repo/test/b.test.mjs',
        '1..2',
      ),
    ).toEqual({ 's > bad': 'failed', 'test/b.test.mjs': 'failed' });
  });

  test('names a subtest that fails although all its subtests pass', () => {
    expect(tap('TAP version 13', '# Subtest: s', '    ok 1 - a', '    1..1', 'not ok 1 - s', '1..1')).toEqual(
      { 's > a': 'passed', s: 'failed' },
    );
  });

  test('keeps a hash that belongs to the name', () => {
    expect(
      tap(
        'TAP version 13',
        '# Iterator',
        'ok 1 Iterator#map maps',
        'not ok 2 Iterator#skip leaves out the first n',
        'not ok 3 selects #todos in the list',
        'not ok 4 renders Schema#toDOM',
        'not ok 5 - #skip',
        'ok 6 - escaped \\# skip',
        'not ok 7 later # SKIP why',
        'not ok 8 - due # TODO',
        'ok 9 # skip',
        'not ok 10 - old # Skipped: why',
        'ok 11 - timed # time=3.2ms',
        'not ok 12 - timed out # time=3.2ms # TODO',
        '1..12',
      ),
    ).toEqual({
      'Iterator > Iterator#map maps': 'passed',
      'Iterator > Iterator#skip leaves out the first n': 'failed',
      'Iterator > selects #todos in the list': 'failed',
      'Iterator > renders Schema#toDOM': 'failed',
      'Iterator > #skip': 'failed',
      'Iterator > escaped # skip': 'passed',
      'Iterator > later': 'skipped',
      'Iterator > due': 'skipped',
      'Iterator > unnamed': 'skipped',
      'Iterator > old': 'skipped',
      'Iterator > timed': 'passed',
      'Iterator > timed out': 'skipped',
    });
  });

  test('has points behind output in the same line if the plan at the end counts them', () => {
    // Printed by tape 5 after process.stdout.write('loading... ').
    const printed = [
      'TAP version 13',
      '# load',
      'loading... ok 1 loads',
      'ok 2 parses',
      '.not ok 3 - saves',
      '',
      '1..3',
    ];
    expect(tap(...printed)).toEqual({
      'load > loads': 'passed',
      'load > parses': 'passed',
      'load > saves': 'failed',
    });
    const inner = ['TAP version 13', '# Subtest: s', '    half    ok 1 - a', '    ok 2 - b', '    1..2'];
    expect(tap(...inner, 'ok 1 - s', '1..1')).toEqual({ 's > a': 'passed', 's > b': 'passed' });
    const two = ['TAP version 13', '.ok 1 x', 'ok 2 y', '1..2', 'TAP version 13', 'ok 1 z', '1..1'];
    expect(tap(...two)).toEqual({ x: 'passed', y: 'passed', z: 'passed' });
    // Otherwise such a line is something else.
    expect(tap('TAP version 13', 'ok 1 x', 'see ok 2 y', 'ok 2 y', '1..2')).toEqual({
      x: 'passed',
      y: 'passed',
    });
    expect(tap('ok 1 - a', '1..2', 'ok 2 - b')).toEqual({ a: 'passed', b: 'passed' });
  });

  test('is no report if a plan at the end counts more points than there are', () => {
    const short = /its plan counts more points than it has/;
    expect(tap('TAP version 13', 'ok 1 x', '1..2')).toMatch(short);
    expect(tap('TAP version 13', 'ok 1 x', '.ok 3 y', '1..2')).toMatch(short);
    expect(tap('TAP version 13', 'ok 1 x', '.ok 2 y', '1..3')).toMatch(short);
    expect(tap('TAP version 13', 'ok 1 x', '1..2', 'TAP version 13', 'ok 1 z', '1..1')).toMatch(short);
    expect(tap('# Subtest: s', '    ok 1 - a', '    1..2', 'ok 1 - s', '1..1')).toMatch(short);
  });

  test('of tap, whose test planned too late, and which says so', () => {
    expect(
      tap(
        'TAP version 14',
        '# Subtest: three',
        '    ok 1 - a',
        '    1..3',
        '    not ok 2 - test count(1) != plan(3)',
        '    # test count(1) != plan(3)',
        'not ok 1 - three # time=7.2ms',
        '1..1',
      ),
    ).toEqual({ 'three > a': 'passed', 'three > test count(1) != plan(3)': 'failed' });
  });

  test('of scripts that number nothing', () => {
    expect(tap('1..4', 'ok - a', 'not ok - b', 'ok c # SKIP why', 'ok')).toEqual({
      a: 'passed',
      b: 'failed',
      c: 'skipped',
      unnamed: 'passed',
    });
    // Beside points with numbers, these lines are what a test printed.
    expect(tap('TAP version 13', '# a', 'ok', 'ok - connected', 'ok 1 x', '1..1')).toEqual({
      'a > x': 'passed',
    });
    expect(tap('ok - a', 'ok - b', '1..3')).toMatch(/counts more points than it has/);
  });

  test('has all points of a document, or is no report', () => {
    const name = fc.stringMatching(/^[a-z]{1,5}([ #.]#?[a-z]{1,5}){0,3}$/);
    const points = fc.uniqueArray(fc.tuple(name, fc.boolean()), { minLength: 1, selector: ([one]) => one });
    fc.assert(
      fc.property(points, fc.nat(), fc.constantFrom('.', 'loading ', 'ok', '# '), (all, at, printed) => {
        const lines = all.map(([one, isOk], i) => `${isOk ? '' : 'not '}ok ${i + 1} - ${one}`);
        const plan = `1..${all.length}`;
        expect(tap('TAP version 13', ...lines, plan)).toEqual(
          Object.fromEntries(all.map(([one, isOk]) => [one, isOk ? 'passed' : 'failed'])),
        );
        const spoilt = lines.with(at % lines.length, `${printed}${lines[at % lines.length]}`);
        const report = tap('TAP version 13', ...spoilt, plan);
        if (typeof report !== 'string') expect(report).toEqual(tap('TAP version 13', ...lines, plan));
        else expect(report).toMatch(/more points than it has|without any test/);
      }),
    );
  });

  test('keeps the output of an interrupted run', () => {
    expect(tap('TAP version 13', '# a', 'ok 1 x', 'ok 2 y', 'TypeError: z is not a function')).toEqual({
      'a > x': 'passed',
      'a > y': 'passed',
    });
    expect(tap('1..3', 'ok 1 x', 'Bail out! no database', 'ok 2 y')).toEqual({ x: 'passed' });
  });

  test('is parsed among other lines and colours', () => {
    const red = '\u001b[31m';
    expect(
      tap(
        '> pkg@1.0.0 test',
        '> tape',
        '',
        'TAP version 13',
        `${red}not ok 1 x`,
        '1..1',
        '-----|----',
        'done',
      ),
    ).toEqual({ x: 'failed' });
    expect(tap('TAP version 13\r', 'ok 1 x\r', '1..1\r')).toEqual({ x: 'passed' });
  });

  test('of two programs in sequence is one report', () => {
    const one = ['TAP version 13', '# t', 'ok 1 x', '1..1'];
    expect(tap(...one, ...one)).toEqual({ 't > x': 'passed' });
  });

  test('of several programs without version lines, as old versions of mocha write it', () => {
    const one = ['1..2', 'ok 1 adds', 'not ok 2 trims', '# tests 2'];
    const other = ['1..1', 'ok 1 trims', '# tests 1'];
    expect(tap(...one, 'printed', ...other)).toEqual({ adds: 'passed', trims: 'failed' });
    expect(tap(...other, ...one)).toEqual({ adds: 'passed', trims: 'failed' });
    // Interrupted, it may have been replaced by what the code under test prints.
    expect(tap('1..3', 'ok 1 adds', ...other)).toMatch(/two plans/);
  });

  test.each([
    ['nothing', []],
    ['prose', ['all tests passed', 'ok']],
    ['points without version or plan', ['ok 1 x', 'ok 2 y']],
    ['no point', ['TAP version 13', '# beta']],
    ['a plan and no point', ['1..4', 'Error: cannot load']],
  ])('is not found in %s', (_, lines) => {
    expect(tap(...lines)).toMatch(
      /^The test report cannot be read: it is (?:no TAP|TAP without any test)\.$/,
    );
  });
});

describe('a candidate that prints TAP itself', () => {
  const real = ['# t', 'not ok 1 adds', 'ok 2 trims', '1..2'];

  test.each([
    ['before the real points', ['TAP version 13', '# t', 'ok 1 adds', 'ok 2 trims', ...real]],
    ['between them', ['TAP version 13', '# t', 'ok 1 adds', ...real]],
    ['before the document', ['# t', 'ok 1 adds', 'ok 2 trims', 'TAP version 13', ...real]],
    ['after the plan', ['TAP version 13', ...real, 'ok 3 adds']],
    ['with a plan of its own', ['TAP version 13', '1..2', '# t', 'ok 1 adds', 'ok 2 trims', ...real]],
  ])('%s loses its report', (_, lines) => {
    expect(tap(...lines)).toMatch(/more points than it planned|two plans|begins anew/);
  });

  test('as a separate document, first or last, does not hide real failures', () => {
    const forged = ['TAP version 13', '# t', 'ok 1 adds', 'ok 2 trims', '1..2'];
    const told = { 't > adds': 'failed', 't > trims': 'passed' };
    expect(tap(...forged, 'TAP version 13', ...real)).toEqual(told);
    expect(tap(...forged.slice(1), 'TAP version 13', ...real)).toEqual(told);
    expect(tap('TAP version 13', ...real, ...forged)).toEqual(told);
  });

  test('indented or in an unclosed block gains nothing', () => {
    expect(tap('TAP version 13', '    ok 1 adds', ...real)).toEqual({
      't > adds': 'failed',
      't > trims': 'passed',
    });
    expect(
      tap('TAP version 13', '# t', 'ok 1 trims', '  ---', '   ok 2 adds', 'not ok 2 adds', '1..2'),
    ).toEqual({
      't > trims': 'passed',
      't > adds': 'failed',
    });
  });

  test('without end, is cut off', () => {
    expect(
      tap('TAP version 13', ...Array.from({ length: 80 }, (_, i) => `${' '.repeat(4 * i)}# Subtest: s`)),
    ).toMatch(/nested too deep/);
    expect(tap('TAP version 13', `ok 1 ${'x'.repeat(100_000)}`, '1..1')).toEqual({
      [`${'x'.repeat(1_000)}`]: 'passed',
    });
  });
});
