import {
  BASES_FILE,
  CONTEST_FILE,
  type ResolvedRepoTask,
  SAMPLES_FILE,
  VOTES_FILE,
} from '../../core/arena/index.ts';
import { Fault, type RunId, type Sha } from '../../core/model/index.ts';
import type { Settings } from '../../core/settings/index.ts';
import type { ContestFolder, RepositorySource, Templates } from '../../ports/index.ts';
import { checksAt, exposureOf } from '../admit/index.ts';
import { openBase, setUpBase } from '../base/index.ts';
import type { World } from '../context.ts';
import { type CheckRunner, checkRunnerOn } from '../examine/index.ts';
import { retryOutages } from '../stage.ts';

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

/** What is read of a contest's folder to start a task; without `text`, references are not. */
type TaskFolder = Pick<ContestFolder, 'absolute' | 'copy' | 'files' | 'repository' | 'within'> &
  Partial<Pick<ContestFolder, 'text'>>;

interface Start {
  readonly source: RepositorySource;
  readonly commit: Sha;
}

/**
 * The commit that a task starts from. Fault: CONTEST_INVALID if it does not exist, is in a repository that the contest
 * must not show, or holds what contestants must not see.
 */
async function startOfTask(
  ports: Pick<World, 'workspaces'> & { readonly templates: Templates },
  folder: TaskFolder,
  task: ResolvedRepoTask,
): Promise<Start> {
  const { base } = task;
  const start =
    'template' in base ? await ofTemplate(ports, folder, base) : await ofCommit(ports, folder, task, base);
  const paths = await ports.workspaces.listFiles(start.source, start.commit);
  await refuseCopies(ports, folder, task, { ...start, paths });
  return start;
}

async function ofTemplate(
  { templates }: { readonly templates: Templates },
  folder: TaskFolder,
  { template }: { readonly template: string },
): Promise<Start> {
  const fill = (into: string): Promise<void> => folder.copy(template, into);
  const { repository, sha } = await templates.commit(folder.absolute(template), fill);
  return { source: { kind: 'local', path: repository }, commit: sha };
}

async function ofCommit(
  { workspaces }: Pick<World, 'workspaces'>,
  folder: TaskFolder,
  { id, hiddenTests, reference }: ResolvedRepoTask,
  { repository, commit: name }: { readonly repository: string; readonly commit: string },
): Promise<Start> {
  const { top } = await workspaces.describe(await folder.repository(repository));
  // Its settings can name another folder as the working tree.
  await folder.repository(top);
  const source = { kind: 'local', path: top } as const;
  const commit = await workspaces.resolve(source, name);
  if (commit === null)
    throw new Fault('CONTEST_INVALID', `The task ${id} starts from ${name}, which ${top} does not have.`);
  const paths = await workspaces.listFiles(source, commit);
  const secrets = [
    CONTEST_FILE,
    SAMPLES_FILE,
    BASES_FILE,
    VOTES_FILE,
    '.',
    hiddenTests ?? [],
    reference ?? [],
  ].flat();
  for (const secret of secrets) {
    const at = await folder.within(top, secret);
    // A contest at the top of a repository: only its own files are secrets.
    if (at === null || at === '') continue;
    const shown = paths.find((path) => path === at || path.startsWith(`${at}/`));
    if (shown !== undefined)
      throw new Fault(
        'CONTEST_INVALID',
        `The task ${id} starts from the commit ${commit}, in which contestants could read this file of the contest: ${shown}. Name a commit without it, or move the contest out of the repository and pass --repo ${top}.`,
      );
  }
  return { source, commit };
}

/** Characters below which two files may well be equal by chance. */
const MIN_COPY_CHARS = 40;
/** Bytes of a file that `Workspaces.readFile` reads; no file of another size is a copy. */
const READABLE_BYTES = 2 ** 20;

/**
 * Refuses a base with a copy of the reference, or of a hidden test at another path, such as that of a moved contest. At
 * its own path, a file among the hidden tests may be what the base has, too.
 */
async function refuseCopies(
  { workspaces }: Pick<World, 'workspaces'>,
  folder: TaskFolder,
  { id, hiddenTests, reference }: ResolvedRepoTask,
  { source, commit, paths }: Start & { readonly paths: readonly string[] },
): Promise<void> {
  const below = (path: string) => paths.filter((one) => one.endsWith(`/${path}`));
  const hidden = (hiddenTests === undefined ? null : await folder.files(hiddenTests)) ?? [];
  const secrets = hidden.map((one) => ({ ...one, twins: below(one.path) }));
  const diff = reference === undefined ? null : ((await folder.text?.(reference)) ?? null);
  if (reference !== undefined && diff !== null) {
    const path = reference.slice(reference.lastIndexOf('/') + 1);
    secrets.push({ path, text: diff, twins: [...paths.filter((one) => one === path), ...below(path)] });
  }
  for (const { path, text, twins } of secrets) {
    if (text.length < MIN_COPY_CHARS || Buffer.byteLength(text) > READABLE_BYTES) continue;
    for (const twin of twins)
      if ((await workspaces.readFile(source, commit, twin)) === text)
        throw new Fault(
          'CONTEST_INVALID',
          `The base of the task ${id} has a copy of ${path}, which contestants must not see: ${twin}. Start from a base without it.`,
        );
  }
}
