import type { Surroundings } from '../core/model/index.ts';
import type {
  FoundService,
  FoundTool,
  RuntimeLanguage,
  StopReason,
  WantedTools,
} from '../core/settings/index.ts';

/**
 * The files that a sandboxed command sees as /repo: read-only layers (topmost first) under one writable layer.
 * Created by `Workspaces`. The host never reads `upper` with git or executes anything from it (I2).
 */
export interface WorkArea {
  readonly id: string;
  readonly lowers: readonly string[];
  readonly upper: string;
  readonly work: string;
  readonly merged: string;
  /** Writable and initially empty; mounted as /home/agent. */
  readonly home: string;
  /** Files that `setup` wrote to its HOME: a read-only layer below `home`. Absent: none. */
  readonly homeLower?: string;
  /** Programs available to its commands besides those of /usr; absent: none. */
  readonly tools?: Tools;
}

/** Programs provided to sandboxes. They contain no credentials. */
export interface Tools {
  /** Host folders or files, each mounted read-only at its own absolute path. */
  readonly mounts: readonly { readonly from: string; readonly to: string }[];
  /** Folders inside the sandbox that come first on PATH, in this order. */
  readonly path: readonly string[];
  /** Services provided by these programs or by every sandbox; absent: none. */
  readonly services?: readonly FoundService[];
}

export interface Limits {
  /** Maximum wall time from the start of the command, milliseconds. */
  readonly wallMs: number;
  /** Maximum milliseconds without an output line; absent: unlimited. */
  readonly silenceMs?: number;
  /** Resident and shared memory of the whole process tree, bytes. */
  readonly memoryBytes: number;
  /** Maximum bytes written to /repo and /home/agent. */
  readonly diskBytes: number;
  readonly processes: number;
  /** Maximum bytes kept of each stream: the first and the last half. */
  readonly outputBytes: number;
}

/** Defaults, to be tuned on dev data. */
export const DEFAULT_LIMITS: Limits = {
  wallMs: 30 * 60_000,
  memoryBytes: 4 * 2 ** 30,
  diskBytes: 4 * 2 ** 30,
  processes: 512,
  outputBytes: 4 * 2 ** 20,
};

export interface ExecSpec {
  readonly area: WorkArea;
  /**
   * The first word is looked up on the sandbox's PATH (/usr/local/bin:/usr/bin:/bin:/opt/toolchain/bin, then the folders
   * below /home/agent where installers put programs).
   */
  readonly argv: readonly [string, ...string[]];
  /** The command's environment besides PATH, HOME, USER, TMPDIR, LANG. Must not contain secrets. */
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /**
   * For a command that somebody types to, instead of `stdin`: called at its start with what writes to its standard
   * input. What it returns is called at the end of the command.
   */
  readonly input?: (write: (bytes: Uint8Array) => void) => () => void;
  /** Called with each piece of standard output as it comes. */
  readonly onOutput?: (bytes: Uint8Array) => void;
  /** Unix socket of this candidate's gateway lease; available inside at `http://127.0.0.1:<port>`. */
  readonly gateway?: { readonly socket: string; readonly port: number };
  /** Files to write below /home/agent before the start, by relative path. */
  readonly files?: Readonly<Record<string, string>>;
  /**
   * Exact `host:port` names that the command may reach through a CONNECT proxy (HTTP_PROXY and HTTPS_PROXY are set), at
   * public addresses only; absent: none.
   */
  readonly egress?: readonly string[];
  /** The same for package registries configured on the operator's machine, which may have private addresses. */
  readonly registries?: readonly string[];
  /** The operator's credentials for some of `registries`; the proxy adds them outside the sandbox. */
  readonly logins?: readonly RegistryLogin[];
  /** Called for each request to a host that is not allowed. */
  readonly onRefusedHost?: (host: string) => void;
  /** Called when an allowed host sends data, at most once a second. */
  readonly onTraffic?: () => void;
  /** Called about every second in which the processes used a processor for more than a tenth of the time. */
  readonly onComputing?: () => void;
  /**
   * Read-only host paths, mounted only below /run/bridge or /opt, never inside /repo: a mount point there would allow
   * an escape.
   */
  readonly binds?: readonly { readonly from: string; readonly to: string }[];
  /** A writable host folder, mounted as /out. */
  readonly out?: string;
  /** Mounts /repo read-only. */
  readonly readOnly?: boolean;
  /**
   * How machine, user and folders appear to the command; absent: as usual. All paths in this specification are the
   * usual ones, except inside `argv`, `env` and `stdin`.
   */
  readonly surroundings?: Surroundings;
  readonly limits: Limits;
  readonly onLine?: (line: string, stream: 'stdout' | 'stderr') => void;
  /**
   * Called when the wall time or the silence limit is reached: returns milliseconds to continue, or 0 to stop the
   * command. `quietMs`: since its last output, or its start.
   */
  readonly onLimit?: (limit: 'wall' | 'silence', quietMs: number) => number;
  readonly signal?: AbortSignal;
}

