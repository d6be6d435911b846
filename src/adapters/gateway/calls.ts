import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { ModelProtocol } from '../../core/settings/index.ts';
import type { Clock, Grant, Log } from '../../ports/index.ts';
import {
  type AdmittedCall,
  admit,
  type LeaseTerms,
  openCallLimit,
  type openLeaseMemory,
  type RefusalKind,
  type RefusedCall,
  type RequestMemory,
} from './admission.ts';
import { type AnswerCache, type AnswerKey, MAX_STORED_BYTES } from './answer-cache.ts';
import type { Account, Paid, Reserved } from './budgets.ts';
import { type CallReservation, capMessage, freePlan, leastFor, planFor } from './caps.ts';
import { upstreamUrl } from './endpoints.ts';
import type { Counter } from './input-tokens.ts';
import { bookedRow, inputIsMissing, loweredRow, reportOf, settledRow } from './ledger.ts';
import { namedModel, type PriceBook, type Providers } from './providers.ts';
import type { LastRefusal, RefusalLog } from './refusal-log.ts';
import { type Relayed, relay, sendError } from './relay.ts';
import { unlistedBetas, waitAfter } from './upstream.ts';

/** Dependencies of the request handler of one lease. */
export interface LeaseContext {
  readonly grant: Grant;
  readonly terms: LeaseTerms;
  readonly account: Account;
  readonly providers: Providers;
  readonly book: PriceBook;
  readonly counter: Counter;
  readonly secrets: readonly string[];
  readonly silenceMs: number;
  /** Milliseconds for one call to a provider. */
  readonly mostMs: number;
  /** The stored answers of this spender; null if none are stored. */
  readonly cache: AnswerCache | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly last: LastRefusal;
  /** Remembers that a model has just sent something. */
  readonly alive: () => void;
  readonly settled: () => void;
  readonly refusals: RefusalLog;
  /** Called for each rejection, for metrics. */
  readonly onRefusal: ((kind: RefusalKind) => void) | undefined;
  /** Active calls, so that closing the lease can wait until each of them is settled. */
  readonly inFlight: Set<Promise<void>>;
  readonly memory: ReturnType<typeof openLeaseMemory>;
}

export function leaseListener(context: LeaseContext): RequestListener {
  const limit = openCallLimit();
  return (request, response) => {
    const refusal = limit(request, response, context.inFlight.size);
    if (refusal !== null) return sendRefusal(context, response, refusal);
    const memory = context.memory.enter();
    const call = serve(context, request, response, memory).catch((error: unknown) => {
      // The client closed the connection before its request was complete; anything else would be a bug here.
      const gone = request.destroyed && !request.complete;
      if (!gone) context.refusals.add('fault', { error: name(error) });
      sendError(response, null, 500, 'The gateway could not handle the request.');
    });
    context.inFlight.add(call);
    void call.then(() => {
      memory.leave();
      context.inFlight.delete(call);
    });
  };
}

const name = (error: unknown) => (error instanceof Error ? error.name : typeof error);

async function serve(
  context: LeaseContext,
  request: IncomingMessage,
  response: ServerResponse,
  memory: RequestMemory,
): Promise<void> {
  const { clock, terms, providers } = context;
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const admission = await admit(request, terms, providers, clock.elapsed(), memory);
  switch (admission.kind) {
    case 'probe':
      return sendError(response, null, 404, 'Not available through this gateway.');
    case 'models':
      return answerModels(response, providers, terms.models, admission.protocol);
    case 'refused':
      return sendRefusal(context, response, admission);
    case 'call':
      context.refusals.addUnknown([...admission.unknown, ...unlistedBetas(request.headers)]);
      return serveAnswer(context, { request, response, call: admission, signal: gone.signal });
  }
}

/** Google's clients call what is on their list; for the others one list serves two protocols. */
function answerModels(
  response: ServerResponse,
  providers: Providers,
  granted: readonly string[],
  protocol: ModelProtocol,
): void {
  const speaks = (provider: string) => providers[provider]?.protocols.includes('gemini') ?? false;
  const ids = granted
    .map(namedModel)
    .filter(({ provider }) => protocol !== 'gemini' || speaks(provider))
    .map(({ model }) => model);
  const answer =
    protocol === 'gemini'
      ? { models: ids.map((id) => ({ name: `models/${id}`, displayName: id, ...GEMINI_METHODS })) }
      : {
          object: 'list',
          data: ids.map((id) => ({ id, object: 'model', type: 'model', display_name: id })),
          has_more: false,
        };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(answer));
}

const GEMINI_METHODS = { supportedGenerationMethods: ['generateContent', 'countTokens'] };

function sendRefusal(
  context: LeaseContext,
  response: ServerResponse,
  { why, protocol, status, message }: Omit<RefusedCall, 'kind'>,
): void {
  context.last.rejected(message);
  context.onRefusal?.(why);
  context.refusals.add(why, { status, why: message });
  sendError(response, protocol, status, message, why === 'busy' ? 'retry' : 'give up');
}

/** For calls that count tokens. */
const NO_COST = { usd: 0, tokens: 0 };

/** The request of a call and its circumstances. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly call: AdmittedCall;
  /** Aborts when the client closes the connection. */
  readonly signal: AbortSignal;
  /** The key under which its answer is stored; null if it is not stored. */
  readonly asked: AnswerKey | null;
}

