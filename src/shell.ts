import type { ModelProtocol } from './core/settings/index.ts';
import type { Contests, ExecutorRole, Pruned } from './ports/index.ts';
import type {
  Exposure,
  GeneratePorts,
  MinePorts,
  PrepareTools,
  Retired,
  SelectTools,
  ShellTerminal,
  World,
} from './runs/index.ts';

/**
 * An open runtime: the database is running, and the sandbox works if flows are executed. `close` releases everything.
 */
export interface Runtime {
  readonly world: World;
  close(): Promise<void>;
}

/** Checks of local repositories that a person has agreed to run with a weaker sandbox. */
export interface TrustedChecks {
  /** `repository`: its top folder, with symbolic links resolved. */
  has(repository: string, exposure: Exposure): Promise<boolean>;
  keep(repository: string, exposure: Exposure): Promise<void>;
}

/** A runtime for commands at a terminal. */
export interface TerminalRuntime extends Runtime {
  readonly trusted: TrustedChecks;
}

/**
 * A process's role. `app` coordinates runs, and shares their candidates with workers; `worker` processes candidates
 * and examinations only, and writes nothing to GitHub. `standalone` is a command at a terminal: it executes its own
 * runs and shares no work. `reader` only reads records, and has no sandbox.
 */
type ProcessRole = ExecutorRole | 'standalone' | 'reader';

export type RuntimeNeeds = (
  | { readonly role: 'reader' }
  /** `executor`: the name under which it executes flows, stable across restarts. `traceFile`: for its only run. */
  | { readonly role: Exclude<ProcessRole, 'reader'>; readonly executor: string; readonly traceFile?: string }
) & {
  /** Connects to GitHub as the operator's App, if one is configured. */
  readonly github?: boolean;
};

export interface DoctorFinding {
  readonly name: string;
  readonly state: 'ok' | 'warning' | 'fault';
  readonly detail: string;
  /** What to do next; only with `warning` and `fault`. */
  readonly remedy?: string;
}

/** What `runoff ui` shows. */
export interface LocalPagesRequest {
  /** Id of the run whose page comes first; null: the list. */
  readonly run: string | null;
  /** Opens the desktop's browser. */
  readonly open: boolean;
}

/** The page of a run that this process executes. */
export interface RunPage {
  close(): Promise<void>;
}

export interface DemoOptions {
  readonly keep: boolean;
  readonly json: boolean;
}

/** One coder that settings can name. */
export interface AgentRow {
  readonly name: string;
  /** The source of its program: Runoff (or the contestant), `runoff agents install`, or AGENT_COMMANDS. */
  readonly from: 'runoff' | 'npm' | 'operator';
  /** The installed version; null if not installed. */
  readonly installed: string | null;
  /** The version that Runoff was tested with; null for programs that Runoff does not install. */
  readonly tested: string | null;
  /** A folder in AGENT_COMMANDS that does not exist; null if none is missing. */
  readonly missingFolder: string | null;
  readonly protocols: readonly ModelProtocol[];
  readonly experimental: boolean;
}

export interface InstallRequest {
  readonly name: string;
  /** Default: the version that Runoff was tested with. */
  readonly version?: string;
  readonly onLine: (line: string) => void;
  readonly signal: AbortSignal;
}

/** The agents of this machine. */
export interface Agents {
  list(): Promise<readonly AgentRow[]>;
  /** Throws AGENT_UNKNOWN if there is no such agent or the version is not exact. Downloads nothing. */
  check(request: Pick<InstallRequest, 'name' | 'version'>): void;
  /** `bytes`: the disk space used. */
  install(
    request: InstallRequest,
  ): Promise<{ readonly version: string; readonly folder: string; readonly bytes: number }>;
}

/** The terminal of a command: shows its output, and can interrupt it. */
export interface Terminal {
  readonly screen: Screen;
  /** Calls the handler on each SIGINT or SIGTERM; returns a function that removes it. */
  onInterrupt(handler: () => void): () => void;
  /** Ends the process immediately. */
  exit(code: number): void;
}

/** Options of execution in `runoff select`; `close` releases everything. */
export interface SelectingHow {
  /** Maximum builds and tests of one request that run concurrently. */
  readonly atOnce: number;
  /** What models may do, and the US dollars for all of them in one request; absent: no model is asked. */
  readonly models?: { readonly judge: boolean; readonly write: boolean; readonly usd: number };
}

export interface Selecting {
  readonly tools: SelectTools;
  close(): Promise<void>;
}

/** What contests need; `close` releases everything. */
export interface Arena {
  readonly tools: GeneratePorts;
  readonly contests: Contests;
  close(): Promise<void>;
}

/** The folders of contests, and the prompt variants that agents may name. */
export interface OpenContests {
  readonly contests: Contests;
  readonly variants: ReadonlyMap<string, string>;
}

/** What executes tasks of contests without asking a contestant. */
export interface Mining {
  readonly tools: MinePorts;
  readonly contests: Contests;
  /** Runoff's own prompt variants, which agents may name. */
  readonly variants: ReadonlyMap<string, string>;
}

