import { Mutex } from 'async-mutex';
import { asFault, Fault, type RunId, type Usage } from '../../core/model/index.ts';
import type { Clock, KeptAnswer, LedgerRow, Log } from '../../ports/index.ts';
import {
  type BilledGrant,
  type CapReached,
  type DailyBudgets,
  midnightBefore,
  type Plan,
  type Reservation,
  scopesOf,
  settledScopes,
  type Taken,
  type Tally,
  take,
} from './caps.ts';
import { type Bookings, type Ledger, openBookings } from './ledger.ts';

/** A call that is paid for, its number in the ledger (null if it costs nothing), and when it was booked. */
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
  /** For longer than calls wait, other calls held the money that it needs. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'unrecorded' }
  | { readonly kind: 'gone' };

/** The ledger's row for a reservation that is booked at a given time. */
type Booking<R extends Reservation> = (reservation: R, at: number) => LedgerRow;

/** The budget of one spender in one run. */
export interface Account {
  /** What this spender has used in this run, without what active calls hold. */
  usage(): Usage;
  /**
   * Reserves what `plan` asks for and books it in the ledger as `booking` writes it; null for a call that costs
   * nothing. Waits, for a limited time, while only other calls prevent it. Never rejects.
   */
  reserve<R extends Reservation>(
    plan: Plan<R>,
    booking: Booking<R> | null,
    signal: AbortSignal,
  ): Promise<Reserved<R>>;
  /**
   * Lowers the maximum that is booked for an active call, so that others need not wait for the difference. Must be
   * called before `settle`, whose values are final: both are written in this order. Never rejects.
   */
  lower(paid: Paid<Reservation>, row: LedgerRow): Promise<void>;
  /** Replaces what was booked with the actual cost of the call, and stores its answer. Never rejects. */
  settle(paid: Paid<Reservation>, row: LedgerRow, answer?: KeptAnswer | null): Promise<void>;
  close(): Promise<void>;
}

interface Accounts {
  /** Writes the final costs and answers of calls of closed leases. Faults: DATABASE_UNAVAILABLE if that fails. */
  flush(): Promise<void>;
  /** Rejects when the ledger cannot be read. */
  open(payer: BilledGrant): Promise<Account>;
}

interface AccountsOptions {
  readonly ledger: Ledger;
  readonly dayCaps: DailyBudgets;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  /** Milliseconds for which a call waits for money that other calls hold. */
  readonly waitMs: number;
  /** Milliseconds after which the process of a call that is booked but not settled counts as gone. */
  readonly underWayMs: number;
}

/** State shared by all accounts of a gateway. */
interface AccountsContext extends AccountsOptions {
  readonly bookings: Bookings;
  readonly settlements: Settlements;
  /** Books one call at a time: others would only wait for the ledger's lock, each with its own connection. */
  readonly mutex: Mutex;
}

/**
 * Budgets of the runs that have open leases. The ledger is authoritative: before a call is sent, its maximum cost is
 * booked there, so that bookings of other processes, and those before a crash, count. Reading the sums and booking the
 * call is one atomic step.
 */
export function openAccounts(options: AccountsOptions): Accounts {
  const context: AccountsContext = {
    ...options,
    bookings: openBookings(options.ledger, options.log),
    settlements: openSettlements(),
    mutex: new Mutex(),
  };
  const runs = new Map<RunId, { readonly tallies: Map<string, Tally>; accounts: number }>();
  return {
    async flush() {
      if (await context.bookings.flush()) return;
      throw new Fault(
        'DATABASE_UNAVAILABLE',
        'What earlier model calls cost cannot be written to the ledger.',
      );
    },
    async open(payer) {
      const { runId, spender } = payer;
      const run = runs.get(runId) ?? { tallies: new Map<string, Tally>(), accounts: 0 };
      runs.set(runId, run);
      run.accounts += 1;
      const forget = () => {
        run.accounts -= 1;
        if (run.accounts === 0) runs.delete(runId);
      };
      try {
        const booked = await options.ledger.usage(runId, spender);
        // Another lease of this spender has better numbers: the ledger also contains active calls, at their maximum.
        const own = run.tallies.get(spender) ?? { ...booked };
        run.tallies.set(spender, own);
        return openAccount(context, payer, own, forget);
      } catch (error) {
        forget();
        throw error;
      }
    },
  };
}

/** Milliseconds between checks for money that calls of other processes have released. Our default. */
const LOOK_MS = 2_000;

function openAccount(context: AccountsContext, payer: BilledGrant, own: Tally, forget: () => void): Account {
  const { bookings, settlements } = context;
  let open = true;
  return {
    usage: () => ({ ...own }),

    async reserve(plan, booking, signal) {
      const patience = AbortSignal.timeout(context.waitMs);
      for (;;) {
        const answer = await context.mutex.runExclusive(() =>
          attempt(context, payer, own, plan, booking, signal),
        );
        if (answer.kind !== 'wait') return answer;
        if (patience.aborted) return { kind: 'busy' };
        const woken = AbortSignal.any([signal, patience, AbortSignal.timeout(LOOK_MS)]);
        await settlements.next(answer.settledCount, woken);
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
  | { readonly kind: 'wait'; readonly settledCount: number };

async function attempt<R extends Reservation>(
  context: AccountsContext,
  payer: BilledGrant,
  own: Tally,
  plan: Plan<R>,
  booking: Booking<R> | null,
  signal: AbortSignal,
): Promise<Attempt<R>> {
  if (!(await context.bookings.flush())) return { kind: 'unrecorded' };
  if (signal.aborted) return { kind: 'gone' };
  const settledCount = context.settlements.count();
  // Without reading the ledger, so that an agent that retries endlessly costs almost nothing.
  const reached = take(settledScopes(payer, own), plan);
  if (reached.kind === 'cap') return reached;
  try {
    return await book(context, payer, plan, booking, settledCount);
  } catch (error) {
    const { code } = asFault(error);
    context.log.error({ run: payer.runId, code }, 'A model call cannot be booked.');
    return { kind: 'unrecorded' };
  }
}

async function book<R extends Reservation>(
  { ledger, clock, dayCaps, underWayMs }: AccountsContext,
  payer: BilledGrant,
  plan: Plan<R>,
  booking: Booking<R> | null,
  settledCount: number,
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
  return taken?.kind === 'cap' ? taken : { kind: 'wait', settledCount };
}

/** Notifies calls that wait for money when another call releases some. */
interface Settlements {
  /** How many there have been. */
  count(): number;
  tell(): void;
  /** Resolves when there have been more than `settledCount`, or when the signal aborts. */
  next(settledCount: number, signal: AbortSignal): Promise<void>;
}

function openSettlements(): Settlements {
  const waiting = new Set<() => void>();
  let count = 0;
  return {
    count: () => count,
    tell() {
      count += 1;
      for (const wake of [...waiting]) wake();
    },
    next(settledCount, signal) {
      if (count > settledCount || signal.aborted) return Promise.resolve();
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
