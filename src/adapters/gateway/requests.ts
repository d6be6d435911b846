import type { ModelProtocol } from '../../core/model/index.ts';

export type Body = Record<string, unknown>;

/** Null when the bytes are no JSON object. */
export function parseBody(bytes: Buffer): Body | null {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Values in one request. A long conversation has some ten thousand; each takes some forty bytes of memory. Our default. */
const MOST_VALUES = 250_000;
const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, OPEN_OBJECT] = Buffer.from('"\\,[{');

/** Looked at before it is parsed: 16 MiB of empty lists would take 200 MB and hold up everything for a second. */
export function hasTooManyValues(json: Buffer): boolean {
  let values = 0;
  let quoted = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) quoted = !quoted;
    else if (quoted) at += byte === BACKSLASH ? 1 : 0;
    else if (byte === COMMA || byte === OPEN_LIST || byte === OPEN_OBJECT) values += 1;
  }
  return values > MOST_VALUES;
}

export const isObject = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
/** Google takes one thing for a list of one. */
export const entries = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
export const wholeNumber = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 1 ? Math.floor(value) : null;

/** Fields that make a call dearer than its tokens at the listed price, ask for several answers, or name other models. */
const DEARER = ['service_tier', 'speed', 'inference_geo', 'n', 'best_of', 'provider', 'route', 'fallbacks'];

/** Fields that would make the provider work or remember outside of this call. */
const OUTSIDE = [
  'mcp_servers',
  'container',
  'web_search_options',
  'background',
  'previous_response_id',
  'conversation',
  'prompt',
  // Routers read from the web by these, or go on to models that the lease does not name.
  'plugins',
  'models',
  'preset',
  // xAI and Groq read from the web by these; the last one leaves the answer, and what it used, there.
  'search_parameters',
  'search_settings',
  'deferred',
];

/** Tools that the agent runs itself. Every other type runs at the provider, which has a network. */
const LOCAL_TOOL =
  /^(custom|function|namespace|local_shell|shell|apply_patch|bash_\d+|text_editor_\d+|memory_\d+)$/;

/**
 * Why a request may not pass; null when it may. A sandbox has no network of its own, so it must not borrow the
 * provider's: nothing for it to fetch.
 */
export function forbidden(protocol: ModelProtocol, body: Body): string | null {
  const field = OUTSIDE.find(
    (name) => body[name] !== undefined && body[name] !== null && body[name] !== false,
  );
  if (field) return `the field ${field}`;
  const parts = [...entries(body.messages), ...entries(body.input), ...entries(body.system)];
  return parts.some((part) => fetches(protocol, part)) ? 'content by reference' : null;
}

/**
 * Takes out the tools that run at the provider. Agents declare such tools (web search above all) in every request,
 * whether or not they come to use them, so that to refuse would be to refuse the agent.
 */
export function keepLocalTools(body: Body): void {
  let taken = 0;
  const keep = (tools: unknown): unknown[] => {
    const kept = list(tools).filter(isLocalTool).map(within);
    taken += Array.isArray(tools) ? tools.length - kept.length : 1;
    return kept;
  };
  const within = (tool: unknown): unknown =>
    isObject(tool) && tool.type === 'namespace' ? { ...tool, tools: keep(tool.tools ?? []) } : tool;
  if (body.tools !== undefined && body.tools !== null) body.tools = keep(body.tools);
  // Some agents declare tools in an input item.
  for (const item of list(body.input)) {
    if (isObject(item) && item.tools !== undefined) item.tools = keep(item.tools);
  }
  if (taken === 0) return;
  // A choice may name a tool that is gone, and any choice without tools is an error.
  const none = list(body.tools).length === 0;
  if (none) delete body.tools;
  if (none || isObject(body.tool_choice)) delete body.tool_choice;
}

