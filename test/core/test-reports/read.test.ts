import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ReportFormat } from '../../../src/core/settings/index.ts';
import { readTestReport } from '../../../src/core/test-reports/index.ts';

const junit = (body: string): unknown => {
  const report = readTestReport(
    'junit',
    `<?xml version="1.0" encoding="utf-8"?>\n<testsuites>\n${body}\n</testsuites>\n`,
  );
  return report.kind === 'ok' ? report.tests : report.why;
};

describe('JUnit', () => {
  test('of node:test on Node 20, which does not say the file', () => {
    expect(
      junit(`
	<testcase name="top" time="0.0015" classname="test"/>
	<testsuite name="parse" time="0.0063" disabled="0" errors="0" tests="5" failures="2" skipped="3" hostname="vm">
		<testcase name="empty line" time="0.0004" classname="test"/>
		<testsuite name="inner" time="0.0019" tests="1" failures="1">
			<testcase name="fails" time="0.0016" classname="test" failure="Expected values to be strictly equal:1 !== 2">
				<failure type="testCodeFailure" message="x">Error at Array.map (&lt;anonymous>) { code: '&amp;' }</failure>
			</testcase>
		</testsuite>
		<testcase name="later" time="0.0003" classname="test"><skipped type="skipped" message="true"/></testcase>
		<testcase name="to do" time="0.0002" classname="test" failure="x">
			<skipped type="todo" message="true"/><failure type="testCodeFailure" message="x">[Error: x]</failure>
		</testcase>
	</testsuite>
	<testcase name="top" time="0.0003" classname="test"/>
	<testcase name="/repo/test/b.test.js" time="0.07" classname="test" failure="test failed"><failure type="testCodeFailure"/></testcase>
	<!-- tests 10 -->`),
    ).toEqual({
      top: 'passed',
      'top #2': 'passed',
      'test/b.test.js': 'failed',
      'parse > empty line': 'passed',
      'parse > later': 'skipped',
      'parse > to do': 'skipped',
      'parse > inner > fails': 'failed',
    });
  });

  test('of node:test on Node 24, with the file of each test', () => {
    expect(
      junit(`
	<testcase name="top" time="0.0013" classname="test" file="/repo/test/a.test.js"/>
	<testcase name="top" time="0.0013" classname="test" file="/repo/test/b.test.js"/>
	<testsuite name="parse" time="0.0057" tests="5">
		<testcase name="empty &amp; &quot;line&quot;" classname="parse" file="/repo/test/a.test.js"/>
		<testsuite name="inner"><testcase name="x" classname="parse.inner" file="/repo/test/a.test.js"/></testsuite>
	</testsuite>`),
    ).toEqual({
      'test/a.test.js > top': 'passed',
      'test/b.test.js > top': 'passed',
      'test/a.test.js > parse > empty & "line"': 'passed',
      'test/a.test.js > parse > inner > x': 'passed',
    });
  });

  test('of vitest', () => {
    expect(
      junit(`
    <testsuite name="src/a.test.ts" tests="3" failures="1">
        <testcase classname="src/a.test.ts" name="parse &gt; empty" time="0.1"></testcase>
        <testcase classname="src/a.test.ts" name="parse &gt; later" time="0"><skipped/></testcase>
        <testcase classname="src/a.test.ts" name="fails"><failure message="m" type="AssertionError">text</failure></testcase>
    </testsuite>
    <testsuite name="src/b.test.ts"><testcase classname="src/b.test.ts" name="src/b.test.ts"><failure>Cannot find module</failure></testcase></testsuite>`),
    ).toEqual({
      'src/a.test.ts > parse > empty': 'passed',
      'src/a.test.ts > parse > later': 'skipped',
      'src/a.test.ts > fails': 'failed',
      'src/b.test.ts > src/b.test.ts': 'failed',
    });
  });

  test('of vitest, in which only its JSON tells tests that did not run from those that passed', () => {
    const none = (file: string, name: string, time = '0') =>
      `<testcase classname="${file}" name="${name}" time="${time}"></testcase>`;
    const [a, k] = ['src/a.test.ts', 'src/k.test.ts'];
    const xml = `<?xml version="1.0" encoding="UTF-8" ?>
<testsuites name="vitest tests" tests="6" failures="0" errors="0" time="0.9">
    <testsuite name="${a}" tests="3">${none(a, 'same', '0.001')}${none(a, 'of a millisecond')}${none(a, 'h &gt; after a hook')}</testsuite>
    <testsuite name="${k}" tests="3">${none(k, 'same')}${none(k, 'aborts')}${none(k, 'g &gt; is “never” run')}</testsuite>
</testsuites>
`;
    const of = (status: string, title: string, ...ancestorTitles: string[]) => ({
      ...{ ancestorTitles, title, status },
      failureMessages: [],
    });
    // Version 1 names the file's own suite, too; its titles are empty.
    const json = (last: string) =>
      JSON.stringify({
        testResults: [
          {
            ...{ name: `/repo/pkg/${a}`, status: 'passed', message: '' },
            assertionResults: [
              of('passed', 'same', ''),
              of('passed', 'of a millisecond', ''),
              of('pending', 'after a hook', '', 'h'),
            ],
          },
          {
            ...{ name: `/repo/pkg/${k}`, status: 'failed', message: '' },
            assertionResults: [of('pending', 'same'), of('pending', 'aborts'), of('pending', last, 'g')],
          },
        ],
      });
    expect(readTestReport('vitest', `${xml}${json('is “never” run')}`)).toMatchObject({
      tests: {
        'src/a.test.ts > same': 'passed',
        'src/a.test.ts > of a millisecond': 'passed',
        'src/a.test.ts > h > after a hook': 'failed',
        'src/k.test.ts > same': 'failed',
        'src/k.test.ts > aborts': 'failed',
        'src/k.test.ts > g > is “never” run': 'failed',
      },
      messages: { 'src/k.test.ts > aborts': 'It did not run to its end.' },
    });
    // A file of the same name in another folder did not run.
    const same = xml.replaceAll(k, `lib/${a}`).replaceAll('aborts', 'of a millisecond');
    const below = json('is “never” run').replaceAll(k, `lib/${a}`).replaceAll('aborts', 'of a millisecond');
    expect(readTestReport('vitest', `${same}${below}`)).toMatchObject({
      tests: { 'src/a.test.ts > same': 'passed', [`lib/${a} > same`]: 'failed' },
    });
    for (const [text, why] of [
      [`${xml}${json('has another name')}`, 'it does not name all tests that did not run'],
      [xml, 'Unexpected end of JSON input'],
    ] as const) {
      expect(readTestReport('vitest', text)).toMatchObject({
        kind: 'unreadable',
        why: `The test report cannot be read: ${why}.`,
      });
    }
  });

  test('of pytest, in both of its flavours', () => {
    const cases = (file: string) => `<testsuite name="pytest" errors="1">
      <testcase classname="tests.test_a.TestX" name="test_m" ${file} line="2" time="0.0" />
      <testcase classname="tests.test_a" name="test_p[1]" ${file} line="3" time="0.0"><failure message="x">E</failure></testcase>
      <testcase classname="tests.test_a" name="test_e" ${file}><error message="failed on setup">E</error></testcase>
      <testcase classname="tests.test_a" name="test_xf" ${file}><skipped type="pytest.xfail" message="" /></testcase></testsuite>`;
    expect(junit(cases('file="tests/test_a.py"'))).toEqual({
      'tests/test_a.py > TestX > test_m': 'passed',
      'tests/test_a.py > test_p[1]': 'failed',
      'tests/test_a.py > test_e': 'failed',
      'tests/test_a.py > test_xf': 'skipped',
    });
    expect(Object.keys(junit(cases('')) as object)).toEqual([
      'tests.test_a.TestX > test_m',
      'tests.test_a > test_p[1]',
      'tests.test_a > test_e',
      'tests.test_a > test_xf',
    ]);
  });

  test('of ctest, which counts tests as failed that it could not start, but not those that skip themselves', () => {
    const of = (name: string, status: string, skipped?: string) =>
      `<testcase name="${name}" classname="${name}" time="0" status="${status}">${
        skipped === undefined ? '' : `<skipped message="${skipped}"/>`
      }<system-out></system-out></testcase>`;
    const text = `<testsuite name="(empty)" tests="8">${[
      of('present', 'run'),
      of('program', 'notrun', 'Unable to find executable'),
      of('file', 'notrun', 'Required Files Missing'),
      of('folder', 'notrun', 'Failed to change working directory'),
      of('fixture', 'notrun', 'Fixture dependency failed'),
      of('code', 'notrun', 'SKIP_RETURN_CODE=77'),
      of('output', 'notrun', 'SKIP_REGULAR_EXPRESSION_MATCHED'),
      of('disabled', 'disabled'),
    ].join('')}</testsuite>`;
    expect(readTestReport('junit', text)).toMatchObject({
      tests: {
        '(empty) > present': 'passed',
        '(empty) > program': 'failed',
        '(empty) > file': 'failed',
        '(empty) > folder': 'failed',
        '(empty) > fixture': 'failed',
        '(empty) > code': 'skipped',
        '(empty) > output': 'skipped',
        '(empty) > disabled': 'skipped',
      },
      messages: { '(empty) > program': 'Unable to find executable' },
    });
  });

  test('with suites and tests that have no attributes', () => {
    expect(
      junit(
        '<testsuite/><testsuite>\n</testsuite><testsuite name="s"><testcase/><testcase name="a"/></testsuite>',
      ),
    ).toEqual({ s: 'passed', 's > a': 'passed' });
    expect(readTestReport('junit', '<testsuite/>')).toEqual({ kind: 'ok', tests: {}, messages: {} });
  });

  test('with one suite as its root, or none at all', () => {
    expect(readTestReport('junit', '<testsuite name="s"><testcase name="a"/></testsuite>')).toEqual({
      kind: 'ok',
      tests: { 's > a': 'passed' },
      messages: {},
    });
    expect(junit('')).toEqual({});
    expect(readTestReport('junit', '<testsuites/>')).toEqual({ kind: 'ok', tests: {}, messages: {} });
  });

  test('with names that are properties of every object', () => {
    const tests = junit(
      '<testcase name="__proto__"/><testcase name="constructor"><failure/></testcase>',
    ) as object;
    expect(Object.entries(tests)).toEqual([
      ['__proto__', 'passed'],
      ['constructor', 'failed'],
    ]);
    expect(Object.getPrototypeOf(tests)).toBe(Object.prototype);
  });

  test.each([
    ['nothing', ''],
    ['another document', '<html><body/></html>'],
    ['text', 'all tests passed'],
    ['a cut document', '<testsuites><testsuite name="a"><testcase name="x"'],
    ['a suite that is not closed', '<testsuites><testsuite name="a"><testcase name="x"/>'],
    ['entities of its own', '<!DOCTYPE x [<!ENTITY a "ha">]><testsuites><testcase name="&a;"/></testsuites>'],
    [
      'entities of its own, further down',
      '<?xml version="1.0"?>\n<!-- x -->\n<!doctype x SYSTEM "file:///etc/passwd"><testsuites/>',
    ],
    [
      'suites in suites in suites',
      `<testsuites>${'<testsuite name="a">'.repeat(500)}${'</testsuite>'.repeat(500)}</testsuites>`,
    ],
    ['too much', `<testsuites>${' '.repeat(33 * 2 ** 20)}</testsuites>`],
  ])('%s is unreadable, and the sentence says why', (_, text) => {
    expect(readTestReport('junit', text)).toEqual({
      kind: 'unreadable',
      why: expect.stringMatching(/^The test report cannot be read: .+\.$/s),
    });
  });
});

