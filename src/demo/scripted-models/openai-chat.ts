import {
  argumentsText,
  asList,
  asObject,
  event,
  type Json,
  openAiFailure,
  pieces,
  type Speech,
  type Wire,
} from './script.ts';

/** OpenAI Chat Completions. */
export const openAiChat: Wire = {
  ask: (body) => ({
    results: asList(body.messages).filter((message) => message.role === 'tool').length,
    tools: asList(body.tools).map((tool) => {
      const { name, parameters } = asObject(tool.function);
      return { name: String(name), schema: asObject(parameters), freeText: false };
    }),
    structured: body.response_format === undefined ? null : { kind: 'text' },
  }),

  reported: (usage, body) =>
    body.stream === true && !wantsUsage(body) ? null : { ...usage, tokensWritten: 0 },

  failure: openAiFailure,

  whole: (speech) => ({
    ...head(speech, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: speech.answer.text,
          ...(speech.answer.call
            ? { tool_calls: [toolCall(speech, argumentsText(speech.answer.call))] }
            : {}),
        },
        finish_reason: finishReason(speech),
      },
    ],
    usage: usage(speech),
  }),

  stream(speech, body) {
    const { answer } = speech;
    const chunk = (delta: object, finish: string | null = null) =>
      event(null, {
        ...head(speech, 'chat.completion.chunk'),
        choices: [{ index: 0, delta, finish_reason: finish }],
      });
    const call = answer.call
      ? [
          chunk({ tool_calls: [{ index: 0, ...toolCall(speech, '') }] }),
          ...pieces(argumentsText(answer.call)).map((part) =>
            chunk({ tool_calls: [{ index: 0, function: { arguments: part } }] }),
          ),
        ]
      : [];
    const last = wantsUsage(body)
      ? [event(null, { ...head(speech, 'chat.completion.chunk'), choices: [], usage: usage(speech) })]
      : [];
    return [
      chunk({ role: 'assistant', content: '' }),
      ...pieces(answer.text).map((part) => chunk({ content: part })),
      ...call,
      chunk({}, finishReason(speech)),
      ...last,
      event(null, '[DONE]'),
    ];
  },
};

const wantsUsage = (body: Json): boolean => asObject(body.stream_options).include_usage === true;

const head = (speech: Speech, kind: string) => ({
  id: `chatcmpl-${speech.id}`,
  object: kind,
  created: 0,
  model: speech.model,
});

const finishReason = ({ answer }: Speech) => (answer.call ? 'tool_calls' : 'stop');

const toolCall = ({ answer, id }: Speech, text: string) => ({
  id: `call_${id}`,
  type: 'function',
  function: { name: answer.call?.tool ?? '', arguments: text },
});

const usage = ({ usage: { tokensIn, tokensCached, tokensOut, tokensReasoning } }: Speech) => ({
  prompt_tokens: tokensIn,
  prompt_tokens_details: { cached_tokens: tokensCached },
  completion_tokens: tokensOut,
  completion_tokens_details: { reasoning_tokens: tokensReasoning },
  total_tokens: tokensIn + tokensOut,
});
