import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestRun } from '../../src/core/evidence/index.ts';
import { rememberInMemory } from '../../src/runs/examine/areas.ts';
import { type FixtureOptions, openSharedFixture, type SharedFixture } from './examination-world.ts';

let shared: SharedFixture;
let base: TestRun;
beforeAll(async () => {
  shared = await openSharedFixture();
  base = await (await shared.fixture({ files: REPOSITORY })).base();
});
afterAll(() => shared.close());

const sum = (body: string) => ({ 'src/sum.js': `export const sum = (list) => ${body};\n` });
const testFile = (name: string, body: string) => ({
  [`test/${name}.test.js`]: `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sum } from '../src/sum.js';

${body}
`,
});
const REPOSITORY = {
  'package.json': '{ "type": "module" }\n',
  ...sum('list.reduce((a, b) => a + b)'),
  ...testFile('sum', "test('adds two', () => assert.equal(sum([1, 2]), 3));"),
};
const EMPTY = testFile('empty', "test('of nothing is zero', () => assert.equal(sum([]), 0));");
const RIGHT = { ...sum('list.reduce((a, b) => a + b, 0)'), ...EMPTY };
const HASTY = sum('list.length === 0 ? null : list.reduce((a, b) => a + b)');
const BREAKING = sum('list.length');

/** Every test run and probe takes a minute; the tests of the base on the candidate `hanging` half an hour, and stop. */
function scriptedTime(hanging = '') {
  let at = 0;
  const probed: string[] = [];
  const exec: FixtureOptions['exec'] = async (spec, real) => {
    const result = await real(spec);
    const probes = spec.argv.some((word) => word.includes('/checks/probes/'));
    if (probes) probed.push(spec.area.id.replace(/^r\d+-x-/, ''));
    if (!probes && !(spec.argv[0] === 'sh' && spec.argv[3] === 'sh')) return result;
    const hangs = spec.area.id.endsWith(`-x-${hanging}-base`);
    const ms = hangs ? 30 * 60_000 : 60_000;
    at += ms;
    return hangs ? { ...result, exitCode: null, stopped: 'wall', ms } : result;
  };
  return { options: { clock: { elapsed: () => at }, exec }, probed };
}

/** A repository each of whose test runs and probes takes a minute. */
async function slowRepository(options: Partial<FixtureOptions>, hanging?: string) {
  const { options: timed, probed } = scriptedTime(hanging);
  return { fixture: await shared.fixture({ files: REPOSITORY, ...timed, ...options }), probed };
}