function isLocalTool(tool: unknown): boolean {
  if (!isObject(tool)) return false;
  if (tool.type === undefined || tool.type === null) return true;
  if (typeof tool.type !== 'string' || !LOCAL_TOOL.test(tool.type)) return false;
  // A shell tool may name a container at the provider to run in.
  return tool.environment === undefined;
}

/** In what a provider differs from the others with its protocol. */
export interface Dialect {
  /** The vendor whose protocol it is: takes its newest fields, and has room for long answers. */
  readonly original: boolean;
  /** Refuses `stream_options` and `max_completion_tokens`; its streams tell their usage unasked. */
  readonly strict: boolean;
}

/** Removes what would change the price, and asks a stream to tell what it used. */
export function atListPrice(protocol: ModelProtocol, body: Body, { strict }: Dialect): void {
  for (const field of DEARER) delete body[field];
  if (protocol !== 'openai-chat') return;
  if (strict) {
    delete body.stream_options;
  } else if (body.stream === true) {
    body.stream_options = {
      ...(isObject(body.stream_options) ? body.stream_options : {}),
      include_usage: true,
    };
  }
}

/** Looks at content parts only, never into tool arguments, where any JSON is legitimate. */
function fetches(protocol: ModelProtocol, part: unknown): boolean {
  if (!isObject(part)) return false;
  if (isReference(protocol, part)) return true;
  // Anthropic's documents may be made of parts.
  const within = isObject(part.source) ? part.source.content : undefined;
  const inner = [part.content, part.output, within].flatMap(entries);
  return inner.some((one) => fetches(protocol, one));
}

const MEDIA = ['image_url', 'video_url', 'audio_url', 'document_url'];
/** Base 64 has no colon. */
const ADDRESS = /^\s*(?!data:)[a-z][a-z\d+.-]*:/i;

function isReference(protocol: ModelProtocol, part: Body): boolean {
  if (protocol === 'anthropic') {
    return isObject(part.source) && (part.source.type === 'url' || part.source.type === 'file');
  }
  const file = isObject(part.file) ? part.file : part;
  if (['file_id', 'file_url'].some((key) => file[key] !== undefined && file[key] !== null)) return true;
  const audio = isObject(part.input_audio) ? part.input_audio.data : part.input_audio;
  if ([file.file_data, audio].some((data) => typeof data === 'string' && ADDRESS.test(data))) return true;
  return MEDIA.map((key) => part[key])
    .map((media) => (isObject(media) ? media.url : media))
    .some((address) => typeof address === 'string' && !address.startsWith('data:'));
}

/** How many output tokens a request may cost at most, and where to write a lower number. */
export interface OutputLimit {
  /** Null when the request does not say. */
  readonly asked: number | null;
  set(tokens: number): void;
}

/** Servers that imitate OpenAI may not know `max_completion_tokens`, only `max_tokens`. */
export function outputLimit(protocol: ModelProtocol, body: Body, dialect: Dialect): OutputLimit {
  if (dialect.strict && body.max_completion_tokens !== undefined) {
    body.max_tokens = body.max_completion_tokens;
    delete body.max_completion_tokens;
  }
  const field = limitField(protocol, body, dialect);
  return {
    asked: wholeNumber(body[field]),
    set(tokens) {
      body[field] = tokens;
      if (field === 'max_completion_tokens') delete body.max_tokens;
      const thinking = isObject(body.thinking) ? body.thinking : {};
      if (typeof thinking.budget_tokens === 'number' && thinking.budget_tokens >= tokens)
        delete body.thinking;
    },
  };
}

function limitField(protocol: ModelProtocol, body: Body, { original }: Dialect): string {
  if (protocol === 'anthropic') return 'max_tokens';
  if (protocol === 'openai-responses') return 'max_output_tokens';
  if (body.max_completion_tokens !== undefined) return 'max_completion_tokens';
  return body.max_tokens === undefined && original ? 'max_completion_tokens' : 'max_tokens';
}
