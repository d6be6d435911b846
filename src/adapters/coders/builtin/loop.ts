import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  APICallError,
  isStepCount,
  type LanguageModel,
  type ModelMessage,
  pruneMessages,
  streamText,
} from 'ai';
import type { CoderEvent } from '../../../core/model/index.ts';
import type { ModelProtocol } from '../../../core/settings/index.ts';
import { callEvent, exitCodeIn, resultEvent, saysEvent } from '../events.ts';
import { type ProgressLine, reportLine } from '../progress.ts';
import { toolsFor } from './tools.ts';

interface LoopInput {
  readonly protocol: ModelProtocol;
  readonly model: string;
  /** Passed to the model from the second repetition on, if its protocol supports seeds. */
  readonly seed: number;
  readonly url: string;
  readonly key: string;
  readonly root: string;
  readonly instructions: string;
  readonly task: string;
  /** Aborts when the time is over or a stop is requested. */
  readonly signal: AbortSignal;
  readonly emit: (line: ProgressLine) => void;
}

/** Maximum number of model turns. Our default, tune on dev data. */
const MAX_STEPS = 100;
/** Output tokens of one turn if the protocol requires a number; the SDK lowers it to the model's limit. */
const OUTPUT_TOKENS = 32_000;
/** Characters of conversation beyond which old tool calls are omitted; about 130,000 tokens. */
const MAX_CONVERSATION = 400_000;
const KEPT_MESSAGES = 20;
/** Protocols with a seed for sampling. */
const SEEDED: ReadonlySet<ModelProtocol> = new Set(['openai-chat', 'gemini']);

/** Consecutive incomplete answers after which the work ends. Our default. */
const MAX_CUTS = 3;

/**
 * Lets the model work until it declares that it is done. Incomplete answers are requested again, because their parts
 * look like a whole. Returns the last event. Does not throw.
 */
export async function work(input: LoopInput): Promise<Extract<ProgressLine, { type: 'end' }>> {
  const { signal } = input;
  const talk: Talk = { messages: [{ role: 'user', content: input.task }], steps: 0, lastText: '' };
  for (let cuts = 0, before = 0; ; before = talk.steps) {
    const failure = await converse(input, talk);
    if (signal.aborted) return { type: 'end', ok: false, text: String(signal.reason) };
    if (talk.steps >= MAX_STEPS) return { type: 'end', ok: false, text: `Stopped after ${MAX_STEPS} steps.` };
    if (failure === undefined) return { type: 'end', ok: true, text: talk.lastText.trim() || 'Done.' };
    cuts = talk.steps > before ? 1 : cuts + 1;
    if (!brokeOff(failure) || cuts >= MAX_CUTS) return { type: 'end', ok: false, text: failureText(failure) };
  }
}

/** The complete messages so far. */
interface Talk {
  readonly messages: ModelMessage[];
  steps: number;
  /** The last text. */
  lastText: string;
}

/** Continues the conversation to its end or to a failure, which it returns. */
async function converse(input: LoopInput, talk: Talk): Promise<unknown> {
  const { signal, emit } = input;
  let failure: unknown;
  const result = streamText({
    model: languageModel(input),
    tools: toolsFor({ root: input.root, signal, onOutput: () => emit({ type: 'alive' }) }),
    instructions: input.instructions,
    messages: [...talk.messages],
    abortSignal: signal,
    // The gateway already retries where that helps.
    maxRetries: 0,
    stopWhen: isStepCount(MAX_STEPS - talk.steps),
    prepareStep: ({ messages }) => ({ messages: shortenedConversation(messages) }),
    ...particulars(input),
    onStepEnd: ({ finishReason, response }) => {
      if (finishReason === 'error' || failure !== undefined) return;
      talk.steps += 1;
      talk.messages.push(...response.messages);
    },
    onError: ({ error }) => {
      failure = error;
    },
  });
  try {
    for await (const part of result.stream) {
      if (part.type === 'text-start') talk.lastText = '';
      else if (part.type === 'text-delta') talk.lastText += part.text;
      else if (part.type === 'text-end' && talk.lastText.trim()) emit(reportLine(saysEvent(talk.lastText)));
      else if (part.type === 'tool-call')
        emit(reportLine(callEvent(part.toolName, part.input, part.toolCallId)));
      else if (part.type === 'tool-result') emit(reportLine(toolEnd(part.toolCallId, part.output)));
      else if (part.type === 'tool-error') emit(reportLine(toolEnd(part.toolCallId, part.error)));
      else if (part.type === 'error') failure = part.error;
      if (part.type.endsWith('-delta')) emit({ type: 'alive' });
    }
  } catch (error) {
    failure ??= error;
  }
  return failure;
}

/** Whether an answer had begun: the gateway has already retried requests that were rejected as a whole. */
const brokeOff = (failure: unknown): boolean =>
  !(APICallError.isInstance(failure) && (failure.statusCode ?? 200) >= 300);

/** Differences between the protocols. */
function particulars({ protocol, seed }: LoopInput) {
  return {
    providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } }, openai: { store: false } },
    ...(protocol === 'anthropic' ? { maxOutputTokens: OUTPUT_TOKENS } : {}),
    ...(seed > 0 && SEEDED.has(protocol) ? { seed } : {}),
  } as const;
}

function languageModel({ protocol, model, url, key }: LoopInput): LanguageModel {
  const root = url.replace(/\/+$/, '');
  const settings = { baseURL: `${root}/v1`, apiKey: key };
  switch (protocol) {
    case 'anthropic':
      return createAnthropic(settings)(model);
    case 'openai-responses':
      return createOpenAI(settings).responses(model);
    case 'openai-chat':
      return createOpenAICompatible({ ...settings, name: 'gateway', includeUsage: true })(model);
    case 'gemini':
      return createGoogle({ ...settings, baseURL: `${root}/v1beta` })(model);
  }
}

/** Keeps the task and the last turns when a conversation exceeds the models' context. */
function shortenedConversation(messages: ModelMessage[]): ModelMessage[] {
  if (JSON.stringify(messages).length <= MAX_CONVERSATION) return messages;
  return pruneMessages({
    messages,
    reasoning: 'before-last-message',
    toolCalls: `before-last-${KEPT_MESSAGES}-messages`,
    emptyMessages: 'remove',
  });
}

/** Our tools answer with a text: a command's ends with how it ended, and that of a failed edit begins with `error:`. */
function toolEnd(call: string, answer: unknown): CoderEvent {
  const output = answer instanceof Error ? `error: ${answer.message}` : String(answer);
  const exitCode = exitCodeIn(output.slice(-40), /\[exit code (\d{1,10})\]$/);
  const stopped = /\[(?:stopped|killed)[^\]\n]*\]$/.test(output.slice(-200));
  const ok = !stopped && (exitCode ?? 0) === 0 && !output.startsWith('error: ');
  return resultEvent({ ok, output, call, exitCode });
}

function failureText(failure: unknown): string {
  const cause = failure instanceof Error && 'lastError' in failure ? failure.lastError : failure;
  if (APICallError.isInstance(cause) && cause.statusCode === 402)
    return 'The budget for this work is used up.';
  if (APICallError.isInstance(cause) && cause.statusCode && !brokeOff(cause))
    return `The model answered with HTTP ${cause.statusCode}.`;
  return `The model gave no answer: ${cause instanceof Error ? cause.message : String(cause)}`;
}
