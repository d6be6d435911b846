import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestRun } from '../../src/core/evidence/index.ts';
import { rememberInMemory } from '../../src/runs/examine/areas.ts';
import { NODE_TEST, openSharedFixture, type SharedFixture } from './examination-world.ts';

let shared: SharedFixture;
/** What the base suite of `REPOSITORY` says there. */
let base: TestRun;
beforeAll(async () => {
  shared = await openSharedFixture();
  base = await (await shared.fixture({ files: REPOSITORY })).base();
});
afterAll(() => shared.close());

const MANIFEST = { 'package.json': '{ "type": "module" }\n' };
const production = (body: string, more = '') => ({
  'src/sum.js': `export const sum = (list) => ${body};\n${more}`,
});
const testFile = (name: string, body: string, imports = 'sum') => ({
  [`test/${name}.test.js`]: `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ${imports} } from '../src/sum.js';

${body}
`,
});
const FIRST = "test('adds two', () => assert.equal(sum([1, 2]), 3));";
/** Wrong for an empty list. */
const REPOSITORY = {
  ...MANIFEST,
  ...production('list.reduce((a, b) => a + b)'),
  ...testFile('sum', FIRST),
};
const RIGHT = production('list.reduce((a, b) => a + b, 0)');
const HASTY = production('list.length === 0 ? null : list.reduce((a, b) => a + b)');
const EMPTY = "test('of nothing is zero', () => assert.equal(sum([]), 0));";

