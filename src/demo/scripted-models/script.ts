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
  /** Takes the request and never answers. */
  | { readonly kind: 'hang' };

/** How a model behaves in a conversation with an agent. */
export interface Script {
  /** The turn is chosen by how many tool results a request holds, so a conversation can go on after a restart. */
  readonly turns: readonly Turn[];
  /** What follows the last turn: the end (default), or the last turn again and again. */
  readonly afterwards?: 'stop' | 'repeat';
  /** Answer to a request for structured output, such as the planner's. */
  readonly structured?: unknown;
}

/** By model name, as the provider knows it. */
export type Scripts = Readonly<Record<string, Script>>;

const END: Turn = { kind: 'text', text: 'Done.' };

export function turnAt(script: Script, results: number): Turn {
  const last = script.turns.at(-1) ?? END;
  return script.turns[results] ?? (script.afterwards === 'repeat' ? last : END);
}
