import { asList, asObject, errorTypeOf, event, pieces, type Speech, type Wire } from './script.ts';

/** Anthropic Messages. */
export const anthropic: Wire = {
  ask(body) {
    const blocks = asList(body.messages).flatMap((message) => asList(message.content));
    const forced = asList(body.tools).find((tool) => tool.name === 'json');
    const native = asObject(asObject(body.output_config).format).type ?? asObject(body.output_format).type;
    return {
      results: blocks.filter((block) => block.type === 'tool_result').length,
      // Tools that run on the server have no schema.
      tools: asList(body.tools).flatMap(({ name, input_schema }) =>
        input_schema ? [{ name: String(name), schema: asObject(input_schema), freeText: false }] : [],
      ),
      structured: forced ? { kind: 'tool', name: 'json' } : native ? { kind: 'text' } : null,
    };
  },

  reported: (usage) => ({ ...usage, tokensReasoning: 0 }),

  failure: (status, text) => ({ type: 'error', error: { type: errorTypeOf(status), message: text } }),

  whole: (speech) => ({
    ...message(speech),
    content: blocks(speech),
    stop_reason: stopReason(speech),
    usage: { ...input(speech), output_tokens: speech.usage.tokensOut },
  }),

  stream(speech) {
    const send = (type: string, data: object) => event(type, { type, ...data });
    return [
      send('message_start', {
        message: { ...message(speech), content: [], usage: { ...input(speech), output_tokens: 1 } },
      }),
      ...blocks(speech).flatMap((block, index) => {
        const tool = block.type === 'tool_use';
        const text = tool ? JSON.stringify(block.input) : block.text;
        const delta = (part: string) =>
          tool ? { type: 'input_json_delta', partial_json: part } : { type: 'text_delta', text: part };
        return [
          send('content_block_start', {
            index,
            content_block: tool ? { ...block, input: {} } : { ...block, text: '' },
          }),
          ...pieces(text).map((part) => send('content_block_delta', { index, delta: delta(part) })),
          send('content_block_stop', { index }),
        ];
      }),
      send('message_delta', {
        delta: { stop_reason: stopReason(speech), stop_sequence: null },
        usage: { output_tokens: speech.usage.tokensOut },
      }),
      send('message_stop', {}),
    ];
  },
};

const message = (speech: Speech) => ({
  id: `msg_${speech.id}`,
  type: 'message',
  role: 'assistant',
  model: speech.model,
  stop_reason: null,
  stop_sequence: null,
});

/** Anthropic counts what a cache holds apart from the rest. */
const input = ({ usage: { tokensIn, tokensCached, tokensWritten } }: Speech) => ({
  input_tokens: tokensIn - tokensCached - tokensWritten,
  cache_read_input_tokens: tokensCached,
  cache_creation_input_tokens: tokensWritten,
});

const stopReason = ({ answer }: Speech) => (answer.call ? 'tool_use' : 'end_turn');

type AnthropicBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: object };

function blocks({ answer, id }: Speech): readonly AnthropicBlock[] {
  const text: readonly AnthropicBlock[] = answer.text ? [{ type: 'text', text: answer.text }] : [];
  return answer.call
    ? [...text, { type: 'tool_use', id: `toolu_${id}`, name: answer.call.tool, input: answer.call.input }]
    : text;
}
