import type { TestOutputs, TestTable } from '../../src/core/evidence/index.ts';
import { CODER_STEP_KINDS } from '../../src/core/model/index.ts';
import { richParts } from './rich-run.ts';
import type { StoredParts } from './stored-run.ts';

/** Every name and output that a table can have. */
function poisonedTable(text: string): { readonly table: TestTable; readonly outputs: TestOutputs } {
  const tests = [{ id: text, marks: 'pfps-' }];
  const output = { exitCode: 1, stopped: null, ms: 1, tail: text, messages: { [text]: text } };
  return {
    table: {
      columns: ['base', 'A', 'B', 'C', 'D'],
      suites: [
        { kind: 'base', author: null, tests, more: 0 },
        { kind: 'peer', author: 'B', tests, more: 3 },
      ],
      inputs: [{ input: text, results: [text, `${text}!`, null, text, text] }],
    },
    outputs: [
      { suite: 0, column: 'A', output },
      { suite: 1, column: 'C', output },
    ],
  };
}

/** What is stored beside a run, in which everything that others can write is this text. */
export function poisonedParts(text: string): StoredParts {
  const [spending] = richParts().spending ?? [];
  return {
    ...poisonedTable(text),
    spending: spending ? [{ ...spending, spender: text, model: text }] : [],
    steps: CODER_STEP_KINDS.flatMap((kind, at) =>
      ['A', 'B', 'C', 'D'].map((alias) => ({
        ...{ alias, kind, text, detail: text, call: text, exitCode: 1, ok: false },
        ...{ number: at + 1, at: 1 },
      })),
    ),
    transitions: [{ from: 'queued', to: 'admitted', cause: text, at: 1 }],
    audit: [
      { number: 1, at: 1, entry: { kind: 'refusal', from: 'queued', to: 'refused', cause: text } },
      {
        number: 2,
        at: 1,
        entry: { kind: 'write', what: text, repository: text, branch: text, outcome: 'failed' },
      },
      {
        number: 3,
        at: 1,
        entry: {
          kind: 'command',
          command: text,
          by: { id: 1, login: text },
          text,
          thread: 1,
          outcome: { kind: 'refused', why: text },
        },
      },
    ],
  };
}
