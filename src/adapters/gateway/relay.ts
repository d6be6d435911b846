import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { redactText } from '../../core/secrets/index.ts';
import type { ModelProtocol } from '../../core/settings/index.ts';
import type { Clock } from '../../ports/index.ts';
import type { AdmittedCall } from './admission.ts';
import type { Finished } from './answer-cache.ts';
import { CUT, closed, closingEvent, openAnswerStream } from './answer-stream.ts';
import type { CallReservation } from './caps.ts';
import { refusalBody } from './endpoints.ts';
import { createMeter, type Meter, type ReportedInput } from './meter.ts';
import { errorAtFirst } from './stream-events.ts';
import {
  askedToWait,
  errorCode,
  headersDown,
  passing,
  Silent,
  sendUpstream,
  statusTrouble,
  type UpstreamCall,
  unreachableText,
} from './upstream.ts';

/** How a call ended, for the ledger. */
export interface Outcome {
  readonly status: number;
  readonly meter: Meter | null;
  /**
   * `whole`: the answer reached its end, or its last usage. `cut`: it did not, and may have been billed.
   * `unbilled`: an error, or the provider was never reached.
   */
  readonly how: 'whole' | 'cut' | 'unbilled';
  /** Why the provider did not do what was asked, for people; null if it did. */
  readonly trouble: string | null;
  /** Code of the error for which no answer began, for the log. */
  readonly error?: string;
  /** The answer as it was passed on, if it is recorded and complete. */
  readonly finished?: Finished;
}

interface RelayInput {
  readonly call: AdmittedCall;
  readonly reserved: CallReservation | null;
  readonly upstream: Omit<UpstreamCall, 'payload' | 'signal'>;
  readonly secrets: readonly string[];
  readonly response: ServerResponse;
  /** Aborts when the client closes the connection. */
  readonly signal: AbortSignal;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  /** Milliseconds for the whole call. */
  readonly mostMs: number;
  /** Maximum number of bytes of an answer that are recorded; 0: it is not stored. */
  readonly recordBytes: number;
  /**
   * Milliseconds after which the call may be repeated, null if it may not. `askedMs`: the time that the provider asks
   * for.
   */
  readonly again: (askedMs: number | null) => number | null;
  /** Called whenever the model sends something that is not an error. */
  readonly alive: () => void;
  /** Called at most once, before `settle`: the provider has reported the input at the start of a stream. */
  readonly learned: (input: ReportedInput) => void;
  /** Called once, before the client gets the end of the answer. Must not reject. */
  readonly settle: (outcome: Outcome) => Promise<void>;
}

/** The client closed the connection: nginx's status, because HTTP has none. */
const CLIENT_GONE = 499;
/** What remains to be done for a call. */
export type Relayed =
  /** The client has its answer. */
  | { readonly kind: 'done' }
  /** It has nothing yet: the same call may be made again after this many milliseconds. */
  | { readonly kind: 'again'; readonly afterMs: number };

const DONE: Relayed = { kind: 'done' };

/** Forwards one call and its answer, with back-pressure, and meters both. Never rejects. */
export async function relay(input: RelayInput): Promise<Relayed> {
  const { call, signal, settle, mostMs } = input;
  if (signal.aborted) {
    await settle({ status: CLIENT_GONE, meter: null, how: 'unbilled', trouble: null });
    return DONE;
  }
  const payload = Buffer.from(JSON.stringify(call.body));
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), mostMs);
  const either = AbortSignal.any([signal, late.signal]);
  let how: 'cut' | 'unbilled' = 'unbilled';
  const onConnected = () => {
    how = 'cut';
  };
  try {
    const answer = await sendUpstream({ ...input.upstream, payload, signal: either, onConnected });
    const stream = /event-stream/i.test(answer.headers['content-type'] ?? '');
    const refused = stream && answer.statusCode === 200 ? await errorAtFirst(answer) : null;
    if (refused === null) return await relayAnswer(input, answer, stream, late.signal);
    answer.destroy();
    return await giveUp(input, { status: refused, how: 'unbilled', trouble: statusTrouble(refused) }, null);
  } catch (error) {
    if (signal.aborted) {
      await settle({ status: CLIENT_GONE, meter: null, how, trouble: null });
      return DONE;
    }
    const code = errorCode(error);
    if (late.signal.aborted || error instanceof Silent) {
      await settle({ status: 504, meter: null, how, trouble: TOO_SLOW, error: code });
      sendError(input.response, call.endpoint.protocol, 504, TOO_SLOW);
      return DONE;
    }
    return giveUp(input, { status: 502, how, trouble: unreachableText(code), error: code }, null);
  } finally {
    clearTimeout(timer);
  }
}

const TOO_SLOW = 'The model provider took too long for one answer.';

/** Settles a try of which nothing was passed on. If it was the last one, the client gets an error. */
async function giveUp(
  { call, response, settle, again }: RelayInput,
  end: Omit<Outcome, 'meter' | 'finished'> & { readonly trouble: string },
  askedMs: number | null,
): Promise<Relayed> {
  const afterMs = again(askedMs);
  await settle({ ...end, meter: null });
  if (afterMs !== null) return { kind: 'again', afterMs };
  sendError(response, call.endpoint.protocol, end.status, end.trouble);
  return DONE;
}

