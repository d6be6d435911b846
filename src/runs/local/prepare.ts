import { Fault, type LocalOrigin, type Sha, type Task } from '../../core/model/index.ts';
import type { BaseStep, CommandFiles } from '../../core/reports/index.ts';
import {
  type CommandName,
  type FailedTry,
  type FoundTool,
  missingServices,
  type Recipe,
  type Settings,
  venvPath,
  withRecipe,
} from '../../core/settings/index.ts';
import { DEFAULT_LIMITS, type ExecSpec } from '../../ports/index.ts';
import {
  checksAt,
  detectedRecipe,
  type Exposure,
  exposureOf,
  fromLocal,
  mayBeSuggested,
} from '../admit/index.ts';
import {
  absentContentAt,
  type BareBase,
  type BaseTask,
  openBase,
  prepareBase,
  submoduleAccess,
  toolsAt,
} from '../base/index.ts';
import { readTextAt, type World } from '../context.ts';
import { checkRunnerOn, egressOf } from '../examine/index.ts';
import { type FoundRecipe, findRecipe, type RecipePorts } from '../recipe/index.ts';
import { retryOutages } from '../stage.ts';

/** Dependencies of preparing: no model, no GitHub and no database. */
export interface PrepareTools extends RecipePorts, Pick<World, 'ceilings' | 'defaults' | 'log'> {
  newRunId(): string;
}

interface PrepareOptions {
  /** Consent to run the commands in a weaker sandbox or with the hosts that the repository requests. */
  readonly trust: boolean;
  /** Called before any of the repository's code is executed. */
  readonly onSurvey: (survey: Survey) => void;
  /** Called as each step begins. */
  readonly onStep: (step: BaseStep) => void;
  /** Called when commands failed, with the recipe that is tried next. */
  readonly onNext: (failed: FailedTry, next: Recipe) => void;
  /** Called when the base as it is now could be looked at: before set-up, after it, and at the end. */
  readonly onPlace?: (place: PreparedPlace) => void;
  readonly signal: AbortSignal;
}

/** A local base commit, with the commands and packages that it has at the moment. */
export interface PreparedPlace {
  readonly task: BaseTask & Pick<Task, 'runId'>;
  readonly bare: BareBase;
  readonly isSetUp: boolean;
}

/** How a repository is set up, built and tested at one commit, and with which tools. */
export interface Survey {
  readonly commit: { readonly ref: string; readonly sha: Sha };
  readonly commands: {
    readonly setup?: string;
    readonly build?: string;
    readonly types?: string;
    readonly test?: string;
  };
  /** The file that each command comes from. */
  readonly from: CommandFiles;
  /** Containers that the repository's CI starts for the tests, such as `mongo`, and that the sandbox lacks. */
  readonly services: readonly string[];
  /** Required tools that are available to its commands. */
  readonly tools: readonly FoundTool[];
  /** Required tools that are unavailable here, one sentence each. */
  readonly missing: readonly string[];
}

/** A survey and the results of the commands that worked, which may be others than those of the survey. */
export interface Prepared
  extends Survey,
    Pick<FoundRecipe, 'how' | 'tests' | 'ms' | 'packages' | 'refusedHosts'> {
  /** Commands of the survey that failed and were replaced or dropped. */
  readonly instead?: Recipe['commands'];
  /** Hosts that the settings allow for set-up. */
  readonly hosts: readonly string[];
  readonly named: readonly CommandName[];
}

/** Dependencies of surveying a repository. */
type SurveyTools = Pick<World, 'ceilings' | 'defaults' | 'registries' | 'toolchains' | 'workspaces'>;

