import {
  byType,
  bytes,
  cacheControl,
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
  scalar,
  type ToolTypes,
  text,
  tool,
  tools,
} from './rules.ts';

// Anthropic's Messages, as in its reference of November 2026 and as sent by claude-code, opencode, pi, copilot, qwen
// and the AI SDK (test/adapters/gateway/recorded).

const REMOTE = 'a part that refers to content elsewhere, or that a tool of the provider wrote';
const encoded = object({ type: text, media_type: text, data: bytes });
const plainSource = object({ type: text, media_type: text, data: text });
const switched = object({ enabled: flag });
const cached = { type: text, cache_control: cacheControl } as const;

const ANTHROPIC_TEXT = object({ ...cached, text, citations: omit });
const IMAGE = object({ ...cached, source: byType({ base64: encoded }, REMOTE) });
const SEARCH_RESULT = object({
  ...cached,
  // A name chosen by the client; the content is next to it.
  source: text,
  title: text,
  content: listOf(byType({ text: ANTHROPIC_TEXT }, REMOTE)),
  citations: switched,
});
const DOCUMENT = object({
  ...cached,
  source: byType(
    {
      base64: encoded,
      text: plainSource,
      content: object({
        type: text,
        content: either({
          string: text,
          array: listOf(byType({ text: ANTHROPIC_TEXT, image: IMAGE }, REMOTE)),
        }),
      }),
    },
    REMOTE,
  ),
  title: text,
  context: text,
  citations: switched,
});
const TOOL_REFERENCE = object({ ...cached, tool_name: text, name: text });

const CLIENT_TOOL = object({
  ...cached,
  name: text,
  description: text,
  input_schema: jsonValue,
  strict: flag,
  defer_loading: flag,
  eager_input_streaming: flag,
  input_examples: listOf(jsonValue),
  max_characters: scalar,
  // Any other caller is code that runs at the provider.
  allowed_callers: listOf(only('direct')),
});
/** The vendor defines the schemas of these tools, and the client executes them. */
const VERSIONED = /^(?:bash|text_editor|memory)_\d+$/;
const ANTHROPIC_TOOLS: ToolTypes = (type) =>
  type === undefined || type === 'custom' || (typeof type === 'string' && VERSIONED.test(type))
    ? CLIENT_TOOL
    : undefined;
const DEFINITION: Rule = (value, findings) =>
  tool(ANTHROPIC_TOOLS)(value, findings) ?? mustBeUnset('a tool that runs at the provider')(true, findings);
const CHANGED_TOOL = object({
  ...cached,
  tool: byType(
    { tool_reference: TOOL_REFERENCE, tool_definition: object({ type: text, definition: DEFINITION }) },
    REMOTE,
  ),
});

const ANTHROPIC_BLOCK = byType(
  {
    text: ANTHROPIC_TEXT,
    image: IMAGE,
    document: DOCUMENT,
    search_result: SEARCH_RESULT,
    thinking: object({ ...cached, thinking: text, signature: text }),
    redacted_thinking: object({ ...cached, data: text }),
    connector_text: object({ ...cached, connector_text: text, signature: text }),
    compaction: object({ ...cached, content: text }),
    tool_use: object({ ...cached, id: text, name: text, input: jsonValue, caller: omit }),
    tool_result: object({
      ...cached,
      tool_use_id: text,
      is_error: flag,
      content: either({
        string: text,
        array: listOf(
          byType(
            {
              text: ANTHROPIC_TEXT,
              image: IMAGE,
              document: DOCUMENT,
              search_result: SEARCH_RESULT,
              tool_reference: TOOL_REFERENCE,
            },
            REMOTE,
          ),
        ),
      }),
    }),
    // Claude Code changes its tools in the middle of a conversation with these.
    tool_addition: CHANGED_TOOL,
    tool_removal: CHANGED_TOOL,
  },
  REMOTE,
);

const amount = either({
  string: text,
  object: object({ type: only('thinking_turns', 'tool_uses', 'input_tokens'), value: scalar }),
});
const format = object({ type: only('json_schema'), schema: jsonValue, name: text });
const CLEARING = object({
  type: text,
  keep: amount,
  trigger: amount,
  clear_at_least: amount,
  exclude_tools: listOf(text),
  clear_tool_inputs: scalar,
});
/** A summary within the call would be another answer, beyond the limit that is booked. */
const EDIT: Rule = (value, findings) =>
  isObject(value) && /^clear_(?:thinking|tool_uses)_\d+$/.test(String(value.type))
    ? CLEARING(value, findings)
    : undefined;

export const ANTHROPIC: Rule = object({
  model: text,
  messages: listOf(object({ role: text, content: either({ string: text, array: listOf(ANTHROPIC_BLOCK) }) })),
  system: either({ string: text, array: listOf(byType({ text: ANTHROPIC_TEXT }, REMOTE)) }),
  max_tokens: scalar,
  stop_sequences: listOf(text),
  stream: flag,
  temperature: scalar,
  top_k: scalar,
  top_p: scalar,
  thinking: object({ type: only('enabled', 'disabled', 'adaptive'), budget_tokens: scalar, display: text }),
  output_config: object({
    effort: text,
    format,
    task_budget: object({ type: only('tokens'), total: scalar, remaining: scalar }),
  }),
  output_format: format,
  tools: tools(ANTHROPIC_TOOLS),
  tool_choice: object({
    type: only('auto', 'any', 'tool', 'none'),
    name: text,
    disable_parallel_tool_use: flag,
  }),
  context_management: object({ edits: listOf(EDIT) }),
  cache_control: cacheControl,
  metadata: object({ user_id: text }),
  // Servers and containers at the provider, which have network access.
  mcp_servers: mustBeUnset('the field mcp_servers'),
  container: mustBeUnset('the field container'),
  // More expensive than the listed price, or other models.
  service_tier: omit,
  speed: omit,
  inference_geo: omit,
  fallbacks: omit,
});
