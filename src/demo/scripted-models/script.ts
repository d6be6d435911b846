/** What a turn does, whatever the agent calls its tools. */
export type Action =
  /** A whole new text for a file. An absolute path is understood by every agent. */
  | { readonly do: 'write'; readonly path: string; readonly content: string }
  | { readonly do: 'shell'; readonly command: string };

/** One answer of a scripted model. */
export type Turn =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'call';
      /** Said before the call. */
      readonly text: string;
      readonly tool: string;
      readonly input: Readonly<Record<string, unknown>>;
    }
  /**
   * Calls the tool that fits among those that the request declares. A request that declares none comes from an agent
   * that wants a title or a summary: it gets a short text.
   */
  | { readonly kind: 'do'; readonly text: string; readonly action: Action }
  /** Takes the request and never answers; with a text, streams the first half of it before. */
  | { readonly kind: 'hang'; readonly text?: string }
  /** Streams the first half of a text, then closes the connection. */
  | { readonly kind: 'cut'; readonly text: string }
  /** Answers with this HTTP status and an error. */
  | { readonly kind: 'status'; readonly status: number };

/** What an answer reports, in tokens, as the ledger counts them. */
export interface TokenCounts {
  /** All input, cached or not. */
  readonly tokensIn: number;
  /** Part of `tokensIn` that was read from a cache. */
  readonly tokensCached: number;
  /** Part of `tokensIn` that was written to a cache; only Anthropic's protocol reports it. */
  readonly tokensWritten: number;
  /** All output, reasoning included. */
  readonly tokensOut: number;
  /** Part of `tokensOut`; Anthropic's protocol does not report it. */
  readonly tokensReasoning: number;
}

/** How a model behaves in a conversation with an agent. */
export interface Script {
  /** The turn is chosen by how many tool results a request holds, so a conversation can go on after a restart. */
  readonly turns: readonly Turn[];
  /** Turns instead of those, for conversations whose requests hold a text; the first that fits. */
  readonly cases?: readonly { readonly holds: string; readonly turns: readonly Turn[] }[];
  /** What follows the last turn: the end (default), or the last turn again and again. */
  readonly afterwards?: 'stop' | 'repeat';
  /** Answer to a request for structured output, such as the planner's. */
  readonly structured?: unknown;
  /** Instead of `structured`, for requests that hold a text or match a pattern; the first that fits. */
  readonly answers?: readonly { readonly holds: string | RegExp; readonly structured: unknown }[];
  /** Reported usage by turn, the last for all that follow; absent: derived from the length of what is sent. */
  readonly usage?: readonly [TokenCounts, ...TokenCounts[]];
}

/** By model name, as the provider knows it. */
export type Scripts = Readonly<Record<string, Script>>;

const END: Turn = { kind: 'text', text: 'Done.' };

/** `request` is its body as text: JSON, so that quotes and line breaks in it are escaped. */
export function turnAt(script: Script, results: number, request: string): Turn {
  const turns = script.cases?.find(({ holds }) => request.includes(holds))?.turns ?? script.turns;
  const last = turns.at(-1) ?? END;
  return turns[results] ?? (script.afterwards === 'repeat' ? last : END);
}

export type Json = Readonly<Record<string, unknown>>;

export const asObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
export const asList = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.map(asObject) : []);

/** A tool as a request declares it. */
export interface Tool {
  readonly name: string;
  /** JSON Schema of its input; empty for a free-text tool. */
  readonly schema: Json;
  /** Takes plain text instead of JSON (a `custom` tool of the Responses protocol). */
  readonly freeText: boolean;
  /** The Responses protocol groups tools; a call repeats the group's name. */
  readonly namespace?: string;
}

/** What a protocol reads from a request. */
export interface ModelRequest {
  /** Tool results so far. */
  readonly results: number;
  readonly tools: readonly Tool[];
  /** How structured output is asked for; null when it is not. */
  readonly structured: { readonly kind: 'text' } | { readonly kind: 'tool'; readonly name: string } | null;
}

/** A call of a declared tool; `text` is the input of a free-text tool. */
export interface Call {
  readonly tool: string;
  readonly input: Json | { readonly text: string };
  readonly freeText?: boolean;
  readonly namespace?: string;
}

/** What is said in one answer: a text, perhaps a call after it. */
export interface Spoken {
  readonly text: string;
  readonly call?: Call;
}

export interface Speech {
  /** Differs from turn to turn, for ids. */
  readonly id: string;
  readonly model: string;
  readonly answer: Spoken;
  readonly usage: TokenCounts;
}

/** One wire protocol. */
export interface Wire {
  ask(body: Json): ModelRequest;
  whole(speech: Speech, body: Json): Json;
  /** Server-sent events, as they go over the wire. */
  stream(speech: Speech, body: Json): readonly string[];
  /** The part of the usage that the answer to this request reports; null for none. */
  reported(usage: TokenCounts, body: Json): TokenCounts | null;
  failure(status: number, message: string): Json;
}