export interface ExecResult {
  /** Null when a signal ended the command. */
  readonly exitCode: number | null;
  /** Number of the signal that ended the command, if a signal did and the sandbox knows it. */
  readonly signal?: number;
  /** Why the command was stopped; null if it ended by itself. */
  readonly stopped: StopReason | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Part of `stdout` or `stderr` was dropped. */
  readonly truncated: boolean;
  readonly ms: number;
  /** `host:port` names that were requested but not allowed; absent without network access. */
  readonly refusedHosts?: readonly string[];
  /** Allowed hosts whose last connection failed; absent without network access. */
  readonly failedHosts?: readonly FailedHost[];
}

/** A host that could not be reached or did not respond. */
export interface FailedHost {
  /** `host:port`. */
  readonly host: string;
  /** Completes "the host …", such as `does not answer`. */
  readonly why: string;
}

const SANDBOX_BACKENDS = ['bubblewrap', 'container', 'none'] as const;
export type SandboxBackend = (typeof SANDBOX_BACKENDS)[number];

export type SandboxProbe =
  | {
      readonly kind: 'ready';
      readonly backend: SandboxBackend;
      readonly detail: string;
      /** Protections that are weaker than in the default sandbox, one sentence each; every report shows them. */
      readonly weaker: readonly string[];
    }
  | { readonly kind: 'missing'; readonly why: string; readonly remedy: string };

export interface Sandbox {
  /** Runs a harmless command in the same way as `exec`. Never rejects. */
  probe(): Promise<SandboxProbe>;
  /**
   * Runs a command. Never rejects because of the command: the result contains exit code, timeout and exceeded limits.
   * Calls `onLine` while running. When it resolves, and at the latest ten seconds after abort, no process of the
   * command is left; if the kernel takes longer to end killed ones, it waits for a minute and rejects with
   * RESOURCES_EXHAUSTED. The command has no network and no access to host processes or host files other than /usr, its
   * area and `binds`, except for what `probe` reports as weaker. Rejects with SANDBOX_UNAVAILABLE if the sandbox
   * could not be set up, and with DISK_FULL if something else filled the area's disk; the command's effects must then
   * be ignored.
   */
  exec(spec: ExecSpec): Promise<ExecResult>;
}

/** Tools for a repository's commands, besides the programs of every sandbox. */
export interface ProvidedTools {
  /** To be set as `tools` of the repository's base checkout. */
  readonly tools: Tools;
  /** Tools that are available to its commands. */
  readonly found: readonly FoundTool[];
  /** Tools that it requires and that are not available, one sentence each, with both ways to provide them. */
  readonly missing: readonly string[];
}

export interface Toolchains {
  /**
   * Provides the toolchains that a repository requires: from the sandbox, the operator, or the package registry that
   * npm on this machine uses. Each version is installed or copied once. Unavailable tools are listed in `missing`;
   * rejects only when the signal is aborted, or with DISK_FULL.
   */
  provide(wanted: WantedTools, signal?: AbortSignal): Promise<ProvidedTools>;
  /**
   * Removes copies and installs that were last provided before a moment, milliseconds since 1970. They are made again
   * when they are asked for.
   */
  prune(before: number): Promise<PrunedTools>;
}

export interface PrunedTools {
  readonly tools: number;
  /** On disk. */
  readonly bytes: number;
}

/**
 * The operator's credentials for one registry, and the certificate with which the proxy impersonates it towards a
 * sandbox, in order to add them to requests. Only the CA of `certificate` may enter a sandbox.
 */
export interface RegistryLogin {
  /** `host:port`. */
  readonly host: string;
  /** PEM: a key and its certificate for the host, issued by a CA that the sandbox trusts. */
  readonly key: string;
  readonly certificate: string;
  /** PEM of the CAs that verify the registry itself; absent: those of this process. */
  readonly trusted?: string;
  /** Value of `Authorization` for paths that begin with `path`; the longest prefix applies. */
  readonly rules: readonly { readonly path: string; readonly authorization: string }[];
}

/** Gives a set-up command access to the package registries that this machine uses. */
export interface RegistryAccess {
  /** `host:port` names; empty if no host is allowed. */
  readonly hosts: readonly string[];
  /** Configures the package clients in a sandbox for the same registries and certificates; contains no credentials. */
  readonly env: Readonly<Record<string, string>>;
  /** The same configuration as files below HOME, by relative path. */
  readonly files: Readonly<Record<string, string>>;
  /** Local package folders of this machine, and their paths according to `env`; read-only. */
  readonly folders: NonNullable<ExecSpec['binds']>;
  /** For those of `hosts` that require one. */
  readonly logins: readonly RegistryLogin[];
}

export const NO_REGISTRIES: RegistryAccess = { hosts: [], env: {}, files: {}, folders: [], logins: [] };

export interface Registries {
  /**
   * The registries of the package clients in a command (`npm ci`: those of npm), or of all clients if it names none, and
   * of the clients of these languages, which it may start: pip builds a package with Cargo. Answers are used
   * for some minutes; a client that cannot be queried has its last one, or none. Never rejects.
   */
  of(command: string, languages?: readonly RuntimeLanguage[]): Promise<RegistryAccess>;
}
