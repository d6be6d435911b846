import {
  type BaseResult,
  countsOfRun,
  type ResolvedRepoTask,
  type TestCounts,
  type Verification,
  verificationOf,
  whyUnrated,
} from '../../core/arena/index.ts';
import { asFault, Fault, type RunId, type Sha } from '../../core/model/index.ts';
import { joinSections } from '../../core/patches/index.ts';
import { failureLines } from '../../core/reports/index.ts';
import type { Settings } from '../../core/settings/index.ts';
import type { ContestFolder, RepositorySource, Templates } from '../../ports/index.ts';
import { checksAt, exposureOf } from '../admit/index.ts';
import { openBase, setUpBase } from '../base/index.ts';
import type { World } from '../context.ts';
import { type CheckRunner, checkRunnerOn, collectText, testChange } from '../examine/index.ts';
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
  /** Runs the commands for the hidden tests; null without any. */
  readonly hidden: { readonly runner: CheckRunner; readonly files: Readonly<Record<string, string>> } | null;
}

/**
 * Prepares the base of a task as a run prepares its own: checkout, toolchains, set-up. Faults: BASE_BROKEN if set-up
 * fails; CHECKS_UNTRUSTED; CONTEST_INVALID if the repository lacks the commit.
 */
export async function openTaskBase(
  ports: VerifyPorts,
  folder: Pick<ContestFolder, 'absolute' | 'copy' | 'files'>,
  task: ResolvedRepoTask,
  { runId, trust, signal }: OpenOptions,
): Promise<TaskBase> {
  const { source, commit } = await sourceOfTask(ports, folder, task);
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
  return { commit, source, settings, runner, hidden: await hiddenOf(ports, folder, task, runner) };
}

async function sourceOfTask(
  { workspaces, templates }: VerifyPorts,
  folder: Pick<ContestFolder, 'absolute' | 'copy'>,
  { id, base, hiddenTests }: ResolvedRepoTask,
): Promise<{ readonly source: RepositorySource; readonly commit: Sha }> {
  if ('template' in base) {
    const { template } = base;
    const fill = (into: string): Promise<void> => folder.copy(template, into);
    const { repository, sha } = await templates.commit(folder.absolute(template), fill);
    return { source: { kind: 'local', path: repository }, commit: sha };
  }
  const { top } = await workspaces.describe(folder.absolute(base.repository));
  const source = { kind: 'local', path: top } as const;
  const commit = await workspaces.resolve(source, base.commit);
  if (commit === null)
    throw new Fault(
      'CONTEST_INVALID',
      `The task ${id} starts from ${base.commit}, which ${top} does not have.`,
    );
  const below = hiddenTests === undefined ? null : `${folder.absolute(hiddenTests)}/`;
  if (below?.startsWith(`${top}/`)) {
    const inside = below.slice(top.length + 1);
    if ((await workspaces.listFiles(source, commit)).some((path) => path.startsWith(inside)))
      throw new Fault(
        'CONTEST_INVALID',
        `The hidden tests of the task ${id} are part of the commit that it starts from, where contestants can read them: ${inside}`,
      );
  }
  return { source, commit };
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
  return { runner: await checkRunnerOn(ports, { source, base, signal, task }), files };
}

interface Executed {
  readonly built: boolean | null;
  readonly tests: TestCounts | null;
  readonly hiddenTests: TestCounts | null;
  /** Why it could not be executed; null if it was. */
  readonly why: string | null;
}

/** What the base shows without an answer: it decides whether the task is rated. */
export async function verifyBase(
  base: TaskBase,
  name: string,
): Promise<Pick<BaseResult, 'built' | 'tests' | 'hiddenTests' | 'rated' | 'why'>> {
  const { why: broken, ...executed } = await executeChange(base, name, { patch: '', own: '' }, null);
  const unrated = whyUnrated(executed);
  const why = unrated === null ? null : broken === null ? unrated : `${unrated} ${broken}`;
  return { ...executed, rated: unrated === null, why };
}

/**
 * Applies a diff to the base and runs verify commands and hidden tests, each in a fresh area. Changes to the settings of
 * test runners are left out, and before hidden tests also changed tests: the task's own decide.
 */
export async function verifyDiff(
  base: TaskBase,
  name: string,
  diff: string,
  onBase: Pick<BaseResult, 'tests' | 'hiddenTests'>,
): Promise<Verification> {
  const collected = await collectText(base.runner, name, diff);
  if (!collected.patch) return notApplied(`The diff ${collected.note}.`);
  const { files, additions, deletions } = collected.patch;
  const change = { files, additions, deletions };
  const read = await base.runner.readPatch(collected.patch);
  if (read.kind === 'refused') return notApplied(`The diff is refused: ${read.reasons.join(' ')}`);
  const { production, tests } = read.patch;
  const parts = { patch: joinSections(production), own: joinSections(tests) };
  if (parts.patch === '' && parts.own === '')
    return notApplied('The diff changes nothing but the settings of the test runner.');
  const { why, ...executed } = await executeChange(base, name, parts, onBase);
  return verificationOf(executed, { change, why });
}

const notApplied = (why: string): Verification => ({
  applied: false,
  built: null,
  tests: null,
  hiddenTests: null,
  solved: false,
  why,
  change: null,
});

async function executeChange(
  { runner, hidden, settings }: TaskBase,
  name: string,
  { patch, own }: { readonly patch: string; readonly own: string },
  onBase: Pick<BaseResult, 'tests' | 'hiddenTests'> | null,
): Promise<Executed> {
  const built = settings.checks.build ? true : null;
  const nothing = { built, tests: null, hiddenTests: null };
  const first = await testChange(runner, `${name}-verify`, { patch: patch + own, files: {} });
  if (first.kind === 'refused') return { ...nothing, why: `The change does not apply: ${first.why}` };
  if (first.kind === 'unbuilt') {
    const lines = failureLines(first.broken.errors.join('\n')).slice(0, 3);
    return { ...nothing, built: false, why: `The build fails: ${lines.join(' ')}`.slice(0, 1_000) };
  }
  const tests = countsOfRun(first.run, onBase?.tests ?? null);
  if (hidden === null) return { built, tests, hiddenTests: null, why: null };
  const second = await testChange(hidden.runner, `${name}-hidden`, { patch, files: hidden.files });
  if (second.kind === 'ran')
    return { built, tests, hiddenTests: countsOfRun(second.run, onBase?.hiddenTests ?? null), why: null };
  const why = second.kind === 'refused' ? second.why : 'the build fails with them';
  return { built, tests, hiddenTests: NOT_RUN, why: `The hidden tests could not be run: ${why}.` };
}

/** Hidden tests that cannot even be built have failed: on the base, what they test is often missing. */
const NOT_RUN: TestCounts = {
  passed: 0,
  failed: 1,
  skipped: 0,
  ok: false,
  reported: false,
  seconds: 0,
  failures: [],
};

/** A base that cannot be set up is a result; every other fault is one of this machine. */
export function brokenBase(
  thrown: unknown,
): Pick<BaseResult, 'built' | 'tests' | 'hiddenTests' | 'rated' | 'why'> {
  const { code, message } = asFault(thrown);
  if (code !== 'BASE_BROKEN') throw thrown;
  return { built: false, tests: null, hiddenTests: null, rated: false, why: message.slice(0, 4_000) };
}