describe('every survivor’s tests are run on the others’ code', () => {
  test('and count if they fail on the base, else as guards', async () => {
    const fixture = await shared.fixture({ files: REPOSITORY });
    const negative = "test('negative', () => assert.equal(sum([-1, 1]), 0));";
    const { A, B } = await fixture.examine(base, {
      A: { ...RIGHT, ...testFile('empty', `${EMPTY}\n${negative}`) },
      B: HASTY,
    });
    expect(A).toMatchObject({ survivor: true, addedTests: 2, provenTests: 1, peerTests: [] });
    expect(B?.peerTests).toEqual([
      {
        author: 'A',
        passed: 0,
        total: 1,
        failing: ['test/empty.test.js > of nothing is zero'],
        results: 'f',
        guards: { passed: 1, total: 1, failing: [] },
      },
    ]);
    expect(fixture.table()).toMatchObject({
      columns: ['base', 'A', 'B'],
      suites: [
        { kind: 'base', tests: [{ id: 'test/sum.test.js > adds two', marks: 'ppp' }] },
        {
          kind: 'peer',
          author: 'A',
          tests: [{ id: 'test/empty.test.js > of nothing is zero', marks: 'fpf' }],
        },
        { kind: 'guard', author: 'A', tests: [{ id: 'test/empty.test.js > negative', marks: 'ppp' }] },
      ],
    });
    // The author's files alone, on the base and on the other, and what failed once more.
    expect(fixture.tested.filter((area) => /on-base|from/.test(area))).toEqual([
      ...['A-on-base', 'B-from-A'],
      ...['A-on-base-2', 'B-from-A-2'],
    ]);
  });

  test('including tests that were added to a base file', async () => {
    const fixture = await shared.fixture({ files: REPOSITORY });
    const { B } = await fixture.examine(base, {
      A: { ...RIGHT, ...testFile('sum', `${FIRST}\n${EMPTY}`) },
      B: HASTY,
    });
    expect(B?.peerTests).toMatchObject([
      { author: 'A', passed: 0, total: 1, failing: ['test/sum.test.js > of nothing is zero'] },
    ]);
  });

  const PRIVATE = testFile('plus', "test('plus', () => assert.equal(plus(1, 2), 3));", 'plus');
  const WITH_PLUS = { ...production('list.reduce(plus, 0)', 'export const plus = (a, b) => a + b;\n') };

  test('and a name that only its author has penalises nobody', async () => {
    const fixture = await shared.fixture({ files: REPOSITORY });
    const { B } = await fixture.examine(base, { A: { ...WITH_PLUS, ...PRIVATE }, B: RIGHT });
    expect(B?.peerTests).toEqual([{ author: 'A', passed: 0, total: 0, failing: [], results: 'n' }]);
  });

  test('and a name that another candidate has is required of all', async () => {
    const fixture = await shared.fixture({ files: REPOSITORY });
    const other = production('list.reduce(plus, 0)', 'export function plus(a, b) {\n  return b + a;\n}\n');
    const { B, C } = await fixture.examine(base, {
      A: { ...WITH_PLUS, ...PRIVATE },
      B: RIGHT,
      C: other,
    });
    expect(B?.peerTests).toMatchObject([{ author: 'A', passed: 0, total: 1, results: 'f' }]);
    expect(C?.peerTests).toMatchObject([{ author: 'A', passed: 1, total: 1, results: 'p' }]);
  });

  test('and a name in the task is required of all', async () => {
    const fixture = await shared.fixture({
      files: REPOSITORY,
      asked: 'Export `plus`, which adds two numbers.',
    });
    const { B } = await fixture.examine(base, { A: { ...WITH_PLUS, ...PRIVATE }, B: RIGHT });
    expect(B?.peerTests).toMatchObject([{ author: 'A', passed: 0, total: 1, results: 'f' }]);
  });

  test('and tests whose names hold measured values are compared', async () => {
    const measured = (name: string, list: string, sum: number) =>
      testFile(
        name,
        `test(\`${name} ms=\${performance.now()}\`, () => assert.equal(sum([${list}]), ${sum}));`,
      );
    const files = { ...REPOSITORY, ...measured('fast', '1, 2', 3) };
    const fixture = await shared.fixture({ files });
    const onBase = await fixture.base();
    expect(onBase.flaky).toBeUndefined();
    const { A, B } = await fixture.examine(onBase, {
      A: { ...RIGHT, ...measured('empty', '', 0) },
      B: production('list.reduce((a, b) => b + a, 0)'),
    });
    expect(A?.baseTests).toMatchObject({ passed: 2, total: 2, regressions: [] });
    expect(B?.baseTests).toMatchObject({ passed: 2, total: 2, regressions: [] });
    expect(B?.peerTests).toMatchObject([{ author: 'A', passed: 1, total: 1 }]);
  });

  test('including files that the test command does not name', async () => {
    const fixture = await shared.fixture({ files: REPOSITORY, test: `${NODE_TEST} test/sum.test.js` });
    const { A, B } = await fixture.examine(await fixture.base(), {
      A: { ...RIGHT, ...testFile('empty', EMPTY) },
      B: HASTY,
    });
    expect(A?.provenTests).toBe(1);
    expect(B?.peerTests).toMatchObject([{ author: 'A', passed: 0, total: 1 }]);
  });

  test('and those of a single survivor must fail without its change', async () => {
    const fixture = await shared.fixture({ files: REPOSITORY });
    const { A } = await fixture.examine(base, { A: { ...RIGHT, ...testFile('empty', EMPTY) } });
    expect(A).toMatchObject({ survivor: true, provenTests: 1, peerTests: [] });
  });
});

describe('equal work is executed once:', () => {
  test('the same production code by several authors', async () => {
    const fixture = await shared.fixture({ files: REPOSITORY });
    const { A, B, C } = await fixture.examine(base, {
      A: { ...RIGHT, ...testFile('empty', EMPTY) },
      B: RIGHT,
      C: HASTY,
    });
    expect(A?.baseTests).toEqual(B?.baseTests);
    // B wrote A's code: on it, A's tests are run at home.
    expect(B?.peerTests).toEqual([]);
    expect(C?.peerTests).toMatchObject([{ author: 'A', total: 1 }]);
    expect(fixture.tested.filter((area) => area.endsWith('-base'))).toHaveLength(3);
  });

  test('results from before a crash', async () => {
    const remember = rememberInMemory();
    const fixture = await shared.fixture({ files: REPOSITORY, remember });
    const candidates = { A: { ...RIGHT, ...testFile('empty', EMPTY) }, B: HASTY };
    const first = await fixture.examine(base, candidates);
    const before = fixture.tested.length;
    expect(await fixture.examine(base, candidates)).toEqual(first);
    expect(fixture.tested.length).toBe(before);
  });
});

