import type { Surroundings } from '../core/model/index.ts';
import type { FoundService, FoundTool, WantedTools } from '../core/settings/index.ts';

/**
 * The files a sandboxed command sees as /repo: read-only layers (topmost first) under one writable layer.
 * Made by `Workspaces`; the host never reads `upper` with git or runs anything from it (I2).
 */
export interface WorkArea {
  readonly id: string;
  readonly lowers: readonly string[];
  readonly upper: string;
  readonly work: string;
  readonly merged: string;
  /** Writable, empty at first; seen as /home/agent. */
  readonly home: string;
  /** What `setup` left in its HOME: a read-only layer below `home`. Absent: none. */
  readonly homeLower?: string;
  /** Programs besides those of /usr that its commands see; absent: none. */
  readonly tools?: Tools;
}

/** Programs that are lent to sandboxes. None of it holds a credential. */
export interface Tools {
  /** Host folders or files, each seen read-only at an absolute path of its own. */
  readonly mounts: readonly { readonly from: string; readonly to: string }[];
  /** Folders inside that come first on PATH, in this order. */
  readonly path: readonly string[];
  /** Services whose programs are among them, or in every sandbox; absent: none. */
  readonly services?: readonly FoundService[];
}

export interface Limits {
  /** Wall time from the start of the command, milliseconds. */
  readonly wallMs: number;
  /** Milliseconds since the last output line before the command is stopped; absent: no limit of silence. */
  readonly silenceMs?: number;
  /** Resident and shared memory of the whole tree, bytes. */
  readonly memoryBytes: number;
  /** Bytes written to /repo and /home/agent. */
  readonly diskBytes: number;
  readonly processes: number;
  /** Bytes of each stream that are kept: the first and the last half. */
  readonly outputBytes: number;
}

/** Our defaults, tune on dev data. */
export const DEFAULT_LIMITS: Limits = {
  wallMs: 30 * 60_000,
  memoryBytes: 4 * 2 ** 30,
  diskBytes: 4 * 2 ** 30,
  processes: 512,
  outputBytes: 4 * 2 ** 20,
};

export interface ExecSpec {
  readonly area: WorkArea;
  /** First word is looked up on the sandbox's PATH (/usr/local/bin:/usr/bin:/bin:/opt/runoff/bin, then the folders in which installers put programs below /home/agent). */
  readonly argv: readonly [string, ...string[]];
  /** The command's whole environment besides PATH, HOME, USER, TMPDIR, LANG. No secret may be passed here. */
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Unix socket of this candidate's gateway lease; inside it is at `http://127.0.0.1:<port>`. */
  readonly gateway?: { readonly socket: string; readonly port: number };
  /** Files written below /home/agent before the start, by relative path. */
  readonly files?: Readonly<Record<string, string>>;
  /**
   * Exact `host:port` names that the command may reach through a CONNECT proxy (HTTP_PROXY and HTTPS_PROXY are set), at
   * public addresses only; absent: none.
   */
  readonly egress?: readonly string[];
  /** The same for package registries that the operator's machine uses: these may have private addresses. */
  readonly registries?: readonly string[];
  /** Logins of the operator for some of `registries`; the proxy adds them outside of the sandbox. */
  readonly logins?: readonly RegistryLogin[];
  /** Called each time that the command asks for a host that it may not reach. */
  readonly onRefusedHost?: (host: string) => void;
  /** Called when bytes of an allowed host came, at most once a second. */
  readonly onTraffic?: () => void;
  /** Read-only host paths, mounted below /run/runoff or /opt only, never inside /repo (a mount point there is an escape). */
  readonly binds?: readonly { readonly from: string; readonly to: string }[];
  /** A host folder the command may write, seen as /out. */
  readonly out?: string;
  /** Mounts /repo read-only. */
  readonly readOnly?: boolean;
  /**
   * What the command sees of the machine, its user and its folders; absent: the usual. All paths of this specification are
   * those of the usual surroundings, except inside `argv`, `env` and `stdin`.
   */
  readonly surroundings?: Surroundings;
  readonly limits: Limits;
  readonly onLine?: (line: string, stream: 'stdout' | 'stderr') => void;
  /** Asked when the wall time or the time of silence is over: milliseconds to go on, 0 to stop the command. */
  readonly onLimit?: (limit: 'wall' | 'silence') => number;
  readonly signal?: AbortSignal;
}

