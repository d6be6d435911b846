import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../../ports/index.ts';
import type { AdmittedCall } from './admission.ts';
import { type Body, isObject } from './bodies/index.ts';
import { upstreamUrl } from './endpoints.ts';
import { readJson, send } from './upstream.ts';

/** Milliseconds for one question: the row of the call stays at its maximum for that long. Our default. */
const COUNT_MS = 5_000;
/** Questions at a time, and per minute: Anthropic allows a hundred a minute at its lowest tier. Our defaults. */
const MOST = { atOnce: 2, aMinute: 30 } as const;
const MINUTE_MS = 60_000;
const MOST_ANSWER_BYTES = 64 * 2 ** 10;
/** "The token count should be considered an estimate" (Anthropic), which "may differ by a small amount". Our margin. */
const MARGIN = { share: 1.05, tokens: 100 } as const;

interface CountQuestion {
  readonly call: AdmittedCall;
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
function questionOf({ endpoint, access, body, model }: AdmittedCall): { path: string; body: Body } | null {
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
    while (asked[0] !== undefined && asked[0] <= now - MINUTE_MS) asked.shift();
    if (!question || atOnce >= MOST.atOnce || asked.length >= MOST.aMinute) return null;
    asked.push(now);
    atOnce += 1;
    try {
      const tokens = await count(call, question, headers);
      return tokens === null ? null : Math.ceil(tokens * MARGIN.share) + MARGIN.tokens;
    } catch {
      // The call is settled at its maximum instead.
      return null;
    } finally {
      atOnce -= 1;
    }
  };
}

async function count(
  { endpoint, access }: AdmittedCall,
  { path, body }: { readonly path: string; readonly body: Body },
  headers: IncomingHttpHeaders,
): Promise<number | null> {
  const answer = await send({
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
  const value = await readJson(answer, MOST_ANSWER_BYTES);
  const told = isObject(value) ? (value.input_tokens ?? value.totalTokens) : undefined;
  return typeof told === 'number' && Number.isFinite(told) && told >= 1 ? told : null;
}