describe('when the time for examining is over', () => {
  test('everybody was built and tested, nobody is compared, and nobody is better off for it', async () => {
    const { fixture, probed } = await slowRepository({ examine: '2m' });
    const { A, B, C } = await fixture.examine(base, { A: RIGHT, B: HASTY, C: BREAKING });
    expect([A?.survivor, B?.survivor]).toEqual([true, true]);
    expect(A?.baseTests).toMatchObject({ passed: 1, regressions: [] });
    expect(C?.baseTests).toMatchObject({ regressions: ['test/sum.test.js > adds two'] });
    expect(B?.peerTests).toEqual([]);
    expect([A, B, C].map((one) => one?.behaviour)).toEqual([undefined, undefined, undefined]);
    const cut = {
      budgetMs: 120_000,
      leftOut: [
        { what: 'repeats', count: 1, of: 1 },
        { what: 'surroundings', count: 1, of: 1 },
        { what: 'probes', count: 1, of: 1 },
        { what: 'peer-tests', count: 1, of: 1 },
      ],
    };
    expect([A?.cut, B?.cut, C?.cut]).toEqual([cut, cut, cut]);
    expect(probed).toEqual([]);
    expect([...fixture.tested].sort()).toEqual(['A-base', 'A-own', 'B-base', 'C-base']);
  });

  test('a candidate whose tests hang does not take the time in which the others are compared', async () => {
    const isLast: FixtureOptions['begins'] = async (alias, steps) => {
      while (alias === 'C' && !steps.some(({ name, done }) => name === 'candidates' && done === 2))
        await setTimeout(10);
    };
    const { fixture, probed } = await slowRepository({ examine: '15m', begins: isLast }, 'C');
    const { A, C } = await fixture.examine(base, { A: RIGHT, B: HASTY, C: BREAKING });
    expect(C?.gates).toContainEqual(expect.objectContaining({ gate: 'tests-run', passed: false }));
    expect(A?.cut).toBeUndefined();
    expect(probed).toContain('probe-derive');
  });

  test('what is run again begins only while time is left, one after the other where one command runs', async () => {
    const { fixture } = await slowRepository({ examine: '150s', parallel: 1 });
    const { A, B } = await fixture.examine(base, { A: BREAKING, B: sum('list[0]') });
    expect([A?.survivor, B?.survivor]).toEqual([true, true]);
    expect(A?.cut?.leftOut).toContainEqual({ what: 'repeats', count: 1, of: 2 });
  });

  test('whoever watches sees which part is under way, how much of it is done, and the time left', async () => {
    const { fixture } = await slowRepository({ examine: '2h' });
    await fixture.examine(base, { A: RIGHT, B: HASTY, C: BREAKING });
    const counts = fixture.steps.map(({ name, done, of }) => `${name} ${done}/${of}`);
    expect(counts.filter((one) => one.startsWith('candidates'))).toEqual(
      [0, 1, 2, 3].map((done) => `candidates ${done}/3`),
    );
    // The tests that A added are run on the base, and then on the two others.
    expect(counts).toEqual(expect.arrayContaining(['own-tests 1/1', 'peer-tests 0/2', 'peer-tests 2/2']));
    expect(counts).toEqual(expect.arrayContaining(['surroundings 3/3', 'probes 0/null']));
    const left = fixture.steps.map(({ leftMs }) => leftMs);
    expect(left).toEqual(left.toSorted((a, b) => b - a));
    expect(left[0]).toBe(7_200_000);
    expect(left.at(-1)).toBeLessThan(7_200_000);
  });

  test('a restarted examination leaves out the same and executes nothing again', async () => {
    const remember = rememberInMemory();
    const { fixture, probed } = await slowRepository({ examine: '2m', remember });
    const candidates = { A: RIGHT, B: HASTY };
    const first = await fixture.examine(base, candidates);
    const before = fixture.tested.length;
    expect(first.A?.cut?.leftOut.map(({ what }) => what)).toEqual(['surroundings', 'probes', 'peer-tests']);
    expect(await fixture.examine(base, candidates)).toEqual(first);
    expect(fixture.tested.length).toBe(before);
    expect(probed).toEqual([]);
  });

  test('a further round has time of its own', async () => {
    const remember = rememberInMemory();
    const { fixture, probed } = await slowRepository({ examine: '6m', remember });
    expect((await fixture.examine(base, { A: RIGHT, B: HASTY })).A?.cut).toBeDefined();
    // What was executed before is not executed again, which leaves time for the rest.
    const { A } = await fixture.examine(base, { A: RIGHT, B: HASTY, C: BREAKING });
    expect(A?.cut?.leftOut.map(({ what }) => what) ?? []).not.toContain('probes');
    // No probes are installed here: the program fails, and again without candidates' files.
    expect(probed).toEqual(['probe-derive', 'probe-derive-base']);
  });
});

