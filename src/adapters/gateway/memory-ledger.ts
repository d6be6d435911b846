import { Fault, NO_USAGE } from '../../core/model/index.ts';
import type { LedgerRow } from '../../ports/index.ts';
import type { Ledger } from './bookings.ts';

/** A ledger for a process that keeps nothing: what it spent is known until it ends. */
export function memoryLedger(): Ledger {
  const rows: LedgerRow[] = [];
  return {
    runCap: async () => null,
    openCall: async (row) => rows.push(row) - 1,
    async settleCall(call, row) {
      if (rows[call] === undefined) throw new Fault('INTERNAL', `There is no call ${call} in the ledger.`);
      rows[call] = row;
    },
    async usage(runId, spender) {
      const own = rows.filter((row) => row.runId === runId && (spender ?? row.spender) === row.spender);
      return own.reduce(
        (sum, row) => ({
          usd: sum.usd + row.usd,
          tokensIn: sum.tokensIn + row.tokensIn,
          tokensOut: sum.tokensOut + row.tokensOut,
          calls: sum.calls + 1,
        }),
        NO_USAGE,
      );
    },
    async spentSince(at, repository) {
      const own = rows.filter((row) => row.at >= at && (repository ?? row.repository) === row.repository);
      return own.reduce((sum, row) => sum + row.usd, 0);
    },
  };
}
