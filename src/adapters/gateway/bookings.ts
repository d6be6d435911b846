import { asFault } from '../../core/model/index.ts';
import type { KeptAnswer, LedgerRow, Log, Store } from '../../ports/index.ts';

export type Ledger = Pick<Store, 'bookCall' | 'settleCall' | 'usage'>;

/** Writes what calls came to. What cannot be written is kept, and tried again before the next call. */
export interface Bookings {
  /** True when nothing is left to be written. Never rejects. */
  flush(): Promise<boolean>;
  /** Never rejects: until it is written the amount that was booked stands. */
  settle(call: number, row: LedgerRow, answer?: KeptAnswer | null): Promise<void>;
}

export function openBookings(ledger: Ledger, log: Log): Bookings {
  const unsaved: { readonly call: number; readonly row: LedgerRow; readonly answer: KeptAnswer | null }[] =
    [];
  let saving: Promise<void> = Promise.resolve();

  const save = async () => {
    for (let next = unsaved[0]; next; next = unsaved[0]) {
      try {
        await ledger.settleCall(next.call, next.row, next.answer ?? undefined);
      } catch (error) {
        const { code } = asFault(error);
        if (code !== 'INTERNAL') {
          log.error({ run: next.row.runId, code }, 'The ledger cannot be written; model calls wait.');
          return;
        }
        // No later try can be better, as when somebody removed the row: what was booked stands, if anything does.
        log.error({ run: next.row.runId, err: error }, 'A model call could not be settled.');
      }
      unsaved.shift();
    }
  };
  const flush = async () => {
    if (unsaved.length > 0) {
      saving = saving.then(save);
      await saving;
    }
    return unsaved.length === 0;
  };
  return {
    flush,
    async settle(call, row, answer = null) {
      unsaved.push({ call, row, answer });
      await flush();
    },
  };
}
