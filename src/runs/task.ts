import { asFault, Fault, type RunId, type Sha, type Task } from '../core/model/index.ts';
import { seenTask } from '../core/prompts/index.ts';
import {
  type BaseCheckout,
  DEFAULT_LIMITS,
  type GitHub,
  type Limits,
  type RepositoryHandle,
  type RepositorySource,
  type RunRecord,
} from '../ports/index.ts';
import type { World } from './world.ts';

export async function loadRun(world: Pick<World, 'store'>, runId: RunId): Promise<RunRecord> {
  const run = await world.store.run(runId);
  if (!run) throw new Fault('RUN_UNKNOWN', `There is no run ${runId}.`);
  return run;
}

/** The frozen task of an admitted run, as models may read it: the record keeps it as it was written. */
export async function loadTask(world: World, runId: RunId): Promise<Task> {
  const { task } = await loadRun(world, runId);
  if (!task) throw new Fault('INTERNAL', `Run ${runId} has no task although it was admitted.`);
  return seenTask(task);
}

export const handleOf = (origin: RepositoryHandle): RepositoryHandle => ({
  installationId: origin.installationId,
  repositoryId: origin.repositoryId,
  owner: origin.owner,
  name: origin.name,
});

export function requireGitHub(world: World): GitHub {
  if (!world.github) {
    throw new Fault(
      'ENVIRONMENT_INVALID',
      'This run came from GitHub, but no GitHub App is configured here (APP_ID, PRIVATE_KEY).',
    );
  }
  return world.github;
}

/** Where the task's code is fetched from; a token for a remote is minted now. */
export async function sourceOf(world: World, task: Pick<Task, 'origin'>): Promise<RepositorySource> {
  const { origin } = task;
  if (origin.kind === 'local') return { kind: 'local', path: origin.path };
  const reader = await requireGitHub(world).reader(handleOf(origin));
  const facts = await reader.repository();
  // What candidates left is kept under the name that the repository had when the run began.
  const knownAs = facts.cloneUrl.replace(`${facts.fullName}.git`, `${origin.owner}/${origin.name}.git`);
  return { kind: 'remote', url: facts.cloneUrl, knownAs, credential: () => reader.credential() };
}

export const taskText = ({ title, body }: Pick<Task, 'title' | 'body'>): string => `${title}\n\n${body}`;

/** Text of a file of the base commit; null where there is none, and also for one that is too big to be read. */
export async function textAt(
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

/** The prepared checkout of the task's base commit with what `checks.setup` installed; made once, then found again. */
export async function prepareBase(
  world: World,
  task: Task,
  how: { readonly source?: RepositorySource; readonly signal: AbortSignal },
): Promise<BaseCheckout> {
  const bare = await world.workspaces.prepare(how.source ?? (await sourceOf(world, task)), task.base.sha);
  const { setup } = task.settings.checks;
  if (!setup) return bare;
  const wish = { command: setup, egress: hostsOf(task), limits: checkLimits(task) };
  const installed = await world.workspaces.install(bare, wish, how.signal);
  if (installed.kind === 'failed') {
    throw new Fault(
      'BASE_BROKEN',
      `The setup command \`${setup}\` failed on the base commit: ${installed.why} ${installed.tail}`.trim(),
    );
  }
  return installed.base;
}

/** Limits of one build or one run of the tests. */
export const checkLimits = (task: Pick<Task, 'settings'>): Limits => ({
  ...DEFAULT_LIMITS,
  wallMs: task.settings.timeout.check * 1000,
});

/** Name of the repository for queues and the caps of its day. */
export const repositoryOf = (origin: Task['origin']): string =>
  origin.kind === 'github' ? `github-${origin.repositoryId}` : `local-${origin.path}`;

/** Where a run's work stands among that of others, as the run itself stood in line; 0 for one that was in none. */
export const priorityIn = ({ line }: Pick<RunRecord, 'line'>): number => line?.priority ?? 0;

/** `host:port` names that the repository's own commands may reach, within the operator's ceiling. */
export const hostsOf = (task: Pick<Task, 'settings'>): readonly string[] =>
  task.settings.network.allow.map((host) => (host.includes(':') ? host : `${host}:443`));
