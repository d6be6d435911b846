import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Evidence, TestRun } from '../../src/core/evidence/index.ts';
import { type Decision, decide, type Ranked, rank, rankingOptionsOf } from '../../src/core/ranking/index.ts';
import { Settings } from '../../src/core/settings/index.ts';
import type { Files } from '../adapters/git/world.ts';
import { openSharedFixture, type SharedFixture } from './examination-world.ts';

const test1 = "test('adds two', () => assert.equal(sum([1, 2]), 3));";
const suite = (name: string, ...cases: readonly string[]): Files => ({
  [`test/${name}.test.js`]: `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sum } from '../src/sum.js';

${cases.join('\n')}
`,
});
const code = (body: string): Files => ({ 'src/sum.js': `export const sum = (list) => ${body};\n` });
const BEFORE = 'export const sum = (list) => list.reduce((a, b) => a + b);\n';
const REPOSITORY = {
  'package.json': '{ "type": "module" }\n',
  'src/sum.js': BEFORE,
  ...suite('sum', test1),
};
const RIGHT = code('list.reduce((a, b) => a + b, 0)');
/** The same in other white space, with a word to the reader. */
const SAME: Files = {
  'src/sum.js':
    '// Zero for an empty list.\nexport const sum = (list) =>\n  list.reduce((a, b) => a + b, 0);\n',
};
const HASTY = code('list.length === 0 ? null : list.reduce((a, b) => a + b)');
const BREAKS = code('list.length');
const BROKEN: Files = { 'src/sum.js': 'export const sum = (list => {\n' };
const EMPTY = "test('of nothing is zero', () => assert.equal(sum([]), 0));";

