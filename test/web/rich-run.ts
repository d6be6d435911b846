import { type TestRun, testTable } from '../../src/core/evidence/index.ts';
import type { RunView } from '../../src/core/reports/index.ts';
import { debateOf } from '../core/reports/hostile.ts';
import { BEHAVIOUR, JUDGEMENT, published, VOTES } from '../core/reports/sample.ts';
import { collected, type StoredParts } from './stored-run.ts';

const suite = (marks: Readonly<Record<string, boolean>>, change: Partial<TestRun> = {}): TestRun => ({
  source: 'report',
  exitCode: Object.values(marks).every(Boolean) ? 0 : 1,
  stopped: null,
  ms: 8_200,
  tests: Object.fromEntries(Object.entries(marks).map(([id, ok]) => [id, ok ? 'passed' : 'failed'])),
  tail: 'Test Files  2 passed (2)\nTests  412 passed (412)',
  ...change,
});

const ids = Array.from({ length: 40 }, (_, at) => `test/list.test.ts > list > case ${at}`);
const allPass = Object.fromEntries(ids.map((id) => [id, true]));
const LAST = 'test/list.test.ts > last > of an empty list';

/** What was executed for the candidates of `published()`. */
export function richParts(): StoredParts {
  const { table, outputs } = testTable({
    onBase: suite({ ...allPass, [LAST]: true, 'test/list.test.ts > last > of two': false }),
    candidates: ['A', 'B', 'C', 'D'].map((alias) => ({
      alias,
      ...(alias === 'D'
        ? {}
        : {
            run: suite(
              { ...allPass, [LAST]: alias !== 'A', 'test/list.test.ts > last > of two': true },
              alias === 'A'
                ? {
                    messages: {
                      [LAST]:
                        'AssertionError: expected TypeError to be undefined\n  at test/list.test.ts:12:9',
                    },
                  }
                : {},
            ),
          }),
    })),
    peers: [
      {
        author: 'B',
        tests: { proven: ['test/b.test.ts > last > of one item'], guards: ['test/b.test.ts > first'] },
        onPeers: [
          {
            peer: 'A',
            proven: ['p'],
            guards: ['p'],
            output: { exitCode: 0, stopped: null, ms: 900, tail: 'ok', messages: {} },
          },
          {
            peer: 'C',
            proven: ['f'],
            guards: ['p'],
            output: {
              exitCode: 1,
              stopped: null,
              ms: 900,
              tail: '1 failed',
              messages: { 'test/b.test.ts > last > of one item': 'expected 2 to be 1' },
            },
          },
        ],
      },
    ],
    inputs: [
      {
        input: 'last([])',
        base: 'undefined',
        byAlias: new Map([
          ['A', 'TypeError: x'],
          ['B', 'undefined'],
          ['C', 'undefined'],
        ]),
      },
      {
        input: 'last([1])',
        base: 'undefined',
        byAlias: new Map([
          ['A', '1'],
          ['B', '1'],
          ['C', 'undefined'],
        ]),
      },
    ],
  });
  return {
    table,
    outputs,
    patches: richPatches(),
    spending: [
      {
        spender: 'A',
        model: 'anthropic/model-1',
        usd: 0.12,
        tokensIn: 12_000,
        tokensOut: 345,
        calls: 9,
        ms: 40_000,
        estimated: 0,
      },
      {
        spender: 'B',
        model: 'anthropic/model-2',
        usd: 0.13,
        tokensIn: 12_000,
        tokensOut: 345,
        calls: 9,
        ms: 61_000,
        estimated: 1,
      },
      {
        spender: 'brief',
        model: 'anthropic/model-1',
        usd: 0.02,
        tokensIn: 4_000,
        tokensOut: 645,
        calls: 1,
        ms: 3_000,
        estimated: 0,
      },
      {
        spender: 'judge-1',
        model: 'openai/gpt-6',
        usd: 0.02,
        tokensIn: 900,
        tokensOut: 90,
        calls: 2,
        ms: 3_000,
        estimated: 0,
      },
    ],
    transitions: [
      { from: 'queued', to: 'admitted', cause: 'label by mona', at: 1_790_000_000_400 },
      { from: 'judged', to: 'published', cause: 'draft pull request #8', at: 1_790_000_171_000 },
    ],
    audit: [
      {
        number: 1,
        at: 1_790_000_000_100,
        entry: {
          kind: 'command',
          command: 'comment:1',
          by: { id: 5, login: 'mona' },
          text: '/auto-dev run',
          thread: 7,
          outcome: { kind: 'done', note: 'Started run `r7k2m9q4xa`.' },
        },
      },
      {
        number: 2,
        at: 1_790_000_171_000,
        entry: { kind: 'write', what: 'openPull', repository: 'acme/lists', outcome: 'done' },
      },
    ],
  };
}

const BASE_LIST = `/** The first item of a list. */
export const first = (list) => list[0];

/** The last item of a list. */
export const last = (list) =>
  list[list.length];

export const sum = (list) => list.reduce((a, b) => a + b, 0);
`;

function richPatches(): NonNullable<StoredParts['patches']> {
  const fix = (line: string, test = '') => ({
    'src/list.ts': [BASE_LIST, BASE_LIST.replace('  list[list.length];', line)] as const,
    ...(test === '' ? {} : { 'test/b.test.ts': [null, test] as const }),
  });
  return {
    A: collected(fix('  list[list.length - 1] ?? fail();')),
    B: collected({
      ...fix(
        '  list[list.length - 1];',
        "import { last } from '../src/list.ts';\n\ntest('of one item', () => expect(last([1])).toBe(1));\n",
      ),
      'docs/old name.md': ['# Lists\n\nText.\n', null],
      'docs/lists/index.md': [null, '# Lists\n\nText.\n'],
    }),
    C: collected(fix('  list.at(-1);')),
    D: collected(fix('  list.slice(-1)[0];')),
  };
}

/** A run with everything that a run can have. */
export const richRun = (): RunView => {
  const view = published();
  return {
    ...view,
    evidence: view.evidence.map((one) => (one.alias === 'D' ? one : { ...one, behaviour: BEHAVIOUR })),
    judgement: JUDGEMENT,
    votes: VOTES,
    debate: debateOf('It does not say what `last([])` returns.'),
    learned: ['Of 14 merged candidates of this repository, 9 were called likely.'],
    lowered: ['The repository asks for 8 candidates; the operator allows 4.'],
    review: [
      {
        alias: 'B',
        contested: true,
        critics: [
          {
            critic: 'security',
            kind: 'objects',
            model: 'openai/gpt-6',
            because: 'A list may be sparse.',
            objections: [
              {
                file: 'src/list.ts',
                line: 6,
                input: 'last([,])',
                expected: 'undefined',
                got: 'undefined',
                outcome: 'refuted',
                because: 'The test passes.',
              },
            ],
          },
        ],
        after: { alias: 'B', because: 'Nothing was confirmed.' },
      },
    ],
  };
};