/** Determines how a local repository would be prepared. None of the repository's code is executed. */
export async function surveyRepository(
  tools: SurveyTools,
  origin: LocalOrigin,
  signal?: AbortSignal,
): Promise<Survey & { readonly settings: Settings; readonly named: readonly CommandName[] }> {
  const { base } = await fromLocal(tools, origin, {});
  const source = { kind: 'local', path: origin.path } as const;
  const { settings, from, named, services } = await checksAt(tools, source, base.sha);
  const { setup, build, types, test } = settings.checks;
  const read = (path: string) => readTextAt(tools, source, base.sha, path);
  const provided = await toolsAt(tools, { source, sha: base.sha, read, setup }, signal);
  return {
    settings,
    named,
    commit: base,
    commands: {
      ...(setup ? { setup } : {}),
      ...(build ? { build } : {}),
      ...(types ? { types } : {}),
      ...(test ? { test } : {}),
    },
    from,
    services: missingServices(services, provided?.tools.services ?? []),
    tools: provided?.found ?? [],
    missing: [...(provided?.missing ?? []), ...(await absentBefore(tools, { base, origin, settings }))],
  };
}

/** Content that the commit only references and that is known to be missing before anything is fetched. */
async function absentBefore(
  tools: SurveyTools,
  task: Pick<Task, 'base' | 'settings'> & { readonly origin: LocalOrigin },
): Promise<readonly string[]> {
  const source = { kind: 'local', path: task.origin.path } as const;
  const { sha } = task.base;
  const all = await tools.workspaces.listSubmodules(source, sha, submoduleAccess(tools, task));
  const absent = all.flatMap(({ path, why }) => (why === null ? [] : [{ path, why }]));
  return absentContentAt(tools, source, { sha, submodules: { id: '', files: '', absent } });
}

/** Milliseconds between retries while a registry is unavailable; short because a user is waiting. Our default. */
const BRIEF_WAITS_MS = [2_000, 10_000];

/**
 * Sets up, builds and tests the base commit of a local repository as a run does before its coders start. Installed
 * packages are kept for the next run. Faults as such a run: BASE_BROKEN if set-up or build fails, REGISTRY_UNAVAILABLE
 * if packages are unavailable after short retries, CHECKS_UNTRUSTED without consent to commands that the full sandbox
 * does not contain.
 */
export async function prepareRepository(
  tools: PrepareTools,
  origin: LocalOrigin,
  { trust, onSurvey, onStep, onNext, onPlace, signal }: PrepareOptions,
): Promise<Prepared> {
  const { settings, named, ...survey } = await surveyRepository(tools, origin, signal);
  const exposure = await exposureOf(tools, settings, named);
  if (exposure !== null && !trust) throw untrusted(origin.path, exposure);
  onSurvey(survey);
  const source = { kind: 'local', path: origin.path } as const;
  const asked = { runId: tools.newRunId(), origin, base: survey.commit, settings };
  const began = tools.clock.elapsed();
  const bare = await openBase(tools, asked, { source, signal, onStep });
  const { submodules } = bare.base;
  const task = { ...asked, ...(submodules ? { submodules: submodules.id } : {}) };
  const opened = tools.clock.elapsed() - began;
  onPlace?.({ task, bare, isSetUp: false });
  const onBaseStep = (step: BaseStep): void => {
    if (step.name === 'build' || step.name === 'tests') onPlace?.({ task, bare, isSetUp: true });
    onStep(step);
  };
  const probe = await tools.sandbox.probe();
  const maySuggested = probe.kind === 'ready' && mayBeSuggested(probe.backend);
  const detected = await detectedRecipe(tools, source, { task, checks: { from: survey.from, named } });
  const { recipe, how, tests, ms, packages, refusedHosts, lent } = await retryOutages(
    tools,
    signal,
    () => findRecipe(tools, { task, bare, detected, maySuggested, signal, onStep: onBaseStep, onNext }),
    undefined,
    BRIEF_WAITS_MS,
  );
  const { commands, from, instead } = recipe;
  const { types } = survey.commands;
  const file = survey.from.types;
  const settled = {
    ...task,
    settings: withRecipe(settings, recipe),
    ...(lent === undefined ? {} : { lent }),
  };
  onPlace?.({ task: settled, bare, isSetUp: true });
  return {
    ...survey,
    ...{ named, how, tests, refusedHosts },
    missing: [...(bare.tools?.missing ?? []), ...(await absentContentAt(tools, source, bare.base))],
    commands: { ...commands, ...(types ? { types } : {}) },
    from: { ...from, ...(file ? { types: file } : {}) },
    ...(instead ? { instead } : {}),
    ...(packages ? { packages } : {}),
    hosts: settings.network.allow,
    ms: { ...ms, setup: opened + ms.setup },
  };
}