describe('flaky tests', () => {
  /** Fails in the areas whose name ends so. */
  const moody = (name: string, ends: readonly string[]) =>
    `test('${name}', () => assert.ok(!${JSON.stringify(ends)}.some((end) => process.env.AREA.endsWith(end))));`;

  test('on the base are named, and penalise nobody', async () => {
    const files = { ...REPOSITORY, ...testFile('moody', moody('moody', ['x-base-2', 'A-base', 'A-own'])) };
    const fixture = await shared.fixture({ files });
    const onBase = await fixture.base();
    expect(onBase).toMatchObject({ runs: 3, flaky: ['test/moody.test.js > moody'] });
    const { A } = await fixture.examine(onBase, { A: { ...RIGHT, ...testFile('empty', EMPTY) } });
    expect(A).toMatchObject({
      survivor: true,
      baseTests: {
        passed: 1,
        total: 1,
        regressions: [],
        flaky: ['test/moody.test.js > moody'],
        baseRuns: 3,
      },
    });
  });

  test('on a candidate run again, alone, and two of three results decide', async () => {
    const once = testFile('once', moody('once', ['A-base']));
    const twice = testFile('twice', moody('twice', ['A-base', 'A-base-3']));
    const fixture = await shared.fixture({ files: { ...REPOSITORY, ...once, ...twice } });
    const { A } = await fixture.examine(await fixture.base(), { A: RIGHT });
    expect(A?.baseTests).toMatchObject({
      regressions: ['test/twice.test.js > twice'],
      flaky: ['test/once.test.js > once', 'test/twice.test.js > twice'],
    });
    expect(fixture.tested.filter((area) => area.startsWith('A-base'))).toEqual([
      'A-base',
      'A-base-2',
      'A-base-3',
    ]);
  });

  test('run again alone also where AVA names them by a part of their file’s path, and alone without it', async () => {
    const ava = `files=
for one; do case $one in --*) ;; *) files="$files $one" ;; esac; done
[ -n "$files" ] || files="test/once.js test/sure.js"
set -- $files
echo "TAP version 13"
number=0
code=0
for file; do
  number=$((number + 1))
  [ $# -gt 1 ] && name="$(basename "$file" .js) › passes" || name=passes
  if /opt/toolchain/bin/node "$file"; then echo "ok $number - $name"; else echo "not ok $number - $name"; code=1; fi
done
echo "1..$number"
exit $code
`;
    const files = {
      ...REPOSITORY,
      'tools/ava': ava,
      'test/once.js': "process.exitCode = process.env.AREA.endsWith('A-base') ? 1 : 0;\n",
      'test/sure.js': 'process.exitCode = 0;\n',
    };
    const fixture = await shared.fixture({ files, test: 'sh tools/ava' });
    const onBase = await fixture.base();
    expect(onBase.tests).toEqual({ 'test/once.js > passes': 'passed', 'test/sure.js > passes': 'passed' });
    const { A } = await fixture.examine(onBase, { A: RIGHT });
    expect(A).toMatchObject({
      survivor: true,
      baseTests: { passed: 2, regressions: [], flaky: ['test/once.js > passes'] },
    });
  });

  test('run twice, not three times, if they fail steadily', async () => {
    const fixture = await shared.fixture({ files: REPOSITORY });
    const { A } = await fixture.examine(base, { A: production('list.length') });
    expect(A?.baseTests?.regressions).toEqual(['test/sum.test.js > adds two']);
    expect(A?.baseTests).not.toHaveProperty('flaky');
    expect(fixture.tested.filter((area) => area.startsWith('A-base'))).toEqual(['A-base', 'A-base-2']);
  });

  test('run once on an eliminated candidate', async () => {
    const fixture = await shared.fixture({ files: REPOSITORY });
    const { A } = await fixture.examine(base, {
      A: { ...production('list.length'), ...testFile('sum', 'test.skip();'), ...testFile('empty', EMPTY) },
    });
    expect(A).toMatchObject({ survivor: false, baseTests: { regressions: ['test/sum.test.js > adds two'] } });
    expect(fixture.tested).toEqual(['A-base']);
  });

  test("differ from a candidate's own steadily failing tests, which eliminate it", async () => {
    const fixture = await shared.fixture({ files: REPOSITORY });
    const { A } = await fixture.examine(base, {
      A: { ...RIGHT, ...testFile('extra', "test('of one is two', () => assert.equal(sum([1]), 2));") },
    });
    expect(A).toMatchObject({ survivor: false, baseTests: { regressions: [] } });
    expect(A?.gates.find((gate) => !gate.passed)).toMatchObject({
      gate: 'tests-run',
      because: expect.stringContaining('of one is two'),
    });
  });

  test('of its own do not eliminate a candidate', async () => {
    const fixture = await shared.fixture({ files: REPOSITORY });
    const { A } = await fixture.examine(base, {
      A: { ...RIGHT, ...testFile('empty', `${EMPTY}\n${moody('moody', ['A-own'])}`) },
    });
    expect(A).toMatchObject({ survivor: true });
  });
});

