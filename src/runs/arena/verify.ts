import type { ResolvedRepoTask } from '../../core/arena/index.ts';
import { Fault, type RunId, type Sha } from '../../core/model/index.ts';
import type { Settings } from '../../core/settings/index.ts';
import type { ContestFolder, RepositorySource, Templates } from '../../ports/index.ts';
import { checksAt, exposureOf } from '../admit/index.ts';
import { openBase, setUpBase } from '../base/index.ts';
import type { World } from '../context.ts';
import { type CheckRunner, checkRunnerOn } from '../examine/index.ts';
import { retryOutages } from '../stage.ts';
import { startOfTask, type TaskFolder } from './start.ts';

/** Dependencies of verifying answers: no model and no database. */
export type VerifyPorts = Pick<
  World,
  | 'artifacts'
  | 'ceilings'
  | 'clock'
  | 'defaults'
  | 'log'
  | 'parallelChecks'
  | 'registries'
  | 'sandbox'
  | 'toolchains'
  | 'workspaces'
> & { readonly templates: Templates };

interface OpenOptions {
  /** Names the areas; of one contest on this machine. */
  readonly runId: RunId;
  /** Consent to run the commands in a sandbox that is weaker than the default. */
  readonly trust: boolean;
  readonly signal: AbortSignal;
}

/** The base of a task, set up, with what runs its verify commands. */
export interface TaskBase {
  readonly commit: Sha;
  readonly source: RepositorySource;
  readonly settings: Settings;
  readonly runner: CheckRunner;
  /** Runs the commands for the hidden tests; null without any. `apart`: they are others than the verify commands. */
  readonly hidden: {
    readonly runner: CheckRunner;
    readonly files: Readonly<Record<string, string>>;
    readonly apart: boolean;
  } | null;
  /** A diff that should solve the task; null without any. */
  readonly reference: string | null;
  /** What contestants are told, and the commands that verify, as texts. */
  readonly statement: string;
  readonly commands: readonly string[];
}

/**
 * Prepares the base of a task as a run prepares its own: checkout, toolchains, set-up. Faults: BASE_BROKEN if set-up
 * fails; CHECKS_UNTRUSTED; CONTEST_INVALID if the repository lacks the commit.
 */
export async function openTaskBase(
  ports: VerifyPorts,
  folder: TaskFolder,
  task: ResolvedRepoTask,
  { runId, trust, signal }: OpenOptions,
): Promise<TaskBase> {
  const { source, commit } = await startOfTask(ports, folder, task);
  const detected = await checksAt(ports, source, commit);
  const settings: Settings = {
    ...detected.settings,
    checks: {
      setup: task.setup ?? detected.settings.checks.setup ?? '',
      build: task.build ?? detected.settings.checks.build ?? '',
      types: '',
      test: task.verify.join(' && '),
      candidateSetup: false,
      submodules: detected.settings.checks.submodules,
    },
    // Whoever shares a contest does not decide what its commands reach on this machine.
    network: { allow: [], checks: false },
  };
  const exposure = trust ? null : await exposureOf(ports, settings, ['setup', 'build', 'test']);
  if (exposure !== null)
    throw new Fault(
      'CHECKS_UNTRUSTED',
      `The commands of the task ${task.id} would run with more than the full sandbox allows: ${exposure.weaker.join(' ')}`,
    );
  const base = { ref: commit, sha: commit };
  const prepared = {
    runId,
    base,
    settings,
    origin: { kind: 'local', path: source.kind === 'local' ? source.path : '' },
  } as const;
  const set = await retryOutages(ports, signal, async () =>
    setUpBase(ports, prepared, await openBase(ports, prepared, { source, signal }), { signal }),
  );
  if (set.kind === 'failed') throw new Fault('BASE_BROKEN', set.failed.message);
  const on = { source, base: set.base, asked: task.statement, signal };
  const runner = await checkRunnerOn(ports, { ...on, task: { runId, base, settings } });
  return {
    ...{ commit, source, settings, runner, statement: task.statement },
    hidden: await hiddenOf(ports, folder, task, runner),
    reference: await referenceOf(folder, task),
    commands: [...task.verify, ...(task.hiddenVerify ?? [])],
  };
}

async function referenceOf(
  { text }: TaskFolder,
  { id, reference }: ResolvedRepoTask,
): Promise<string | null> {
  if (text === undefined || reference === undefined) return null;
  const diff = await text(reference);
  if (diff !== null) return diff;
  throw new Fault('CONTEST_INVALID', `The reference of the task ${id} does not exist: ${reference}.`);
}

async function hiddenOf(
  ports: VerifyPorts,
  folder: Pick<ContestFolder, 'files'>,
  { hiddenTests, hiddenVerify, verify }: ResolvedRepoTask,
  runner: CheckRunner,
): Promise<TaskBase['hidden']> {
  if (hiddenTests === undefined) return null;
  const found = (await folder.files(hiddenTests)) ?? [];
  const files = Object.fromEntries(found.map(({ path, text }) => [path, text]));
  const { settings } = runner.task;
  const test = (hiddenVerify ?? verify).join(' && ');
  const task = { ...runner.task, settings: { ...settings, checks: { ...settings.checks, test } } };
  const { source, base, signal } = runner;
  return {
    ...{ runner: await checkRunnerOn(ports, { source, base, signal, task }), files },
    apart: test !== verify.join(' && '),
  };
}
