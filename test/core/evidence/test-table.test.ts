import { describe, expect, test } from 'vitest';
import {
  type AuthorResults,
  type PeerTestResult,
  type TestOutcome,
  type TestRun,
  tellsApart,
  testTable,
} from '../../../src/core/evidence/index.ts';

const WORDS = { p: 'passed', f: 'failed', s: 'skipped' } as const;

const run = (
  marks: Readonly<Record<string, keyof typeof WORDS>>,
  change: Partial<TestRun> = {},
): TestRun => ({
  source: 'report',
  exitCode: 0,
  stopped: null,
  ms: 40,
  tests: Object.fromEntries(
    Object.entries(marks).map(([id, mark]): [string, TestOutcome] => [id, WORDS[mark]]),
  ),
  tail: 'done',
  ...change,
});

const authorOf = (
  author: string,
  on: Readonly<Record<string, string>>,
  tests: AuthorResults['tests'] = { proven: ['new'], guards: ['kept'] },
): AuthorResults => ({
  author,
  tests,
  onPeers: Object.entries(on).map(([peer, marks]) => {
    const [proven = '', guards = ''] = marks.split('|');
    return { peer, proven: [...proven] as PeerTestResult[], guards: [...guards] as PeerTestResult[] };
  }),
});

const rows = (given: Partial<Parameters<typeof testTable>[0]>) => {
  const { table } = testTable({ onBase: run({ a: 'p' }), candidates: [], peers: [], inputs: [], ...given });
  return {
    ...table,
    suites: table.suites.map(({ kind, author, tests }) => [
      `${kind} ${author ?? ''}`.trim(),
      ...tests.map(({ id, marks }) => `${marks} ${id}`),
    ]),
  };
};

describe('the table of all tests', () => {
  test('has a letter for the base and each candidate, whatever their order', () => {
    const onBase = run({ a: 'p', b: 'f', c: 's' }, { flaky: ['d'] });
    const candidates = [
      { alias: 'B', run: run({ a: 'f', b: 'p', c: 's', d: 'p' }) },
      { alias: 'A', run: run({ b: 'f', c: 's' }) },
      { alias: 'C' },
    ];
    expect(rows({ onBase, candidates })).toMatchObject({
      columns: ['base', 'A', 'B', 'C'],
      suites: [['base', 'pmf- a', 'ffp- b', 'sss- c', 'u-p- d']],
    });
    expect(rows({ onBase, candidates: candidates.toReversed() })).toEqual(rows({ onBase, candidates }));
  });

  test('shows the exit code where no report was written', () => {
    const onBase = run({}, { source: 'exit-code' });
    const candidates = [{ alias: 'A', run: run({}, { source: 'exit-code', exitCode: 2 }) }];
    expect(rows({ onBase, candidates }).suites).toEqual([['base', 'pf exit code']]);
  });

  test('has the tests of each candidate, which its author passes', () => {
    const candidates = ['A', 'B', 'C'].map((alias) => ({ alias, run: run({ a: 'p' }) }));
    const { suites } = rows({ candidates, peers: [authorOf('B', { A: 'f|p', C: 'n|f' })] });
    expect(suites).toEqual([
      ['base', 'pppp a'],
      ['peer B', 'ffpn new'],
      ['guard B', 'pppf kept'],
    ]);
  });

  test('counts a private name as missing if a third candidate has it, as the evidence does', () => {
    const candidates = ['A', 'B', 'C'].map((alias) => ({ alias }));
    const { suites } = rows({ candidates, peers: [authorOf('A', { B: 'n|p', C: 'p|p' })] });
    expect(suites.at(1)).toEqual(['peer A', 'fpfp new']);
  });

  test('names tests like properties of objects without confusing them', () => {
    const onBase = run(JSON.parse('{ "__proto__": "p", "constructor": "p" }'));
    expect(rows({ onBase, candidates: [{ alias: 'A', run: run({ a: 'p' }) }] }).suites).toEqual([
      ['base', 'pm __proto__', '-p a', 'pm constructor'],
    ]);
  });

  test('keeps those that tell candidates apart if there are too many', () => {
    const many = Object.fromEntries(Array.from({ length: 25_000 }, (_, at) => [`t${at}`, 'p' as const]));
    const onBase = run({ ...many, z: 'p' });
    const { table } = testTable({
      onBase,
      candidates: [{ alias: 'A', run: run({ ...many, z: 'f' }) }],
      peers: [],
      inputs: [],
    });
    const [suite] = table.suites;
    expect([suite?.tests.length, suite?.more]).toEqual([20_000, 5_001]);
    expect(suite?.tests).toContainEqual({ id: 'z', marks: 'pf' });
  });

  test('keeps what each execution printed, and of others’ tests only what is about them', () => {
    const messages = { a: 'no', new: 'yes' };
    const author = authorOf('A', {});
    const output = { exitCode: 1, stopped: null, ms: 3, tail: 'end', messages: { new: 'yes' } };
    const { outputs, table } = testTable({
      onBase: run({ a: 'p' }),
      candidates: [{ alias: 'A', run: run({ a: 'f' }, { messages }) }, { alias: 'B' }],
      peers: [{ ...author, onPeers: [{ peer: 'B', proven: ['f'], guards: ['p'], output }] }],
      inputs: [{ input: 'f(1)', base: '1', byAlias: new Map([['B', '2']]) }],
    });
    expect(outputs.map(({ suite, column }) => [suite, column])).toEqual([
      [0, 'base'],
      [0, 'A'],
      [1, 'B'],
      [2, 'B'],
    ]);
    expect(outputs[1]?.output).toEqual({ exitCode: 0, stopped: null, ms: 40, tail: 'done', messages });
    expect(table.inputs).toEqual([{ input: 'f(1)', results: ['1', null, '2'] }]);
  });
});

test.each([
  ['ppp', false],
  ['ppf', true],
  ['pp-', false],
  ['pff', true],
  ['fpp', true],
  ['fff', false],
  ['upf', true],
  ['upp', false],
  ['fpn', true],
  ['p--', false],
  ['p', false],
])('%s deserves a look: %s', (marks, expected) => expect(tellsApart(marks)).toBe(expected));