test('a test that survivors of two families break is contested', async () => {
  const strict = testFile('strict', "test('of nothing throws', () => assert.throws(() => sum([])));");
  const fixture = await shared.fixture({ files: { ...REPOSITORY, ...strict } });
  const { A, B, C } = await fixture.examine(
    await fixture.base(),
    { A: RIGHT, B: HASTY, C: production('list.reduce((a, b) => b + a)') },
    { A: 'one', B: 'other', C: 'one' },
  );
  for (const broken of [A, B]) {
    expect(broken?.baseTests).toMatchObject({
      regressions: [],
      contested: ['test/strict.test.js > of nothing throws'],
    });
  }
  expect(C?.baseTests).not.toHaveProperty('contested');
});

describe('runners that write to standard output', () => {
  /** A program that prints TAP, as people write it by hand or with a small library. */
  const program = (...checks: readonly (readonly [string, string])[]) => `import { sum } from '../src/sum.js';
const checks = [${checks.map(([name, check]) => `[${JSON.stringify(name)}, () => ${check}]`).join(', ')}];
console.log('TAP version 13');
for (const [i, [name, check]] of checks.entries()) console.log((check() ? 'ok ' : 'not ok ') + (i + 1) + ' ' + name);
console.log('1..' + checks.length);
`;
  const ADDS = ['adds', 'sum([1, 2]) === 3'] as const;
  const KEEPS = ['keeps', 'sum([4]) === 4'] as const;
  const files = {
    ...MANIFEST,
    ...production('list.reduce((a, b) => a + b)'),
    'test/sum.js': program(ADDS, KEEPS),
  };
  const command = '/opt/toolchain/bin/node test/sum.js';

  test('are parsed, also for files that the command does not name', async () => {
    const fixture = await shared.fixture({ files, test: command });
    const onBase = await fixture.base();
    expect(onBase).toMatchObject({ source: 'report', tests: { adds: 'passed', keeps: 'passed' } });
    const { A, B } = await fixture.examine(onBase, {
      A: { ...RIGHT, 'test/empty.js': program(['empty', 'sum([]) === 0'], ['one', 'sum([1]) === 1']) },
      B: production('list.length === 0 ? null : list.length'),
    });
    expect(A).toMatchObject({ survivor: true, provenTests: 2, baseTests: { passed: 2, total: 2 } });
    expect(B?.baseTests?.regressions).toEqual(['adds', 'keeps']);
    expect(B?.peerTests).toMatchObject([
      { author: 'A', passed: 1, total: 2, failing: ['test/empty.js > empty'], results: 'fp' },
    ]);
  });

  test('fail a candidate whose test file crashes them', async () => {
    const all = `import { readdirSync } from 'node:fs';
const here = import.meta.dirname;
const files = readdirSync(here).filter((name) => name.endsWith('.test.js'));
const loaded = [];
for (const file of files) loaded.push(await import(here + '/' + file));
console.log('TAP version 13');
for (const [i, { holds }] of loaded.entries()) console.log((holds() ? 'ok ' : 'not ok ') + (i + 1) + ' ' + files[i]);
console.log('1..' + files.length);
`;
    const fixture = await shared.fixture({
      files: {
        ...MANIFEST,
        ...production('list.reduce((a, b) => a + b)'),
        'test/all.js': all,
        'test/sum.test.js': 'export const holds = () => true;\n',
      },
      test: '/opt/toolchain/bin/node test/all.js',
    });
    const { A } = await fixture.examine(await fixture.base(), {
      A: { ...RIGHT, 'test/new.test.js': "import '../src/nowhere.js';\nexport const holds = () => true;\n" },
    });
    expect(A?.baseTests?.regressions).toEqual([]);
    expect(A?.gates.find((gate) => gate.gate === 'tests-run')).toMatchObject({
      passed: false,
      because: expect.stringContaining("With the patch's own test files, the tests wrote no report"),
    });
  });

  test('give no report if a candidate imitates their output', async () => {
    const fixture = await shared.fixture({ files, test: command });
    const { A } = await fixture.examine(await fixture.base(), {
      A: production('list.length', "console.log('ok 1 adds');\nconsole.log('ok 2 keeps');\n"),
    });
    expect(A).toMatchObject({ survivor: false });
    expect(A?.gates.find((gate) => gate.gate === 'tests-run')).toMatchObject({
      passed: false,
      because: expect.stringContaining('wrote no report'),
    });
  });
});

