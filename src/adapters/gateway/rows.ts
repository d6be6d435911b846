import type { Grant, LedgerRow } from '../../ports/index.ts';
import type { AdmittedCall } from './admission.ts';
import { type CallReservation, estimatedInput } from './plan.ts';
import type { PriceBook, Tokens } from './prices.ts';
import type { Outcome } from './relay.ts';

const whose = (grant: Grant, call: AdmittedCall) => ({
  runId: grant.runId,
  spender: grant.spender,
  repository: grant.repository,
  model: `${call.provider}/${call.model}`,
});

/** What stands in the ledger while a call is under way: the most that it may cost. */
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

/** What a call came to. It stays on the day on which it was booked. */
export function settledRow(
  grant: Grant,
  call: AdmittedCall,
  reserved: CallReservation,
  outcome: Outcome,
  book: PriceBook,
  { startedAt, ms }: { readonly startedAt: number; readonly ms: number },
): LedgerRow {
  const { tokens, reasoning, exact } = used(call, reserved, outcome, ms);
  const priced = book.cost(call.provider, call.model, tokens, startedAt);
  return {
    ...whose(grant, call),
    tokensIn: tokens.input,
    tokensOut: tokens.output,
    tokensCached: tokens.cacheRead,
    tokensReasoning: reasoning,
    // Without a price only tokens were set aside, and the sum is not the whole truth.
    usd: priced ?? reserved.usd,
    exact: exact && priced !== null,
    status: outcome.status,
    ms,
    at: startedAt,
  };
}

const NOTHING: Tokens = { input: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 0 };
/** The low end of characters in a token, so that an estimate is rather too high. */
const CHARACTERS_PER_TOKEN = 3;
/**
 * What a model may have written in secret in a second of a cut call: reasoning is billed but not sent, so an agent
 * that hangs up right before the figures would otherwise think for nothing. Our default, tune on dev data.
 */
const HIDDEN_TOKENS_PER_SECOND = 100;

interface Used {
  readonly tokens: Tokens;
  readonly reasoning: number;
  readonly exact: boolean;
}

function used(call: AdmittedCall, reserved: CallReservation, outcome: Outcome, ms: number): Used {
  if (outcome.how === 'unbilled') return { tokens: NOTHING, reasoning: 0, exact: true };
  const reading = outcome.meter?.reading() ?? { input: null, output: null, reasoning: 0, characters: 0 };
  const { reasoning } = reading;
  const guess = { input: estimatedInput(call.bytes), cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 };
  const input = reading.input ?? guess;
  const visible = Math.ceil(reading.characters / CHARACTERS_PER_TOKEN);
  if (outcome.how === 'whole') {
    const exact = reading.input !== null && reading.output !== null;
    return { tokens: { ...input, output: reading.output ?? visible }, reasoning, exact };
  }
  // What is no stream is written to its end, and may be billed, whether or not anybody waits for it.
  const goesOn = outcome.meter ? !outcome.meter.stream : !asksForStream(call);
  const thought = goesOn ? reserved.outputTokens : Math.ceil((ms / 1000) * HIDDEN_TOKENS_PER_SECOND);
  const hidden = Math.min(reserved.outputTokens, thought);
  const output = Math.max(reading.output ?? 0, visible, hidden);
  return { tokens: { ...input, output }, reasoning, exact: false };
}

const asksForStream = ({ body, endpoint }: AdmittedCall): boolean =>
  endpoint.protocol === 'gemini' ? endpoint.path.endsWith(':streamGenerateContent') : body.stream === true;
