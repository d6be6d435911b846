import { spawn } from 'node:child_process';
import { Readable, Transform, type TransformCallback, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ClientContext,
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type Stream,
} from '@agentclientprotocol/sdk';
import { shortLine } from '../events.ts';
import { killGroup, type ProgressLine } from '../progress.ts';
import { type Listener, listener, Update } from './updates.ts';

interface DriveInput {
  readonly agent: readonly [string, ...string[]];
  readonly cwd: string;
  readonly task: string;
  /** Milliseconds until a session must be open. */
  readonly startMs: number;
  /** Aborts when the time is over or a stop is requested; its reason is a sentence. */
  readonly signal: AbortSignal;
  readonly emit: (line: ProgressLine) => void;
}
type EndLine = Extract<ProgressLine, { type: 'end' }>;

/** Milliseconds that an agent has to answer a cancellation. Measured: 0.01 to 0.2 s; our default. */
const CANCEL_MS = 5000;
/** Milliseconds for an agent that ended the conversation to exit, so that its exit can be reported. */
const DEATH_MS = 1000;

/**
 * Gives an agent its task and lets it work until it reports completion. Never rejects; the agent has ended afterwards.
 */
export async function drive(input: DriveInput): Promise<EndLine> {
  const { signal } = input;
  const broken = Promise.withResolvers<string>();
  const agent = startAgent(input.agent, input.cwd, (line) =>
    broken.resolve(`The agent printed something that is not the Agent Client Protocol: ${line}`),
  );
  const died = agent.ended.then((how) => `The agent ${how}.`);
  const progress = listener(input.emit);
  const talk = client({ name: 'runoff' })
    .onRequest(methods.client.session.requestPermission, ({ params }) => allowed(params, progress))
    .onNotification(methods.client.session.update, Update, ({ params }) => progress.onUpdate(params))
    .connectWith(agent.stream, (context) => converse(context, input, progress))
    .catch(async (error: unknown) => {
      const dead = await Promise.race([died, sleep(DEATH_MS, null, { ref: false })]);
      return failedEnd(dead ?? `The agent broke off: ${messageOf(error)}`);
    });
  const stopped = aborted(signal).then(async (reason) => {
    await Promise.race([talk, sleep(CANCEL_MS)]);
    return failedEnd(reason);
  });
  try {
    // Output from before its end may not have been read yet.
    const dead = died.then((how) => Promise.race([talk, sleep(DEATH_MS, failedEnd(how), { ref: false })]));
    const end = await Promise.race([talk, stopped, broken.promise.then(failedEnd), dead]);
    return signal.aborted ? failedEnd(String(signal.reason)) : end;
  } finally {
    agent.kill();
  }
}

async function converse(context: ClientContext, input: DriveInput, progress: Listener): Promise<EndLine> {
  const { startMs, signal } = input;
  const opened = await inTime(startMs, () => openSession(context, input.cwd));
  if (!opened) return failedEnd(`The agent did not open a session within ${Math.round(startMs / 1000)} s.`);
  if ('version' in opened)
    return failedEnd(
      `The agent speaks version ${opened.version} of the Agent Client Protocol, not ${PROTOCOL_VERSION}.`,
    );
  const { sessionId } = opened;
  if (signal.aborted) return failedEnd(String(signal.reason));
  signal.addEventListener('abort', () => {
    // If it cannot be notified any more, it is killed.
    context.notify(methods.agent.session.cancel, { sessionId }).catch(() => {});
  });
  const { stopReason } = await context.request(methods.agent.session.prompt, {
    sessionId,
    prompt: [{ type: 'text', text: input.task }],
  });
  return ending(stopReason, progress.lastMessage());
}

async function openSession(
  context: ClientContext,
  cwd: string,
): Promise<{ readonly sessionId: string } | { readonly version: number }> {
  // No capabilities: the client does not read, write or run anything for the agent. Other requests are answered with
  // "method not found".
  const { protocolVersion } = await context.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: {},
    clientInfo: { name: 'runoff', version: '1' },
  });
  if (protocolVersion !== PROTOCOL_VERSION) return { version: protocolVersion };
  return context.request(methods.agent.session.new, { cwd, mcpServers: [] });
}