test('tests that hang with a candidate are stopped long before `timeout.check`, and are not run again', async () => {
  const limits = new Map<string, number>();
  const fixture = await shared.fixture({
    files: REPOSITORY,
    exec: (spec, real) => {
      const { area, argv } = spec;
      if (argv.join(' ').includes('--test')) limits.set(area.id.replace(/^.*-x-/, ''), spec.limits.wallMs);
      return real({ ...spec, limits: { ...spec.limits, wallMs: Math.min(spec.limits.wallMs, 10_000) } });
    },
  });
  const { A, B } = await fixture.examine(base, {
    A: { ...production('{ for (;;); }'), ...testFile('empty', EMPTY) },
    B: RIGHT,
  });
  expect(A?.survivor).toBe(false);
  expect(A?.gates.find(({ passed }) => !passed)).toMatchObject({
    gate: 'tests-run',
    because: expect.stringContaining('ten times the duration on the base commit'),
  });
  expect(B?.survivor).toBe(true);
  expect([...limits.keys()].filter((area) => area.startsWith('A-'))).toEqual(['A-base']);
  // The base takes less than half a minute.
  expect(limits.get('A-base')).toBe(300_000);
});

test("the repository's test command runs unchanged if the runner does not accept a reporter", async () => {
  const old =
    '[ $# -eq 1 ] || { echo "unknown option $2"; exit 2; }\nexec /opt/toolchain/bin/node check.mjs\n';
  const fixture = await shared.fixture({
    files: {
      ...REPOSITORY,
      'tools/vitest': old,
      'check.mjs': "import { sum } from './src/sum.js';\nif (sum([1, 2]) !== 3) process.exit(1);\n",
    },
    test: 'sh tools/vitest run',
  });
  const onBase = await fixture.base();
  expect(onBase).toMatchObject({ source: 'exit-code', exitCode: 0, runs: 3 });
  const { A, B } = await fixture.examine(onBase, { A: RIGHT, B: production('list.length') });
  expect(A?.baseTests).toMatchObject({ source: 'exit-code', regressions: [] });
  expect(B?.baseTests).toMatchObject({ source: 'exit-code', regressions: ['exit code'] });
});
