import { describe, expect, test } from 'vitest';
import { reportPlan } from '../../../src/core/settings/index.ts';
import { readTestReport } from '../../../src/core/test-reports/index.ts';

const lines = (files: Readonly<Record<string, string>>): string =>
  Object.entries(files)
    .map((file) => `${JSON.stringify(file)}\n`)
    .join('');

/** Of Surefire 2.22.3, without its properties. */
const SUREFIRE = `<?xml version="1.0" encoding="UTF-8"?>
<testsuite xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" name="x.SumTest" time="0.397" tests="3" errors="0" skipped="1" failures="1">
  <properties>
  </properties>
  <testcase name="adds" classname="x.SumTest" time="0.045"/>
  <testcase name="fails" classname="x.SumTest" time="0.092">
    <failure message="of nothing expected:&lt;4&gt; but was:&lt;3&gt;" type="java.lang.AssertionError"><![CDATA[java.lang.AssertionError: of nothing expected:<4> but was:<3>
	at x.SumTest.fails(SumTest.java:2)
]]></failure>
  </testcase>
  <testcase name="later" classname="x.SumTest" time="0">
    <skipped/>
  </testcase>
</testsuite>`;

test('files of Surefire and Gradle are one report, named by module and class', () => {
  const gradle = '<testsuite name="y.A"><testcase name="works()" classname="y.A$Inner"/></testsuite>';
  const read = readTestReport(
    'junit-files',
    lines({
      'core/target/surefire-reports/TEST-x.SumTest.xml': SUREFIRE,
      'target/surefire-reports/TEST-x.SumTest.xml': SUREFIRE,
      'libs/a/build/test-results/test/TEST-y.A.xml': gradle,
    }),
  );
  expect(read).toMatchObject({
    kind: 'ok',
    tests: {
      'core > x.SumTest > adds': 'passed',
      'core > x.SumTest > fails': 'failed',
      'core > x.SumTest > later': 'skipped',
      'x.SumTest > adds': 'passed',
      'libs/a > y.A$Inner > works()': 'passed',
    },
    messages: {
      'x.SumTest > fails':
        'of nothing expected:<4> but was:<3>\njava.lang.AssertionError: of nothing expected:<4> but was:<3>\n\tat x.SumTest.fails(SumTest.java:2)',
    },
  });
});

test('meson writes one file in its build folder, whose name no test needs', () => {
  const text =
    '<testsuites tests="2"><testsuite name="shop"><testcase name="shop / adds" classname="shop"/><testcase name="shop:edge / empty" classname="shop"><failure /></testcase></testsuite></testsuites>';
  expect(readTestReport('junit-files', lines({ 'build/meson-logs/testlog.junit.xml': text }))).toMatchObject({
    tests: { 'shop > shop / adds': 'passed', 'shop > shop:edge / empty': 'failed' },
  });
  expect(reportPlan('meson test -C build').commands).toMatchObject([
    { command: 'meson test -C build', report: { source: 'tree', format: 'junit-files' } },
  ]);
});

test('modules in folders that are named like folders for reports are told apart', () => {
  const works = '<testsuite name="y.A"><testcase name="works" classname="y.A"/></testsuite>';
  const read = readTestReport(
    'junit-files',
    lines({
      'build/core/target/surefire-reports/TEST-y.A.xml': works,
      'build/api/target/failsafe-reports/TEST-y.A.xml': works,
      'build/build/test-results/jvmTest/TEST-y.A.xml': works,
      'target/build/test-results/TEST-y.A.xml': works,
    }),
  );
  expect(read.kind === 'ok' && Object.keys(read.tests)).toEqual([
    'build/core > y.A > works',
    'build/api > y.A > works',
    'build > y.A > works',
    'target > y.A > works',
  ]);
});

test.each([
  '',
  'no JSON',
  '["only a path"]\n',
  '[1, 2]\n',
  '["a.xml", "<x/>"]\n',
  '["a.xml", "<!DOCTYPE x>"]\n',
])('what is none is unreadable: %j', (text) => {
  expect(readTestReport('junit-files', text).kind).toBe('unreadable');
});

describe('Maven and Gradle', () => {
  const planned = (command: string) => reportPlan(command, {}, '/out').commands[0];

  test.each([
    ['mvn -q -B -o test', 'mvn -q -B -o test -Dmaven.test.failure.ignore=true'],
    ['sh ./mvnw verify', 'sh ./mvnw verify -Dmaven.test.failure.ignore=true'],
    ['./gradlew --offline check', './gradlew --offline check --continue'],
    ['gradle :core:test', 'gradle :core:test --continue'],
  ])('%s goes on where tests fail, and leaves files', (command, expected) => {
    expect(planned(command)).toMatchObject({ command: expected, report: { source: 'tree' } });
  });

  test.each(['mvn -DskipTests package', 'mvn compile', 'gradle build -x test', 'gradle assemble'])(
    '%s runs no tests',
    (command) => {
      expect(planned(command)?.report?.source).not.toBe('tree');
    },
  );

  test('some files are run by the names of their classes', () => {
    const files = ['core/src/test/java/x/SumTest.java', 'src/test/kotlin/x/CliTest.kt', 'README.md'];
    expect(reportPlan('mvn -o test').focus(files)).toMatchObject([
      {
        command:
          'mvn -o test -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false -Dmaven.test.failure.ignore=true "$@"',
        args: ['-Dtest=SumTest,CliTest'],
      },
    ]);
    expect(reportPlan('gradle --offline test').focus(files)).toMatchObject([
      {
        command: 'gradle --offline --continue test "$@"',
        args: ['--tests', '*SumTest', '--tests', '*CliTest'],
      },
    ]);
    expect(reportPlan('gradle check').focus(files)).toBeNull();
    expect(reportPlan('mvn -o test').focus(['README.md'])).toBeNull();
  });
});
