import type { IncomingHttpHeaders } from 'node:http';
import type { ModelProtocol } from '../../core/settings/index.ts';
import type { Clock } from '../../ports/index.ts';
import { type Body, isObject } from './bodies/index.ts';
import { type CallEndpoint, upstreamUrl } from './endpoints.ts';
import { boundDetail, dataBytes, mediaKindOf, partsOf } from './media.ts';
import type { ProviderAccess } from './providers.ts';
import { readJson, sendUpstream } from './upstream.ts';

/** Number of tokens of the input of a call. */
export interface InputTokens {
  /** The probable number. */
  readonly estimate: number;
  /** The maximum that the provider can bill. */
  readonly most: number;
  /**
   * Whether it contains images or documents, which count as the maximum that the provider bills for them, whatever
   * their size.
   */
  readonly media: boolean;
}

type Measured =
  | { readonly kind: 'tokens'; readonly input: InputTokens }
  | { readonly kind: 'forbidden'; readonly why: string };

/** Code and English have three to four bytes a token; the lower value, so that the estimate is rather too high. */
const BYTES_PER_TOKEN = 3;
/** Tokens that vendors add to a request: several hundred that explain the use of tools to the model. */
const ADDED_TOKENS = 500;
/**
 * The maximum that they add: 530 tokens is the largest prompt for tools in
 * https://docs.anthropic.com/en/docs/tool-use-pricing-and-tokens; this is nearly four times that.
 */
const MAX_ADDED_TOKENS = 2_000;
/**
 * A tool that the vendor describes itself, such as `bash_20250124` (245 tokens) or `text_editor_20250429` (700), see
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/text-editor-tool; about three times the largest.
 */
const TYPED_TOOL_TOKENS = 2_000;
/**
 * Documents: the longest context window in the price table, because a provider rejects, unbilled, what is longer.
 * Providers bill each page as text and as an image (https://platform.claude.com/docs/en/build-with-claude/pdf-support:
 * 1,500 to 3,000 tokens of text a page, up to 600 pages; https://ai.google.dev/gemini-api/docs/document-processing: up
 * to 1,000 pages), and pages cannot be counted in a hostile file: a page tree may name one page many times, or be
 * compressed.
 */
const DOCUMENT_TOKENS = 1_310_720;
/**
 * One image. Anthropic: patches of 28 × 28 pixels, and no edge over 2,576 pixels after scaling
 * (https://platform.claude.com/docs/en/build-with-claude/vision), so at most 92 × 92. OpenAI: with `detail: high` at
 * most 8 tiles of up to 5,667 tokens (gpt-4o-mini), plus 2,833 (https://platform.openai.com/docs/guides/images-vision).
 * Gemini: at most 2,240 (https://ai.google.dev/gemini-api/docs/media-resolution), or 256 plus a pan & scan of about
 * 2,048.
 */
const IMAGE_TOKENS: Readonly<Record<ModelProtocol, number>> = {
  anthropic: 92 * 92,
  'openai-chat': 2_833 + 8 * 5_667,
  'openai-responses': 2_833 + 8 * 5_667,
  gemini: 2_560,
};

/** One image elsewhere: the maximum of all known rules, because the applicable one is not known. */
const UNKNOWN_IMAGE_TOKENS = IMAGE_TOKENS['openai-chat'];

/**
 * The possible cost of a call's input, by kind of content. Text: at most one token per byte, because tokenizers work on
 * bytes. `official`: the provider is the vendor whose rules are known, and which reads an image as an image or rejects
 * it. OpenAI's images are requested with a detail whose maximum is published.
 */
export function measure(protocol: ModelProtocol, body: Body, bytes: number, official: boolean): Measured {
  let text = bytes;
  let images = 0;
  let documents = 0;
  let tools = 0;
  for (const part of partsOf(body)) {
    tools += typedTools(part);
    const kind = mediaKindOf(part);
    if (kind === 'audio or video')
      return { kind: 'forbidden', why: 'audio and video, which have prices of their own' };
    if (kind === 'document') documents += 1;
    if (kind === 'image') {
      images += 1;
      if (!official) continue;
      boundDetail(part);
      text -= dataBytes(part);
    }
  }
  const fixed =
    images * (official ? IMAGE_TOKENS[protocol] : UNKNOWN_IMAGE_TOKENS) +
    (documents > 0 ? DOCUMENT_TOKENS : 0) +
    tools * TYPED_TOOL_TOKENS;
  const readings = shortens(body) ? 2 : 1;
  return {
    kind: 'tokens',
    input: {
      estimate: readings * (Math.ceil(text / BYTES_PER_TOKEN) + ADDED_TOKENS + fixed),
      most: readings * (text + MAX_ADDED_TOKENS + fixed),
      media: images + documents > 0,
    },
  };
}

