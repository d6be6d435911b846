import {
  byType,
  bytes,
  cacheControl,
  dataAddress,
  each,
  either,
  flag,
  jsonValue,
  listOf,
  mustBeUnset,
  object,
  omit,
  only,
  type Rule,
  reference,
  scalar,
  type ToolTypes,
  text,
  tools,
} from './rules.ts';

// OpenAI's Chat Completions, with the fields of its imitators, as sent by opencode, pi, copilot, qwen and the AI SDK
// (test/adapters/gateway/recorded).

const PART_ELSEWHERE = 'a part of a message that is on no list';
const cached = { type: text, cache_control: cacheControl } as const;

/** All imitators use the same names: `image_url: "data:…"` or `image_url: { url: "data:…" }`. */
const media = (name: string): Rule =>
  object({
    ...cached,
    [name]: either({
      string: dataAddress,
      object: object({ url: dataAddress, detail: text, format: text, media_type: text }),
    }),
  });
const CHAT_TEXT = object({ ...cached, text });

const CHAT_PART: Rule = byType(
  {
    text: CHAT_TEXT,
    refusal: object({ ...cached, refusal: text }),
    // Mistral's models return their thoughts in parts.
    thinking: object({
      ...cached,
      thinking: either({ string: text, array: listOf(byType({ text: CHAT_TEXT }, PART_ELSEWHERE)) }),
      signature: text,
      closed: flag,
    }),
    image_url: media('image_url'),
    video_url: media('video_url'),
    audio_url: media('audio_url'),
    document_url: media('document_url'),
    input_audio: object({
      ...cached,
      input_audio: either({ string: bytes, object: object({ data: bytes, format: text }) }),
    }),
    file: object({
      ...cached,
      file: object({ file_data: bytes, filename: text, file_id: reference, file_url: reference }),
    }),
  },
  PART_ELSEWHERE,
);

const CALLED = object({
  id: text,
  index: scalar,
  ...cached,
  function: object({ name: text, arguments: jsonValue }),
  custom: object({ name: text, input: text }),
  // Google's models sign their thoughts before a call.
  extra_content: object({ google: object({ thought_signature: text }) }),
});
const CALL = byType({ function: CALLED, custom: CALLED }, PART_ELSEWHERE, 'function');

const MESSAGE = object({
  role: text,
  content: either({ string: text, array: listOf(CHAT_PART) }),
  name: text,
  tool_calls: listOf(CALL),
  tool_call_id: text,
  function_call: object({ name: text, arguments: jsonValue }),
  refusal: text,
  prefix: flag,
  cache_control: cacheControl,
  // A model's thoughts, under the names that its servers use; some refuse to continue without them.
  reasoning: text,
  reasoning_content: text,
  reasoning_text: text,
  reasoning_opaque: text,
  reasoning_details: listOf(
    object({
      type: only('reasoning.text', 'reasoning.summary', 'reasoning.encrypted'),
      id: text,
      index: scalar,
      format: text,
      text,
      summary: text,
      data: text,
      signature: text,
    }),
  ),
  // The id of an answer that was spoken before.
  audio: reference,
});

const DECLARATION = object({ name: text, description: text, parameters: jsonValue, strict: flag });
const CHAT_FUNCTION = object({
  ...cached,
  function: DECLARATION,
  name: text,
  description: text,
  parameters: jsonValue,
  strict: flag,
});
const GRAMMAR = object({
  type: only('text', 'grammar'),
  grammar: object({ syntax: text, definition: text }),
});
const CUSTOM = object({ ...cached, custom: object({ name: text, description: text, format: GRAMMAR }) });
const CHAT_TOOLS: ToolTypes = (type) =>
  type === undefined || type === 'function' ? CHAT_FUNCTION : type === 'custom' ? CUSTOM : undefined;

const namedTool = object({ name: text });
const CHOICE = only('auto', 'none', 'required', 'any', 'function', 'custom', 'allowed_tools');

/** Sampling options. */
const SAMPLING = {
  temperature: scalar,
  top_p: scalar,
  top_k: scalar,
  min_p: scalar,
  frequency_penalty: scalar,
  presence_penalty: scalar,
  repetition_penalty: scalar,
  seed: scalar,
  stop: either({ string: text, array: listOf(text) }),
  response_format: object({
    type: only('text', 'json_object', 'json_schema'),
    json_schema: object({ name: text, description: text, schema: jsonValue, strict: flag }),
  }),
  verbosity: text,
} as const;

/** How much a model thinks: OpenAI, OpenRouter, imitators of Anthropic and others, Qwen, vLLM. */
const THINKING = {
  reasoning_effort: text,
  reasoning: object({ effort: text, max_tokens: scalar, enabled: flag, exclude: flag, summary: text }),
  thinking: object({
    type: only('enabled', 'disabled', 'adaptive', 'auto'),
    budget_tokens: scalar,
    clear_thinking: flag,
  }),
  enable_thinking: flag,
  thinking_budget: scalar,
  chat_template_kwargs: object({ enable_thinking: flag, thinking: flag, reasoning_effort: text }),
} as const;

/** Work or storage at the provider, outside of this call. */
const OUTSIDE = [
  'web_search_options',
  'background',
  'previous_response_id',
  'conversation',
  'prompt',
  'mcp_servers',
  'container',
  // Routers use this to read from the web, or to switch to models that the lease does not include.
  'plugins',
  'models',
  'preset',
  // xAI, Groq, Qwen, Perplexity and Cohere use these to read from the web or from their storage.
  'search_parameters',
  'search_settings',
  'enable_search',
  'search_options',
  'search_domain_filter',
  'search_recency_filter',
  'web_search',
  'compound_custom',
  'connectors',
  'documents',
  // The answer and its usage would stay at the provider.
  'deferred',
] as const;

/**
 * Dropped: more expensive than the listed price, several answers, tokens beyond the limit, or stored by the provider.
 */
const OMITTED = [
  'service_tier',
  'speed',
  'inference_geo',
  'n',
  'best_of',
  'provider',
  'route',
  'fallbacks',
  'modalities',
  'audio',
  'prediction',
  'logprobs',
  'top_logprobs',
  'logit_bias',
  'store',
  'metadata',
  'prompt_cache_retention',
] as const;

export const CHAT: Rule = object({
  model: text,
  messages: listOf(MESSAGE),
  stream: flag,
  stream_options: object({ include_usage: flag }),
  max_tokens: scalar,
  max_completion_tokens: scalar,
  tools: tools(CHAT_TOOLS),
  tool_choice: either({
    string: text,
    object: object({
      type: CHOICE,
      function: namedTool,
      custom: namedTool,
      allowed_tools: object({ mode: text, tools: listOf(object({ type: CHOICE, function: namedTool })) }),
    }),
  }),
  parallel_tool_calls: flag,
  functions: listOf(DECLARATION),
  function_call: either({ string: text, object: namedTool }),
  user: text,
  safety_identifier: text,
  prompt_cache_key: text,
  cache_control: cacheControl,
  ...SAMPLING,
  ...THINKING,
  ...each(OUTSIDE, (name) => mustBeUnset(`the field ${name}`)),
  ...each(OMITTED, () => omit),
});
