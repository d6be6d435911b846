import type { Personas } from '../core/debate/index.ts';
import {
  asFault,
  Fault,
  fullNameOf,
  type GitHubOrigin,
  type PatchSummary,
  type RunId,
  type Sha,
  type Task,
} from '../core/model/index.ts';
import { type ParsedPatch, type ParseOptions, parsePatch, summarise } from '../core/patches/index.ts';
import { visibleTask } from '../core/prompts/index.ts';
import type { SandboxView } from '../core/reports/index.ts';
import type { Ceilings, SettingsDefaults } from '../core/settings/index.ts';
import {
  type Artifacts,
  type Clock,
  type Coder,
  type CollectedPatch,
  DEFAULT_LIMITS,
  type Engine,
  type Gateway,
  type GitHub,
  type Limits,
  type Log,
  type Metrics,
  type Model,
  type Random,
  type Recipes,
  type Registries,
  type RepositoryHandle,
  type RepositorySource,
  type RunRecord,
  type Sandbox,
  type Store,
  type Toolchains,
  type Tracer,
  type Workspaces,
} from '../ports/index.ts';

/** Everything a run needs from outside, assembled once by `main.ts`. */
export interface World {
  readonly store: Store;
  readonly artifacts: Artifacts;
  /** Recipes of earlier successful set-ups. */
  readonly recipes: Recipes;
  readonly engine: Engine;
  readonly workspaces: Workspaces;
  readonly sandbox: Sandbox;
  /** Absent: only the sandbox's own tools are available. */
  readonly toolchains?: Toolchains;
  readonly coders: ReadonlyMap<string, Coder>;
  readonly gateway: Gateway;
  readonly model: Model;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Absent if metrics are disabled. */
  readonly metrics?: Metrics;
  /** Absent if tracing is disabled. */
  readonly tracer?: Tracer;
  /** Absent in a process that serves local repositories only. */
  readonly github?: GitHub;
  /** Absent if set-up commands may not reach package registries. */
  readonly registries?: Registries;
  /** The operator's upper limits, to which a repository's settings are lowered. */
  readonly ceilings: Ceilings;
  /** Defaults for missing settings. */
  readonly defaults: SettingsDefaults & {
    readonly models: readonly string[];
    /** Names of the model providers that have a key. */
    readonly providers: readonly string[];
  };
  /** Maximum number of concurrent builds and test runs on this machine. */
  readonly parallelChecks: number;
  /** Maximum number of examinations at a time in this process; 0: none. */
  readonly examinations: number;
  readonly prompts: PromptLibrary;
  /** Absent if runs never wait for disk space. */
  readonly diskSpace?: {
    /** Why no further run may begin on this machine, as a sentence; null if one may. */
    shortage(): string | null;
  };
  /** Address of the pages, without a slash at its end; absent: nothing links to them. */
  readonly publicUrl?: string;
  /** Keeps the status comment of a run up to date. */
  readonly announcer: Announcer;
}

/** Dependencies of asking models: models, prompts, payment, and storage of answers. */
export type ModelPorts = Pick<
  World,
  'artifacts' | 'defaults' | 'gateway' | 'model' | 'prompts' | 'random' | 'store'
>;

/** Reports a run's status on GitHub. Never rejects: a comment that cannot be edited must not stop a run. */
export interface Announcer {
  /** Schedules an edit of the status comment; calls in quick succession are merged. */
  soon(runId: RunId): void;
  /** Writes the final status, labels and reaction of an ended run. Waits for pending edits. */
  finish(runId: RunId): Promise<void>;
  /** Makes pending edits at once and waits for them; for shutdown. */
  idle(): Promise<void>;
}

/** Prompts as text: Markdown files beside the stages unless the operator overrides them. */
export interface PromptLibrary {
  readonly planner: string;
  /** For suggesting commands when the repository's own fail on its base commit. */
  readonly setup: string;
  /** For the critics of a spec, and for the synthesiser. */
  readonly critic: string;
  readonly synthesiser: string;
  /** For blind judges of two candidates. */
  readonly judge: string;
  /** For writers of tests: one that sees no candidate, and one that distinguishes candidates. */
  readonly independentTests: string;
  readonly distinguish: string;
  /** For a reviewer of one candidate. */
  readonly reviewer: string;
  /** Prompt variant → instructions for the coder, in the order in which contestants take them. */
  readonly coder: ReadonlyMap<string, string>;
  /** Name → instructions of a critic's persona. */
  readonly personas: Personas;
}

