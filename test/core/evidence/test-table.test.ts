import { describe, expect, test } from 'vitest';
import {
  type AuthorResults,
  outputOf,
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

describe('what an execution printed', () => {
  const token = `ghp_${'a1B2'.repeat(9)}`;
  const pem = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkq\n'.repeat(60)}-----END PRIVATE KEY-----\n`;

  test('is kept without what looks like a secret, also where the text is cut', () => {
    for (const before of [0, 300, 990]) {
      const text = `${'x '.repeat(before)}${token} ${pem}`;
      const { tail, messages } = outputOf(
        run({ a: 'f' }, { tail: `${text}${'y '.repeat(1_800)}`, messages: { a: text } }),
      );
      for (const kept of [tail, messages.a ?? '']) {
        expect(kept).not.toMatch(/a1B2|MIIEvQ/);
        expect(kept.length).toBeGreaterThan(0);
      }
    }
    // As a report's reader leaves it: the first and the last half.
    const cut = `${pem.slice(0, 100)}\n…\n${pem.slice(-500)}`;
    const { messages } = outputOf(run({ a: 'f' }, { messages: { a: cut, b: cut.slice(100) } }), ['a', 'b']);
    expect(Object.keys(messages)).toEqual(['a', 'b']);
    expect(JSON.stringify(messages)).not.toContain('MIIEvQ');
  });

  test('is bounded, however many tests fail', () => {
    const messages = Object.fromEntries(
      Array.from({ length: 3_000 }, (_, at) => [`${at}${'i'.repeat(600)}`, 'm'.repeat(2_000)]),
    );
    const whole = outputOf(run({}, { messages, tail: 't'.repeat(9_000) }));
    expect([Object.keys(whole.messages).length, whole.tail.length]).toEqual([200, 4_000]);
    for (const [id, text] of Object.entries(whole.messages)) {
      expect([id.length <= 500, text.length]).toEqual([true, 1_000]);
    }
    expect(Object.keys(outputOf(run({}, { messages }), Object.keys(messages)).messages)).toHaveLength(20);
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
