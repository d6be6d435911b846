import {
  byType,
  bytes,
  dataAddress,
  each,
  either,
  flag,
  isObject,
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

// OpenAI's Responses, as sent by codex, opencode, pi, copilot and the AI SDK (test/adapters/gateway/recorded). Nothing
// is stored at the provider, so every item must carry its content.

const REMOTE = 'an item or part that refers to content elsewhere, or that a tool of the provider wrote';
/** Servers require the field in items that they wrote themselves, but do not need its content. */
const empty: Rule = () => [];
const RESPONSES_TEXT = object({ type: text, text, annotations: empty, logprobs: empty });

const RESPONSES_PART: Rule = byType(
  {
    input_text: RESPONSES_TEXT,
    output_text: RESPONSES_TEXT,
    text: RESPONSES_TEXT,
    summary_text: RESPONSES_TEXT,
    reasoning_text: RESPONSES_TEXT,
    refusal: object({ type: text, refusal: text }),
    encrypted_content: object({ type: text, encrypted_content: text }),
    input_image: object({ type: text, image_url: dataAddress, detail: text, file_id: reference }),
    input_audio: object({
      type: text,
      input_audio: either({ string: bytes, object: object({ data: bytes, format: text }) }),
    }),
    input_file: object({
      type: text,
      file_data: bytes,
      filename: text,
      file_id: reference,
      file_url: reference,
    }),
  },
  REMOTE,
);
const parts = either({ string: text, array: listOf(RESPONSES_PART) });

const item = { type: text, id: text, status: text } as const;
const call = { ...item, call_id: text } as const;

const NAMED_FUNCTION = {
  type: text,
  name: text,
  description: text,
  parameters: jsonValue,
  output_schema: jsonValue,
  strict: flag,
  defer_loading: flag,
} as const;
const RESPONSES_FUNCTION = object(NAMED_FUNCTION);
const CUSTOM = object({
  type: text,
  name: text,
  description: text,
  format: object({ type: only('text', 'grammar'), syntax: text, definition: text }),
  defer_loading: flag,
});
const BARE = object({ type: text });
/** A shell may name a container at the provider to run in, and a tool search may run there. */
const SHELL: Rule = (value, findings) =>
  isObject(value) && value.environment === undefined ? BARE(value, findings) : undefined;
const SEARCH: Rule = (value, findings) =>
  isObject(value) && value.execution === 'client'
    ? object({ type: text, execution: text, description: text, parameters: jsonValue })(value, findings)
    : undefined;
const TYPES: Readonly<Record<string, Rule>> = {
  function: RESPONSES_FUNCTION,
  custom: CUSTOM,
  local_shell: SHELL,
  shell: SHELL,
  apply_patch: BARE,
  tool_search: SEARCH,
  namespace: (value, findings) =>
    object({ type: text, name: text, description: text, tools: tools(RESPONSES_TOOLS) })(value, findings),
};
const RESPONSES_TOOLS: ToolTypes = (type = 'function') =>
  typeof type === 'string' && Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;

const REASONING = object({
  ...item,
  summary: listOf(RESPONSES_PART),
  content: listOf(RESPONSES_PART),
  encrypted_content: text,
});

/** Thoughts with only an id are looked up at the provider. */
const reasoning: Rule = (value, findings) => {
  const kept = REASONING(value, findings);
  if (!isObject(kept) || typeof kept.encrypted_content === 'string') return kept;
  const { id, ...rest } = kept;
  return rest;
};

const ITEM: Rule = byType(
  {
    message: object({ ...item, role: text, content: parts, name: text, phase: text }),
    agent_message: object({ ...item, author: text, recipient: text, content: parts }),
    reasoning,
    compaction: object({ ...item, encrypted_content: text }),
    compaction_summary: object({ ...item, encrypted_content: text }),
    function_call: object({ ...call, name: text, namespace: text, arguments: text }),
    function_call_output: object({ ...call, output: parts }),
    custom_tool_call: object({ ...call, name: text, namespace: text, input: text }),
    custom_tool_call_output: object({ ...call, name: text, output: parts }),
    local_shell_call: object({
      ...call,
      action: object({
        type: only('exec'),
        command: listOf(text),
        env: jsonValue,
        timeout_ms: scalar,
        user: text,
        working_directory: text,
      }),
    }),
    local_shell_call_output: object({ ...call, output: parts }),
    shell_call: object({
      ...call,
      action: object({ commands: listOf(text), timeout_ms: scalar, max_output_length: scalar }),
      environment: mustBeUnset(REMOTE),
    }),
    shell_call_output: object({
      ...call,
      max_output_length: scalar,
      output: listOf(
        object({
          stdout: text,
          stderr: text,
          outcome: object({ type: only('exit', 'timeout'), exit_code: scalar }),
        }),
      ),
    }),
    apply_patch_call: object({
      ...call,
      operation: object({ type: only('create_file', 'update_file', 'delete_file'), path: text, diff: text }),
    }),
    apply_patch_call_output: object({ ...call, output: parts }),
    tool_search_call: object({ ...call, execution: only('client'), arguments: jsonValue }),
    tool_search_output: object({ ...call, execution: only('client'), tools: tools(RESPONSES_TOOLS) }),
    // Codex uses this to declare tools in the middle of a conversation.
    additional_tools: object({ ...item, role: text, tools: tools(RESPONSES_TOOLS) }),
  },
  REMOTE,
  'message',
);

/** Tools that may be chosen are those that may be declared. */
const CHOICE = only('allowed_tools', ...Object.keys(TYPES));

/** Work or storage at the provider, outside of this call. */
const OUTSIDE = [
  'background',
  'previous_response_id',
  'conversation',
  'prompt',
  'mcp_servers',
  'container',
  'web_search_options',
  'plugins',
  'models',
  'preset',
  'search_parameters',
  'enable_search',
  'search_domain_filter',
  'connectors',
  'deferred',
] as const;

/**
 * Dropped: more expensive than the listed price, several answers, further answers within the call, or stored by the
 * provider.
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
  'top_logprobs',
  'max_tool_calls',
  'context_management',
  'metadata',
  'client_metadata',
  'prompt_cache_retention',
] as const;

export const RESPONSES: Rule = object({
  model: text,
  input: either({ string: text, array: listOf(ITEM) }),
  instructions: text,
  stream: flag,
  stream_options: object({ include_obfuscation: flag }),
  max_output_tokens: scalar,
  store: omit,
  include: listOf(only('reasoning.encrypted_content')),
  temperature: scalar,
  top_p: scalar,
  reasoning: object({ effort: text, summary: text, generate_summary: text }),
  text: object({
    verbosity: text,
    format: object({
      type: only('text', 'json_object', 'json_schema'),
      name: text,
      description: text,
      schema: jsonValue,
      strict: flag,
    }),
  }),
  truncation: text,
  tools: tools(RESPONSES_TOOLS),
  tool_choice: either({
    string: text,
    object: object({
      type: CHOICE,
      name: text,
      mode: text,
      tools: listOf(object({ type: CHOICE, name: text })),
    }),
  }),
  parallel_tool_calls: flag,
  user: text,
  safety_identifier: text,
  prompt_cache_key: text,
  ...each(OUTSIDE, (name) => mustBeUnset(`the field ${name}`)),
  ...each(OMITTED, () => omit),
});
