import type { Booker, LedgerRow, LedgerSums, Store } from '../../src/ports/index.ts';

type Ledger = Pick<Store, 'bookCall'>;

/** A call of candidate A of a run, settled and exact. */
export const ledgerRow = (runId: string, usd: number, at: number): LedgerRow => ({
  runId,
  spender: 'A',
  repository: 'github-42',
  model: 'openai/gpt-5',
  tokensIn: 1,
  tokensOut: 1,
  tokensCached: 0,
  tokensReasoning: 0,
  usd,
  exact: true,
  status: 200,
  ms: 1,
  at,
});

/** Writes a call into a ledger, whatever its sums are; returns its number. */
export async function bookRow(ledger: Ledger, row: LedgerRow): Promise<number> {
  const call = await ledger.bookCall(bookerOf(row), () => row);
  if (call === null) throw new Error('the ledger did not book a call');
  return call;
}

/** What a ledger holds for whoever would book a call now. */
export async function readSums(ledger: Ledger, whose: Partial<Booker>): Promise<LedgerSums> {
  let read: LedgerSums | undefined;
  await ledger.bookCall({ ...bookerOf({}), ...whose }, (sums) => {
    read = sums;
    return null;
  });
  if (!read) throw new Error('the ledger told no sums');
  return read;
}

/** Dollars booked from a moment on, by everyone or for one repository. */
export async function spentSince(ledger: Ledger, dayFrom: number, repository?: string): Promise<number> {
  const sums = await readSums(ledger, { dayFrom, ...(repository === undefined ? {} : { repository }) });
  return (repository === undefined ? sums.day : sums.repositoryDay).booked;
}

const bookerOf = ({ runId = '', spender = '', repository = '' }: Partial<LedgerRow>): Booker => ({
  runId,
  spender,
  repository,
  dayFrom: 0,
  underWayFrom: 0,
});