async function relayAnswer(
  input: RelayInput,
  answer: IncomingMessage,
  stream: boolean,
  late: AbortSignal,
): Promise<Relayed> {
  const { call, response, settle } = input;
  const status = answer.statusCode ?? 502;
  // Neither can be passed on: an error about our key, which an agent cannot fix, or an answer that we cannot read.
  const unusable =
    status === 401 || status === 403 ? 'The model provider refused the key.' : unreadable(answer);
  if (unusable) {
    answer.destroy();
    const how = status < 400 ? 'cut' : 'unbilled';
    await settle({ status, meter: null, how, trouble: `${unusable} (HTTP ${status})` });
    sendError(response, call.endpoint.protocol, status < 400 ? 502 : 403, unusable);
    return DONE;
  }
  const failed = status < 200 || status >= 300;
  const afterMs = passing(status) ? input.again(askedToWait(answer.headers, input.clock.now())) : null;
  if (afterMs !== null) {
    answer.destroy();
    await settle({ status, meter: null, how: 'unbilled', trouble: statusTrouble(status) });
    return { kind: 'again', afterMs };
  }
  await passOn(input, answer, { status, failed, stream, late });
  return DONE;
}

interface Begun {
  readonly status: number;
  readonly failed: boolean;
  readonly stream: boolean;
  readonly late: AbortSignal;
}

async function passOn(input: RelayInput, answer: IncomingMessage, begun: Begun): Promise<void> {
  const { call, response, settle, signal } = input;
  const { status, failed, late } = begun;
  const trouble = failed ? statusTrouble(status) : null;
  const meter = createMeter(call.endpoint.protocol, begun.stream);
  const headers = headersDown(answer, (text) => redactText(text, input.secrets));
  // Further tries make no sense.
  if (passing(status)) headers['x-should-retry'] = 'false';
  const settleOnce = once((end: Pick<Outcome, 'how' | 'status' | 'trouble'>) => {
    const record = failed || end.how !== 'whole' ? null : answerStream.record();
    return settle({
      ...end,
      meter,
      how: failed ? 'unbilled' : end.how,
      ...(record && isComplete(record, meter)
        ? { finished: { status, headers, body: closed(record, meter, call.endpoint.protocol) } }
        : {}),
    });
  });
  let learned = false;
  const answerStream = openAnswerStream({
    meter,
    reserved: input.reserved,
    secrets: input.secrets,
    clock: input.clock,
    recordBytes: failed ? 0 : input.recordBytes,
    onChunk: () => {
      if (failed) return;
      input.alive();
      const inputTokens = learned ? null : meter.input();
      if (!inputTokens) return;
      learned = true;
      input.learned(inputTokens);
    },
    async settled(cut) {
      await settleOnce(cut ? { how: 'cut', status, trouble: CUT } : wholeEnd(meter, { status, trouble }));
      if (!cut) return null;
      if (meter.stream) return closingEvent(call.endpoint.protocol);
      response.writeHead(502, REFUSAL_HEADERS);
      return refusalBody(call.endpoint.protocol, 502, CUT);
    },
  });
  // Statuses above 599 do not exist, and the `fetch` of many clients throws at them.
  response.statusCode = failed && (status < 400 || status > 599) ? 502 : status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (begun.stream) response.flushHeaders();
  // Set when it happens: a broken answer also closes the client's connection right after.
  let brokeOff = false;
  answer.once('error', () => {
    brokeOff = !signal.aborted;
  });
  try {
    await pipeline(answer, answerStream.limited, answerStream.stream, response);
  } catch {
    // What was answered so far is paid for, and the client's connection is closed.
    const why = late.aborted ? TOO_SLOW : 'The model provider broke off its answer.';
    await settleOnce(brokenEnd(meter, brokeOff ? why : null, { status, trouble }));
  }
}

type AnswerEnd = Pick<Outcome, 'how' | 'status' | 'trouble'>;

/** How an answer ended whose last byte was received. */
function wholeEnd(meter: Meter, end: Pick<Outcome, 'status' | 'trouble'>): AnswerEnd {
  if (!meter.failed() || meter.final()) return { how: 'whole', ...end };
  return { how: 'cut', status: 502, trouble: 'The model provider broke off its answer with an error.' };
}

/** How an incomplete answer ended; `why`: the provider broke it off. */
function brokenEnd(
  meter: Meter,
  why: string | null,
  { status, trouble }: Pick<Outcome, 'status' | 'trouble'>,
): AnswerEnd {
  // Some agents close the connection at the last event, and what the provider reported there is what it bills.
  if (meter.final()) return { how: 'whole', status, trouble };
  return why === null
    ? { how: 'cut', status: CLIENT_GONE, trouble }
    : { how: 'cut', status: 502, trouble: why };
}

/** Whether a coder that starts again can get this instead of a new answer. A stream must have announced its end. */
function isComplete(record: Buffer, meter: Meter): boolean {
  if (meter.failed()) return false;
  return meter.stream ? meter.ended() : isJson(record);
}

function isJson(record: Buffer): boolean {
  try {
    JSON.parse(record.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}

function unreadable({ statusCode, headers }: IncomingMessage): string | null {
  if ([101, 204, 205].includes(statusCode ?? 0)) return 'The model provider answered without content.';
  const { 'content-encoding': encoding = 'identity' } = headers;
  return encoding === 'identity' ? null : 'The model provider answered in a format that was not requested.';
}

const REFUSAL_HEADERS = {
  'content-type': 'application/json',
  // The SDKs of both vendors read this; without it an agent that is rejected retries for minutes.
  'x-should-retry': 'false',
  connection: 'close',
} as const;

/** Answers with an error in the format of the protocol. */
export function sendError(
  response: ServerResponse,
  protocol: ModelProtocol | null,
  status: number,
  message: string,
  again: 'retry' | 'give up' = 'give up',
): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { ...REFUSAL_HEADERS, 'x-should-retry': String(again === 'retry') });
  response.end(refusalBody(protocol, status, message));
}

function once<A>(work: (argument: A) => Promise<void>): (argument: A) => Promise<void> {
  let first: Promise<void> | undefined;
  return (argument) => {
    first ??= work(argument);
    return first;
  };
}
