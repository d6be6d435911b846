import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { ModelProtocol } from '../../core/model/index.ts';
import type { CapName, Clock, Grant, Log } from '../../ports/index.ts';
import type { Paid, Purse } from './accounts.ts';
import { type AdmittedCall, admit, type LeaseTerms } from './admission.ts';
import { upstreamUrl } from './endpoints.ts';
import { applyLimit, type CallReservation, freePlan, leastFor, planFor } from './plan.ts';
import type { PriceBook } from './prices.ts';
import { namedModel, type Providers } from './providers.ts';
import { refuse, relay } from './relay.ts';
import type { openRooms, Room } from './room.ts';
import { bookedRow, settledRow } from './rows.ts';
import { capSentence } from './sentences.ts';

/** What the handler of one lease works with. */
export interface LeaseContext {
  readonly grant: Grant;
  readonly terms: LeaseTerms;
  readonly purse: Purse;
  readonly providers: Providers;
  readonly book: PriceBook;
  readonly secrets: readonly string[];
  readonly silenceMs: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Remembers why the last call was refused; null when it was not. */
  readonly note: (refusal: string | null, cap?: CapName) => void;
  /** Remembers that a model just sent something. */
  readonly alive: () => void;
  readonly settled: () => void;
  /** Refusals that stand in the log; their texts are ours and few. */
  readonly logged: Set<string>;
  /** Calls in flight, so that closing the lease can wait until each is booked. */
  readonly inFlight: Set<Promise<void>>;
  readonly rooms: ReturnType<typeof openRooms>;
}

export function leaseListener(context: LeaseContext): RequestListener {
  return (request, response) => {
    const room = context.rooms.enter();
    const call = serve(context, request, response, room).catch((error: unknown) => {
      // A client that went away while it still sent its request; anything else would be a defect of ours.
      const gone = request.destroyed && !request.complete;
      if (!gone)
        context.log.error({ ...who(context), error: name(error) }, 'A model call failed inside the gateway.');
      refuse(response, null, 500, 'The gateway could not handle the request.');
    });
    context.inFlight.add(call);
    void call.then(() => {
      room.leave();
      context.inFlight.delete(call);
    });
  };
}

const who = ({ grant }: LeaseContext) => ({ runId: grant.runId, spender: grant.spender });
const name = (error: unknown) => (error instanceof Error ? error.name : typeof error);

async function serve(
  context: LeaseContext,
  request: IncomingMessage,
  response: ServerResponse,
  room: Room,
): Promise<void> {
  const { clock, terms, providers } = context;
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const admission = await admit(request, terms, providers, clock.now(), room);
  switch (admission.kind) {
    case 'probe':
      return refuse(response, null, 404, 'Not available through this gateway.');
    case 'models':
      return answerModels(response, providers, terms.models, admission.protocol);
    case 'refused':
      return refused(context, response, admission.protocol, admission.status, admission.message);
    case 'call':
      return pay(context, request, response, admission, gone.signal);
  }
}

/** Google's clients call what they find on their list; for the others one list stands for two protocols. */
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

function refused(
  context: LeaseContext,
  response: ServerResponse,
  protocol: ModelProtocol | null,
  status: number,
  message: string,
): void {
  context.note(message);
  // Once for each reason: an agent that asks on and on must not fill the log.
  if (!context.logged.has(message)) {
    context.logged.add(message);
    context.log.warn({ ...who(context), status, why: message }, 'The gateway refused a model call.');
  }
  refuse(response, protocol, status, message);
}

/** Of a call that counts tokens. */
const NO_COST = { usd: 0, tokens: 0 };

/** Reserves and books, forwards, settles. */
async function pay(
  context: LeaseContext,
  request: IncomingMessage,
  response: ServerResponse,
  call: AdmittedCall,
  signal: AbortSignal,
): Promise<void> {
  const { grant, purse, book, clock } = context;
  const { protocol, kind } = call.endpoint;
  const startedAt = clock.now();
  const counting = kind === 'count';
  const reserved = counting
    ? await purse.reserve(freePlan, null, signal)
    : await purse.reserve(
        planFor(call, book, startedAt),
        (reservation) => bookedRow(grant, call, reservation, startedAt),
        signal,
      );
  switch (reserved.kind) {
    case 'gone':
      return;
    case 'unrecorded':
      return refused(context, response, protocol, 503, 'Calls cannot be recorded at the moment.');
    case 'cap':
      refused(context, response, protocol, 402, 'The budget for this work is used up.');
      return context.note(
        capSentence(reserved, grant.spender, counting ? NO_COST : leastFor(call, book, startedAt)),
        reserved.whose,
      );
    case 'reserved':
      if (!counting) applyLimit(call, reserved.reservation);
      return forward(context, request, response, call, reserved, startedAt, signal);
  }
}

async function forward(
  context: LeaseContext,
  request: IncomingMessage,
  response: ServerResponse,
  call: AdmittedCall,
  paid: Paid<CallReservation>,
  startedAt: number,
  signal: AbortSignal,
): Promise<void> {
  const { endpoint, access } = call;
  const free = paid.call === null;
  await relay({
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
    alive: context.alive,
    settle: async (outcome) => {
      context.note(outcome.trouble);
      if (free) return context.purse.release(paid);
      const { grant, book, clock } = context;
      const row = settledRow(grant, call, paid.reservation, outcome, book, {
        startedAt,
        endedAt: clock.now(),
      });
      await context.purse.settle(paid, row);
      context.settled();
    },
  });
}