/** Pieces of a text as a model would stream it; at most a dozen, so that pacing costs little. */
export function pieces(text: string): readonly string[] {
  const size = Math.max(24, Math.ceil(text.length / 12));
  const starts = Array.from({ length: Math.ceil(text.length / size) }, (_, index) => index * size);
  return starts.map((start) => text.slice(start, start + size));
}

export const event = (name: string | null, data: unknown): string =>
  `${name ? `event: ${name}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;

/** What a call hands over, as text. */
export const argumentsText = ({ freeText, input }: Call): string =>
  freeText ? String(input.text) : JSON.stringify(input);

/** As OpenAI words an error. */
export const openAiFailure = (status: number, message: string): Json => ({
  error: { message, type: errorTypeOf(status), code: errorTypeOf(status), param: null },
});

/** Names of errors that Anthropic's and OpenAI's protocols share. */
export function errorTypeOf(status: number): string {
  if (status === 429) return 'rate_limit_error';
  if (status === 404) return 'not_found_error';
  return status >= 500 ? 'api_error' : 'invalid_request_error';
}

/**
 * The call that does the action with one of these tools, filled in as its schema wants; null when none can. Agents
 * name the same few tools differently; what is matched here is what claude-code 2.1, codex 0.169, opencode 1.18, pi
 * 0.87, gemini 0.61, copilot 1.0 and qwen 0.24 declare.
 */
export function callFor(action: Action, tools: readonly Tool[]): Call | null {
  const ways = action.do === 'write' ? [writeCall, patch, shell] : [shell];
  for (const way of ways) {
    for (const tool of tools) {
      const call = way(tool, action);
      if (call) return call;
    }
  }
  return null;
}

type Way = (tool: Tool, action: Action) => Call | null;

const writeCall: Way = (tool, action) => {
  if (action.do !== 'write' || !/write|create/i.test(tool.name)) return null;
  const path = property(tool, /^(file_?path|path|absolute_path|filename)$/i);
  const content = property(tool, /^(contents?|file_text)$/i);
  return path && content ? filled(tool, { [path]: action.path, [content]: action.content }) : null;
};

const patch: Way = (tool, action) => {
  if (action.do !== 'write' || tool.name !== 'apply_patch') return null;
  const lines = action.content.replace(/\n$/, '').split('\n');
  const text = [
    '*** Begin Patch',
    `*** Add File: ${action.path}`,
    ...lines.map((line) => `+${line}`),
    '*** End Patch',
  ].join('\n');
  if (tool.freeText) return toolCall(tool, { text });
  const field = property(tool, /patch|input/i);
  return field ? filled(tool, { [field]: text }) : null;
};

const shell: Way = (tool, action) => {
  const command = action.do === 'shell' ? action.command : printing(action);
  if (tool.freeText) {
    // Codex can be given one tool that runs JavaScript, from which the others are called.
    const source = `text(await tools.exec_command({ cmd: ${JSON.stringify(command)} }));`;
    return tool.name === 'exec' ? toolCall(tool, { text: source }) : null;
  }
  if (!/bash|shell|exec|command|terminal/i.test(tool.name)) return null;
  const field = property(tool, /^(command|cmd)$/);
  if (!field) return null;
  return filled(tool, { [field]: takesList(tool, field) ? ['bash', '-lc', command] : command });
};

/** A shell command that writes a file, whatever its text holds. */
function printing({ path, content }: Action & { do: 'write' }): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  return `printf '%s' ${quoted(content)} > ${quoted(path)}`;
}

const property = (tool: Tool, name: RegExp): string | undefined =>
  Object.keys(asObject(tool.schema.properties)).find((key) => name.test(key));

function takesList(tool: Tool, field: string): boolean {
  const schema = asObject(asObject(tool.schema.properties)[field]);
  return [schema, ...asList(schema.anyOf)].some(({ type }) => type === 'array');
}

const toolCall = ({ name, namespace, freeText }: Tool, input: Call['input']): Call => ({
  tool: name,
  input,
  ...(freeText ? { freeText } : {}),
  ...(namespace ? { namespace } : {}),
});

/** The call with a value for every required field that the action says nothing about. */
function filled(tool: Tool, given: Json): Call {
  const { required, properties } = tool.schema;
  const missing = (Array.isArray(required) ? required : []).filter((key) => !(key in given));
  const rest = missing.map((key) => [key, anyValue(asObject(asObject(properties)[key]))] as const);
  return toolCall(tool, { ...given, ...Object.fromEntries(rest) });
}

function anyValue(schema: Json): unknown {
  if (Array.isArray(schema.enum)) return schema.enum[0];
  switch (schema.type) {
    case 'boolean':
      return false;
    case 'integer':
    case 'number':
      return 1;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return 'as scripted';
  }
}