export async function loadRun(world: Pick<World, 'store'>, runId: RunId): Promise<RunRecord> {
  const run = await world.store.run(runId);
  if (!run) throw new Fault('RUN_UNKNOWN', `There is no run ${runId}.`);
  return run;
}

/** The frozen task of an admitted run in the form that models may read; the record keeps the original text. */
export function taskOf({ id, task }: Pick<RunRecord, 'id' | 'task'>): Task {
  if (!task) throw new Fault('INTERNAL', `Run ${id} has no task although it was admitted.`);
  return visibleTask(task);
}

export type GitHubRun = RunRecord & { readonly origin: GitHubOrigin };

export const isGitHubRun = (run: RunRecord): run is GitHubRun => run.origin.kind === 'github';

export const handleOf = (origin: RepositoryHandle): RepositoryHandle => ({
  installationId: origin.installationId,
  repositoryId: origin.repositoryId,
  owner: origin.owner,
  name: origin.name,
});

export function requireGitHub(world: Pick<World, 'github'>): GitHub {
  if (!world.github) {
    throw new Fault(
      'ENVIRONMENT_INVALID',
      'This needs GitHub, but no GitHub App is configured here (APP_ID, PRIVATE_KEY).',
    );
  }
  return world.github;
}

/** Where to fetch the task's code; for a remote, with a newly created token. */
export async function sourceOf(
  world: Pick<World, 'github'>,
  task: Pick<Task, 'origin'>,
): Promise<RepositorySource> {
  const { origin } = task;
  if (origin.kind === 'local') return { kind: 'local', path: origin.path };
  const reader = await requireGitHub(world).reader(handleOf(origin));
  const facts = await reader.repository();
  // Candidates' work is stored under the repository's name at the start of the run.
  const knownAs = facts.cloneUrl.replace(`${facts.fullName}.git`, `${fullNameOf(origin)}.git`);
  return { kind: 'remote', url: facts.cloneUrl, knownAs, credential: () => reader.credential() };
}

export const titleAndBody = ({ title, body }: Pick<Task, 'title' | 'body'>): string => `${title}\n\n${body}`;

/** Text of a file of the base commit; null if it does not exist or is too large. */
export async function readTextAt(
  world: Pick<World, 'workspaces'>,
  source: RepositorySource,
  sha: Sha,
  path: string,
): Promise<string | null> {
  try {
    return await world.workspaces.readFile(source, sha, path);
  } catch (thrown) {
    if (asFault(thrown).code === 'SETTINGS_INVALID') return null;
    throw thrown;
  }
}

/** Limits of one build or one run of the tests. */
export const checkLimits = (task: Pick<Task, 'settings'>): Limits => ({
  ...DEFAULT_LIMITS,
  wallMs: task.settings.timeout.check * 1000,
});

/** Of one set-up. Packages and caches need more bytes than a build: about what a hosted runner of CI has. */
export const setupLimits = (task: Pick<Task, 'settings'>) => ({ ...checkLimits(task), diskBytes: 2 ** 34 });

const LOCAL_KEY = 'local-';

/** Key of the repository for queues, daily caps and outcomes. */
export const repositoryKeyOf = (
  origin:
    | { readonly kind: 'github'; readonly repositoryId: number }
    | { readonly kind: 'local'; readonly path: string },
): string => (origin.kind === 'github' ? `github-${origin.repositoryId}` : `${LOCAL_KEY}${origin.path}`);

export const isLocalKey = (key: string): boolean => key.startsWith(LOCAL_KEY);

/** Priority of a run's work, as in the run queue; 0 for a run that was not queued. */
export const priorityIn = ({ queueEntry }: Pick<RunRecord, 'queueEntry'>): number =>
  queueEntry?.priority ?? 0;

