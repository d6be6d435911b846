import { Mutex } from 'async-mutex';
import { asFault, type RunId, type Usage } from '../../core/model/index.ts';
import type { Clock, KeptAnswer, LedgerRow, Log } from '../../ports/index.ts';
import {
  type CapReached,
  type DayCaps,
  midnightBefore,
  type Payer,
  type Plan,
  type Reservation,
  scopesOf,
  settledScopes,
  type Taken,
  type Tally,
  take,
} from './caps.ts';
import { type Bookings, type Ledger, openBookings } from './ledger.ts';

/** A call that is paid for, its number in the ledger (null for one that costs nothing), and when it was booked. */
export interface Paid<R extends Reservation> {
  readonly kind: 'reserved';
  readonly reservation: R;
  readonly call: number | null;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export type Reserved<R extends Reservation> =
  | Paid<R>
  | CapReached
  /** Other calls held what it needs for longer than calls wait. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'unrecorded' }
  | { readonly kind: 'gone' };

/** The ledger's row for a reservation that is booked at a moment. */
type Booking<R extends Reservation> = (reservation: R, at: number) => LedgerRow;

/** The money of one spender in one run. */
export interface Purse {
  /** Of this spender in this run; what calls under way hold is not in it. */
  usage(): Usage;
  /**
   * Reserves what `plan` asks for and books it in the ledger as `booking` writes it: null for a call that costs
   * nothing. Waits, for a bounded time, while only other calls stand in the way. Never rejects.
   */
  reserve<R extends Reservation>(
    plan: Plan<R>,
    booking: Booking<R> | null,
    signal: AbortSignal,
  ): Promise<Reserved<R>>;
  /**
   * Writes a lower most over what was booked for a call that is still under way, so that others need not wait for the
   * difference. To be called before `settle`, whose figures stay: both are written in this order. Never rejects.
   */
  lower(paid: Paid<Reservation>, row: LedgerRow): Promise<void>;
  /** Writes what the call came to over what was booked, its answer with it. Never rejects. */
  settle(paid: Paid<Reservation>, row: LedgerRow, answer?: KeptAnswer | null): Promise<void>;
  close(): Promise<void>;
}

interface Accounts {
  /** Rejects when the ledger cannot be read. */
  open(payer: Payer): Promise<Purse>;
}

interface AccountsOptions {
  readonly ledger: Ledger;
  readonly dayCaps: DayCaps;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  /** Milliseconds for which a call waits for money that others hold. */
  readonly waitMs: number;
  /** Milliseconds after which a call that is booked and not settled counts as one whose process is gone. */
  readonly underWayMs: number;
}

/** What all purses of a gateway work with. */
interface Desk extends AccountsOptions {
  readonly bookings: Bookings;
  readonly settlements: Settlements;
  /** One call is booked at a time: others would only wait for the ledger's lock, each with a connection of its own. */
  readonly mutex: Mutex;
}

/**
 * Budgets of the runs that have open leases. The ledger is the truth: a call is booked there with what it may cost at
 * most before it goes out, so that what other processes book, and what was booked before a crash, counts. Its sums are
 * read and the call is booked in one step, in which nobody else books.
 */
export function openAccounts(options: AccountsOptions): Accounts {
  const desk: Desk = {
    ...options,
    bookings: openBookings(options.ledger, options.log),
    settlements: openSettlements(),
    mutex: new Mutex(),
  };
  const runs = new Map<RunId, { readonly tallies: Map<string, Tally>; purses: number }>();
  return {
    async open(payer) {
      const { runId, spender } = payer;
      const run = runs.get(runId) ?? { tallies: new Map<string, Tally>(), purses: 0 };
      runs.set(runId, run);
      run.purses += 1;
      const forget = () => {
        run.purses -= 1;
        if (run.purses === 0) runs.delete(runId);
      };
      try {
        const booked = await options.ledger.usage(runId, spender);
        // Another lease of this spender knows better: what is under way is booked too, at more than it will cost.
        const own = run.tallies.get(spender) ?? { ...booked };
        run.tallies.set(spender, own);
        return openPurse(desk, payer, own, forget);
      } catch (error) {
        forget();
        throw error;
      }
    },
  };
}

/** Milliseconds between looks for money that calls of other processes gave back. Our default. */
const LOOK_MS = 2_000;

function openPurse(desk: Desk, payer: Payer, own: Tally, forget: () => void): Purse {
  const { bookings, settlements } = desk;
  let open = true;
  return {
    usage: () => ({ ...own }),

    async reserve(plan, booking, signal) {
      const patience = AbortSignal.timeout(desk.waitMs);
      for (;;) {
        const answer = await desk.mutex.runExclusive(() => attempt(desk, payer, own, plan, booking, signal));
        if (answer.kind !== 'wait') return answer;
        if (patience.aborted) return { kind: 'busy' };
        const woken = AbortSignal.any([signal, patience, AbortSignal.timeout(LOOK_MS)]);
        await settlements.next(answer.seen, woken);
      }
    },

    async lower({ call }, row) {
      if (call === null) return;
      await bookings.settle(call, row);
      settlements.tell();
    },

    async settle({ call }, row, answer = null) {
      if (call !== null) await bookings.settle(call, row, answer);
      own.usd += row.usd;
      own.tokensIn += row.tokensIn;
      own.tokensOut += row.tokensOut;
      own.calls += 1;
      settlements.tell();
    },

    async close() {
      if (!open) return;
      open = false;
      await bookings.flush();
      forget();
    },
  };
}

type Attempt<R extends Reservation> =
  | Exclude<Reserved<R>, { kind: 'busy' }>
  | { readonly kind: 'wait'; readonly seen: number };

async function attempt<R extends Reservation>(
  desk: Desk,
  payer: Payer,
  own: Tally,
  plan: Plan<R>,
  booking: Booking<R> | null,
  signal: AbortSignal,
): Promise<Attempt<R>> {
  if (!(await desk.bookings.flush())) return { kind: 'unrecorded' };
  if (signal.aborted) return { kind: 'gone' };
  const seen = desk.settlements.count();
  // Without a look into the ledger, so that an agent that asks on and on costs next to nothing.
  const reached = take(settledScopes(payer, own), plan);
  if (reached.kind === 'cap') return reached;
  try {
    return await book(desk, payer, plan, booking, seen);
  } catch (error) {
    const { code } = asFault(error);
    desk.log.error({ run: payer.runId, code }, 'A model call cannot be booked.');
    return { kind: 'unrecorded' };
  }
}

async function book<R extends Reservation>(
  { ledger, clock, dayCaps, underWayMs }: Desk,
  payer: Payer,
  plan: Plan<R>,
  booking: Booking<R> | null,
  seen: number,
): Promise<Attempt<R>> {
  const at = clock.now();
  const whose = {
    runId: payer.runId,
    spender: payer.spender,
    repository: payer.repository,
    dayFrom: midnightBefore(at),
    underWayFrom: at - underWayMs,
  };
  const decided: Taken<R>[] = [];
  const call = await ledger.bookCall(whose, (sums) => {
    const taken = take(scopesOf(payer, dayCaps, sums), plan);
    decided.push(taken);
    return taken.kind === 'taken' && booking ? booking(taken.reservation, at) : null;
  });
  const taken = decided.at(-1);
  if (taken?.kind === 'taken') return { kind: 'reserved', reservation: taken.reservation, call, at };
  return taken?.kind === 'cap' ? taken : { kind: 'wait', seen };
}

/** Tells calls that wait for money when another one gave some back. */
interface Settlements {
  /** How many there were. */
  count(): number;
  tell(): void;
  /** Resolves when there are more than `seen`, or the signal aborts. */
  next(seen: number, signal: AbortSignal): Promise<void>;
}

function openSettlements(): Settlements {
  const waiting = new Set<() => void>();
  let told = 0;
  return {
    count: () => told,
    tell() {
      told += 1;
      for (const wake of [...waiting]) wake();
    },
    next(seen, signal) {
      if (told > seen || signal.aborted) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      const wake = () => {
        waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      waiting.add(wake);
      signal.addEventListener('abort', wake);
      return promise;
    },
  };
}
