import { event, list, object, pieces, type Speech, type Wire } from './wire.ts';

/** OpenAI Chat Completions. */
export const openAiChat: Wire = {
  ask: (body) => ({
    results: list(body.messages).filter((message) => message.role === 'tool').length,
    structured: body.response_format === undefined ? null : { kind: 'text' },
  }),

  whole: (speech) => ({
    ...head(speech, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: speech.turn.text,
          ...(speech.turn.kind === 'call'
            ? { tool_calls: [toolCall(speech, JSON.stringify(speech.turn.input))] }
            : {}),
        },
        finish_reason: finishReason(speech),
      },
    ],
    usage: usage(speech),
  }),

  stream(speech, body) {
    const { turn } = speech;
    const chunk = (delta: object, finish: string | null = null) =>
      event(null, {
        ...head(speech, 'chat.completion.chunk'),
        choices: [{ index: 0, delta, finish_reason: finish }],
      });
    const call =
      turn.kind === 'call'
        ? [
            chunk({ tool_calls: [{ index: 0, ...toolCall(speech, '') }] }),
            ...pieces(JSON.stringify(turn.input)).map((part) =>
              chunk({ tool_calls: [{ index: 0, function: { arguments: part } }] }),
            ),
          ]
        : [];
    const last =
      object(body.stream_options).include_usage === true
        ? [event(null, { ...head(speech, 'chat.completion.chunk'), choices: [], usage: usage(speech) })]
        : [];
    return [
      chunk({ role: 'assistant', content: '' }),
      ...pieces(turn.text).map((part) => chunk({ content: part })),
      ...call,
      chunk({}, finishReason(speech)),
      ...last,
      event(null, '[DONE]'),
    ];
  },
};

const head = (speech: Speech, kind: string) => ({
  id: `chatcmpl-${speech.id}`,
  object: kind,
  created: 0,
  model: speech.model,
});

const finishReason = ({ turn }: Speech) => (turn.kind === 'call' ? 'tool_calls' : 'stop');

const toolCall = ({ turn, id }: Speech, text: string) => ({
  id: `call_${id}`,
  type: 'function',
  function: { name: turn.kind === 'call' ? turn.tool : '', arguments: text },
});

const usage = ({ inputTokens, outputTokens }: Speech) => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
});
