import { event, list, object, pieces, type Speech, type Wire } from './wire.ts';

/** OpenAI Responses. */
export const openAiResponses: Wire = {
  ask(body) {
    const format = object(object(body.text).format).type;
    return {
      results: list(body.input).filter((item) => item.type === 'function_call_output').length,
      structured: typeof format === 'string' && format !== 'text' ? { kind: 'text' } : null,
    };
  },

  whole: (speech) => response(speech, 'completed', items(speech)),

  stream(speech) {
    let sequence = 0;
    const send = (type: string, data: object) => {
      sequence += 1;
      return event(type, { type, sequence_number: sequence, ...data });
    };
    const inside = items(speech).flatMap((item, index) => {
      const place = { item_id: item.id, output_index: index };
      const body =
        item.type === 'message'
          ? [
              send('response.content_part.added', {
                ...place,
                content_index: 0,
                part: { ...item.content[0], text: '' },
              }),
              ...pieces(item.content[0].text).map((part) =>
                send('response.output_text.delta', { ...place, content_index: 0, delta: part }),
              ),
              send('response.output_text.done', { ...place, content_index: 0, text: item.content[0].text }),
              send('response.content_part.done', { ...place, content_index: 0, part: item.content[0] }),
            ]
          : [
              ...pieces(item.arguments).map((part) =>
                send('response.function_call_arguments.delta', { ...place, delta: part }),
              ),
              send('response.function_call_arguments.done', { ...place, arguments: item.arguments }),
            ];
      const empty = item.type === 'message' ? { content: [] } : { arguments: '' };
      return [
        send('response.output_item.added', {
          output_index: index,
          item: { ...item, status: 'in_progress', ...empty },
        }),
        ...body,
        send('response.output_item.done', { output_index: index, item }),
      ];
    });
    return [
      send('response.created', { response: response(speech, 'in_progress', []) }),
      ...inside,
      send('response.completed', { response: response(speech, 'completed', items(speech)) }),
    ];
  },
};

type Item =
  | {
      readonly type: 'message';
      readonly id: string;
      readonly status: string;
      readonly role: 'assistant';
      readonly content: readonly [
        { readonly type: 'output_text'; readonly text: string; readonly annotations: [] },
      ];
    }
  | {
      readonly type: 'function_call';
      readonly id: string;
      readonly status: string;
      readonly call_id: string;
      readonly name: string;
      readonly arguments: string;
    };

function items({ turn, id }: Speech): readonly Item[] {
  const status = 'completed';
  const text: readonly Item[] = turn.text
    ? [
        {
          type: 'message',
          id: `msg_${id}`,
          status,
          role: 'assistant',
          content: [{ type: 'output_text', text: turn.text, annotations: [] }],
        },
      ]
    : [];
  if (turn.kind !== 'call') return text;
  const call = { call_id: `call_${id}`, name: turn.tool, arguments: JSON.stringify(turn.input) };
  return [...text, { type: 'function_call', id: `fc_${id}`, status, ...call }];
}

const response = (speech: Speech, status: string, output: readonly Item[]) => ({
  id: `resp_${speech.id}`,
  object: 'response',
  created_at: 0,
  status,
  model: speech.model,
  output,
  usage:
    status === 'completed'
      ? {
          input_tokens: speech.inputTokens,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: speech.outputTokens,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: speech.inputTokens + speech.outputTokens,
        }
      : null,
  error: null,
  incomplete_details: null,
});