/** `host:port` names that the repository's own commands may reach, within the operator's ceiling. */
export const allowedHosts = (task: Pick<Task, 'settings'>): readonly string[] =>
  task.settings.network.allow.map((host) => (host.includes(':') ? host : `${host}:443`));

/**
 * Records this process's sandbox for the reports. Called before each stage that executes code, since a run may move
 * between processes; the weakest sandbox is kept. Faults if there is no trustworthy sandbox (I10).
 */
export async function recordSandbox(
  world: Pick<World, 'clock' | 'sandbox' | 'store'>,
  runId: RunId,
): Promise<void> {
  const probe = await world.sandbox.probe();
  if (probe.kind === 'missing')
    throw new Fault('SANDBOX_UNAVAILABLE', `${probe.why} To fix it: ${probe.remedy}`);
  const { backend, detail, weaker } = probe;
  const now: SandboxView = { backend, detail, weaker };
  const merged = ({ sandbox }: RunRecord) => ({ sandbox: mergeSandboxes(sandbox, now) });
  await world.store.updateRun(runId, merged, world.clock.now());
}

function mergeSandboxes(before: SandboxView | undefined, now: SandboxView): SandboxView {
  if (!before || before.detail === now.detail) return now;
  return {
    backend: before.backend === 'none' ? before.backend : now.backend,
    detail: `${before.backend}: ${before.detail}; later ${now.backend}: ${now.detail}`.slice(0, 400),
    weaker: [...new Set([...before.weaker, ...now.weaker])],
  };
}

/**
 * Reads and parses a stored patch; the only place that does so. `baseFiles`: paths of the base commit to which the
 * patch applies. Faults with STORED_DATA_DAMAGED.
 */
export async function readPatch(
  artifacts: Pick<Artifacts, 'get'>,
  { raw, text }: Pick<PatchSummary, 'raw' | 'text'>,
  options: ParseOptions = {},
): Promise<ParsedPatch & { readonly text: string }> {
  const [list, diff] = [await artifacts.get(raw), await artifacts.get(text)];
  return { ...parsePatch(list, diff, options), text: diff };
}

/** A stored patch, as `readPatch` reads it. */
export type PatchReader = (patch: Pick<PatchSummary, 'raw' | 'text'>) => ReturnType<typeof readPatch>;

/** Caches parsed patches by content. Failed reads are not cached. */
export function patchReader(artifacts: Pick<Artifacts, 'get'>, options: ParseOptions = {}): PatchReader {
  const known = new Map<string, ReturnType<typeof readPatch>>();
  return async (patch) => {
    const key = `${patch.raw.sha256} ${patch.text.sha256}`;
    const reading = known.get(key) ?? readPatch(artifacts, patch, options);
    known.set(key, reading);
    try {
      return await reading;
    } catch (error) {
      known.delete(key);
      throw error;
    }
  };
}

/** Stores a collected patch; its record fits into a row. */
export async function storePatch(artifacts: Artifacts, patch: CollectedPatch): Promise<PatchSummary> {
  const text = await artifacts.put(patch.text);
  const raw = await artifacts.put(patch.raw);
  return { ...summarise(patch), sha256: text.sha256, tree: patch.tree, text, raw };
}

/**
 * Runs `work` once per key and then returns its stored result, also after a crash, so that no answer is paid for twice. A
 * key contains everything that the result depends on and may be long. Results are plain JSON. Neither failures nor
 * results that `keeps` refuses are stored; default: every result is.
 */
export type Remember = <T>(key: string, work: () => Promise<T>, keeps?: (result: T) => boolean) => Promise<T>;

/**
 * The delimiter of one question: random on first use, then the same in every repetition by any process. The gateway
 * serves a cached answer only for an identical question. `key` must contain everything that the question depends on, so
 * that all text in it was written before the delimiter was drawn.
 */
export const stableNonce = (
  parts: { readonly random: Pick<Random, 'nonce'>; readonly remember: Remember },
  key: string,
): Promise<string> => parts.remember(`nonce:${key}`, async () => parts.random.nonce());
