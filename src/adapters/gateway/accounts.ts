import { asFault, type RunId, type Usage } from '../../core/model/index.ts';
import type { Clock, KeptAnswer, LedgerRow, Log } from '../../ports/index.ts';
import { type Bookings, type Ledger, openBookings } from './bookings.ts';
import { type CapReached, type Held, openHeld, type Plan, passed, type Reservation, take } from './caps.ts';
import { type DayCaps, hold, ownScopes, type Payer, readSums, sharedScopes, type Tally } from './scopes.ts';
import { inTurn, openSettlements, type Settlements } from './turns.ts';

/** A call that is paid for, and its number in the ledger; null for one that costs nothing. */
export interface Paid<R extends Reservation> {
  readonly kind: 'reserved';
  readonly reservation: R;
  readonly call: number | null;
}

export type Reserved<R extends Reservation> =
  | Paid<R>
  | CapReached
  | { readonly kind: 'unrecorded' }
  | { readonly kind: 'gone' };

/** The money of one spender in one run. */
export interface Purse {
  /** Of this spender in this run; what calls in flight hold is not in it. */
  usage(): Usage;
  /**
   * Reserves what `plan` asks for and books it in the ledger as `booking` writes it: null for a call that costs
   * nothing. Waits while only other calls of this process stand in the way. Never rejects.
   */
  reserve<R extends Reservation>(
    plan: Plan<R>,
    booking: ((reservation: R) => LedgerRow) | null,
    signal: AbortSignal,
  ): Promise<Reserved<R>>;
  /** Writes what the call came to over what was booked, its answer with it, and gives the rest back. Never rejects. */
  settle(paid: Paid<Reservation>, row: LedgerRow, answer?: KeptAnswer | null): Promise<void>;
  /** Gives back what a call held that cost nothing. */
  release(paid: Paid<Reservation>): void;
  close(): Promise<void>;
}

export interface Accounts {
  /** Rejects when the ledger cannot be read. */
  open(payer: Payer): Promise<Purse>;
}

export interface AccountsOptions {
  readonly ledger: Ledger;
  readonly dayCaps: DayCaps;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

/** What all purses of a gateway work with. */
interface Desk extends AccountsOptions {
  readonly bookings: Bookings;
  readonly held: Held;
  readonly settlements: Settlements;
  /** One call is reserved and booked at a time, so that each sees what the one before it booked. */
  readonly turn: <T>(work: () => Promise<T>) => Promise<T>;
}

/**
 * Budgets of the runs that have open leases. The ledger is the truth: a call is booked there with what it may cost at
 * most before it goes out, so that what other processes book, and what was booked before a crash, counts. Its sums
 * are read before each reservation, and again after the booking: where two processes took the same money, the booking
 * is taken back and tried again, so that what is booked never passes a cap.
 */
export function openAccounts(options: AccountsOptions): Accounts {
  const desk: Desk = {
    ...options,
    bookings: openBookings(options.ledger, options.log),
    held: openHeld(),
    settlements: openSettlements(),
    turn: inTurn(),
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
        // Another lease of this spender knows better: what is in flight is booked too, at more than it will cost.
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

/** Bookings taken back because another process was quicker, before the cap counts as reached. */
const MOST_TRIES = 5;

function openPurse(desk: Desk, payer: Payer, own: Tally, forget: () => void): Purse {
  const { bookings, settlements } = desk;
  let open = true;
  const giveBack = (reservation: Reservation) => {
    hold(desk.held, payer, reservation, 'remove');
    settlements.tell();
  };
  return {
    usage: () => ({ ...own }),

    async reserve(plan, booking, signal) {
      for (let tries = 1; ; ) {
        const answer = await desk.turn(() => attempt(desk, payer, own, plan, booking, signal));
        if (answer.kind === 'wait') {
          await settlements.next(answer.seen, signal);
        } else if (answer.kind === 'outrun') {
          if (tries === MOST_TRIES) return answer.cap;
          tries += 1;
        } else {
          return answer;
        }
      }
    },

    release: ({ reservation }) => giveBack(reservation),

    async settle({ reservation, call }, row, answer = null) {
      // First the ledger: whoever looks in between finds the money still held, and waits for it.
      if (call !== null) await bookings.settle(call, row, answer);
      own.usd += row.usd;
      own.tokensIn += row.tokensIn;
      own.tokensOut += row.tokensOut;
      own.calls += 1;
      giveBack(reservation);
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
  | Reserved<R>
  | { readonly kind: 'wait'; readonly seen: number }
  | { readonly kind: 'outrun'; readonly cap: CapReached };

async function attempt<R extends Reservation>(
  desk: Desk,
  payer: Payer,
  own: Tally,
  plan: Plan<R>,
  booking: ((reservation: R) => LedgerRow) | null,
  signal: AbortSignal,
): Promise<Attempt<R>> {
  if (!(await desk.bookings.flush())) return { kind: 'unrecorded' };
  if (signal.aborted) return { kind: 'gone' };
  const seen = desk.settlements.count();
  try {
    // Without a look into the ledger, so that an agent that asks on and on costs next to nothing.
    const reached = take(ownScopes(desk.held, payer, own), plan);
    if (reached.kind === 'cap') return reached;
    const shared = await readShared(desk, payer);
    const taken = take([...ownScopes(desk.held, payer, own), ...shared], plan);
    // The sums may be of before a settlement that came meanwhile.
    const stale = taken.kind === 'cap' && desk.settlements.count() > seen;
    if (stale || taken.kind === 'wait') return { kind: 'wait', seen };
    if (taken.kind === 'cap') return taken;
    return await book(desk, payer, taken.reservation, booking?.(taken.reservation) ?? null);
  } catch (error) {
    const { code } = asFault(error);
    desk.log.error({ run: payer.runId, code }, 'A model call cannot be booked.');
    return { kind: 'unrecorded' };
  }
}

const readShared = async ({ ledger, clock, held, dayCaps }: Desk, payer: Payer) =>
  sharedScopes(held, payer, dayCaps, await readSums(ledger, clock, payer));

/** As the ledger keeps a call that was booked and did not go out. */
const NEVER_SENT = { usd: 0, tokensIn: 0, tokensOut: 0, exact: true, status: 402 } as const;

async function book<R extends Reservation>(
  desk: Desk,
  payer: Payer,
  reservation: R,
  row: LedgerRow | null,
): Promise<Attempt<R>> {
  const call = row && (await desk.ledger.openCall(row));
  hold(desk.held, payer, reservation, 'add');
  if (!row || call === null) return { kind: 'reserved', reservation, call: null };
  const takeBack = async () => {
    await desk.bookings.settle(call, { ...row, ...NEVER_SENT });
    hold(desk.held, payer, reservation, 'remove');
    desk.settlements.tell();
  };
  try {
    const scope = passed(await readShared(desk, payer));
    if (!scope) return { kind: 'reserved', reservation, call };
    await takeBack();
    return {
      kind: 'outrun',
      cap: { kind: 'cap', whose: scope.name, spent: scope.booked - scope.held, cap: scope.cap },
    };
  } catch (error) {
    await takeBack();
    throw error;
  }
}
