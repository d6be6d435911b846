import type { RunId } from '../core/model/index.ts';
import type { Personas } from '../core/personas/index.ts';
import type { Ceilings, SettingsDefaults } from '../core/policy/index.ts';
import type {
  Artifacts,
  Clock,
  Coder,
  Engine,
  Gateway,
  GitHub,
  Log,
  Metrics,
  Model,
  Random,
  Reports,
  Sandbox,
  Store,
  Tracer,
  Workspaces,
} from '../ports/index.ts';

/** Everything a run needs from outside, put together once by `main.ts`. */
export interface World {
  readonly store: Store;
  readonly artifacts: Artifacts;
  readonly engine: Engine;
  readonly workspaces: Workspaces;
  readonly sandbox: Sandbox;
  readonly coders: ReadonlyMap<string, Coder>;
  readonly gateway: Gateway;
  readonly model: Model;
  readonly reports: Reports;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Absent where nobody asks for figures. */
  readonly metrics?: Metrics;
  /** Absent where nobody collects traces. */
  readonly tracer?: Tracer;
  /** Absent in a process that serves local repositories only. */
  readonly github?: GitHub;
  /** What the operator allows at most; the repository's settings are lowered to it. */
  readonly ceilings: Ceilings;
  /** What stands where a repository's settings are silent. */
  readonly defaults: SettingsDefaults & { readonly models: readonly string[] };
  /** How many builds and test runs may execute at the same time on this machine. */
  readonly parallelChecks: number;
  readonly prompts: PromptLibrary;
  /** Absent where runs never wait for room. */
  readonly room?: {
    /** Why no further run may begin on this machine, a sentence; null where one may. */
    lacks(): string | null;
  };
  /** Keeps the status comment of a run up to date. */
  readonly announcer: Announcer;
}

/** Says on GitHub where a run stands. Never rejects: a comment that cannot be edited must not stop a run. */
export interface Announcer {
  /** Edits the status comment soon; calls that come close together become one edit. */
  soon(runId: RunId): void;
  /** The run has ended: writes the last state, sets the labels and the reaction. Waits for edits under way. */
  finish(runId: RunId): Promise<void>;
  /** Waits for edits under way; for shutdown. */
  idle(): Promise<void>;
}

/** The prompts, as text; Markdown files beside the stages unless the operator overrides them. */
export interface PromptLibrary {
  readonly planner: string;
  /** What all critics of a spec are told, and who answers them. */
  readonly critic: string;
  readonly synthesiser: string;
  /** For blind judges of two candidates. */
  readonly judge: string;
  /** For writers of tests: one that sees no candidate, one that tells candidates apart. */
  readonly neutral: string;
  readonly distinguish: string;
  /** For a reviewer of one candidate. */
  readonly reviewer: string;
  /** Variant name → instructions for the coder. The order is the order in which contestants take them. */
  readonly coder: ReadonlyMap<string, string>;
  /** Name → points of view of critics. */
  readonly personas: Personas;
}
