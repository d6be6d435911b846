import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Evidence } from '../../src/core/evidence/index.ts';
import { testNotes } from '../../src/core/reports/index.ts';
import { NODE_TEST, openSharedFixture, type SharedFixture } from './examination-world.ts';

let shared: SharedFixture;
beforeAll(async () => {
  shared = await openSharedFixture();
});
afterAll(() => shared.close());

const manifest = (name: string, dependencies: Record<string, string> = {}) =>
  JSON.stringify({ name, dependencies, scripts: { test: NODE_TEST } });
const testOf = (module: string, body: string) => `const assert = require('node:assert/strict');
const { test } = require('node:test');
const { run } = require('${module}');

test('runs', ${body});
`;
const core = (body: string) => ({ 'packages/core/index.js': `exports.run = (list) => ${body};\n` });
/** `api` depends on `core`; nothing on `archive`, whose tests take four seconds. */
const WORKSPACE = {
  'package.json': JSON.stringify({ workspaces: ['packages/*'] }),
  ...core('list.reduce((a, b) => a + b)'),
  'packages/core/package.json': manifest('@x/core'),
  'packages/core/test/core.test.js': testOf('../index.js', '() => assert.equal(run([1, 2]), 3)'),
  'packages/api/package.json': manifest('@x/api', { '@x/core': '*' }),
  'packages/api/index.js': "exports.run = (list) => String(require('../core/index.js').run(list));\n",
  'packages/api/test/api.test.js': testOf('../index.js', "() => assert.equal(run([2]), '2')"),
  'packages/archive/package.json': manifest('@x/archive'),
  'packages/archive/index.js': 'exports.run = () => 1;\n',
  'packages/archive/test/archive.test.js': testOf(
    '../index.js',
    'async () => { await new Promise((done) => setTimeout(done, 4000)); assert.equal(run(), 1); }',
  ),
};
const RIGHT = core('list.reduce((a, b) => a + b, 0)');
const BREAKING = core('list.length === 1 ? null : list.reduce((a, b) => a + b, 0)');
const CORE = 'packages/core > test/core.test.js > runs';
const API = 'packages/api > test/api.test.js > runs';
const ARCHIVE = 'packages/archive > test/archive.test.js > runs';
const PLAIN = 'exit code: packages/plain';
const notesOf = (evidence: Evidence | undefined) => testNotes({ evidence: evidence ? [evidence] : [] });