/** What a manual prune removed; without `unused` nothing, and `retired` lists what would be removed. */
export interface PrunedByHand {
  readonly retired: Retired;
  readonly unused?: PrunedFiles;
  /** If nothing was removed: bytes on disk of the data folder by kind, such as `layers`. */
  readonly sizes?: Readonly<Record<string, number>>;
}

/** Of repositories, and toolchains that were copied or installed for them. */
export interface PrunedFiles extends Pruned {
  readonly tools: number;
}

/** The command line's interface to the outside; `main.ts` provides the implementation. */
export interface Shell extends Terminal {
  /** Reads operator settings from this file only, with the path as typed. Called before anything else. */
  useEnvFile(path: string): void;
  open(needs: RuntimeNeeds): Promise<TerminalRuntime>;
  /** Opens no database, GitHub or models. */
  openPreparing(): Promise<PrepareTools>;
  /** For tasks out of a repository's history: opens no database or models. GitHub is read for the texts of issues. */
  openMining(): Promise<Mining>;
  /** Opens no database or GitHub. */
  openSelecting(how: SelectingHow): Promise<Selecting>;
  /** For commands that only read and append the files of contests: opens no database. */
  openContests(): Promise<OpenContests>;
  /** `executes`: with a sandbox, for repository tasks. */
  openArena(executes: boolean): Promise<Arena>;
  /**
   * Lets the person at the terminal choose any number of values from a list that can be searched; null if they leave.
   * Null without a terminal.
   */
  readonly choose:
    | ((
        question: string,
        from: readonly { readonly value: string; readonly label: string; readonly hint: string }[],
      ) => Promise<readonly string[] | null>)
    | null;
  /** Lets the person at the terminal choose one value with the arrow keys; null if they leave. Null without a terminal. */
  readonly chooseOne:
    | ((
        question: string,
        from: readonly { readonly value: string; readonly label: string; readonly hint: string }[],
      ) => Promise<string | null>)
    | null;
  /** Shows a long text in the pager of whoever is at the terminal; null if output is not a terminal or has no pager. */
  readonly page: ((text: string) => Promise<void>) | null;
  /** Asks the person at the terminal to confirm with `y`; null without a terminal. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
  /** The terminal as one that somebody types to a shell in; null without a terminal for input and output. */
  readonly typing: (() => ShellTerminal) | null;
  /** Lines of standard input, without line ends; they also end when `signal` is aborted. */
  lines(signal?: AbortSignal): AsyncIterable<string>;
  /** Number of cores available to this process. */
  readonly cores: number;
  serve(): Promise<number>;
  /** Serves pages of local runs until it is interrupted. */
  ui(request: LocalPagesRequest): Promise<number>;
  /**
   * Shows the page of a run in the desktop's browser while this process executes it, or prints its address. The engine
   * must have been launched. Null if there is no page, for a reason that was printed.
   */
  openRunPage(world: World, run: string): Promise<RunPage | null>;
  work(): Promise<number>;
  demo(options: DemoOptions): Promise<number>;
  /** `repository`: a local one whose commands and tools are checked, too. */
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
  /** Name of whoever started this process. */
  userName(): string;
  readText(path: string): Promise<string>;
  writeText(path: string, text: string): Promise<void>;
  /**
   * Creates a file in a folder of a repository, which may be untrusted: never overwrites a file or follows a link.
   * Returns why nothing was written, as a clause; null on success.
   */
  createBelow(top: string, path: string, text: string): Promise<string | null>;
  /** Replaces the text of a file if it is unchanged since it was read, with the same guarantees. */
  replaceBelow(
    top: string,
    path: string,
    change: { readonly before: string; readonly text: string },
  ): Promise<string | null>;
  /** Why a file cannot be written, as a clause; null if it can. Changes nothing. */
  unwritable(path: string): Promise<string | null>;
  readonly version: string;
  /** The commit of Runoff's sources, with `-dirty` if they have been changed; null if it was not recorded. */
  commit(): Promise<string | null>;
  readonly cwd: string;
}

/** The output streams: text and JSON on `out`, progress and errors on `err`. */
export interface Screen {
  out(text: string): void;
  err(text: string): void;
  /** `out` is a terminal: escape sequences must not reach it. */
  readonly outIsTerminal: boolean;
  /** Characters per line at this moment; null if progress does not go to a terminal and is printed as plain lines. */
  readonly width: number | null;
  /** Whether colours may be written on `err`, and on `out`. */
  readonly colour: boolean;
  readonly outColour: boolean;
  /** Lines at the end of the terminal of `err` that are replaced as they change; null if `width` is. */
  readonly live: LiveBlock | null;
}

/** What is printed while a block is shown appears above it. */
export interface LiveBlock {
  /** Replaces the block's lines. None of them may be wider than the terminal. */
  draw(lines: readonly string[]): void;
  /** Leaves the last lines as they are. */
  end(): void;
}

/** Exit codes of every command. */
export const EXIT = { done: 0, failed: 1, usage: 2, nothingSurvived: 3, stopped: 130 } as const;

/**
 * One press may arrive twice: a terminal signals the whole process group, and the launcher in `bin` forwards its own
 * signal.
 */
const ONE_PRESS_MS = 1_000;

/** Counts interruptions such as Ctrl-C: 1 is the first. Returns a function that removes the listener. */
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