const untrusted = (path: string, { weaker, hosts }: Exposure): Fault =>
  new Fault(
    'CHECKS_UNTRUSTED',
    `The commands of ${path} would run with more than the full sandbox allows: ${[...weaker, ...(hosts.length > 0 ? [`they can reach ${hosts.join(', ')}`] : [])].join(' ')}`,
  );

/** The terminal of whoever uses the shell. */
export interface ShellTerminal extends Required<Pick<ExecSpec, 'input' | 'onOutput'>> {
  /** Its type, such as `xterm-256color`. */
  readonly term: string;
  readonly rows: number;
  readonly columns: number;
}

/** Milliseconds; our default: somebody who forgets a shell does not keep an area for ever. */
const SHELL_MS = 12 * 60 * 60_000;

/** Bytes of each stream that are kept, for messages only. */
const SHELL_OUTPUT_BYTES = 64 * 1024;

/** `script` makes the terminal inside the sandbox, so that nothing in it has a descriptor of the real one. */
const SHELL_SCRIPT = `command -v script > /dev/null || {
  echo 'The sandbox has no program script (package bsdutils or util-linux), which the shell needs.' >&2
  exit 127
}
export SHELL=/bin/sh
exec script --quiet --return --command 'stty rows "$SHELL_ROWS" cols "$SHELL_COLUMNS"; unset SHELL_ROWS SHELL_COLUMNS
if command -v bash > /dev/null; then PS1="sandbox:\\w\\\\$ " exec bash --norc -i; else PS1="sandbox$ " exec sh -i; fi' /dev/null`;

/**
 * Opens a shell in a fresh area over a base commit, with what its tests have: packages, programs, services, and their
 * network, usually none. A service that does not start is named in it. Returns its exit code and, if it could not run,
 * why.
 */
export async function openShell(
  tools: PrepareTools,
  { task, bare, isSetUp }: PreparedPlace,
  terminal: ShellTerminal,
  signal: AbortSignal,
): Promise<{ readonly exitCode: number | null; readonly why: string | null }> {
  const { source } = bare;
  const base = isSetUp ? await prepareBase(tools, task, { source, signal }) : bare.base;
  const runner = await checkRunnerOn(tools, { task, source, base, signal });
  const area = await tools.workspaces.open(base, `${task.runId}-shell`);
  try {
    const { exitCode, stopped, stderr } = await tools.sandbox.exec({
      area,
      argv: [
        'sh',
        '-c',
        `${runner.services?.tolerantScript ?? ''}${venvPath(task.settings.checks)}${SHELL_SCRIPT}`,
      ],
      env: {
        ...{ CI: 'true', TERM: terminal.term },
        ...{ SHELL_ROWS: String(terminal.rows), SHELL_COLUMNS: String(terminal.columns) },
        ...runner.services?.env,
      },
      egress: egressOf(runner),
      limits: { ...DEFAULT_LIMITS, wallMs: SHELL_MS, outputBytes: SHELL_OUTPUT_BYTES },
      input: terminal.input,
      onOutput: terminal.onOutput,
      signal,
    });
    const why = stopped === null ? stderr.trim() : `It was stopped by its limit (${stopped}).`;
    return { exitCode, why: why === '' ? null : why };
  } finally {
    await tools.workspaces.remove(area);
  }
}