describe('in a workspace', () => {
  test('each package is tested by itself', async () => {
    const fixture = await shared.fixture({ files: WORKSPACE, test: 'npm test --workspaces' });
    const onBase = await fixture.base();
    expect(onBase.tests).toEqual({ [CORE]: 'passed', [API]: 'passed', [ARCHIVE]: 'passed' });
    expect(onBase.packages?.map(({ folder }) => folder)).toEqual([
      'packages/api',
      'packages/archive',
      'packages/core',
    ]);
    const { A, B } = await fixture.examine(onBase, { A: RIGHT, B: BREAKING });
    expect(A).toMatchObject({ survivor: true, baseTests: { passed: 3, total: 3, regressions: [] } });
    expect(B?.baseTests?.regressions).toEqual([API]);
    expect(notesOf(A)).toEqual([]);
  });

  test('without the time for all, changed packages and those that depend on them are tested, and it is said', async () => {
    const files = { files: WORKSPACE, test: 'pnpm -r test', examine: '3s' };
    const fixture = await shared.fixture(files);
    const onBase = await fixture.base();
    // On the base, `archive` used up the time before `core` had its turn.
    expect(onBase.tests).toEqual({ [API]: 'passed', [ARCHIVE]: 'passed' });
    const { A, B } = await fixture.examine(onBase, { A: RIGHT, B: BREAKING });
    expect(A).toMatchObject({ survivor: true, baseTests: { passed: 2, total: 2, regressions: [] } });
    expect(B?.baseTests?.regressions).toEqual([API]);
    expect(A?.cut?.leftOut[0]).toEqual({ what: 'packages', count: 1, of: 3 });
    expect(notesOf(A).join(' ')).toContain('the tests of 1 of 3 packages');
  });

  test('one whose tests tell nothing on the base is left out, and the others count', async () => {
    const broken = { name: '@x/broken', dependencies: { '@x/core': '*' }, scripts: { test: 'exit 3' } };
    const files = { ...WORKSPACE, 'packages/broken/package.json': JSON.stringify(broken) };
    const fixture = await shared.fixture({ files, test: 'npm test --workspaces' });
    const onBase = await fixture.base();
    expect(onBase).toMatchObject({ source: 'report', exitCode: 0 });
    const { A, B } = await fixture.examine(onBase, { A: RIGHT, B: BREAKING });
    expect(A).toMatchObject({
      survivor: true,
      baseTests: { passed: 3, total: 3, exitCode: 0, regressions: [] },
    });
    expect(B?.baseTests?.regressions).toEqual([API]);
    expect(notesOf(A)).toEqual([
      'The tests of packages/broken fail on the base commit without a report, so they were left out.',
    ]);
  });

  test('one without a report counts by its exit code, also where tests of another one fail on the base', async () => {
    const plain = { name: '@x/plain', dependencies: { '@x/core': '*' }, scripts: { test: 'node plain.js' } };
    const files = {
      ...WORKSPACE,
      'packages/archive/test/archive.test.js': testOf('../index.js', '() => assert.equal(run(), 2)'),
      'packages/plain/package.json': JSON.stringify(plain),
      'packages/plain/plain.js': "process.exit(require('../core/index.js').run([7]) === 7 ? 0 : 1);\n",
    };
    const fixture = await shared.fixture({ files, test: 'npm test --workspaces' });
    const onBase = await fixture.base();
    expect(onBase).toMatchObject({ exitCode: 1, tests: { [ARCHIVE]: 'failed', [PLAIN]: 'passed' } });
    const { A, B } = await fixture.examine(onBase, { A: RIGHT, B: BREAKING });
    expect(A?.baseTests?.regressions).toEqual([]);
    expect(B?.baseTests?.regressions).toEqual([PLAIN, API]);
  });

  test('a failure is checked by its package alone', async () => {
    const commands: string[] = [];
    const fixture = await shared.fixture({
      files: WORKSPACE,
      test: 'npm test --workspaces',
      exec: (spec, real) => {
        commands.push(spec.argv.join(' '));
        return real(spec);
      },
    });
    const onBase = await fixture.base();
    commands.length = 0;
    await fixture.examine(onBase, { A: BREAKING });
    const times = (folder: string) => commands.filter((one) => one.includes(`cd ${folder} `)).length;
    // Once on A, once more where it failed, and on base and A in other surroundings.
    expect([times('packages/api'), times('packages/core'), times('packages/archive')]).toEqual([4, 3, 3]);
  });

  test('the settings can name the packages', async () => {
    const packages = ['./packages/api/', 'packages/nowhere'];
    const fixture = await shared.fixture({ files: WORKSPACE, test: 'npm test --workspaces', packages });
    const onBase = await fixture.base();
    expect(onBase.tests).toEqual({ [API]: 'passed' });
    const { A, B } = await fixture.examine(onBase, { A: RIGHT, B: BREAKING });
    expect(B?.baseTests?.regressions).toEqual([API]);
    expect(notesOf(A)).toEqual([
      '`checks.packages` names packages/nowhere, whose tests Runoff cannot run separately.',
      'Only the tests of the packages in `checks.packages` were run: packages/api.',
    ]);
  });
});

const pom = (name: string, uses: readonly string[] = []) =>
  `<project><artifactId>${name}</artifactId><dependencies>${uses.map((one) => `<dependency><artifactId>${one}</artifactId></dependency>`).join('')}</dependencies></project>\n`;
