import type { ModelProtocol } from './core/settings/index.ts';
import type { ExecutorRole, Pruned } from './ports/index.ts';
import type { Exposure, PrepareTools, Retired, SelectTools, World } from './runs/index.ts';

/** An open world: the database runs, and the sandbox works where flows are executed. `close` leaves nothing behind. */
export interface Runtime {
  readonly world: World;
  close(): Promise<void>;
}

/** Checks of local repositories that somebody has agreed to run with less than the full sandbox. */
export interface TrustedChecks {
  /** `repository`: its top folder, without links. */
  has(repository: string, exposure: Exposure): Promise<boolean>;
  keep(repository: string, exposure: Exposure): Promise<void>;
}

/** A world for commands at a terminal. */
export interface TerminalRuntime extends Runtime {
  readonly trusted: TrustedChecks;
}

/**
 * What a process does about runs. `app` leads them, and shares their candidates with workers; `worker` takes candidates
 * and examinations only, and writes nothing to GitHub. `standalone` is a command at a terminal: it executes runs of its
 * own and shares no work with other processes. `reader` only reads the record, and has no sandbox.
 */
type ProcessRole = ExecutorRole | 'standalone' | 'reader';

export type RuntimeNeeds = (
  | { readonly role: 'reader' }
  /** `executor`: the name under which it executes flows, the same after a restart. */
  | { readonly role: Exclude<ProcessRole, 'reader'>; readonly executor: string }
) & {
  /** Speaks to GitHub as the operator's App, where one is configured. */
  readonly github?: boolean;
};

export interface DoctorFinding {
  readonly name: string;
  readonly state: 'ok' | 'warning' | 'fault';
  readonly detail: string;
  /** What to do next; only with `warning` and `fault`. */
  readonly remedy?: string;
}

export interface DemoOptions {
  readonly keep: boolean;
  readonly json: boolean;
}

/** One coder that settings can name. */
export interface AgentRow {
  readonly name: string;
  /** Where its program comes from: part of Runoff (or named by the contestant), `runoff agents install`, AGENT_COMMANDS. */
  readonly from: 'runoff' | 'npm' | 'operator';
  /** Version of what is installed; null when it is not. */
  readonly installed: string | null;
  /** The version that Runoff was tried with; null for what is not installed by Runoff. */
  readonly tested: string | null;
  /** The operator's folder, from AGENT_COMMANDS, that is not there; null where none is missing. */
  readonly missingFolder: string | null;
  readonly protocols: readonly ModelProtocol[];
  readonly experimental: boolean;
}

export interface InstallRequest {
  readonly name: string;
  /** Absent: the version that Runoff was tried with. */
  readonly version?: string;
  readonly onLine: (line: string) => void;
  readonly signal: AbortSignal;
}

/** The agents of this machine. */
export interface Agents {
  list(): Promise<readonly AgentRow[]>;
  /** Throws AGENT_UNKNOWN where there is no such agent or the version is not exact. Nothing is fetched. */
  check(request: Pick<InstallRequest, 'name' | 'version'>): void;
  /** `bytes`: what it takes on the disk. */
  install(
    request: InstallRequest,
  ): Promise<{ readonly version: string; readonly folder: string; readonly bytes: number }>;
}

/** Where a command was started: its output goes to the screen, and a person may interrupt it. */
export interface Terminal {
  readonly screen: Screen;
  /** Calls back at each SIGINT or SIGTERM; returns a function that stops listening. */
  onInterrupt(handler: () => void): () => void;
  /** Ends the process now, whatever is still open. */
  exit(code: number): void;
}

/** What `runoff select` executes with; `close` leaves nothing behind. */
export interface SelectingHow {
  /** Builds and tests of one request that may execute side by side. */
  readonly atOnce: number;
  /** US dollars that models may cost as judges of one request; absent: none is asked. */
  readonly judgesUsd?: number;
}

export interface Selecting {
  readonly tools: SelectTools;
  close(): Promise<void>;
}

/** What was removed by hand; without `unused` nothing was, and `retired` is what would be. */
export interface PrunedByHand {
  readonly retired: Retired;
  readonly unused?: Pruned;
}

/** What the command line needs from outside; `main.ts` gives the real ones. */
export interface Shell extends Terminal {
  /** Operator settings are read from this file, as typed, and from no other. Called before anything else. */
  useEnvFile(path: string): void;
  open(needs: RuntimeNeeds): Promise<TerminalRuntime>;
  /** Neither database nor GitHub nor models. */
  openPreparing(): Promise<PrepareTools>;
  /** Neither database nor GitHub. */
  openSelecting(how: SelectingHow): Promise<Selecting>;
  /** Asks whoever sits at the terminal, who may answer `y`; null where there is none. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
  /** Lines of standard input, without their ends. */
  lines(): AsyncIterable<string>;
  /** Cores that this process may use. */
  readonly cores: number;
  serve(): Promise<number>;
  work(): Promise<number>;
  demo(options: DemoOptions): Promise<number>;
  /** `repository`: a local one whose commands and tools are looked at too. */
  doctor(repository?: string): Promise<readonly DoctorFinding[]>;
  /** Rows by table; `onTable` receives the progress of each. */
  moveDatabase(request: {
    readonly to: string;
    readonly dryRun: boolean;
    readonly onTable: (table: string, rows: number, of: number) => void;
  }): Promise<readonly { readonly table: string; readonly rows: number }[]>;
  prune(dryRun: boolean): Promise<PrunedByHand>;
  readonly agents: Agents;
  newRunId(): string;
  readText(path: string): Promise<string>;
  writeText(path: string, text: string): Promise<void>;
  /**
   * Creates a file in a folder of a repository, which may be a stranger's: never over a file, never through a link.
   * Why nothing was written, as a clause; null when it was.
   */
  createBelow(top: string, path: string, text: string): Promise<string | null>;
  /** Replaces the text of a file that is still as it was read, with the same promises. */
  replaceBelow(
    top: string,
    path: string,
    change: { readonly before: string; readonly text: string },
  ): Promise<string | null>;
  /** Why a file could not be written, as a clause; null when it can. Changes nothing. */
  unwritable(path: string): Promise<string | null>;
  readonly version: string;
  readonly cwd: string;
}

/** Where people and programs read: text and JSON on `out`, progress and errors on `err`. */
export interface Screen {
  out(text: string): void;
  err(text: string): void;
  /** `out` is read by a person: escape sequences must not get there. */
  readonly outIsTerminal: boolean;
  /** Characters in a line; null when progress goes to no terminal and is printed as plain lines. */
  readonly width: number | null;
  readonly colour: boolean;
}

/** Exit codes of every command. */
export const EXIT = { done: 0, failed: 1, usage: 2, nothingSurvived: 3, cancelled: 130 } as const;

/** A press can arrive twice: a terminal signals the whole group, and the launcher in `bin` passes its own signal on. */
const ONE_PRESS_MS = 1_000;

/** Counts presses of Ctrl-C, or whatever else interrupts: 1 is the first. Returns a function that stops listening. */
export function onPresses(
  onInterrupt: (handler: () => void) => () => void,
  handler: (press: number) => void,
): () => void {
  let last = Number.NEGATIVE_INFINITY;
  let presses = 0;
  return onInterrupt(() => {
    const now = performance.now();
    if (now - last < ONE_PRESS_MS) return;
    last = now;
    presses += 1;
    handler(presses);
  });
}
