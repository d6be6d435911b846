import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSharedFixture, type SharedFixture } from './examination-world.ts';

let shared: SharedFixture;
beforeAll(async () => {
  shared = await openSharedFixture();
});
afterAll(() => shared.close());

const report = (group: string, cases: string): string =>
  `<testsuite name="${group}" tests="1">${cases}</testsuite>`;
/** Writes reports as Maven does; what it says about sum.js depends on sum.js. */
const MVNW = `
mkdir -p core/target/surefire-reports cli/target/surefire-reports
if /opt/toolchain/bin/node -e "process.exit(require('./sum.js')([1, 2]) === 3 ? 0 : 1)"
then outcome=''; else outcome='<failure message="wrong sum"/>'; fi
echo '<testsuite name="x.SumTest"><testcase name="adds" classname="x.SumTest">'"$outcome"'</testcase></testsuite>' > core/target/surefire-reports/TEST-x.SumTest.xml
echo '<testsuite name="x.SumTest"><testcase name="adds" classname="x.SumTest"/></testsuite>' > cli/target/surefire-reports/TEST-x.SumTest.xml
`;
const REPOSITORY = {
  'pom.xml': '<project/>\n',
  mvnw: MVNW,
  'sum.js': 'module.exports = (list) => list.reduce((a, b) => a + b);\n',
  '.gitignore': 'target/\n',
};
const TEST = 'sh ./mvnw -q test';

test('reports of all modules are read, and none of an earlier command', async () => {
  // As a build of a candidate could leave it.
  const stale = `mkdir -p old/target/surefire-reports; echo '${report('x.Old', '<testcase name="a"/>')}' > old/target/surefire-reports/TEST-x.Old.xml`;
  const fixture = await shared.fixture({ files: REPOSITORY, test: TEST, build: stale });
  const base = await fixture.base();
  expect(base).toMatchObject({
    source: 'report',
    tests: { 'core > x.SumTest > adds': 'passed', 'cli > x.SumTest > adds': 'passed' },
  });
  expect(Object.keys(base.tests)).toHaveLength(2);
  const { A, B } = await fixture.examine(base, {
    A: { 'sum.js': 'module.exports = (list) => list.reduce((a, b) => a + b, 0);\n' },
    B: { 'sum.js': 'module.exports = () => 0;\n' },
  });
  expect(A).toMatchObject({ survivor: true, baseTests: { passed: 2, total: 2 } });
  expect(B?.baseTests?.regressions).toEqual(['core > x.SumTest > adds']);
});

test('links, pipes and folders are no reports', async () => {
  const odd = `
cd core/target/surefire-reports
ln -s /etc/passwd TEST-link.xml; mkfifo TEST-pipe.xml; mkdir TEST-folder.xml; ln -s /repo loop
`;
  const fixture = await shared.fixture({ files: { ...REPOSITORY, mvnw: `${MVNW}${odd}` }, test: TEST });
  expect(Object.keys((await fixture.base()).tests)).toHaveLength(2);
});

test.each([
  ['too many files', 'for i in $(seq 5001); do echo > core/target/surefire-reports/TEST-$i.xml; done'],
  ['a file that is too large', 'truncate -s 40M core/target/surefire-reports/TEST-large.xml'],
  ['a tree that is too deep', 'd=.; for i in $(seq 40); do d=$d/d; done; mkdir -p $d'],
  ['a file that is no report', 'echo "<x>" > core/target/surefire-reports/TEST-damaged.xml'],
])('%s: then only the exit code counts', async (_, more) => {
  const fixture = await shared.fixture({ files: { ...REPOSITORY, mvnw: `${MVNW}${more}\n` }, test: TEST });
  expect(await fixture.base()).toMatchObject({ source: 'exit-code', exitCode: 0 });
});
