import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testNotes } from '../../src/core/reports/index.ts';
import { NODE_TEST, openSharedFixture, type SharedFixture } from './examination-world.ts';

let shared: SharedFixture;
beforeAll(async () => {
  shared = await openSharedFixture();
});
afterAll(() => shared.close());

/** A linter that wants semicolons, and a type checker that wants a comment. */
const wants = (text: string) => `const { readFileSync } = require('node:fs');
if (!readFileSync('src/sum.js', 'utf8').includes(${JSON.stringify(text)})) {
  console.error(${JSON.stringify(`src/sum.js lacks ${text}`)});
  process.exit(1);
}
`;
const production = (body: string, more = '') => ({
  'src/sum.js': `exports.sum = (list) => ${body}${more}\n`,
});
const TYPED = ' // @returns {number}';
const scripts = (all: Record<string, string>) => ({ 'package.json': JSON.stringify({ scripts: all }) });
const TEST = `const assert = require('node:assert/strict');
const { test } = require('node:test');
const { sum } = require('../src/sum.js');

test('adds two', () => assert.equal(sum([1, 2]), 3));
`;
const NODE = '/opt/toolchain/bin/node';
const REPOSITORY = {
  ...scripts({ test: `${NODE} lint.js && ${NODE_TEST} && ${NODE} types.js` }),
  'lint.js': wants(';'),
  'types.js': wants('@returns'),
  ...production('list.reduce((a, b) => a + b)', TYPED),
  'test/sum.test.js': TEST,
};

