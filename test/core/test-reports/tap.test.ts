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
