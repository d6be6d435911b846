import type { IncomingMessage, ServerResponse } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ModelProtocol } from '../../core/model/index.ts';
import type { AdmittedCall } from './admission.ts';
import { refusalBody } from './endpoints.ts';
import { createMeter, type Meter } from './meter.ts';
import type { CallReservation } from './plan.ts';
import { createRedactor, redactText } from './redact.ts';
import { headersDown, neverSent, send, type UpstreamCall } from './upstream.ts';

/** How a call went, for the ledger. */
export interface Outcome {
  readonly status: number;
  readonly meter: Meter | null;
  /**
   * `whole`: the answer came to its end, or to its last figures. `cut`: it did not, and may have been billed.
   * `unbilled`: an error, or the provider was never reached.
   */
  readonly how: 'whole' | 'cut' | 'unbilled';
  /** Why the provider did not do what was asked, for people; null when it did. */
  readonly trouble: string | null;
}

export interface RelayInput {
  readonly call: AdmittedCall;
  readonly reserved: CallReservation | null;
  readonly upstream: Omit<UpstreamCall, 'payload' | 'signal'>;
  readonly secrets: readonly string[];
  readonly response: ServerResponse;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
  /** Called whenever the model sent something that was not an error. */
  readonly alive: () => void;
  /** Called once, before the end of the answer reaches the client. Must not reject. */
  readonly settle: (outcome: Outcome) => Promise<void>;
}

/** The client closed the connection: nginx's number for it, as HTTP has none. */
const CLIENT_GONE = 499;
/**
 * Characters of a stream for each reserved token, and on top, beyond which it is cut. Estimates are rough: code has
 * three to four characters a token, tables and indentation more.
 */
const MOST_CHARACTERS = { perToken: 6, onTop: 2_000 } as const;

/** Forwards one call and its answer, with back-pressure, metering what passes. Never rejects. */
export async function relay(input: RelayInput): Promise<void> {
  const { call, response, signal, settle } = input;
  if (signal.aborted) return settle({ status: CLIENT_GONE, meter: null, how: 'unbilled', trouble: null });
  const payload = Buffer.from(JSON.stringify(call.body));
  let answer: IncomingMessage;
  try {
    answer = await send({ ...input.upstream, payload, signal });
  } catch (error) {
    if (signal.aborted) return settle({ status: CLIENT_GONE, meter: null, how: 'cut', trouble: null });
    const how = neverSent(error) ? 'unbilled' : 'cut';
    await settle({ status: 502, meter: null, how, trouble: 'The model provider cannot be reached.' });
    return refuse(response, call.endpoint.protocol, 502, 'The model provider cannot be reached.');
  }
  await relayAnswer(input, answer);
}

async function relayAnswer(input: RelayInput, answer: IncomingMessage): Promise<void> {
  const { call, response, settle } = input;
  const status = answer.statusCode ?? 502;
  // Neither can be passed on: our key was refused, which is nothing an agent can mend; or what we cannot read.
  const unusable =
    status === 401 || status === 403 ? 'The model provider refused the key.' : unreadable(answer);
  if (unusable) {
    answer.destroy();
    const how = status < 400 ? 'cut' : 'unbilled';
    await settle({ status, meter: null, how, trouble: `${unusable} (HTTP ${status})` });
    return refuse(response, call.endpoint.protocol, status < 400 ? 502 : 403, unusable);
  }

  const failed = status < 200 || status >= 300;
  const trouble = failed ? `The model provider answered with HTTP ${status}.` : null;
  const meter = createMeter(
    call.endpoint.protocol,
    /event-stream/i.test(answer.headers['content-type'] ?? ''),
  );
  const settleOnce = once((end: Pick<Outcome, 'how' | 'status' | 'trouble'>) =>
    settle({ ...end, meter, how: failed ? 'unbilled' : end.how }),
  );
  response.writeHead(
    failed && status < 400 ? 502 : status,
    headersDown(answer, (text) => redactText(text, input.secrets)),
  );
  // Asked when it happens: a broken answer closes the client's connection too, right after.
  let brokeOff = false;
  answer.once('error', () => {
    brokeOff = !input.signal.aborted;
  });
  try {
    await pipeline(
      answer,
      filter(input, meter, failed, () => settleOnce({ how: 'whole', status, trouble })),
      response,
    );
  } catch (error) {
    // What was answered so far is paid for, and the client sees its connection cut.
    await settleOnce(endOf(error, meter, brokeOff, { status, trouble }));
  }
}

/** How an answer ended that did not come to its end. */
function endOf(
  error: unknown,
  meter: Meter,
  brokeOff: boolean,
  { status, trouble }: Pick<Outcome, 'status' | 'trouble'>,
): Pick<Outcome, 'how' | 'status' | 'trouble'> {
  if (error instanceof TooLong) return { how: 'cut', status, trouble: error.message };
  // Some agents hang up at the last event, and what the provider told there is what it bills.
  if (meter.final()) return { how: 'whole', status, trouble };
  return brokeOff
    ? { how: 'cut', status: 502, trouble: 'The model provider broke off its answer.' }
    : { how: 'cut', status: CLIENT_GONE, trouble };
}

class TooLong extends Error {
  override message = 'The answer was longer than what was reserved for it.';
}

/** Passes bytes on without keys; the end waits for the ledger, so that no answer is complete before it is booked. */
function filter(input: RelayInput, meter: Meter, failed: boolean, settled: () => Promise<void>): Transform {
  const redactor = createRedactor(input.secrets);
  const tokens = input.reserved?.outputTokens ?? Number.POSITIVE_INFINITY;
  // An answer that is no stream comes when all of it is written and paid: to cut it would save nothing.
  const most = meter.stream
    ? tokens * MOST_CHARACTERS.perToken + MOST_CHARACTERS.onTop
    : Number.POSITIVE_INFINITY;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (!failed) input.alive();
      meter.see(chunk);
      if (meter.characters() > most) {
        return done(new TooLong());
      }
      done(null, redactor.push(chunk));
    },
    flush(done) {
      settled().then(() => done(null, redactor.end()), done);
    },
  });
}

function unreadable(answer: IncomingMessage): string | null {
  const encoding = answer.headers['content-encoding'];
  return encoding && encoding !== 'identity'
    ? 'The model provider answered in a form that was not asked for.'
    : null;
}

/** Answers with an error in the shape of the protocol. */
export function refuse(
  response: ServerResponse,
  protocol: ModelProtocol | null,
  status: number,
  message: string,
): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, {
    'content-type': 'application/json',
    // Read by the SDKs of both vendors; without it a refused agent asks again for minutes.
    'x-should-retry': 'false',
    connection: 'close',
  });
  response.end(refusalBody(protocol, status, message));
}

function once<A>(work: (argument: A) => Promise<void>): (argument: A) => Promise<void> {
  let first: Promise<void> | undefined;
  return (argument) => {
    first ??= work(argument);
    return first;
  };
}
