import type { ModelProtocol } from '../../../src/core/settings/index.ts';
import type { Lease } from '../../../src/ports/index.ts';
import { type Ask, begin, PROMPT, type Provider, sse, startProvider } from './rig.ts';

/** A call and its answer as a stream: what the provider says before the last figures, with them, and after. */
export interface Stream {
  readonly call: Ask;
  readonly before: readonly unknown[];
  readonly last: unknown;
  readonly after: readonly unknown[];
}

/** What every stream below comes to; the answer has only a few visible characters. */
export const IN = 120;
export const OUT = 70;

/** As the vendors stream today. */
export const STREAMS: Readonly<Record<ModelProtocol, Stream>> = {
  anthropic: {
    call: { path: '/v1/messages', body: { ...PROMPT, stream: true } },
    before: [
      { type: 'message_start', message: { usage: { input_tokens: IN, output_tokens: 1 } } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } },
      { type: 'content_block_stop', index: 0 },
    ],
    last: { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: OUT } },
    after: [{ type: 'message_stop' }],
  },
  'openai-chat': {
    call: { path: '/v1/chat/completions', body: { ...PROMPT, stream: true } },
    before: [
      { choices: [{ index: 0, delta: { content: 'hello' }, finish_reason: null }], usage: null },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: null },
    ],
    last: { choices: [], usage: { prompt_tokens: IN, completion_tokens: OUT } },
    after: ['[DONE]'],
  },
  'openai-responses': {
    call: { path: '/v1/responses', body: { model: 'm', input: 'hi', max_output_tokens: 1000, stream: true } },
    before: [
      { type: 'response.created', response: { status: 'in_progress', usage: null } },
      { type: 'response.output_text.delta', delta: 'hello' },
      { type: 'response.output_item.done', item: { type: 'message', status: 'completed' } },
    ],
    last: {
      type: 'response.completed',
      response: { status: 'completed', usage: { input_tokens: IN, output_tokens: OUT } },
    },
    after: [],
  },
  gemini: {
    call: {
      path: '/v1beta/models/m:streamGenerateContent?alt=sse',
      body: { contents: [], generationConfig: { maxOutputTokens: 1000 } },
    },
    before: [
      {
        candidates: [{ content: { parts: [{ text: 'hello' }] } }],
        usageMetadata: { promptTokenCount: IN, candidatesTokenCount: 2 },
      },
    ],
    last: {
      candidates: [{ content: { parts: [{ text: '' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: IN, candidatesTokenCount: 20, thoughtsTokenCount: OUT - 20 },
    },
    after: [],
  },
};

export const PROTOCOLS = Object.entries(STREAMS);

/** A provider that says this and then neither goes on nor ends. */
export const stalls = (events: readonly unknown[]): Promise<Provider> =>
  startProvider((_, response) => sse(response, ...events));

/** Reads an answer until it has as many events, and hangs up then and there. */
export async function hangUpAfter(events: number, lease: Lease, call: Ask): Promise<void> {
  const answer = await begin(lease, call);
  // Cutting one's own connection is an error for the one who reads from it.
  answer.on('error', () => {});
  const { promise, resolve } = Promise.withResolvers<void>();
  let text = '';
  answer.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    if ((text.match(/^data:.*\n\n/gm)?.length ?? 0) >= events) resolve();
  });
  await promise;
  answer.destroy();
}
