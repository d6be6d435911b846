import type { Turn } from './script.ts';

export type Json = Readonly<Record<string, unknown>>;

export const object = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
export const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.map(object) : []);

/** What a protocol reads from a request. */
export interface Asked {
  /** Tool results so far. */
  readonly results: number;
  /** How structured output is asked for; null when it is not. */
  readonly structured: { readonly kind: 'text' } | { readonly kind: 'tool'; readonly name: string } | null;
}

export type Spoken = Exclude<Turn, { kind: 'hang' }>;

export interface Speech {
  /** Differs from turn to turn, for ids. */
  readonly id: string;
  readonly model: string;
  readonly turn: Spoken;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** One wire protocol. */
export interface Wire {
  ask(body: Json): Asked;
  whole(speech: Speech, body: Json): Json;
  /** Server-sent events, as they go over the wire. */
  stream(speech: Speech, body: Json): readonly string[];
}

/** Pieces of a text as a model would stream it; at most a dozen, so that pacing costs little. */
export function pieces(text: string): readonly string[] {
  const size = Math.max(24, Math.ceil(text.length / 12));
  const starts = Array.from({ length: Math.ceil(text.length / size) }, (_, index) => index * size);
  return starts.map((start) => text.slice(start, start + size));
}

export const event = (name: string | null, data: unknown): string =>
  `${name ? `event: ${name}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
