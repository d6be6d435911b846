import { Fault, NO_USAGE } from '../../core/model/index.ts';
import type { Booked, Booker, LedgerRow, LedgerSums } from '../../ports/index.ts';
import type { Ledger } from './bookings.ts';

/** A ledger for a process that keeps nothing: what it spent is known until it ends. */
export function memoryLedger(): Ledger {
  const rows: LedgerRow[] = [];
  return {
    async bookCall(whose, decide) {
      const row = decide(sumsOf(rows, whose));
      return row && rows.push(row) - 1;
    },
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
  };
}

/** As the database adds them up. */
export function sumsOf(rows: readonly LedgerRow[], whose: Booker): LedgerSums {
  const sum = (own: readonly LedgerRow[], of: (row: LedgerRow) => number): Booked => {
    const held = own.filter(({ status, at }) => status === 0 && at >= whose.underWayFrom);
    const total = (some: readonly LedgerRow[]) => some.reduce((all, row) => all + of(row), 0);
    return { booked: total(own), held: total(held) };
  };
  const usd = (row: LedgerRow) => row.usd;
  const run = rows.filter(({ runId }) => runId === whose.runId);
  const own = run.filter(({ spender }) => spender === whose.spender);
  const day = rows.filter(({ at }) => at >= whose.dayFrom);
  return {
    spender: sum(own, usd),
    spenderTokens: sum(own, (row) => row.tokensIn + row.tokensOut),
    run: sum(run, usd),
    repositoryDay: sum(
      day.filter(({ repository }) => repository === whose.repository),
      usd,
    ),
    day: sum(day, usd),
    runCap: null,
  };
}