test('jest', () => {
  const text = JSON.stringify({
    numTotalTests: 4,
    testResults: [
      {
        name: '/repo/src/a.test.ts',
        status: 'failed',
        assertionResults: [
          { ancestorTitles: ['parse', 'inner'], title: 'x', status: 'passed', fullName: 'parse inner x' },
          {
            ancestorTitles: [],
            title: 'y',
            status: 'failed',
            failureMessages: ['Error: no\n  at a.test.ts:1'],
          },
          { ancestorTitles: [], title: 'z', status: 'pending' },
          { ancestorTitles: [], title: 'z', status: 'todo' },
        ],
      },
      { name: '/repo/src/b.test.ts', status: 'failed', message: 'SyntaxError', assertionResults: [] },
    ],
  });
  expect(readTestReport('jest-json', text)).toMatchObject({
    kind: 'ok',
    tests: {
      'src/a.test.ts > parse > inner > x': 'passed',
      'src/a.test.ts > y': 'failed',
      'src/a.test.ts > z': 'skipped',
      'src/a.test.ts > z #2': 'skipped',
      'src/b.test.ts > did not load': 'failed',
    },
    messages: {
      'src/a.test.ts > y': 'Error: no\n  at a.test.ts:1',
      'src/b.test.ts > did not load': 'SyntaxError',
    },
  });
});