/** Tests modules as Maven does: those of `-pl` with the ones that they need, unless a file excludes their tests. */
const MVNW = `
wanted='core api archive'
while [ $# -gt 0 ]; do if [ "$1" = -pl ]; then wanted=$(echo "core,$2" | tr , ' '); fi; shift; done
for one in $wanted; do
  grep -qF '**' $one/target/runoff-untested 2>/dev/null && continue
  echo "$one" >>tested
  mkdir -p $one/target/surefire-reports
  if /opt/toolchain/bin/node $one/test.js; then failure=''; else failure='<failure message="wrong"/>'; fi
  echo '<testsuite name="T"><testcase name="runs" classname="T">'"$failure"'</testcase></testsuite>' >$one/target/surefire-reports/TEST-T.xml
done
MORE
`;
const sum = (body: string) => ({ 'core/sum.js': `module.exports = (list) => ${body};\n` });
/** `api` depends on `core`; nothing on `archive`, whose tests take four seconds. */
const MODULES = {
  mvnw: MVNW.replace('MORE', ''),
  'pom.xml':
    '<project><artifactId>top</artifactId><packaging>pom</packaging><modules><module>core</module><module>api</module><module>archive</module></modules></project>\n',
  ...sum('list.reduce((a, b) => a + b)'),
  'core/pom.xml': pom('core'),
  'core/test.js': "process.exit(require('./sum.js')([1, 2]) === 3 ? 0 : 1);\n",
  'api/pom.xml': pom('api', ['core']),
  'api/test.js': "process.exit(String(require('../core/sum.js')([2])) === '2' ? 0 : 1);\n",
  'archive/pom.xml': pom('archive'),
  'archive/test.js': 'setTimeout(() => {}, 4000);\n',
  '.gitignore': 'target/\n',
};
const TEST = 'sh ./mvnw -q test';

describe('in a Maven build', () => {
  const all = { 'core > T > runs': 'passed', 'api > T > runs': 'passed', 'archive > T > runs': 'passed' };
  const right = sum('list.reduce((a, b) => a + b, 0)');
  const breaking = sum('list.length === 1 ? null : list.reduce((a, b) => a + b, 0)');

  test('all modules are tested by one command if there is time', async () => {
    const fixture = await shared.fixture({ files: MODULES, test: TEST });
    const onBase = await fixture.base();
    expect(onBase.tests).toEqual(all);
    const { A, B } = await fixture.examine(onBase, { A: right, B: breaking });
    expect(A).toMatchObject({ survivor: true, baseTests: { passed: 3, total: 3 } });
    expect(B?.baseTests?.regressions).toEqual(['api > T > runs']);
    expect(notesOf(A)).toEqual([]);
  });

  test('without the time for all, changed modules and those that depend on them are tested, and it is said', async () => {
    const fixture = await shared.fixture({ files: MODULES, test: TEST, examine: '3s' });
    const onBase = await fixture.base();
    expect(onBase.tests).toEqual(all);
    const { A, B } = await fixture.examine(onBase, { A: right, B: breaking });
    expect(A).toMatchObject({ survivor: true, baseTests: { passed: 2, total: 2, regressions: [] } });
    expect(B?.baseTests?.regressions).toEqual(['api > T > runs']);
    expect(A?.cut?.leftOut[0]).toEqual({ what: 'packages', count: 1, of: 3 });
    const { C } = await fixture.examine(onBase, { C: { 'api/more.js': 'module.exports = 1;\n' } });
    expect(C?.baseTests).toMatchObject({ passed: 1, total: 1 });
  });

  test('modules that cannot be tested without the others are tested with them', async () => {
    const needy = MVNW.replace(
      'MORE',
      '[ -d archive/target/surefire-reports ] || rm -r api/target/surefire-reports',
    );
    const fixture = await shared.fixture({ files: { ...MODULES, mvnw: needy }, test: TEST, examine: '3s' });
    const onBase = await fixture.base();
    const { A, B } = await fixture.examine(onBase, { A: right, B: breaking });
    expect(A).toMatchObject({ survivor: true, baseTests: { passed: 3, total: 3 } });
    expect(B?.baseTests?.regressions).toEqual(['api > T > runs']);
    expect(A?.cut?.leftOut.map(({ what }) => what) ?? []).not.toContain('packages');
  });

  test('the settings can name the modules', async () => {
    const fixture = await shared.fixture({ files: MODULES, test: TEST, packages: ['api'] });
    const onBase = await fixture.base();
    expect(onBase.tests).toEqual({ 'api > T > runs': 'passed' });
    const { B } = await fixture.examine(onBase, { B: breaking });
    expect(B?.baseTests?.regressions).toEqual(['api > T > runs']);
  });
});
