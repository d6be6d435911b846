import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Clock, Grant, LedgerRow, Log } from '../../ports/index.ts';
import type { Purse } from './accounts.ts';
import {
  type AdmittedCall,
  admit,
  applyLimit,
  type CallReservation,
  estimatedInput,
  type LeaseTerms,
  planFor,
} from './admission.ts';
import type { Endpoint, Provider } from './endpoints.ts';
import { upstreamUrl } from './endpoints.ts';
import type { PriceBook, Tokens } from './prices.ts';
import { type Outcome, refuse, relay } from './relay.ts';

/** Where a provider is and how it is paid; the key stays in this process. */
export interface ProviderAccess {
  readonly baseUrl: string;
  readonly key: string;
  /** The vendor's own address, not one that imitates its protocol. */
  readonly official: boolean;
}

/** What the handler of one lease works with. */
export interface LeaseContext {
  readonly grant: Grant;
  readonly terms: LeaseTerms;
  readonly purse: Purse;
  readonly providers: Readonly<Partial<Record<Provider, ProviderAccess>>>;
  readonly book: PriceBook;
  readonly secrets: readonly string[];
  readonly silenceMs: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Remembers why the last call was refused; null when it was not. */
  readonly note: (refusal: string | null) => void;
  readonly settled: () => void;
  /** Calls in flight, so that closing the lease can wait until each is booked. */
  readonly inFlight: Set<Promise<void>>;
}

export function leaseListener(context: LeaseContext): RequestListener {
  return (request, response) => {
    const call = serve(context, request, response).catch((error: unknown) => {
      // A client that went away while it still sent its request; anything else would be a defect of ours.
      const gone = request.destroyed && !request.complete;
      if (!gone)
        context.log.error({ ...who(context), error: name(error) }, 'A model call failed inside the gateway.');
      refuse(response, null, 500, 'The gateway could not handle the request.');
    });
    context.inFlight.add(call);
    void call.then(() => context.inFlight.delete(call));
  };
}

const who = ({ grant }: LeaseContext) => ({ runId: grant.runId, spender: grant.spender });
const name = (error: unknown) => (error instanceof Error ? error.name : typeof error);

async function serve(
  context: LeaseContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { clock, terms, providers } = context;
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const admission = await admit(
    request,
    terms,
    clock.now(),
    ({ provider }) => providers[provider]?.official ?? false,
  );
  switch (admission.kind) {
    case 'models':
      return answerModels(response, admission.models);
    case 'refused':
      return refused(context, response, admission.endpoint, admission.status, admission.message);
    case 'call':
      return pay(context, request, response, admission, gone.signal);
  }
}

function answerModels(response: ServerResponse, models: readonly string[]): void {
  const data = models.map((model) => {
    const id = model.slice(model.indexOf('/') + 1);
    return { id, object: 'model', type: 'model', display_name: id };
  });
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ object: 'list', data, has_more: false }));
}

function refused(
  context: LeaseContext,
  response: ServerResponse,
  endpoint: Endpoint | null,
  status: number,
  message: string,
): void {
  context.note(message);
  context.log.warn({ ...who(context), status }, 'The gateway refused a model call.');
  refuse(response, endpoint && endpoint.kind !== 'models' ? { endpoint } : null, status, message);
}

/** Reserves, forwards, settles. */
async function pay(
  context: LeaseContext,
  request: IncomingMessage,
  response: ServerResponse,
  call: AdmittedCall,
  signal: AbortSignal,
): Promise<void> {
  const { grant, purse, book, clock } = context;
  const provider = context.providers[call.endpoint.provider];
  if (!provider) return refused(context, response, call.endpoint, 404, 'This model is not available here.');
  const startedAt = clock.now();
  const reserved = await purse.reserve(grant, planFor(call, book, startedAt), signal);
  if (reserved.kind === 'gone') return;
  if (reserved.kind === 'unrecorded') {
    return refused(context, response, call.endpoint, 503, 'Calls cannot be recorded at the moment.');
  }
  if (reserved.kind === 'cap') {
    refused(context, response, call.endpoint, 402, 'The budget for this work is used up.');
    const whose = reserved.whose === 'run' ? 'of the run' : `of ${grant.spender}`;
    return context.note(`The budget ${whose} is used up: $${reserved.spent.toFixed(4)} of $${reserved.cap}.`);
  }
  const { reservation } = reserved;
  const counting = call.endpoint.kind === 'count';
  if (!counting) applyLimit(call, reservation, provider.official);
  await relay({
    call,
    reserved: counting ? null : reservation,
    upstream: {
      url: upstreamUrl(provider.baseUrl, call.endpoint),
      provider: call.endpoint.provider,
      key: provider.key,
      headers: request.headers,
      silenceMs: context.silenceMs,
    },
    secrets: context.secrets,
    response,
    signal,
    settle: async (outcome) => {
      context.note(outcome.trouble);
      if (counting) return purse.release(reservation);
      await purse.settle(reservation, row(context, call, reservation, outcome, startedAt));
      context.settled();
    },
  });
}

function row(
  context: LeaseContext,
  call: AdmittedCall,
  reserved: CallReservation,
  outcome: Outcome,
  startedAt: number,
): LedgerRow {
  const { grant, book, clock } = context;
  const at = clock.now();
  const { tokens, exact } = used(call, reserved, outcome, at - startedAt);
  // A price that vanished since the lease was opened: what was set aside counts as spent.
  const usd = book.cost(call.endpoint.provider, call.model, tokens, startedAt) ?? reserved.usd;
  return {
    runId: grant.runId,
    spender: grant.spender,
    model: `${call.endpoint.provider}/${call.model}`,
    tokensIn: tokens.input,
    tokensOut: tokens.output,
    tokensCached: tokens.cacheRead,
    usd,
    exact,
    status: outcome.status,
    ms: at - startedAt,
    at,
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

function used(
  call: AdmittedCall,
  reserved: CallReservation,
  outcome: Outcome,
  ms: number,
): { tokens: Tokens; exact: boolean } {
  if (outcome.how === 'unbilled') return { tokens: NOTHING, exact: true };
  const reading = outcome.meter?.reading() ?? { input: null, output: null, characters: 0 };
  const guess = { input: estimatedInput(call.bytes), cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 };
  const input = reading.input ?? guess;
  const visible = Math.ceil(reading.characters / CHARACTERS_PER_TOKEN);
  if (outcome.how === 'whole') {
    const exact = reading.input !== null && reading.output !== null;
    return { tokens: { ...input, output: reading.output ?? visible }, exact };
  }
  const hidden = Math.min(reserved.outputTokens, Math.ceil((ms / 1000) * HIDDEN_TOKENS_PER_SECOND));
  return { tokens: { ...input, output: Math.max(reading.output ?? 0, visible, hidden) }, exact: false };
}