export type StopReason = 'wall' | 'silence' | 'memory' | 'disk' | 'cancelled';

export interface ExecResult {
  /** Null when a signal ended the command. */
  readonly exitCode: number | null;
  /** Why we stopped it; null when it ended by itself. */
  readonly stopped: StopReason | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Some output was left out of `stdout` or `stderr`. */
  readonly truncated: boolean;
  readonly ms: number;
  /** `host:port` names that it asked for and was not allowed to reach; absent where it had no network at all. */
  readonly refusedHosts?: readonly string[];
  /** Hosts that it may reach and whose last connection failed; absent where it had no network at all. */
  readonly failedHosts?: readonly FailedHost[];
}

/** A host that could not be reached, or gave no answer. */
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
      /** What is weaker here than in the default sandbox, a sentence each; every report shows them. */
      readonly weaker: readonly string[];
    }
  | { readonly kind: 'missing'; readonly why: string; readonly remedy: string };

export interface Sandbox {
  /** Runs a harmless command the way `exec` would. Never rejects. */
  probe(): Promise<SandboxProbe>;
  /**
   * Never rejects for what the command did: exit code, timeout and limits are in the result. Calls `onLine` while
   * running. When it resolves, and at the latest ten seconds after abort, no process of the command is left.
   * The command sees no network, no host file but /usr, its area and `binds`, and no host process, except for what
   * `probe` calls weaker.
   * Rejects with SANDBOX_UNAVAILABLE when the sandbox itself could not be set up, and with DISK_FULL when the area's disk
   * was full and something else filled it: then nothing that the command did counts.
   */
  exec(spec: ExecSpec): Promise<ExecResult>;
}

/** What a repository's commands get besides the programs that every sandbox has. */
export interface ProvidedTools {
  /** To be set as `tools` of the repository's base checkout. */
  readonly tools: Tools;
  /** What its commands will find. */
  readonly found: readonly FoundTool[];
  /** What it asks for and cannot have here, a sentence each, with both ways to get it. */
  readonly missing: readonly string[];
}

export interface Toolchains {
  /**
   * The toolchains that a repository asks for: of the sandbox, of the operator, or from the package registry that npm
   * on this machine is set to. Installs and copies happen once for each version. What cannot be had is in `missing`;
   * rejects only when the signal is aborted, or with DISK_FULL.
   */
  provide(wanted: WantedTools, signal?: AbortSignal): Promise<ProvidedTools>;
}

/**
 * The operator's login for one registry, and what stands in for the registry towards a sandbox, whose requests are read to
 * add it. Nothing of it may enter a sandbox but the authority of `certificate`.
 */
export interface RegistryLogin {
  /** `host:port`. */
  readonly host: string;
  /** PEM: a key and its certificate for the host, by an authority that the sandbox trusts. */
  readonly key: string;
  readonly certificate: string;
  /** PEM of the authorities by which the registry itself is verified; absent: those of this process. */
  readonly trusted?: string;
  /** Value of `Authorization` for paths that begin with `path`; the longest counts. */
  readonly rules: readonly { readonly path: string; readonly authorization: string }[];
}

/** How a set-up command reaches the package registries that this machine uses. */
export interface RegistryAccess {
  /** `host:port` names; none where nobody may be reached. */
  readonly hosts: readonly string[];
  /** Makes the package clients in a sandbox use the same registries and certificates; holds no credentials. */
  readonly env: Readonly<Record<string, string>>;
  /** The same as files of the command's HOME, by relative path. */
  readonly files: Readonly<Record<string, string>>;
  /** Folders of this machine that a client takes packages from, and where `env` says that they are; read-only. */
  readonly folders: NonNullable<ExecSpec['binds']>;
  /** For those of `hosts` that want one. */
  readonly logins: readonly RegistryLogin[];
}

export const NO_REGISTRIES: RegistryAccess = { hosts: [], env: {}, files: {}, folders: [], logins: [] };

export interface Registries {
  /**
   * The registries of the package clients that a command names (`npm ci`: those of npm), of all clients where it names
   * none. Each client of this machine is asked once; one that cannot be asked names none. Never rejects.
   */
  of(command: string): Promise<RegistryAccess>;
}