describe('a test script of a linter, tests and types', () => {
  test('is judged by its tests although the linter fails on the base, and types still count', async () => {
    const fixture = await shared.fixture({ files: REPOSITORY, test: 'npm test' });
    const onBase = await fixture.base();
    expect(onBase).toMatchObject({ source: 'report', exitCode: 0, runs: 3 });
    expect(onBase.tests).toEqual({
      'test/sum.test.js > adds two': 'passed',
      [`types: ${NODE} types.js`]: 'passed',
    });
    const { A, B, C } = await fixture.examine(onBase, {
      A: production('list.reduce((a, b) => a + b, 0)', TYPED),
      B: production('list.reduce((a, b) => a + b, 0)'),
      C: production('list.length', TYPED),
    });
    expect(A).toMatchObject({ survivor: true, baseTests: { passed: 2, total: 2, regressions: [] } });
    expect(B?.baseTests?.regressions).toEqual([`types: ${NODE} types.js`]);
    expect(C?.baseTests?.regressions).toEqual(['test/sum.test.js > adds two']);
    expect(testNotes({ evidence: A ? [A] : [] })).toEqual([
      `“lint: ${NODE} lint.js” fails on the base commit, so it was left out.`,
    ]);
  });

  test('asks others’ tests nothing about style: only their own author answers for that', async () => {
    const files = { ...REPOSITORY, ...production('list.reduce((a, b) => a + b);', TYPED) };
    const fixture = await shared.fixture({ files, test: 'npm test' });
    const onBase = await fixture.base();
    expect(Object.values(onBase.tests)).toEqual(['passed', 'passed', 'passed']);
    const empty = TEST.replace(/test\('.*/, "test('of nothing is zero', () => assert.equal(sum([]), 0));");
    const { A, B } = await fixture.examine(onBase, {
      A: { ...production('list.reduce((a, b) => a + b, 0);', TYPED), 'test/empty.test.js': empty },
      B: production('list.length === 0 ? null : list.reduce((a, b) => a + b);', TYPED),
    });
    expect(A).toMatchObject({ survivor: true, provenTests: 1 });
    expect(B?.peerTests).toMatchObject([
      { author: 'A', passed: 0, total: 1, failing: ['test/empty.test.js > of nothing is zero'] },
    ]);
  });
});

test('of a linter that fails on the base, findings of other rules count', async () => {
  // Two rules, in the form of ESLint.
  const linter = `const { readFileSync } = require('node:fs');
const text = readFileSync('src/sum.js', 'utf8');
const found = [];
if (!text.includes(';')) found.push('  1:1  error  Missing semicolon  semi');
if (text.includes('debugger')) found.push("  1:9  error  Unexpected 'debugger' statement  no-debugger");
if (found.length > 0) console.log(['/repo/src/sum.js', ...found].join('\\n'));
process.exitCode = found.length > 0 ? 1 : 0;
`;
  const fixture = await shared.fixture({ files: { ...REPOSITORY, 'lint.js': linter }, test: 'npm test' });
  const onBase = await fixture.base();
  const lint = `lint: ${NODE} lint.js`;
  expect(onBase.tests[lint]).toBe('passed');
  const { A, B, C } = await fixture.examine(onBase, {
    A: production('list.reduce((a, b) => a + b, 0)', TYPED),
    B: production('{ debugger\n return list.reduce((a, b) => a + b, 0)\n }', TYPED),
    C: production('list.reduce((a, b) => a + b, 0);', TYPED),
  });
  for (const one of [A, C])
    expect(one).toMatchObject({ survivor: true, baseTests: { passed: 3, total: 3, regressions: [] } });
  expect(B?.baseTests?.regressions).toEqual([lint]);
  expect(testNotes({ evidence: A ? [A] : [] })).toEqual([
    `“${lint}” finds 1 rule broken on the base commit (semi), so only findings of other rules count.`,
  ]);
});

test('where the tests leave no report, their exit code counts without the linter’s', async () => {
  const fixture = await shared.fixture({
    files: {
      ...REPOSITORY,
      ...scripts({ test: `${NODE} lint.js && ${NODE} check.js && ${NODE} types.js` }),
      'check.js': "process.exit(require('./src/sum.js').sum([1, 2]) === 3 ? 0 : 1);\n",
    },
    test: 'npm test',
  });
  const onBase = await fixture.base();
  expect(onBase).toMatchObject({ source: 'exit-code', exitCode: 0 });
  const { A, B, C } = await fixture.examine(onBase, {
    A: production('list.reduce((a, b) => a + b, 0)', TYPED),
    B: production('list.reduce((a, b) => a + b, 0)'),
    C: production('list.length', TYPED),
  });
  expect(A).toMatchObject({ survivor: true, baseTests: { passed: 2, total: 2, regressions: [] } });
  expect(B?.baseTests?.regressions).toEqual([`types: ${NODE} types.js`]);
  expect(C?.baseTests?.regressions).toEqual(['exit code']);
});

test('a runner that our options break is run without them, and the report says so', async () => {
  const old =
    '[ $# -eq 1 ] || { echo "unknown option $2"; exit 2; }\nexec /opt/toolchain/bin/node check.js\n';
  const fixture = await shared.fixture({
    files: {
      ...REPOSITORY,
      'tools/vitest': old,
      'check.js': "process.exit(require('./src/sum.js').sum([1, 2]) === 3 ? 0 : 1);\n",
    },
    test: `${NODE} lint.js && sh tools/vitest run`,
  });
  const onBase = await fixture.base();
  expect(onBase).toMatchObject({ source: 'exit-code', exitCode: 0 });
  expect(onBase.notes).toEqual([
    'With the options that Runoff adds for a test report, `sh tools/vitest run` ends with exit code 2 and writes no report; without them it succeeds. It runs without these options, so only its exit code counts.',
    `“lint: ${NODE} lint.js” fails on the base commit, so it was left out.`,
  ]);
});

/** A program between the script and its runner, which refuses options. */
const STRICT = '[ $# -eq 1 ] || { echo "unknown option $2"; exit 2; }\n';

describe('a program before the runner that refuses our options', () => {
  test('beside tests with a report, its exit code counts, on the base and on candidates', async () => {
    const fixture = await shared.fixture({
      files: {
        ...REPOSITORY,
        ...scripts({ test: `${NODE_TEST} && sh tools/vitest run` }),
        'tools/vitest': `${STRICT}exec ${NODE} check.js\n`,
        'check.js': "process.exit(require('./src/sum.js').sum([]) === 0 ? 0 : 1);\n",
        ...production('list.reduce((a, b) => a + b, 0)'),
      },
      test: 'npm test',
    });
    const onBase = await fixture.base();
    expect(onBase).toMatchObject({ source: 'report', exitCode: 0, runs: 3 });
    expect(onBase.tests).toEqual({ 'test/sum.test.js > adds two': 'passed' });
    expect(onBase.notes).toEqual([expect.stringMatching(/`sh tools\/vitest run` ends with exit code 2/)]);
    const { A, B } = await fixture.examine(onBase, {
      A: production('list.reduce((a, b) => b + a, 0)'),
      B: production('list.reduce((a, b) => a + b)'),
    });
    expect(A).toMatchObject({ survivor: true, baseTests: { passed: 1, regressions: [] } });
    expect(B?.baseTests?.regressions).toEqual(['exit code']);
  });

  test('starts a runner that the environment tells: each of its tests counts', async () => {
    const mocha = `const { writeFileSync } = require('node:fs');
const output = process.argv.find((word) => word.startsWith('output='))?.slice('output='.length);
const { sum } = require('../../../src/sum.js');
const passes = sum([1, 2]) === 3;
const one = { title: 'adds two', fullTitle: 'sum adds two', file: process.cwd() + '/test/sum.js' };
one.err = passes ? {} : { message: 'no' };
if (output) writeFileSync(output, JSON.stringify({
  stats: { tests: 1 }, tests: [one], pending: [], failures: passes ? [] : [one], passes: passes ? [one] : [],
}));
process.exit(passes ? 0 : 1);
`;
    const fixture = await shared.fixture({
      files: {
        ...REPOSITORY,
        'tools/mocha': `${STRICT}exec ${NODE} node_modules/mocha/bin/mocha.js\n`,
        'node_modules/mocha/bin/mocha.js': mocha,
        'node_modules/mocha/package.json': '{"name": "mocha", "version": "11.0.0"}',
      },
      test: 'sh tools/mocha test',
    });
    const onBase = await fixture.base();
    expect(onBase).toMatchObject({ source: 'report', exitCode: 0, runs: 3 });
    expect(Object.values(onBase.tests)).toEqual(['passed']);
    expect(onBase).not.toHaveProperty('notes');
    const { A } = await fixture.examine(onBase, { A: production('list.length', TYPED) });
    expect(A?.baseTests?.regressions).toEqual(Object.keys(onBase.tests));
  });
});

test('a runner that waits for what a test left open is stopped, and runs with its option to exit', async () => {
  const mocha = `const { writeFileSync } = require('node:fs');
const output = process.argv.find((word) => word.startsWith('output=')).slice('output='.length);
const { sum } = require('../../../src/sum.js');
const [passes, failures] = [{ title: 'adds two', ok: sum([1, 2]) === 3 }, { title: 'listens', ok: false }]
  .map((one) => ({ ...one, fullTitle: one.title, file: process.cwd() + '/test/sum.js', err: one.ok ? {} : { message: 'no' } }))
  .reduce(([ok, not], one) => (one.ok ? [[...ok, one], not] : [ok, [...not, one]]), [[], []]);
const tests = [...passes, ...failures];
writeFileSync(output, JSON.stringify({ stats: { tests: 2 }, tests, pending: [], failures, passes }));
process.exitCode = failures.length;
if (process.argv.includes('--exit')) process.exit();
setInterval(() => {}, 60_000);
`;
  const ran: string[] = [];
  const fixture = await shared.fixture({
    files: { ...REPOSITORY, 'node_modules/mocha/bin/mocha.js': mocha },
    test: `${NODE} node_modules/mocha/bin/mocha.js test`,
    // A silent command is looked at ten times a second instead of every ten seconds.
    exec: (spec, real) => {
      const { onLimit } = spec;
      if (spec.limits.silenceMs === undefined || !onLimit) return real(spec);
      ran.push(spec.argv[2] ?? '');
      const limits = { ...spec.limits, silenceMs: spec.limits.silenceMs / 100 };
      return real({ ...spec, limits, onLimit: (limit, quietMs) => onLimit(limit, quietMs * 100) / 100 });
    },
  });
  const onBase = await fixture.base();
  expect(onBase).toMatchObject({ source: 'report', exitCode: 1, stopped: null, runs: 3 });
  expect(onBase.tests).toEqual({ 'test/sum.js > adds two': 'passed', 'test/sum.js > listens': 'failed' });
  expect(onBase.notes).toEqual([
    expect.stringMatching(/^After its last test, `.*\/mocha\.js test` does not end, because/),
  ]);
  const { A, B } = await fixture.examine(onBase, {
    A: production('list.reduce((a, b) => b + a, 0)'),
    B: production('list.length'),
  });
  expect(A).toMatchObject({ survivor: true, baseTests: { passed: 1, regressions: [] } });
  expect(B?.baseTests?.regressions).toEqual(['test/sum.js > adds two']);
  expect(ran.filter((command) => !/ --exit$/.test(command))).toHaveLength(1);
});

test('a suite in which no test passes with our options runs without them if it succeeds then', async () => {
  const blind = `const assert = require('node:assert/strict');
const { test } = require('node:test');
test('sees no options', () => assert.equal(process.env.NODE_OPTIONS, undefined));
`;
  const fixture = await shared.fixture({ files: { ...REPOSITORY, 'test/sum.test.js': blind } });
  const onBase = await fixture.base();
  expect(onBase).toMatchObject({ source: 'exit-code', exitCode: 0 });
  expect(onBase.notes).toEqual([
    `With the options that Runoff adds for a test report, \`${NODE_TEST}\` ends with exit code 1 and no test passes; without them it succeeds. It runs without these options, so only its exit code counts.`,
  ]);
});

test('a script that fails beside its tests because of our options is said, and its tests count', async () => {
  const script = `echo "ok 1 - adds two"; echo 1..1; [ -z "$NODE_OPTIONS" ] || exit 3\n`;
  const fixture = await shared.fixture({ files: { ...REPOSITORY, 'all.sh': script }, test: 'sh all.sh' });
  const onBase = await fixture.base();
  expect(onBase).toMatchObject({ source: 'report', exitCode: 3, tests: { 'adds two': 'passed' } });
  expect(onBase.notes).toEqual([
    expect.stringMatching(
      /no test of the base commit fails, but the command does, and without them it passes/,
    ),
  ]);
});

test('tests that only our options break are named and set aside', async () => {
  const blind = "test('sees no options', () => assert.equal(process.env.NODE_OPTIONS, undefined));\n";
  const fixture = await shared.fixture({
    files: { ...REPOSITORY, 'test/sum.test.js': `${TEST}${blind}` },
  });
  const onBase = await fixture.base();
  expect(onBase.tests).toEqual({
    'test/sum.test.js > adds two': 'passed',
    'test/sum.test.js > sees no options': 'failed',
  });
  expect(onBase.notes).toEqual([
    'With the options that Runoff adds for a test report, 1 test of the base commit fails, and without them the command passes: test/sum.test.js > sees no options. Runoff keeps the options, because the report shows all other tests, and sets aside what fails.',
  ]);
  const honest = TEST.replace('equal(sum([1, 2]), 3)', 'equal(sum([1, 2]), 4)');
  const failing = await shared.fixture({ files: { ...REPOSITORY, 'test/sum.test.js': honest } });
  expect(await failing.base()).not.toHaveProperty('notes');
});

test('a candidate whose new code the tests of the base do not reach breaks nothing by a threshold of coverage', async () => {
  const covered = `${NODE_TEST} --experimental-test-coverage --test-coverage-lines=100 --test-coverage-exclude=test/**`;
  const files = { ...REPOSITORY, ...production('list.reduce((a, b) => a + b, 0)') };
  const fixture = await shared.fixture({ files, test: covered });
  const onBase = await fixture.base();
  expect(onBase).toMatchObject({ source: 'report', exitCode: 0 });
  const checks = (body: string) => ({
    'src/sum.js': `exports.sum = (list) => {
  if (!Array.isArray(list)) {
    throw new TypeError('no list');
  }
  return ${body};
};
`,
  });
  const { A, B, C } = await fixture.examine(onBase, {
    A: checks('list.reduce((a, b) => a + b, 0)'),
    B: checks('list.length'),
    C: production(
      'list.reduce((a, b) => a + b, 0)',
      '\nprocess.on("exit", () => { process.exitCode = 7; });',
    ),
  });
  expect(A?.baseTests).toMatchObject({ regressions: [], exitCode: 1 });
  expect(B?.baseTests?.regressions).toEqual(['test/sum.test.js > adds two']);
  expect(C?.baseTests?.regressions).toEqual(['exit code']);
});
