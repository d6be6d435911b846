import { expect, test } from 'vitest';
import { watchedLedger } from '../../src/compose/seen.ts';
import type { KeptAnswer, LedgerRow } from '../../src/ports/index.ts';

test('an answer is kept also where calls are watched', async () => {
  const settled: unknown[][] = [];
  const ledger = watchedLedger(
    {
      bookCall: async () => 1,
      settleCall: async (...all) => void settled.push(all),
      usage: async () => ({ usd: 0, tokensIn: 0, tokensOut: 0, calls: 0 }),
    },
    {},
  );
  const row = { runId: 'r1', status: 200 } as LedgerRow;
  const answer = { question: 'ab', number: 0 } as KeptAnswer;
  await ledger.settleCall(1, row, answer);
  await ledger.settleCall(2, row);
  expect(settled).toEqual([
    [1, row, answer],
    [2, row, undefined],
  ]);
});
