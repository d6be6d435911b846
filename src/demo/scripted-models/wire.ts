import type { Figures } from './script.ts';

export type Json = Readonly<Record<string, unknown>>;

export const object = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
export const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.map(object) : []);

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
export interface Asked {
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
  readonly said: Spoken;
  readonly usage: Figures;
}

/** One wire protocol. */
export interface Wire {
  ask(body: Json): Asked;
  whole(speech: Speech, body: Json): Json;
  /** Server-sent events, as they go over the wire. */
  stream(speech: Speech, body: Json): readonly string[];
  /** The part of the usage that the answer to this request reports; null for none. */
  reported(usage: Figures, body: Json): Figures | null;
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
export const argumentsOf = ({ freeText, input }: Call): string =>
  freeText ? String(input.text) : JSON.stringify(input);

/** As OpenAI words an error. */
export const openAiFailure = (status: number, message: string): Json => ({
  error: { message, type: kindOf(status), code: kindOf(status), param: null },
});

/** Names of errors that Anthropic's and OpenAI's protocols share. */
export function kindOf(status: number): string {
  if (status === 429) return 'rate_limit_error';
  if (status === 404) return 'not_found_error';
  return status >= 500 ? 'api_error' : 'invalid_request_error';
}