/** Answers from the stored answers or from the provider. */
async function serveAnswer(context: LeaseContext, exchange: Omit<Exchange, 'asked'>): Promise<void> {
  const { call, response } = exchange;
  const cached = call.endpoint.kind === 'generate' ? await context.cache?.take(call) : undefined;
  if (!cached?.answer) return pay(context, { ...exchange, asked: cached?.asked ?? null });
  const { status, headers, body } = cached.answer;
  context.last.admitted()(null);
  context.alive();
  response.writeHead(status, headers);
  response.end(body);
}

/** Makes the call, and repeats it if that may help. */
async function pay(context: LeaseContext, exchange: Exchange): Promise<void> {
  const { clock, terms } = context;
  const { signal } = exchange;
  for (let tries = 1; ; tries += 1) {
    const again = (askedMs: number | null): number | null => {
      const wait = waitAfter(tries, askedMs);
      return wait !== null && clock.elapsed() + wait < terms.expiresAt ? wait : null;
    };
    const relayed = await attempt(context, exchange, again);
    if (relayed.kind === 'done') return;
    await clock.sleep(relayed.afterMs, signal);
    if (signal.aborted) return;
  }
}

/** Reserves and books, forwards, settles. */
async function attempt(
  context: LeaseContext,
  exchange: Exchange,
  again: (askedMs: number | null) => number | null,
): Promise<Relayed> {
  const { grant, book, clock } = context;
  const { response, call } = exchange;
  const { protocol, kind } = call.endpoint;
  const startedAt = clock.now();
  const counting = kind === 'count';
  const reserved = await reserve(context, exchange, startedAt);
  switch (reserved.kind) {
    case 'gone':
      return DONE;
    case 'unrecorded':
      sendRefusal(context, response, { why: 'ledger', protocol, status: 503, message: UNRECORDED });
      return DONE;
    case 'busy':
      sendRefusal(context, response, { why: 'busy', protocol, status: 503, message: HELD_BY_OTHERS });
      return DONE;
    case 'cap':
      sendRefusal(context, response, { why: 'budget', protocol, status: 402, message: budgetMessage(call) });
      context.last.rejected(
        capMessage(reserved, grant.spender, counting ? NO_COST : leastFor(call, book, startedAt)),
        reserved.whose,
      );
      return DONE;
    case 'reserved':
      if (!counting) call.limit.set(reserved.reservation.outputTokens);
      return forward(context, exchange, reserved, again);
  }
}

const UNRECORDED = 'Calls cannot be recorded at the moment.';
const DONE: Relayed = { kind: 'done' };
const USED_UP = 'The budget for this work is used up.';
const MEDIA_TOO_DEAR =
  'The remaining budget for this work is too small for this call: its images and documents are counted at their maximum cost. Send their text instead.';
const budgetMessage = ({ input }: AdmittedCall): string => (input.media ? MEDIA_TOO_DEAR : USED_UP);
const HELD_BY_OTHERS =
  'Other active calls hold the rest of the budget for this work. Try again when they have ended.';
/** Milliseconds between tries to write to the ledger: five minutes in all. Our default. */
const RECORD_WAITS_MS = [500, 1_500, 3_000, 5_000, 10_000, ...Array.from({ length: 19 }, () => 15_000)];

/** Waits for a ledger that is temporarily down: nothing has been sent yet, and an agent that gets an error gives up. */
async function reserve(
  { grant, account, book, clock }: LeaseContext,
  { call, signal }: Exchange,
  startedAt: number,
): Promise<Reserved<CallReservation>> {
  const once = () =>
    call.endpoint.kind === 'count'
      ? account.reserve(freePlan, null, signal)
      : account.reserve(
          planFor(call, book, startedAt),
          (reservation, at) => bookedRow(grant, call, reservation, at),
          signal,
        );
  for (const wait of RECORD_WAITS_MS) {
    const reserved = await once();
    if (reserved.kind !== 'unrecorded') return reserved;
    await clock.sleep(wait, signal);
    if (signal.aborted) return { kind: 'gone' };
  }
  return once();
}

async function forward(
  context: LeaseContext,
  { request, response, call, signal, asked }: Exchange,
  paid: Paid<CallReservation>,
  again: (askedMs: number | null) => number | null,
): Promise<Relayed> {
  const { endpoint, access } = call;
  const { grant, book, clock, cache } = context;
  const free = paid.call === null;
  const began = clock.elapsed();
  const ended = context.last.admitted(free);
  return relay({
    call,
    reserved: free ? null : paid.reservation,
    upstream: {
      url: upstreamUrl(access.baseUrl, endpoint.protocol, endpoint.path, endpoint.query),
      protocol: endpoint.protocol,
      key: access.key,
      headers: request.headers,
      silenceMs: context.silenceMs,
    },
    secrets: context.secrets,
    response,
    signal,
    clock,
    mostMs: context.mostMs,
    recordBytes: asked === null ? 0 : MAX_STORED_BYTES,
    again,
    alive: context.alive,
    learned: (input) => {
      const row = free ? null : loweredRow(grant, call, paid, input, book);
      if (row) void context.account.lower(paid, row);
    },
    settle: async (outcome) => {
      ended(outcome.trouble);
      const { error } = outcome;
      if (error) context.refusals.add('unanswered', { provider: call.provider, error });
      if (free) return;
      const report = reportOf(outcome);
      const { finished } = outcome;
      const kept = finished && asked && cache ? await cache.keep(asked, finished) : null;
      const ms = clock.elapsed() - began;
      const counted = inputIsMissing(report)
        ? await context.counter({ call, headers: request.headers })
        : null;
      const when = { startedAt: paid.at, ms };
      await context.account.settle(
        paid,
        settledRow(grant, call, paid.reservation, report, counted, book, when),
        kept,
      );
      context.settled();
    },
  });
}
