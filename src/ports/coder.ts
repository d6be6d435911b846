/** What one coder is started with. The supervisor adds `GW_URL` and `GW_KEY` to the environment. */
export interface CoderLaunch {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
}

export type CoderEvent =
  | { readonly kind: 'step'; readonly text: string }
  | { readonly kind: 'end'; readonly ok: boolean; readonly text: string };

export interface CoderInput {
  /** Model name as the provider knows it, without the provider's prefix. */
  readonly model: string;
  readonly protocol: ModelProtocol;
  /** The whole task as text. */
  readonly prompt: string;
  /** Seconds the coder may take; it should stop by itself a little earlier. */
  readonly wallSeconds: number;
}

/** Wire protocols that the gateway speaks. */
export type ModelProtocol = 'anthropic' | 'openai-chat' | 'openai-responses';

/** One agent. Adapters only say how it is started and how its output reads; the supervisor does the rest. */
export interface Coder {
  readonly name: string;
  launch(input: CoderInput): CoderLaunch;
  /** Reads one line of standard output; null when it says nothing worth showing. Must not throw. */
  read(line: string): CoderEvent | null;
  /** Version as the agent reports it; null when it is not installed. */
  version(): Promise<string | null>;
}