/** Null when the time is over first. */
async function inTime<T>(ms: number, work: () => Promise<T>): Promise<T | null> {
  const timer = new AbortController();
  try {
    return await Promise.race([work(), sleep(ms, null, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}

/** The sandbox is the boundary: any action that an agent requests, it could also perform without asking. */
function allowed(
  { options, toolCall }: RequestPermissionRequest,
  progress: Listener,
): RequestPermissionResponse {
  const option =
    options.find(({ kind }) => kind === 'allow_once') ?? options.find(({ kind }) => kind === 'allow_always');
  progress.says(`allowed: ${toolCall.title ?? toolCall.kind ?? 'a tool'}`);
  return {
    outcome: option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' },
  };
}

function ending(stopReason: string, lastMessage: string): EndLine {
  switch (stopReason) {
    case 'end_turn':
      return { type: 'end', ok: true, text: lastMessage || 'Done.' };
    case 'max_tokens':
      return failedEnd('The agent stopped: the model’s answer became too long.');
    case 'max_turn_requests':
      return failedEnd('The agent stopped: it made too many model calls.');
    case 'refusal':
      return failedEnd('The agent refused to continue.');
    case 'cancelled':
      return failedEnd('The agent reported that it was cancelled.');
    default:
      return failedEnd(`The agent stopped: ${stopReason}.`);
  }
}

const failedEnd = (text: string): EndLine => ({ type: 'end', ok: false, text });

function aborted(signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(String(signal.reason));
    signal.addEventListener('abort', () => resolve(String(signal.reason)));
  });
}

/** Agents put the provider's message into `data`. */
function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const data = error instanceof Error && 'data' in error ? JSON.stringify(error.data) : undefined;
  return data ? `${message} (${data.slice(0, 300)})` : message;
}

interface AgentProcess {
  readonly stream: Stream;
  /** Describes how the agent ended, as part of a sentence. */
  readonly ended: Promise<string>;
  /** Kills it and all that is left in its group. */
  kill(): void;
}

/** Maximum number of non-protocol lines: some agents print a greeting; more means a different program. Our default. */
const MAX_NOISE = 1000;
/** Characters of standard error that are kept, for error messages. */
const LAST_WORDS = 2000;

/** `onNoise`: called if it keeps printing lines that are not part of the protocol. */
function startAgent(
  [program, ...words]: readonly [string, ...string[]],
  cwd: string,
  onNoise: (firstLine: string) => void,
): AgentProcess {
  const child = spawn(program, words, { cwd, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  let lastWords = '';
  child.stderr.setEncoding('utf8');
  child.stderr.on('data', (text: string) => {
    lastWords = (lastWords + text).slice(-LAST_WORDS);
  });
  const ended = Promise.withResolvers<string>();
  child.on('error', (error) => ended.resolve(`could not be started: ${error.message}`));
  // `close` and not `exit`, so that all its output has been read.
  child.on('close', (code, signal) => {
    const how = code === null ? `was killed by ${signal}` : `ended with exit code ${code}`;
    ended.resolve(`${how}${lastWords.trim() ? `: ${lastLineOf(lastWords)}` : ''}`);
  });
  // The connection detects the failure; without a listener this error would end the process.
  child.stdin.on('error', () => {});
  const stdout = child.stdout.pipe(messagesOnly(onNoise));
  return {
    stream: ndJsonStream(
      Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
      Readable.toWeb(stdout) as ReadableStream<Uint8Array>,
    ),
    ended: ended.promise,
    kill: () => killGroup(child.pid),
  };
}

const lastLineOf = (text: string): string => shortLine(text.trim().split('\n').at(-1) ?? '');

const NEWLINE = 0x0a;
const BRACE = 0x7b;

/** Passes on lines that begin with `{`, as every message does. */
function messagesOnly(onNoise: (firstLine: string) => void): Transform {
  let line: 'new' | 'message' | 'noise' = 'new';
  let noise = 0;
  let first = '';
  const take = (part: Buffer, into: Transform) => {
    if (line === 'new') {
      line = part[0] === BRACE ? 'message' : 'noise';
      if (line === 'noise') noise += 1;
    }
    if (line === 'message') into.push(part);
    else if (noise === 1 && first.length < LAST_WORDS) first += part.toString('utf8');
    if (part.at(-1) === NEWLINE) line = 'new';
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      for (let at = 0; at < chunk.length; ) {
        const newline = chunk.indexOf(NEWLINE, at);
        const next = newline < 0 ? chunk.length : newline + 1;
        take(chunk.subarray(at, next), this);
        at = next;
      }
      if (noise > MAX_NOISE) onNoise(shortLine(first));
      done();
    },
  });
}