test('an id that another test has as its name is not overwritten', () => {
  const jest = (...rows: readonly (readonly [string, string])[]) => {
    const assertionResults = rows.map(([title, status]) => ({ ancestorTitles: [], title, status }));
    const report = readTestReport(
      'jest-json',
      JSON.stringify({ testResults: [{ name: 'a', assertionResults }] }),
    );
    return report.kind === 'ok' ? report.tests : report.why;
  };
  expect(jest(['row', 'passed'], ['row #2', 'failed'], ['row', 'passed'], ['row', 'skipped'])).toEqual({
    'a > row': 'passed',
    'a > row #2': 'failed',
    'a > row #3': 'passed',
    'a > row #4': 'skipped',
  });
  expect(jest(['row', 'passed'], ['row', 'passed'], ['row #2', 'failed'])).toEqual({
    'a > row': 'passed',
    'a > row #2': 'passed',
    'a > row #2 #2': 'failed',
  });
});

test('no test of a report is lost, whatever the names', () => {
  const names = fc.array(fc.stringMatching(/^a( #[1-3]){0,3}$/), { maxLength: 12 });
  fc.assert(
    fc.property(names, (all) => {
      const cases = all.map((name) => `<testcase name="${name}"/>`).join('');
      const report = readTestReport('junit', `<testsuites>${cases}</testsuites>`);
      expect(report.kind === 'ok' && Object.keys(report.tests)).toHaveLength(all.length);
    }),
  );
});

test('mocha', () => {
  const of = (title: string, suite: string, err: object = {}) => ({
    title,
    fullTitle: suite ? `${suite} ${title}` : title,
    file: '/repo/test/a.js',
    err,
  });
  const [ok, bad, later, top] = [
    of('x', 'parse inner'),
    of('y', 'parse', { message: 'no' }),
    of('z', 'parse'),
    of('x', ''),
  ];
  const hook = of('"before each" hook for "q"', 'parse', { message: 'no' });
  const text = JSON.stringify({
    stats: {},
    tests: [ok, bad, later, top],
    pending: [later],
    failures: [bad, hook],
    passes: [ok, top],
  });
  const expected = {
    kind: 'ok',
    tests: {
      'test/a.js > parse inner > x': 'passed',
      'test/a.js > parse > y': 'failed',
      'test/a.js > parse > z': 'skipped',
      'test/a.js > x': 'passed',
      'test/a.js > parse > "before each" hook for "q"': 'failed',
    },
    messages: { 'test/a.js > parse > y': 'no', 'test/a.js > parse > "before each" hook for "q"': 'no' },
  };
  expect(readTestReport('mocha-json', text)).toEqual(expected);
  // Older versions write to standard output, after what the tests print.
  const whole = { ...JSON.parse(text), stats: { suites: 1 } };
  const printed = `ok 9 fake\n{"stats": {}}\n${JSON.stringify(whole, null, 2)}`;
  expect(readTestReport('mocha-json', printed)).toEqual(expected);
  const summary = `${printed}\n=============== Coverage summary\nStatements   : 90% ( 9/10 ) {}\n`;
  expect(readTestReport('mocha-json', summary)).toEqual(expected);
});

test('of two tests of mocha with one title, only the pending one is skipped', () => {
  const w = { title: 'w', fullTitle: 's w', file: '/repo/test/a.js', currentRetry: 0, err: {} };
  const passed = { ...w, duration: 0, speed: 'fast' };
  const of = (...tests: readonly object[]) => {
    const report = readTestReport('mocha-json', JSON.stringify({ tests, pending: [w], failures: [] }));
    return report.kind === 'ok' ? Object.values(report.tests) : report.why;
  };
  expect(of(passed, w)).toEqual(['passed', 'skipped']);
  expect(of(w, passed)).toEqual(['skipped', 'passed']);
  expect(of(w, w)).toHaveLength(2);
  expect(of(w, w)).toContain('passed');
});

test("the runner's message about a failure is kept, limited in length", () => {
  const report = readTestReport(
    'junit',
    `<testsuites><testcase name="a"><failure message="1 &lt; 2">at <![CDATA[&lt;x> </failure>]]> &amp;&lt;anonymous&gt;&#10;&#x2713;&#0;</failure></testcase>
     <testcase name="b"><error message="m">${'x'.repeat(5_000)}</error></testcase>
     <testcase name="c"/></testsuites>`,
  );
  if (report.kind !== 'ok') throw new Error(report.why);
  expect(report.messages.a).toBe('1 < 2\nat &lt;x> </failure> &<anonymous>\n✓&#0;');
  expect(report.messages.b?.length).toBeLessThan(1_100);
  expect(Object.keys(report.messages)).toEqual(['a', 'b']);
  const many = Array.from(
    { length: 500 },
    (_, i) => `<testcase name="t${i}"><failure>no</failure></testcase>`,
  );
  const bounded = readTestReport('junit', `<testsuites>${many.join('')}</testsuites>`);
  expect(Object.keys(bounded.kind === 'ok' ? bounded.messages : {})).toHaveLength(200);
});

test('no text causes a reader error', () => {
  const xml = fc
    .array(
      fc.constantFrom(
        '<testsuites>',
        '</testsuites>',
        '<testcase name="a"',
        '/>',
        '>',
        '<testsuite',
        ' name=',
        '"',
        '&lt;',
        '&#x;',
        '<![CDATA[',
        ']]>',
        '<!--',
        '-->',
        '<?',
        'x',
        '<failure>',
      ),
    )
    .map((pieces) => pieces.join(''));
  const lines = fc
    .array(
      fc.constantFrom(
        'TAP version 13',
        'ok 1 - a',
        'not ok 2 b # TODO',
        '    ok 1 - c',
        '# Subtest: c',
        '    # Subtest: d',
        '  ---',
        '  ...',
        '1..2',
        '    1..1',
        '{',
        '}',
        'ok 3 - e {',
        'Bail out!',
        '{"Action":"pass","Package":"p","Test":"T"}',
        '{"Action":"fail","Package":"p"}',
        'running 2 tests',
        'test a::b ... ok',
        'test a::c ... FAILED',
        '---- a::c stdout ----',
        'failures:',
        'test_a (m.T.test_a) ... ok',
        'test_b (m.T)',
        'FAIL: test_b (m.T)',
        '======================================================================',
        'Ran 2 tests in 0.1s',
        '',
      ),
      { maxLength: 30 },
    )
    .map((pieces) => pieces.join('\n'));
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), xml, fc.json(), lines),
      fc.constantFrom<ReportFormat>(
        'junit',
        'jest-json',
        'mocha-json',
        'tap',
        'go-json',
        'cargo-text',
        'unittest-text',
      ),
      (text, format) => {
        const report = readTestReport(format, text);
        expect(['ok', 'unreadable']).toContain(report.kind);
        if (report.kind !== 'ok') return;
        // Words are kept of tests that failed, and of no others.
        for (const id of Object.keys(report.messages)) expect(report.tests[id]).toBe('failed');
      },
    ),
    { numRuns: 3_000 },
  );
});
