import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { parseUntrustedJson } from '../../core/model/index.ts';
import type { ModelProtocol } from '../../core/settings/index.ts';
import { type Body, isObject } from './bodies/index.ts';

/**
 * State of a stream after an event. `finished`: the answer is complete, usage may follow. `closed`: nothing follows.
 */
type StreamState = 'open' | 'finished' | 'closed';

/** The last line of an OpenAI chat stream, which is not JSON. */
export const CLOSING_LINE = '[DONE]';

/** By protocol, as in the vendors' streaming references. */
export const ENDINGS: Readonly<Record<ModelProtocol, (event: Body) => StreamState>> = {
  anthropic({ type, delta }) {
    if (type === 'message_stop') return 'closed';
    return type === 'message_delta' && isObject(delta) && isReason(delta.stop_reason) ? 'finished' : 'open';
  },
  'openai-chat': ({ choices }) => (anyOf(choices, 'finish_reason') ? 'finished' : 'open'),
  'openai-responses': ({ type }) =>
    ['response.completed', 'response.incomplete', 'response.failed'].includes(String(type))
      ? 'finished'
      : 'open',
  gemini: ({ candidates }) => (anyOf(candidates, 'finishReason') ? 'finished' : 'open'),
};

/** What imitators put into the field while the answer continues. */
const NO_REASON = ['', 'null', 'FINISH_REASON_UNSPECIFIED'];
const isReason = (value: unknown): boolean => typeof value === 'string' && !NO_REASON.includes(value);
const anyOf = (answers: unknown, field: string): boolean =>
  Array.isArray(answers) && answers.some((answer) => isObject(answer) && isReason(answer[field]));

export const objectOrEmpty = (value: unknown): Body => (isObject(value) ? value : {});
const length = (value: unknown): number => (typeof value === 'string' ? value.length : 0);

/** Number of characters that one event of a stream adds to the answer. */
export const VISIBLE: Readonly<Record<ModelProtocol, (event: Body) => number>> = {
  anthropic(event) {
    const delta = objectOrEmpty(event.delta);
    return length(delta.text) + length(delta.partial_json) + length(delta.thinking);
  },
  'openai-chat'(event) {
    const choices = Array.isArray(event.choices) ? event.choices : [];
    return choices.reduce<number>(
      (sum, choice) => sum + chatDelta(objectOrEmpty(objectOrEmpty(choice).delta)),
      0,
    );
  },
  'openai-responses': (event) => length(event.delta),
  gemini(event) {
    const candidates = Array.isArray(event.candidates) ? event.candidates : [];
    return candidates.reduce<number>(
      (sum, candidate) => sum + geminiParts(objectOrEmpty(objectOrEmpty(candidate).content)),
      0,
    );
  },
};

function geminiParts({ parts }: Body): number {
  const all = Array.isArray(parts) ? parts.map(objectOrEmpty) : [];
  return all.reduce((sum, part) => {
    const call = isObject(part.functionCall) ? JSON.stringify(part.functionCall.args ?? {}).length : 0;
    return sum + length(part.text) + call;
  }, 0);
}

function chatDelta(delta: Body): number {
  const calls = Array.isArray(delta.tool_calls) ? delta.tool_calls : [];
  const inCalls = calls.reduce<number>(
    (sum, call) => sum + length(objectOrEmpty(objectOrEmpty(call).function).arguments),
    0,
  );
  return length(delta.content) + length(delta.reasoning_content) + length(delta.reasoning) + inCalls;
}

/** HTTP status of an error that was sent as an event, by the vendors' names; null for any other event. */
export function errorIn(event: Body): number | null {
  const inner = isObject(event.response) ? event.response.error : undefined;
  const error = [event.error, inner].find(isObject);
  if (!error) return event.type === 'error' ? 500 : null;
  const words = [error.type, error.code, error.status].map(String);
  if (words.some((word) => /overloaded|unavailable/i.test(word))) return 529;
  if (words.some((word) => /rate_limit|RESOURCE_EXHAUSTED/i.test(word))) return 429;
  return Number.isInteger(error.code) && Number(error.code) >= 400 && Number(error.code) < 600
    ? Number(error.code)
    : 500;
}

/** Follows a stream to the event after which its usage no longer changes. */
interface EndWatch {
  /** `usage`: the event reports the output; `writes`: it adds to the answer. */
  see(ending: StreamState, event: { readonly usage: boolean; readonly writes: boolean }): void;
  /** The answer is complete, and nothing that the provider may still send changes its usage. */
  final(): boolean;
  /** It has announced its end and, as far as we can see, it has ended. */
  ended(): boolean;
}

export function watchEnd(): EndWatch {
  let finished = false;
  let usageReported = false;
  let wroteOn = false;
  return {
    see(ending, { usage, writes }) {
      // A provider that continues after an end reports "end" in every event: the usage in them is that so far.
      if (finished && writes) wroteOn = true;
      if (ending !== 'open') finished = true;
      if (finished && (usage || ending === 'closed')) usageReported = true;
    },
    final: () => usageReported && !wroteOn,
    ended: () => finished && !wroteOn,
  };
}

/**
 * Peeks at the start of a stream. Returns the HTTP status of an error that is its first event, as sent by vendors that
 * became overloaded after they had answered 200; else null. Rejects if the connection breaks before.
 */
export async function errorAtFirst(answer: IncomingMessage): Promise<number | null> {
  const begun = await firstBytes(answer);
  if (begun === null) return null;
  answer.unshift(begun);
  const lines = begun.toString('utf8').split('\n');
  const data = lines.find((line) => line.startsWith('data:'))?.slice('data:'.length);
  const event = data === undefined ? null : parseUntrustedJson(data);
  return event?.kind === 'json' && isObject(event.value) ? errorIn(event.value) : null;
}

/** Null if there are none. */
async function firstBytes(answer: IncomingMessage): Promise<Buffer | null> {
  for (;;) {
    const bytes: Buffer | null = answer.read();
    if (bytes !== null || answer.readableEnded) return bytes;
    if (answer.destroyed)
      throw answer.errored ?? new Error('the connection was closed before the first byte');
    const listening = new AbortController();
    const { signal } = listening;
    try {
      // `end` without `readable` means an answer without a byte; `close` one that was cut off.
      await Promise.race(['readable', 'end', 'close'].map((event) => once(answer, event, { signal })));
    } finally {
      listening.abort();
    }
  }
}