/** What is done in each case that the evidence can leave (the case table of the selection notes). */
describe('the decision when', () => {
  let shared: SharedFixture;
  let base: TestRun;
  beforeAll(async () => {
    shared = await openSharedFixture();
    base = await (await shared.fixture({ files: REPOSITORY })).base();
  });
  afterAll(() => shared.close());

  async function decided(
    candidates: Readonly<Record<string, Files>>,
    families: Readonly<Record<string, string>> = {},
    declared: readonly string[] = [],
  ): Promise<{
    readonly decision: Decision;
    readonly ranking: readonly Ranked[];
    readonly evidence: readonly Evidence[];
  }> {
    const fixture = await shared.fixture({ files: REPOSITORY, declared });
    const evidence = Object.values(await fixture.examine(base, candidates, families));
    const ranking = rank(evidence, rankingOptionsOf(Settings.parse({})));
    return { decision: decide(ranking, evidence), ranking, evidence };
  }

  test('a candidate adds no tests does not penalise it', async () => {
    const { ranking } = await decided({ A: RIGHT, B: { ...RIGHT, ...suite('empty', EMPTY) } });
    expect(ranking.map(({ signals }) => signals.tests)).toEqual([null, null]);
    const { decision } = await decided({ A: { ...RIGHT, ...suite('empty', EMPTY) }, B: HASTY });
    expect(decision).toMatchObject({ alias: 'A', decidedBy: 'tests' });
  });

  test.each([
    ['deleted', { 'test/sum.test.js': '// none\n' }],
    ['skipped', suite('sum', test1.replace('test(', 'test.skip('))],
    ['weakened', suite('sum', test1.replace('3)', 'sum([1, 2]))'))],
  ])('a test is %s eliminates the candidate, with the hunk', async (_, tests) => {
    const { decision, evidence } = await decided({ A: { ...RIGHT, ...tests }, B: HASTY });
    const gate = evidence[0]?.gates.find(({ passed }) => !passed);
    expect(gate).toMatchObject({ gate: 'untampered', hunk: expect.stringContaining('-') });
    expect(decision).toMatchObject({ alias: 'B' });
  });

  /** Node 20 where it is the system's: its own reporter names no files. */
  const SYSTEM_NODE = '/usr/bin/node';
  test.skipIf(!existsSync(SYSTEM_NODE))(
    'a test is deleted eliminates the candidate, also with the Node of this system',
    async () => {
      const other = suite('other', "test('of one', () => assert.equal(sum([1]), 1));");
      const fixture = await shared.fixture({
        files: { ...REPOSITORY, ...other },
        test: `${SYSTEM_NODE} --test`,
      });
      const before = await fixture.base();
      expect(Object.keys(before.tests).sort()).toEqual([
        'test/other.test.js > of one',
        'test/sum.test.js > adds two',
      ]);
      const found = await fixture.examine(before, {
        A: { ...RIGHT, 'test/sum.test.js': '// none\n' },
        B: { ...RIGHT, ...suite('other', "test('of two', () => assert.equal(sum([1, 1]), 2));") },
      });
      expect(found.A?.gates.find(({ passed }) => !passed)).toMatchObject({
        gate: 'untampered',
        because: expect.stringContaining('so nothing requires their removal'),
      });
      // Its other file has a new test in place of the old one: a person looks at it.
      expect(found.B).toMatchObject({ survivor: true });
    },
  );

  /** The sum becomes a text, and the test with it. */
  const TEXT: Files = {
    ...code('String(list.reduce((a, b) => a + b))'),
    ...suite('sum', test1.replace('3)', "'3')")),
  };

  test('a candidate changes an expectation as the brief says keeps it in the race, but not clear', async () => {
    const { decision, evidence } = await decided({ A: TEXT }, {}, ['test/sum.test.js']);
    expect(evidence[0]).toMatchObject({
      survivor: true,
      baseTests: { regressions: [], superseded: ['test/sum.test.js > adds two'] },
    });
    expect(decision).toMatchObject({ alias: 'A' });
    expect(decision).not.toMatchObject({ confidence: 'clear' });
  });

  test('a candidate changes an expectation that nobody named leaves it to a person', async () => {
    const { decision, evidence } = await decided({ A: TEXT, B: BROKEN });
    expect(evidence[0]?.survivor).toBe(true);
    expect(evidence[0]?.gates.flatMap(({ findings = [] }) => findings)).toMatchObject([
      {
        kind: 'expectation-changed',
        severity: 'question',
        original: 'fails',
        settled: 'The code fails 1 test with the original version: test/sum.test.js > adds two.',
      },
    ]);
    expect(decision).toMatchObject({ kind: 'none', decidedBy: 'regressions' });
  });

  test('an unneeded change of a test comes with the right code shows it, and is not clear', async () => {
    const weaker = suite('sum', test1.replace('assert.equal(sum([1, 2]), 3)', 'assert.ok(sum([1, 2]))'));
    const { decision, evidence } = await decided({ A: { ...RIGHT, ...weaker }, B: BREAKS });
    expect(evidence[0]?.gates.flatMap(({ findings = [] }) => findings)).toMatchObject([
      { kind: 'assertion-weakened', severity: 'question', original: 'passes' },
    ]);
    expect(decision).toMatchObject({ alias: 'A' });
    expect(decision).not.toMatchObject({ confidence: 'clear' });
  });

  test('two made the same change counts them as one', async () => {
    const { decision, evidence } = await decided({
      A: RIGHT,
      B: SAME,
      C: { ...HASTY, ...suite('x', EMPTY.replace('0)', 'null)')) },
    });
    expect(evidence.map(({ alike }) => alike)).toEqual([['A', 'B'], ['A', 'B'], ['C']]);
    expect(decision.kind === 'toss-up' ? decision.among : [decision]).not.toContain('B');
  });

  test('one survives is never clear by its own tests alone', async () => {
    const { decision } = await decided({ A: { ...RIGHT, ...suite('empty', EMPTY) }, B: BROKEN });
    expect(decision).toMatchObject({ kind: 'winner', alias: 'A', confidence: 'likely', decidedBy: 'gates' });
    expect(decision.because).toContain('the only candidate that passed every gate');
  });

  test('one survives without evidence asks a person', async () => {
    const { decision } = await decided({ A: HASTY, B: BROKEN });
    expect(decision).toMatchObject({ kind: 'toss-up', among: ['A'] });
  });

  test('nobody survives names the most common cause', async () => {
    const { decision } = await decided({
      A: BROKEN,
      B: { 'src/sum.js': `// Zero.\n${BEFORE}` },
    });
    expect(decision).toMatchObject({ kind: 'none', decidedBy: 'gates' });
  });

  test('the best one breaks a base test names no automatic winner', async () => {
    const { decision } = await decided({ A: BREAKS, B: BROKEN });
    expect(decision).toMatchObject({ kind: 'none', decidedBy: 'regressions' });
    expect(decision.because).toBe('A, the only candidate that passed every gate, breaks 1 existing test.');
  });

  test('all made the same change reports agreement, not proof', async () => {
    const { decision } = await decided({ A: RIGHT, B: SAME }, { A: 'claude', B: 'gpt' });
    expect(decision.because).toContain('which is agreement, not proof');
    expect(decision).not.toMatchObject({ confidence: 'clear' });
  });

  test('most of several families break the same test contests it, and is not clear', async () => {
    const { decision, evidence } = await decided(
      { A: BREAKS, B: code('list.length + 0'), C: RIGHT },
      { A: 'claude', B: 'gpt', C: 'gemini' },
    );
    expect(evidence[0]?.baseTests).toMatchObject({
      regressions: [],
      contested: ['test/sum.test.js > adds two'],
    });
    expect(decision).not.toMatchObject({ confidence: 'clear' });
  });
});
