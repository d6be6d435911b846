import { Mutex } from 'async-mutex';
import { asFault, Fault, NO_USAGE } from '../../core/model/index.ts';
import type {
  Booked,
  Booker,
  Grant,
  KeptAnswer,
  LedgerRow,
  LedgerSums,
  Log,
  Store,
} from '../../ports/index.ts';
import type { AdmittedCall } from './admission.ts';
import { type CallReservation, dearest } from './caps.ts';
import type { MeterReading, ReportedInput } from './meter.ts';
import type { PriceBook, Tokens } from './providers.ts';
import type { Outcome } from './relay.ts';

export type Ledger = Pick<Store, 'bookCall' | 'settleCall' | 'usage'>;

/** Writes what calls cost. What cannot be written is kept and tried again before the next call. */
export interface Bookings {
  /** True if nothing is left to be written. Never rejects. */
  flush(): Promise<boolean>;
  /** Never rejects: until it is written, the booked amount counts. */
  settle(call: number, row: LedgerRow, answer?: KeptAnswer | null): Promise<void>;
}

export function openBookings(ledger: Ledger, log: Log): Bookings {
  const unsaved: { readonly call: number; readonly row: LedgerRow; readonly answer: KeptAnswer | null }[] =
    [];
  const saving = new Mutex();

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
        // Another try cannot succeed, for example because somebody removed the row. What was booked counts, if anything
        // does.
        log.error({ run: next.row.runId, err: error }, 'A model call could not be settled.');
      }
      unsaved.shift();
    }
  };
  const flush = async () => {
    if (unsaved.length > 0) await saving.runExclusive(save);
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

const whose = (grant: Grant, call: AdmittedCall) => ({
  runId: grant.runId,
  spender: grant.spender,
  repository: grant.repository,
  model: `${call.provider}/${call.model}`,
});

/** The row of an active call: the maximum that it may cost. */
export const bookedRow = (
  grant: Grant,
  call: AdmittedCall,
  { usd, tokens, outputTokens }: CallReservation,
  at: number,
): LedgerRow => ({
  ...whose(grant, call),
  tokensIn: tokens - outputTokens,
  tokensOut: outputTokens,
  tokensCached: 0,
  tokensReasoning: 0,
  usd,
  exact: false,
  status: 0,
  ms: 0,
  at,
});

/**
 * An active call whose input is known: it holds that, and all output that it may still generate. Null if this is not
 * less than what is booked. Only Anthropic itself is trusted here: its first event reports what it bills for the input
 * (https://platform.claude.com/docs/en/build-with-claude/streaming), and what would add to it later, hosted tools and
 * summaries, is on no list for bodies.
 */
export function loweredRow(
  grant: Grant,
  call: AdmittedCall,
  { reservation, at }: { readonly reservation: CallReservation; readonly at: number },
  input: ReportedInput,
  book: PriceBook,
): LedgerRow | null {
  if (!call.access.official || call.endpoint.protocol !== 'anthropic') return null;
  const { outputTokens } = reservation;
  const usd = book.cost(call.provider, call.model, { ...input, output: outputTokens }, at) ?? reservation.usd;
  const tokens = input.input + outputTokens;
  if (usd > reservation.usd || tokens > reservation.tokens) return null;
  return bookedRow(grant, call, { usd, tokens, outputTokens }, at);
}

/** An outcome, and what its answer reported. */
interface ProviderReport {
  readonly outcome: Outcome;
  /** Null if there was no answer, or if it was not read. */
  readonly reading: MeterReading | null;
}

/** A reading must be taken once, at the end. */
export const reportOf = (outcome: Outcome): ProviderReport => ({
  outcome,
  reading: outcome.meter?.reading() ?? null,
});

/** Whether the provider did not report its usage: zero input counts as not reported, because no request is empty. */
export const inputIsMissing = ({ outcome, reading }: ProviderReport): boolean =>
  outcome.how !== 'unbilled' && !reading?.input?.input;

/**
 * The final cost of a call, on the day on which it was booked. Usage that its provider did not report is settled at its
 * maximum: an answer that was cut off may have been generated to its end and billed in full. `counted`: tokens of the
 * input, as the provider counted them on request.
 */
export function settledRow(
  grant: Grant,
  call: AdmittedCall,
  reserved: CallReservation,
  report: ProviderReport,
  counted: number | null,
  book: PriceBook,
  { startedAt, ms }: { readonly startedAt: number; readonly ms: number },
): LedgerRow {
  const { tokens, exact } = used(call, reserved, report, counted);
  const priced = book.cost(call.provider, call.model, tokens, startedAt);
  return {
    ...whose(grant, call),
    tokensIn: tokens.input,
    tokensOut: tokens.output,
    tokensCached: tokens.cacheRead,
    tokensReasoning: report.outcome.how === 'unbilled' ? 0 : (report.reading?.reasoning ?? 0),
    // Without a price only tokens were reserved, and the sum is incomplete.
    usd: priced ?? reserved.usd,
    exact: exact && priced !== null,
    status: report.outcome.status,
    ms,
    at: startedAt,
  };
}

/** The lower end of characters per token, so that an estimate is rather too high. */
const CHARACTERS_PER_TOKEN = 3;
const NO_TOKENS: Tokens = { input: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 0 };

function used(
  call: AdmittedCall,
  { outputTokens }: CallReservation,
  report: ProviderReport,
  counted: number | null,
): { readonly tokens: Tokens; readonly exact: boolean } {
  const { outcome, reading } = report;
  if (outcome.how === 'unbilled') return { tokens: NO_TOKENS, exact: true };
  const missing = inputIsMissing(report);
  const input =
    missing || !reading?.input
      ? dearest(call, Math.min(counted ?? call.input.most, call.input.most))
      : reading.input;
  const output = missing ? null : (reading?.output ?? null);
  // Exceeds the limit only if a provider ignores it.
  const estimatedOutput = Math.ceil((reading?.characters ?? 0) / CHARACTERS_PER_TOKEN);
  if (outcome.how === 'whole' && output !== null) return { tokens: { ...input, output }, exact: true };
  return {
    tokens: { ...input, output: Math.max(reading?.output ?? 0, outputTokens, estimatedOutput) },
    exact: false,
  };
}

/** A ledger for a process that stores nothing: it knows what was spent until it ends. */
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

/** The sums as the database computes them. */
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
