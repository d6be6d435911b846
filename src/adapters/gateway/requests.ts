import type { ModelProtocol } from '../../ports/index.ts';

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

/** Fields that make a call dearer than its tokens at the listed price, or ask for several answers. */
const DEARER = ['service_tier', 'speed', 'inference_geo', 'n', 'best_of'];

/** Fields that would make the provider work or remember outside of this call. */
const OUTSIDE = [
  'mcp_servers',
  'container',
  'web_search_options',
  'background',
  'previous_response_id',
  'conversation',
  'prompt',
];

/** Tools that the agent runs itself. Every other type runs at the provider, which has a network. */
const LOCAL_TOOL =
  /^(custom|function|namespace|local_shell|shell|apply_patch|bash_\d+|text_editor_\d+|memory_\d+)$/;

/**
 * Why a request may not pass; null when it may. A sandbox has no network of its own, so it must not borrow the
 * provider's: no tool that runs there, and nothing for it to fetch.
 */
export function forbidden(protocol: ModelProtocol, body: Body): string | null {
  const field = OUTSIDE.find(
    (name) => body[name] !== undefined && body[name] !== null && body[name] !== false,
  );
  if (field) return `the field ${field}`;
  // Some agents declare tools in an input item.
  const tools = [body, ...list(body.input)].flatMap((item) => (isObject(item) ? list(item.tools) : []));
  if (!tools.every(isLocalTool)) return 'a tool that runs at the provider';
  const parts = [...list(body.messages), ...list(body.input), ...list(body.system)];
  return parts.some((part) => fetches(protocol, part)) ? 'content by reference' : null;
}

/** Removes what would change the price; returns the body for chaining. */
export function atListPrice(protocol: ModelProtocol, body: Body): Body {
  for (const field of DEARER) delete body[field];
  if (protocol === 'openai-chat' && body.stream === true) {
    body.stream_options = {
      ...(isObject(body.stream_options) ? body.stream_options : {}),
      include_usage: true,
    };
  }
  return body;
}

function isLocalTool(tool: unknown): boolean {
  if (!isObject(tool)) return false;
  if (tool.type === undefined || tool.type === null) return true;
  if (typeof tool.type !== 'string' || !LOCAL_TOOL.test(tool.type)) return false;
  // A shell tool may name a container at the provider to run in.
  if (tool.environment !== undefined) return false;
  return tool.type !== 'namespace' || list(tool.tools).every(isLocalTool);
}

/** Looks at content parts only, never into tool arguments, where any JSON is legitimate. */
function fetches(protocol: ModelProtocol, part: unknown): boolean {
  if (!isObject(part)) return false;
  if (isReference(protocol, part)) return true;
  return [...list(part.content), ...list(part.output)].some((inner) => fetches(protocol, inner));
}

function isReference(protocol: ModelProtocol, part: Body): boolean {
  if (protocol === 'anthropic') {
    return isObject(part.source) && (part.source.type === 'url' || part.source.type === 'file');
  }
  const file = isObject(part.file) ? part.file : part;
  if (['file_id', 'file_url'].some((key) => file[key] !== undefined && file[key] !== null)) return true;
  const image = isObject(part.image_url) ? part.image_url.url : part.image_url;
  return typeof image === 'string' && !image.startsWith('data:');
}

/** How many output tokens a request may cost at most, and where to write a lower number. */
export interface OutputLimit {
  /** Null when the request does not say. */
  readonly asked: number | null;
  set(tokens: number): void;
}

/** `official`: the provider knows `max_completion_tokens`; servers that imitate it may only know `max_tokens`. */
export function outputLimit(protocol: ModelProtocol, body: Body, official: boolean): OutputLimit {
  const field = limitField(protocol, body, official);
  const value = body[field];
  const asked = typeof value === 'number' && Number.isFinite(value) && value >= 1 ? Math.floor(value) : null;
  return {
    asked,
    set(tokens) {
      body[field] = tokens;
      if (field === 'max_completion_tokens') delete body.max_tokens;
      const thinking = isObject(body.thinking) ? body.thinking : {};
      if (typeof thinking.budget_tokens === 'number' && thinking.budget_tokens >= tokens)
        delete body.thinking;
    },
  };
}

function limitField(protocol: ModelProtocol, body: Body, official: boolean): string {
  if (protocol === 'anthropic') return 'max_tokens';
  if (protocol === 'openai-responses') return 'max_output_tokens';
  if (body.max_completion_tokens !== undefined) return 'max_completion_tokens';
  return body.max_tokens === undefined && official ? 'max_completion_tokens' : 'max_tokens';
}

const isObject = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
