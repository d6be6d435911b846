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

/** Writes what pytest would, where the environment says so; the test fails if sum.js is wrong. */
const PYTEST_LIKE = `file=$(echo "$PYTEST_ADDOPTS" | sed 's/^--junitxml=//; s/ .*//')
if /opt/toolchain/bin/node -e "process.exit(require('./sum.js')([1, 2]) === 3 ? 0 : 1)"
then outcome=''; code=0; else outcome='<failure message="wrong sum"/>'; code=1; fi
echo '<testsuites><testsuite name="pytest"><testcase file="test_sum.py" classname="test_sum" name="test_adds">'"$outcome"'</testcase></testsuite></testsuites>' > "$file"
echo '=== 1 passed in 0.01s ==='
exit $code
`;

test('a script of tests counts by the reports of the runners that it starts, one after the other', async () => {
  const script =
    'sh tools/pytest; code=$?; /opt/toolchain/bin/node --test sum.test.js || code=1; exit $code\n';
  const files = {
    'sum.js': REPOSITORY['sum.js'],
    'sum.test.js': "require('node:test').test('is a function', () => require('./sum.js')([1]));\n",
    'tools/pytest': PYTEST_LIKE,
    'check.sh': script,
  };
  // As a build of a candidate could leave it.
  const build =
    'mkdir -p ~/reports; echo "<testsuites/>" > ~/reports/pytest.xml; ln -sf /etc/passwd ~/reports/rspec.json';
  const fixture = await shared.fixture({ files, test: 'sh check.sh', build });
  const base = await fixture.base();
  expect(base).toMatchObject({
    source: 'report',
    tests: { 'test_sum.py > test_adds': 'passed', 'is a function': 'passed' },
  });
  const { A, B } = await fixture.examine(base, {
    A: { 'sum.js': 'module.exports = (list) => list.reduce((a, b) => a + b, 0);\n' },
    B: { 'sum.js': 'module.exports = () => 0;\n' },
  });
  expect(A).toMatchObject({ survivor: true, baseTests: { passed: 2, total: 2 } });
  expect(B?.baseTests?.regressions).toEqual(['test_sum.py > test_adds']);
});

/** Replaces every report by a link, at any time until the end of the process. */
const LINKING = `exports.sum = (a, b) => a - b;
const fs = require('node:fs');
const replace = () => {
  for (const name of fs.readdirSync(process.env.HOME)) {
    const path = process.env.HOME + '/' + name;
    if (!/\\.(?:xml|json|tap)$/.test(name)) continue;
    fs.unlinkSync(path);
    fs.symlinkSync('/proc/self/mem', path);
  }
};
replace();
process.on('exit', replace);
`;
const SUM = {
  'src/sum.js': 'exports.sum = (a, b) => a + b;\n',
  'test/sum.test.js':
    "require('node:test').test('sums', () => require('node:assert').equal(require('../src/sum.js').sum(1, 2), 3));\n",
};

test('a report that a candidate replaces by a link to unreadable memory is none, and harms nobody else', async () => {
  let links = 0;
  const fixture = await shared.fixture({
    files: SUM,
    exec: async (spec, real) => {
      const result = await real(spec);
      const [shell = '', option = '', script = '', ...rest] = spec.argv;
      if (!script.includes('cat -- "$1"')) return result;
      const cat = await real({ ...spec, argv: [shell, option, 'cat "$1"', ...rest] });
      if (cat.stderr.includes('Input/output error')) links += 1;
      return result;
    },
  });
  const { A, B } = await fixture.examine(await fixture.base(), {
    A: { 'src/sum.js': LINKING },
    B: { 'src/sum.js': 'exports.sum = (a, b) => b + a;\n' },
  });
  expect(links).toBeGreaterThan(0);
  expect([A?.survivor, B?.survivor]).toEqual([false, true]);
});

test('where a build has run code of a candidate, what git says about the machine is not believed', async () => {
  const said = 'fatal: write error: Input/output error\n';
  const failing = (build?: string) =>
    shared.fixture({
      files: SUM,
      ...(build ? { build } : {}),
      exec: async (spec, real) =>
        spec.argv[1] === 'apply' && spec.area.id.endsWith('x-A-own')
          ? { ...(await real(spec)), exitCode: 128, stderr: said }
          : real(spec),
    });
  const B = { 'src/sum.js': 'exports.sum = (a, b) => b + a;\n' };
  const A = { ...B, 'test/more.test.js': SUM['test/sum.test.js'].replace('sums', 'adds') };
  const built = await failing('true');
  const found = await built.examine(await built.base(), { A, B });
  expect(found.A?.gates).toContainEqual(expect.objectContaining({ gate: 'collected', passed: false }));
  expect(found.B).toMatchObject({ survivor: true });
  const unbuilt = await failing();
  await expect(unbuilt.examine(await unbuilt.base(), { A, B })).rejects.toMatchObject({
    code: 'DISK_FAILING',
  });
});
