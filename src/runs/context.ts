import type { Personas } from '../core/debate/index.ts';
import {
  asFault,
  Fault,
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

/** Everything a run needs from outside, put together once by `main.ts`. */
export interface World {
  readonly store: Store;
  readonly artifacts: Artifacts;
  /** How repositories were set up when that worked. */
  readonly recipes: Recipes;
  readonly engine: Engine;
  readonly workspaces: Workspaces;
  readonly sandbox: Sandbox;
  /** Absent where sandboxes have only what they have. */
  readonly toolchains?: Toolchains;
  readonly coders: ReadonlyMap<string, Coder>;
  readonly gateway: Gateway;
  readonly model: Model;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Absent where nobody collects metrics. */
  readonly metrics?: Metrics;
  /** Absent where nobody collects traces. */
  readonly tracer?: Tracer;
  /** Absent in a process that serves local repositories only. */
  readonly github?: GitHub;
  /** Absent where set-up commands may reach no package registries. */
  readonly registries?: Registries;
  /** What the operator allows at most; the repository's settings are lowered to it. */
  readonly ceilings: Ceilings;
  /** What stands where a repository's settings are silent. */
  readonly defaults: SettingsDefaults & { readonly models: readonly string[] };
  /** How many builds and test runs may execute at the same time on this machine. */
  readonly parallelChecks: number;
  readonly prompts: PromptLibrary;
  /** Absent where runs never wait for disk space. */
  readonly diskSpace?: {
    /** Why no further run may begin on this machine, a sentence; null where one may. */
    shortage(): string | null;
  };
  /** Keeps the status comment of a run up to date. */
  readonly announcer: Announcer;
}

/** What questions to models take: who is asked, what they are shown, who pays, and where answers are kept. */
export type ModelPorts = Pick<
  World,
  'artifacts' | 'defaults' | 'gateway' | 'model' | 'prompts' | 'random' | 'store'
>;

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
  /** For who suggests commands where those of the repository fail on its base commit. */
  readonly setup: string;
  /** What all critics of a spec are shown, and who answers them. */
  readonly critic: string;
  readonly synthesiser: string;
  /** For blind judges of two candidates. */
  readonly judge: string;
  /** For writers of tests: one that sees no candidate, one that tells candidates apart. */
  readonly independentTests: string;
  readonly distinguish: string;
  /** For a reviewer of one candidate. */
  readonly reviewer: string;
  /** Variant name → instructions for the coder. The order is the order in which contestants take them. */
  readonly coder: ReadonlyMap<string, string>;
  /** Name → points of view of critics. */
  readonly personas: Personas;
}

export async function loadRun(world: Pick<World, 'store'>, runId: RunId): Promise<RunRecord> {
  const run = await world.store.run(runId);
  if (!run) throw new Fault('RUN_UNKNOWN', `There is no run ${runId}.`);
  return run;
}

/** The frozen task of an admitted run, as models may read it: the record keeps it as it was written. */
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
      'This run came from GitHub, but no GitHub App is configured here (APP_ID, PRIVATE_KEY).',
    );
  }
  return world.github;
}

/** Where the task's code is fetched from; a token for a remote is minted now. */
export async function sourceOf(
  world: Pick<World, 'github'>,
  task: Pick<Task, 'origin'>,
): Promise<RepositorySource> {
  const { origin } = task;
  if (origin.kind === 'local') return { kind: 'local', path: origin.path };
  const reader = await requireGitHub(world).reader(handleOf(origin));
  const facts = await reader.repository();
  // What candidates left is kept under the name that the repository had when the run began.
  const knownAs = facts.cloneUrl.replace(`${facts.fullName}.git`, `${origin.owner}/${origin.name}.git`);
  return { kind: 'remote', url: facts.cloneUrl, knownAs, credential: () => reader.credential() };
}

export const titleAndBody = ({ title, body }: Pick<Task, 'title' | 'body'>): string => `${title}\n\n${body}`;

/** Text of a file of the base commit; null where there is none, and also for one that is too big to be read. */
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

/** Name of the repository for queues and the caps of its day. */
export const repositoryKeyOf = (origin: Task['origin']): string =>
  origin.kind === 'github' ? `github-${origin.repositoryId}` : `local-${origin.path}`;

/** Where a run's work stands among that of others, as the run itself stood in line; 0 for one that was in none. */
export const priorityIn = ({ queueEntry }: Pick<RunRecord, 'queueEntry'>): number =>
  queueEntry?.priority ?? 0;

/** `host:port` names that the repository's own commands may reach, within the operator's ceiling. */
export const allowedHosts = (task: Pick<Task, 'settings'>): readonly string[] =>
  task.settings.network.allow.map((host) => (host.includes(':') ? host : `${host}:443`));

/**
 * Notes what this process executes in, for every report; called before each stage that executes, since a run may go on
 * elsewhere. What was weaker once stays weaker. A fault where there is no sandbox that can be trusted (I10).
 */
export async function recordSandbox(
  world: Pick<World, 'clock' | 'sandbox' | 'store'>,
  runId: RunId,
): Promise<void> {
  const probe = await world.sandbox.probe();
  if (probe.kind === 'missing')
    throw new Fault('SANDBOX_UNAVAILABLE', `${probe.why} To fix it: ${probe.remedy}`);
  const { sandbox: before } = await loadRun(world, runId);
  const { backend, detail, weaker } = probe;
  const now: SandboxView = { backend, detail, weaker };
  await world.store.updateRun(runId, { sandbox: mergeSandboxes(before, now) }, world.clock.now());
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
 * A stored patch, parsed: the one place where that is done. `baseFiles`: paths of the base commit, where the patch is to be
 * applied. Faults with STORED_DATA_DAMAGED.
 */
export async function readPatch(
  artifacts: Pick<Artifacts, 'get'>,
  { raw, text }: Pick<PatchSummary, 'raw' | 'text'>,
  options: ParseOptions = {},
): Promise<ParsedPatch & { readonly text: string }> {
  const [list, diff] = [await artifacts.get(raw), await artifacts.get(text)];
  return { ...parsePatch(list, diff, options), text: diff };
}

/** Stores what was collected; what is recorded of it fits into a row. */
export async function storePatch(artifacts: Artifacts, patch: CollectedPatch): Promise<PatchSummary> {
  const text = await artifacts.put(patch.text);
  const raw = await artifacts.put(patch.raw);
  return { ...summarise(patch), sha256: text.sha256, tree: patch.tree, text, raw };
}

/**
 * The delimiter of one question: drawn when the question is first put, and the same whenever it is put again, also by
 * another process. Only a question that is the same to the letter is answered by the gateway from what was paid before a
 * crash. `key` says all that the question depends on, so that whoever wrote what stands in it wrote before the draw.
 */
export const stableNonce = (
  parts: {
    readonly random: Pick<Random, 'nonce'>;
    remember<T>(key: string, work: () => Promise<T>): Promise<T>;
  },
  key: string,
): Promise<string> => parts.remember(`nonce:${key}`, async () => parts.random.nonce());