describe('a suite of ten minutes', () => {
  const long = async () => {
    const fixture = await shared.fixture({ files: REPOSITORY, asked: 'sum of nothing' });
    return { fixture, onBase: { ...base, ms: 600_000 } };
  };
  const own = (tested: readonly string[]) => tested.filter((area) => area.includes('-own')).sort();

  test('runs once on each candidate: of its own test files only those run that it changes', async () => {
    const { fixture, onBase } = await long();
    const failing = testFile('empty', "test('of nothing is one', () => assert.equal(sum([]), 1));");
    const changed = testFile('sum', "test('adds three', () => assert.equal(sum([1, 2, 3]), 6));");
    const all = {
      A: RIGHT,
      B: { ...RIGHT, ...failing },
      C: { ...RIGHT, ...changed },
      D: { ...BREAKING, ...EMPTY },
    };
    const { A, B, C, D } = await fixture.examine(onBase, all);
    expect([A, B, C, D].map((one) => one?.survivor)).toEqual([true, false, true, false]);
    expect(B?.gates.find(({ passed }) => !passed)?.because).toContain(
      'test/empty.test.js > of nothing is one',
    );
    expect(D?.gates.find(({ passed }) => !passed)?.because).toContain('test/sum.test.js > adds two');
    expect(own(fixture.tested).filter((area) => area.endsWith('-own'))).toEqual([]);
    expect(own(fixture.tested)).toContain('C-own-files');
  });

  test('runs a second time where a candidate changes a file without tests', async () => {
    const { fixture, onBase } = await long();
    const helper = { 'test/helper.js': 'export const none = [];\n' };
    const { A } = await fixture.examine(onBase, { A: { ...RIGHT, ...helper } });
    expect(A?.survivor).toBe(true);
    expect(own(fixture.tested)).toContain('A-own');
  });
});

describe('a red test of the base that candidates make pass', () => {
  const RED = "test('of nothing is zero', () => assert.equal(sum([]), 0));";
  const failsIn = (areas: string) =>
    `test('at times', () => assert.doesNotMatch(process.env.AREA, /-(${areas})$/));`;
  const NAMES = ['test/red.test.js > of nothing is zero', 'test/red.test.js > at times'] as const;
  /** A suite of ten minutes that ran once on the base, where both of its red tests failed. */
  const redSuite = async (areas: string, options: Partial<FixtureOptions> = {}) => {
    const red = testFile('red', `${RED}\n${failsIn(areas)}`);
    const fixture = await shared.fixture({ files: { ...REPOSITORY, ...red }, ...options });
    const { runs: _, ...once } = base;
    const tests = { ...base.tests, [NAMES[0]]: 'failed', [NAMES[1]]: 'failed' } as const;
    return { fixture, onBase: { ...once, exitCode: 1, ms: 600_000, tests } };
  };

  test('is run again on the base, and set aside if it passes there', async () => {
    const { fixture, onBase } = await redSuite('base-1|B-base');
    const { A, B } = await fixture.examine(onBase, { A: RIGHT, B: HASTY });
    expect(A?.baseTests).toMatchObject({ fixed: [NAMES[0]], fixedAgain: true, flaky: [NAMES[1]] });
    expect(B?.baseTests).toMatchObject({ fixed: [], flaky: [NAMES[1]] });
  });

  test('is run again on a candidate that fails it', async () => {
    const { fixture, onBase } = await redSuite('base-.*|B-base');
    const { A, B } = await fixture.examine(onBase, { A: RIGHT, B: HASTY });
    expect(A?.baseTests?.fixed).toEqual([...NAMES].sort());
    expect(B?.baseTests).toMatchObject({ fixed: [NAMES[1]], flaky: [NAMES[1]] });
  });

  test('counts after one run if no time is left, which is said', async () => {
    const { fixture, onBase } = await redSuite('base-1', { examine: '2m', ...scriptedTime().options });
    const { A } = await fixture.examine(onBase, { A: RIGHT, B: HASTY });
    expect(A?.baseTests?.fixedAgain).toBeUndefined();
    expect(A?.baseTests?.fixed).toEqual([...NAMES].sort());
    expect(A?.cut?.leftOut).toContainEqual({ what: 'repeats', count: 2, of: 2 });
  });
});

test('with time left nothing is left out, and nothing is said', async () => {
  const { fixture, probed } = await slowRepository({ examine: '1h' });
  const { A, B } = await fixture.examine(base, { A: RIGHT, B: HASTY });
  expect([A?.cut, B?.cut]).toEqual([undefined, undefined]);
  expect(B?.peerTests).toMatchObject([{ author: 'A', passed: 0, total: 1 }]);
  // No probes are installed here: the program fails, and again without candidates' files.
  expect(probed).toEqual(['probe-derive', 'probe-derive-base']);
});
