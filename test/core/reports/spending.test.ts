import { expect, test } from 'vitest';
import { spendingGroups } from '../../../src/core/reports/index.ts';

const row = (spender: string, usd: number) => ({
  ...{ spender, usd, model: 'anthropic/m', tokensIn: 1, tokensOut: 1, calls: 1, estimated: 0 },
});

test('plans that people asked for are part of the brief, and each debate of the debates', () => {
  const rows = [
    row('brief', 1),
    row('brief-3', 2),
    row('debate-0-qa', 1),
    row('debate-2.1:synthesis', 1),
    row('A', 1),
  ];
  expect(spendingGroups(rows, ['A']).map(({ title, usd, calls }) => [title, usd, calls])).toEqual([
    ['Brief', 3, 2],
    ['Debate of the brief', 2, 2],
    ['Coders', 1, 1],
  ]);
});
