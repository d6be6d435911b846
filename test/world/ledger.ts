import type { Booker, LedgerRow, LedgerSums, Store } from '../../src/ports/index.ts';

type Ledger = Pick<Store, 'bookCall'>;

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
