import type { ModelProtocol } from '../core/settings/index.ts';

/** What one coder is started with. */
export interface CoderLaunch {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  /** Files written before the start, by path below HOME. The key of the gateway is in none of them. */
  readonly files?: Readonly<Record<string, string>>;
  /** Where the agent's program lies on the host and is seen inside, read-only. */
  readonly binds?: readonly { readonly from: string; readonly to: string }[];
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
  /** Seconds the coder may take at the very most; it should stop by itself a little earlier. */
  readonly wallSeconds: number;
  /**
   * The way to the model, as it is inside the sandbox: `url` without a path, and a key that opens nothing else. The key
   * belongs in the environment: argv shows in the process list, files stay.
   */
  readonly gateway: { readonly url: string; readonly key: string };
  /** Program and arguments from the contestant, for the agents that run any program. */
  readonly argv?: readonly [string, ...string[]];
  /** 0 for the first contestant with this agent, model and prompt, then 1, 2, …: makes repetitions differ. */
  readonly seed: number;
}

/** One agent. Adapters only say how it is started and how its output reads; the supervisor does the rest. */
export interface Coder {
  readonly name: string;
  /** Protocols that it can speak, the one to prefer first. */
  readonly protocols: readonly ModelProtocol[];
  /** The contestant names the program to run (`argv`). */
  readonly wantsArgv: boolean;
  /** Not settled yet: its arrangement may change, and reports say so. */
  readonly experimental: boolean;
  launch(input: CoderInput): CoderLaunch;
  /** Reads one line of standard output; null when it says nothing worth showing. Must not throw. */
  read(line: string): CoderEvent | null;
  /** Version of what is installed; null when it is not installed. */
  version(): Promise<string | null>;
  /** A command that proves that the agent starts in a sandbox, and prints its version; null when there is nothing to try. */
  trial(): Pick<CoderLaunch, 'argv' | 'env' | 'binds'> | null;
}
