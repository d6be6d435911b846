import type { CoderEvent } from '../core/model/index.ts';
import type { ModelProtocol } from '../core/settings/index.ts';

/** The input for starting one coder. */
export interface CoderLaunch {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  /** Files to write before the start, by path below HOME. None contains the gateway's key. */
  readonly files?: Readonly<Record<string, string>>;
  /** Mounts the agent's program read-only: its path on the host, and its path inside. */
  readonly binds?: readonly { readonly from: string; readonly to: string }[];
}

export interface CoderInput {
  /** Model name as the provider knows it, without the provider's prefix. */
  readonly model: string;
  readonly protocol: ModelProtocol;
  /** The whole task as text. */
  readonly prompt: string;
  /** Maximum wall time of the coder in seconds; it should stop a little earlier by itself. */
  readonly wallSeconds: number;
  /**
   * Access to the model from inside the sandbox: `url` without a path, and a key for nothing else. Pass the key in
   * the environment: argv shows in the process list, and files persist.
   */
  readonly gateway: { readonly url: string; readonly key: string };
  /** Program and arguments from the contestant, for agents that run any program. */
  readonly argv?: readonly [string, ...string[]];
  /** 0 for the first contestant with this agent, model and prompt, then 1, 2, …, so that repetitions differ. */
  readonly seed: number;
}

/** One agent. An adapter only defines how to start it and how to parse its output; the supervisor does the rest. */
export interface Coder {
  readonly name: string;
  /** Supported protocols, preferred first. */
  readonly protocols: readonly ModelProtocol[];
  /** The contestant names the program to run (`argv`). */
  readonly wantsArgv: boolean;
  /** May still change; reports say so. */
  readonly experimental: boolean;
  launch(input: CoderInput): CoderLaunch;
  /** Parses one line of standard output into what it reports, in order; empty if it has nothing to show. Must not throw. */
  read(line: string): readonly CoderEvent[];
  /** The installed version; null when it is not installed. */
  version(): Promise<string | null>;
  /** A command that starts the agent in a sandbox and prints its version, as a check; null if there is none. */
  trial(): Pick<CoderLaunch, 'argv' | 'env' | 'binds'> | null;
}
