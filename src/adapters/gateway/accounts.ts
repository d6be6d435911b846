import { asFault, type RunId, type Usage, type Usd } from '../../core/model/index.ts';
import type { LedgerRow, Log, Store } from '../../ports/index.ts';

export type Ledger = Pick<Store, 'addLedgerRow' | 'usage'>;

export interface Caps {
  readonly capUsd: Usd;
  readonly runCapUsd: Usd;
}

/** What a call may cost at most; taken from both budgets until it is settled. */
export interface Reservation {
  readonly usd: Usd;
}

export type Plan<R extends Reservation> = (left: Usd, contended: boolean) => R | null;

export type Reserved<R extends Reservation> =
  | { readonly kind: 'reserved'; readonly reservation: R }
  | { readonly kind: 'cap'; readonly whose: 'spender' | 'run'; readonly spent: Usd; readonly cap: Usd }
  | { readonly kind: 'unrecorded' }
  | { readonly kind: 'gone' };

/** The money of one spender in one run. All purses of a run draw on the same run budget. */
export interface Purse {
  usage(): Usage;
  /**
   * Reserves what `plan` asks for, given the dollars that are left; null from `plan` means that it is not enough.
   * `contended` tells it that more will be left when other calls end. Waits while only other calls in flight stand in the way: they use less than they reserve.
   */
  reserve<R extends Reservation>(caps: Caps, plan: Plan<R>, signal: AbortSignal): Promise<Reserved<R>>;
  /** Gives the reservation back, counts what was spent, and writes the ledger. Never rejects. */
  settle(reservation: Reservation, row: LedgerRow): Promise<void>;
  /** Gives a reservation back for a call that costs nothing. */
  release(reservation: Reservation): void;
  close(): Promise<void>;
}

interface Tally {
  spent: Usd;
  reserved: Usd;
  inFlight: number;
  tokensIn: number;
  tokensOut: number;
  calls: number;
}

interface RunAccount {
  readonly total: Tally;
  readonly spenders: Map<string, Tally>;
  readonly unsaved: LedgerRow[];
  readonly waiting: Set<() => void>;
  saving: Promise<void>;
}

interface Entry {
  readonly account: RunAccount;
  purses: number;
}

/** Budgets of the runs that have open leases. What the ledger holds of earlier leases and processes counts. */
export function openAccounts(ledger: Ledger, log: Log): { open(id: RunId, spender: string): Promise<Purse> } {
  const entries = new Map<RunId, Entry>();

  return {
    async open(runId, spender) {
      const entry = entries.get(runId) ?? { account: emptyAccount(), purses: 0 };
      entries.set(runId, entry);
      entry.purses += 1;
      const release = () => {
        entry.purses -= 1;
        if (entry.purses === 0) entries.delete(runId);
      };
      try {
        await readLedger(ledger, entry.account, runId, spender);
      } catch (error) {
        release();
        throw error;
      }
      return purse(entry.account, spender, release, () => save(entry.account, ledger, log));
    },
  };
}

/** Never lowers what is known here: rows in flight are not in the ledger yet. */
async function readLedger(ledger: Ledger, account: RunAccount, runId: RunId, spender: string): Promise<void> {
  const run = await ledger.usage(runId);
  const own = await ledger.usage(runId, spender);
  account.total.spent = Math.max(account.total.spent, run.usd);
  if (account.spenders.has(spender)) return;
  const { usd, ...counts } = own;
  account.spenders.set(spender, { ...counts, spent: usd, reserved: 0, inFlight: 0 });
}

function purse(account: RunAccount, spender: string, release: () => void, flush: () => Promise<void>): Purse {
  const own = account.spenders.get(spender) ?? emptyTally();
  account.spenders.set(spender, own);
  let open = true;

  return {
    usage: () => ({ usd: own.spent, tokensIn: own.tokensIn, tokensOut: own.tokensOut, calls: own.calls }),

    async reserve(caps, plan, signal) {
      for (;;) {
        if (account.unsaved.length > 0) await flush();
        if (account.unsaved.length > 0) return { kind: 'unrecorded' };
        if (signal.aborted) return { kind: 'gone' };
        const reserved = take(account, own, caps, plan);
        if (reserved) return reserved;
        await nextSettlement(account, signal);
      }
    },

    release(reservation) {
      giveBack(account, own, reservation);
    },

    async settle(reservation, row) {
      // In one turn with giving back, so that no waiting call sees the money twice.
      for (const tally of [own, account.total]) {
        tally.spent += row.usd;
        tally.tokensIn += row.tokensIn;
        tally.tokensOut += row.tokensOut;
        tally.calls += 1;
      }
      account.unsaved.push(row);
      giveBack(account, own, reservation);
      await flush();
    },

    async close() {
      if (!open) return;
      open = false;
      await flush();
      release();
    },
  };
}

/** Null when the money would suffice but for calls in flight. */
function take<R extends Reservation>(
  account: RunAccount,
  own: Tally,
  caps: Caps,
  plan: Plan<R>,
): Reserved<R> | null {
  const ownLeft = caps.capUsd - own.spent;
  const runLeft = caps.runCapUsd - account.total.spent;
  const contended = account.total.inFlight > 0;
  const reservation = plan(Math.min(ownLeft - own.reserved, runLeft - account.total.reserved), contended);
  if (reservation) {
    for (const tally of [own, account.total]) {
      tally.reserved += reservation.usd;
      tally.inFlight += 1;
    }
    return { kind: 'reserved', reservation };
  }
  if (plan(Math.min(ownLeft, runLeft), false)) return null;
  return ownLeft <= runLeft
    ? { kind: 'cap', whose: 'spender', spent: own.spent, cap: caps.capUsd }
    : { kind: 'cap', whose: 'run', spent: account.total.spent, cap: caps.runCapUsd };
}

function giveBack(account: RunAccount, own: Tally, reservation: Reservation): void {
  for (const tally of [own, account.total]) {
    tally.inFlight -= 1;
    // Exactly nothing when nothing is in flight: a rounding rest would let calls wait for one that never ends.
    tally.reserved = tally.inFlight === 0 ? 0 : tally.reserved - reservation.usd;
  }
  for (const wake of [...account.waiting]) wake();
}

function nextSettlement(account: RunAccount, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const wake = () => {
    account.waiting.delete(wake);
    signal.removeEventListener('abort', wake);
    resolve();
  };
  account.waiting.add(wake);
  signal.addEventListener('abort', wake);
  return promise;
}

/** Writes the rows in order, one writer at a time. A row that cannot be written stays, and bars further calls. */
function save(account: RunAccount, ledger: Ledger, log: Log): Promise<void> {
  account.saving = account.saving.then(async () => {
    for (let row = account.unsaved[0]; row; row = account.unsaved[0]) {
      try {
        await ledger.addLedgerRow(row);
      } catch (error) {
        log.error(
          { runId: row.runId, code: asFault(error).code },
          'The ledger cannot be written; model calls wait.',
        );
        return;
      }
      account.unsaved.shift();
    }
  });
  return account.saving;
}

const emptyTally = (): Tally => ({ spent: 0, reserved: 0, inFlight: 0, tokensIn: 0, tokensOut: 0, calls: 0 });

const emptyAccount = (): RunAccount => ({
  total: emptyTally(),
  spenders: new Map(),
  unsaved: [],
  waiting: new Set(),
  saving: Promise.resolve(),
});
