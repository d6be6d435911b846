import {
  argumentsText,
  asList,
  asObject,
  type Call,
  event,
  type Json,
  openAiFailure,
  pieces,
  type Speech,
  type Tool,
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

/** OpenAI Responses. */
export const openAiResponses: Wire = {
  ask(body) {
    const format = asObject(asObject(body.text).format).type;
    const input = asList(body.input);
    return {
      results: input.filter(({ type }) => OUTPUTS.has(type)).length,
      tools: [
        ...asList(body.tools),
        // Newer Codex models receive their tools in the conversation.
        ...input.filter(({ type }) => type === 'additional_tools').flatMap(({ tools }) => asList(tools)),
      ].flatMap(toolsOf),
      structured: typeof format === 'string' && format !== 'text' ? { kind: 'text' } : null,
    };
  },

  reported: (usage) => ({ ...usage, tokensWritten: 0 }),

  failure: openAiFailure,

  whole: (speech) => response(speech, 'completed', items(speech)),

  stream(speech) {
    let sequence = 0;
    const send = (type: string, data: object) => {
      sequence += 1;
      return event(type, { type, sequence_number: sequence, ...data });
    };
    const inside = items(speech).flatMap((item, index) => [
      send('response.output_item.added', {
        output_index: index,
        item: { ...item, status: 'in_progress', ...begun(item) },
      }),
      ...growth(item, index).map(([type, data]) => send(type, data)),
      send('response.output_item.done', { output_index: index, item }),
    ]);
    return [
      send('response.created', { response: response(speech, 'in_progress', []) }),
      ...inside,
      send('response.completed', { response: response(speech, 'completed', items(speech)) }),
    ];
  },
};

const OUTPUTS: ReadonlySet<unknown> = new Set([
  'function_call_output',
  'custom_tool_call_output',
  'local_shell_call_output',
]);

function toolsOf(tool: Json): readonly Tool[] {
  const one = ({ type, name, parameters }: Json) => ({
    name: String(name ?? type),
    schema: asObject(parameters),
    freeText: type === 'custom',
  });
  if (tool.type !== 'namespace') return [one(tool)];
  return asList(tool.tools).map((inner) => ({ ...one(inner), namespace: String(tool.name) }));
}

interface Message {
  readonly type: 'message';
  readonly id: string;
  readonly status: string;
  readonly role: 'assistant';
  readonly content: readonly [
    { readonly type: 'output_text'; readonly text: string; readonly annotations: [] },
  ];
}

interface Calling {
  readonly id: string;
  readonly status: string;
  readonly call_id: string;
  readonly name: string;
  readonly namespace?: string;
}

type Item =
  | Message
  | (Calling & { readonly type: 'function_call'; readonly arguments: string })
  | (Calling & { readonly type: 'custom_tool_call'; readonly input: string });

function items({ answer, id }: Speech): readonly Item[] {
  const status = 'completed';
  const text: readonly Item[] = answer.text
    ? [
        {
          type: 'message',
          id: `msg_${id}`,
          status,
          role: 'assistant',
          content: [{ type: 'output_text', text: answer.text, annotations: [] }],
        },
      ]
    : [];
  return answer.call ? [...text, calling(answer.call, id, status)] : text;
}

function calling(call: Call, id: string, status: string): Item {
  const { tool, namespace } = call;
  const head = { status, call_id: `call_${id}`, name: tool, ...(namespace ? { namespace } : {}) };
  return call.freeText
    ? { type: 'custom_tool_call', id: `ctc_${id}`, ...head, input: argumentsText(call) }
    : { type: 'function_call', id: `fc_${id}`, ...head, arguments: argumentsText(call) };
}

/** What an item lacks when it begins. */
function begun(item: Item): object {
  if (item.type === 'message') return { content: [] };
  return item.type === 'function_call' ? { arguments: '' } : { input: '' };
}

/** Events between an item's begin and its end. */
function growth(item: Item, index: number): readonly (readonly [string, object])[] {
  const place = { item_id: item.id, output_index: index };
  if (item.type === 'message') {
    const [part] = item.content;
    const at = { ...place, content_index: 0 };
    return [
      ['response.content_part.added', { ...at, part: { ...part, text: '' } }],
      ...pieces(part.text).map((delta) => ['response.output_text.delta', { ...at, delta }] as const),
      ['response.output_text.done', { ...at, text: part.text }],
      ['response.content_part.done', { ...at, part }],
    ];
  }
  const [name, whole] =
    item.type === 'function_call'
      ? (['function_call_arguments', { arguments: item.arguments }] as const)
      : (['custom_tool_call_input', { input: item.input }] as const);
  const [text = ''] = Object.values(whole);
  return [
    ...pieces(text).map((delta) => [`response.${name}.delta`, { ...place, delta }] as const),
    [`response.${name}.done`, { ...place, ...whole }],
  ];
}

const response = (speech: Speech, status: string, output: readonly Item[]) => ({
  id: `resp_${speech.id}`,
  object: 'response',
  created_at: 0,
  status,
  model: speech.model,
  output,
  usage: status === 'completed' ? responseUsage(speech) : null,
  error: null,
  incomplete_details: null,
});

const responseUsage = ({ usage: { tokensIn, tokensCached, tokensOut, tokensReasoning } }: Speech) => ({
  input_tokens: tokensIn,
  input_tokens_details: { cached_tokens: tokensCached },
  output_tokens: tokensOut,
  output_tokens_details: { reasoning_tokens: tokensReasoning },
  total_tokens: tokensIn + tokensOut,
});