/**
 * Anthropic reads a conversation twice if it must shorten it
 * (https://platform.claude.com/docs/en/build-with-claude/compaction).
 */
const shortens = (body: Body): boolean => JSON.stringify(body.context_management ?? null).includes('compact');

/** Tools without their own description; some agents declare tools in an input item. */
function typedTools({ tools }: Body): number {
  const all = Array.isArray(tools) ? tools.filter(isObject) : [];
  const own = [undefined, null, 'custom', 'function', 'namespace'];
  return all.filter(({ type }) => !own.some((one) => one === type)).length;
}

/** Milliseconds for one question: the row of the call stays at its maximum for that long. Our default. */
const COUNT_MS = 5_000;
/** Questions at a time, and per minute: Anthropic allows a hundred a minute at its lowest tier. Our defaults. */
const COUNT_LIMITS = { atOnce: 2, aMinute: 30 } as const;
const COUNT_WINDOW_MS = 60_000;
const MAX_COUNT_BYTES = 64 * 2 ** 10;
/** "The token count should be considered an estimate" (Anthropic), which "may differ by a small amount". Our margin. */
const MARGIN = { share: 1.05, tokens: 100 } as const;

/** The parts of an admitted call that are counted. */
interface CountedCall {
  readonly endpoint: CallEndpoint;
  readonly access: ProviderAccess;
  /** The provider's name for it. */
  readonly model: string;
  readonly body: Body;
}

interface CountQuestion {
  readonly call: CountedCall;
  /** Headers of the client. */
  readonly headers: IncomingHttpHeaders;
}

/** Asks a provider how many tokens the input of a call has; null if it cannot be known for free. Never rejects. */
export type Counter = (question: CountQuestion) => Promise<number | null>;

/** The fields of a body for its model that a vendor counts. */
const ANTHROPIC_FIELDS = ['model', 'messages', 'system', 'tools', 'tool_choice', 'thinking'];

/**
 * Where counting is documented and free of charge: Anthropic ("free to use but subject to requests per minute rate
 * limits", https://platform.claude.com/docs/en/build-with-claude/token-counting) and Google (no charge,
 * https://firebase.google.com/docs/vertex-ai/count-tokens). OpenAI documents `responses/input_tokens`
 * (https://developers.openai.com/api/docs/guides/token-counting) but not that it is free, so it is not used.
 */
function questionOf({ endpoint, access, body, model }: CountedCall): { path: string; body: Body } | null {
  if (!access.official) return null;
  if (endpoint.protocol === 'anthropic') {
    const asked = ANTHROPIC_FIELDS.flatMap((field) =>
      body[field] === undefined ? [] : [[field, body[field]]],
    );
    return { path: '/messages/count_tokens', body: Object.fromEntries(asked) };
  }
  if (endpoint.protocol === 'gemini') {
    return {
      path: `/models/${model}:countTokens`,
      body: { generateContentRequest: { model: `models/${model}`, ...body } },
    };
  }
  return null;
}

/**
 * Limited across all leases of a gateway, so that a client that disconnects again and again does not use up a vendor's
 * rate limit.
 */
export function openCounter(clock: Pick<Clock, 'elapsed'>): Counter {
  const asked: number[] = [];
  let atOnce = 0;
  return async ({ call, headers }) => {
    const question = questionOf(call);
    const now = clock.elapsed();
    while (asked[0] !== undefined && asked[0] <= now - COUNT_WINDOW_MS) asked.shift();
    if (!question || atOnce >= COUNT_LIMITS.atOnce || asked.length >= COUNT_LIMITS.aMinute) return null;
    asked.push(now);
    atOnce += 1;
    try {
      const tokens = await requestCount(call, question, headers);
      return tokens === null ? null : Math.ceil(tokens * MARGIN.share) + MARGIN.tokens;
    } catch {
      // The call is settled at its maximum instead.
      return null;
    } finally {
      atOnce -= 1;
    }
  };
}

async function requestCount(
  { endpoint, access }: CountedCall,
  { path, body }: { readonly path: string; readonly body: Body },
  headers: IncomingHttpHeaders,
): Promise<number | null> {
  const answer = await sendUpstream({
    url: upstreamUrl(access.baseUrl, endpoint.protocol, path),
    protocol: endpoint.protocol,
    key: access.key,
    payload: Buffer.from(JSON.stringify(body)),
    headers,
    silenceMs: COUNT_MS,
    signal: AbortSignal.timeout(COUNT_MS),
  });
  if (answer.statusCode !== 200) {
    answer.destroy();
    return null;
  }
  const value = await readJson(answer, MAX_COUNT_BYTES);
  const count = isObject(value) ? (value.input_tokens ?? value.totalTokens) : undefined;
  return typeof count === 'number' && Number.isFinite(count) && count >= 1 ? count : null;
}
