import { expect, test } from 'vitest';
import { paidAgain } from './double-payments.ts';
import { issueNumbered } from './repository.ts';

const FIGURES = {
  tokensIn: 1_000,
  tokensCached: 0,
  tokensWritten: 0,
  tokensOut: 10,
  tokensReasoning: 0,
} as const;
const turn = (result: string, issue = 1) => ({
  model: 'scripted-wren',
  usage: FIGURES,
  body: JSON.stringify({ messages: [issueNumbered(issue).title, { type: 'tool_result', content: result }] }),
});
const DONE = turn('Wrote add.js.');
const FULL = turn('ENOSPC: no space left on device, write');
/** A run whose ledger has one call more than without a fault. */
const query = async () => [
  { issue: 1, model: 'anthropic/scripted-heron', spender: 'coder', calls: 4 },
  { issue: 1, model: 'anthropic/scripted-wren', spender: 'coder', calls: 4 },
];
const MORE = ['anthropic/scripted-wren as coder: 1 more'];

test.each([
  ['a full disk', FULL],
  ['a killed tool', turn('killed by SIGKILL')],
])('an answer to a request that only %s caused does not count as paid again', async (_, request) => {
  expect(await paidAgain({ query, models: { requests: [request, DONE] } })).toEqual([]);
});

test.each([
  ['to the same question', [DONE, DONE]],
  ['to a question that another run asked', [turn('ENOSPC: no space left on device', 2), DONE, DONE]],
  ['to a question whose answer was cut off', [{ ...FULL, usage: null }, DONE, DONE]],
])('a second answer %s counts as paid again', async (_, requests) => {
  expect(await paidAgain({ query, models: { requests } })).toEqual(MORE);
});

test('a request that a full disk caused is paid once, too', async () => {
  const twice = async () => [{ issue: 1, model: 'anthropic/scripted-wren', spender: 'coder', calls: 5 }];
  expect(await paidAgain({ query: twice, models: { requests: [FULL, FULL, DONE] } })).toEqual(MORE);
});
