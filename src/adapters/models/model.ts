import { type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  APICallError,
  type FinishReason,
  generateText,
  type LanguageModel,
  type ModelMessage,
  NoObjectGeneratedError,
  Output,
  type TextPart,
} from 'ai';
import { z } from 'zod';
import { schemaProblem } from '../../core/settings/index.ts';
import type { Answer, Lease, Model, ModelQuestion, ModelRoute } from '../../ports/index.ts';

/** How often a model may correct an invalid answer. Our default. */
const REPAIRS = 2;
/** Reasoning included. Our default, tune on dev data. */
const OUTPUT_TOKENS = 16_000;
/** How an answer can end that is no mistake of form: asked to correct it, the model would be paid to end it so again. */
const CUT_ANSWERS: Partial<Record<FinishReason, string>> = {
  length: `The model's answer was cut off: it may have ${OUTPUT_TOKENS.toLocaleString('en')} tokens, or as many as its budget covers.`,
  'content-filter': 'The model refused to answer.',
};
/** The host is never looked up: every request goes to the lease's socket. */
const BASE_URL = 'http://gateway/v1';
const GEMINI_BASE_URL = 'http://gateway/v1beta';

/** The model port on the AI SDK. */
export function openSdkModel(): Model {
  return {
    async ask(question) {
      try {
        return await askAndRepair(question);
      } catch (error) {
        return { kind: 'failed', why: reason(error, question) };
      }
    },
  };
}

async function askAndRepair<T>(question: ModelQuestion<T>): Promise<Answer<T>> {
  const messages: ModelMessage[] = [{ role: 'user', content: promptParts(question) }];
  const maxRepairs = question.repairs ?? REPAIRS;
  let told = '';
  for (let round = 0; round <= maxRepairs; round += 1) {
    const { text, finishReason } = await generate(question, messages);
    const read = readAnswer(question.schema, text);
    if (read.kind === 'fits') return { kind: 'answer', value: read.value };
    const cut = CUT_ANSWERS[finishReason];
    if (cut !== undefined) return { kind: 'failed', why: cut };
    told = read.told;
    messages.push(
      // An empty message is refused by some providers.
      { role: 'assistant', content: text.trim() || '(no answer)' },
      {
        role: 'user',
        content: `That answer cannot be used:\n${read.problem}\nAnswer again with corrected JSON only.`,
      },
    );
  }
  return {
    kind: 'failed',
    why: `The model's answer was not in the form asked for, ${maxRepairs + 1} times: ${told}`,
  };
}

/** The first problem of an answer, for people. */
function firstProblem({ issues }: z.ZodError): string {
  const [issue] = issues;
  const field = issue && issue.path.length > 0 ? `\`${z.core.toDotPath(issue.path)}\`: ` : '';
  return `${field}${issue ? schemaProblem(issue) : 'it is invalid'}.`;
}

/**
 * Anthropic caches up to a mark: the beginning that questions share is a part of its own, with one. Other providers
 * cache without being told, and some servers that imitate OpenAI's take no parts.
 */
function promptParts<T>({ route, prompt, sharedChars = 0 }: ModelQuestion<T>): string | TextPart[] {
  const [shared, own] = [prompt.slice(0, sharedChars), prompt.slice(sharedChars)];
  if (route.protocol !== 'anthropic' || shared.trim() === '' || own.trim() === '') return prompt;
  const providerOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } } as const;
  return [
    { type: 'text', text: shared, providerOptions },
    { type: 'text', text: own },
  ];
}

/** The answer as text, without the SDK's own validation, so that the model can be shown its invalid answer. */
async function generate<T>(
  question: ModelQuestion<T>,
  messages: ModelMessage[],
): Promise<{ readonly text: string; readonly finishReason: FinishReason }> {
  const { route, lease, instructions, schema, signal } = question;
  // Servers that imitate OpenAI's chat protocol rarely support schemas, so the schema is part of the text.
  const inText = route.protocol === 'openai-chat';
  const schemaText = JSON.stringify(z.toJSONSchema(schema, { io: 'input' }));
  try {
    const { text, finishReason } = await generateText({
      model: languageModel(route, lease),
      instructions: inText
        ? `${instructions}\n\nAnswer with one JSON object that fits this JSON schema, and nothing else:\n${schemaText}`
        : instructions,
      messages,
      output: inText ? Output.json() : Output.object({ schema }),
      maxOutputTokens: OUTPUT_TOKENS,
      // The gateway already retries where that helps.
      maxRetries: 0,
      providerOptions: { openai: { store: false, strictJsonSchema: false } },
      ...(signal ? { abortSignal: signal } : {}),
    });
    return { text, finishReason };
  } catch (error) {
    if (NoObjectGeneratedError.isInstance(error))
      return { text: error.text ?? '', finishReason: error.finishReason ?? 'other' };
    throw error;
  }
}

/** A model at the socket of its lease. */
export function languageModel(route: ModelRoute, lease: Lease): LanguageModel {
  const settings = { baseURL: BASE_URL, apiKey: lease.key, fetch: socketFetch(lease.socket) };
  switch (route.protocol) {
    case 'anthropic':
      return createAnthropic(settings)(route.model);
    case 'openai-responses':
      return createOpenAI(settings).responses(route.model);
    case 'openai-chat':
      return createOpenAICompatible({ ...settings, name: 'gateway' })(route.model);
    case 'gemini':
      return createGoogleGenerativeAI({ ...settings, baseURL: GEMINI_BASE_URL })(route.model);
  }
}

type ParsedAnswer<T> =
  | { readonly kind: 'fits'; readonly value: T }
  /** `problem`: for the model; `told`: for people, a sentence. */
  | { readonly kind: 'unfit'; readonly problem: string; readonly told: string };

const NO_JSON = 'It is not valid JSON.';

function readAnswer<T>(schema: z.ZodType<T>, text: string): ParsedAnswer<T> {
  const json = parseJson(text);
  if (json === undefined) return { kind: 'unfit', problem: NO_JSON, told: NO_JSON };
  const parsed = schema.safeParse(json);
  return parsed.success
    ? { kind: 'fits', value: parsed.data }
    : {
        kind: 'unfit',
        problem: z.prettifyError(parsed.error).slice(0, 2_000),
        told: firstProblem(parsed.error),
      };
}

/** Extracts JSON from an answer, also from surrounding prose or code fences; undefined if there is none. */
function parseJson(text: string): unknown {
  const inner = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
  for (const candidate of [text, inner]) {
    try {
      return JSON.parse(candidate);
    } catch {
      // Not JSON as a whole: try the part between the outermost braces.
    }
  }
  return undefined;
}

/** Why there is no answer, as a sentence. */
export function reason(
  error: unknown,
  { lease, signal }: Pick<ModelQuestion<unknown>, 'lease' | 'signal'>,
): string {
  if (signal?.aborted) return 'The question was cancelled.';
  const refusal = lease.refusal();
  if (refusal) return refusal;
  const cause = error instanceof Error && 'lastError' in error ? error.lastError : error;
  if (APICallError.isInstance(cause) && cause.statusCode) {
    return `The model provider answered with HTTP ${cause.statusCode}.`;
  }
  return 'The model gave no answer.';
}

/** A `fetch` that sends every request to one unix socket, whatever host its URL names. */
function socketFetch(socketPath: string): typeof fetch {
  return async (input, init) => {
    const asked = new Request(input, init);
    const url = new URL(asked.url);
    const body = Buffer.from(await asked.arrayBuffer());
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const sent = request(
      {
        socketPath,
        path: url.pathname + url.search,
        method: asked.method,
        headers: { ...Object.fromEntries(asked.headers), 'content-length': body.length },
        signal: asked.signal,
        agent: false,
      },
      resolve,
    );
    sent.on('error', reject);
    sent.end(body);
    // Not in a callback of the request, where an error would end the process: `Response` refuses some statuses.
    return responseOf(await promise);
  };
}

function responseOf(answer: IncomingMessage): Response {
  const headers = new Headers(
    Object.entries(answer.headers).flatMap(([name, value]): [string, string][] =>
      typeof value === 'string' ? [[name, value]] : [],
    ),
  );
  const status = answer.statusCode ?? 502;
  return new Response(Readable.toWeb(answer) as ReadableStream<Uint8Array>, { status, headers });
}
